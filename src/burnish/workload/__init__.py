"""Parses loads and conditions requested by the user; pure."""
