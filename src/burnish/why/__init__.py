"""Explains from samples of two builds why one is faster; pure."""
