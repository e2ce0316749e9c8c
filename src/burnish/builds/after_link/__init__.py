"""What is done to a finished program: the base build in, a build with other files or another launch out."""
