"""Converts a user's logs, digests and dumps to weighted SQL statements; pure."""
