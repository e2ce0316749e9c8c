"""The table of a bundled study, and what follows from it; pure."""
