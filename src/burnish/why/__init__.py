"""From samples of two builds to why one is faster; pure."""
