"""Merging of records of one plan into one record; pure."""
