"""Records of one plan put together as one record; pure."""
