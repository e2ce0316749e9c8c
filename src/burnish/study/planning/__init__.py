"""Plans: what a study will do and what it will cost."""
