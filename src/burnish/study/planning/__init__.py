"""What a study will do and cost, before anything is done."""
