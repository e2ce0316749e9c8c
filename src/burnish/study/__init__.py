"""What is asked: the study's model and its plan."""
