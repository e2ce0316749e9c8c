"""What follows from a result: rankings, ties, ceilings, effects of patches, suites as a whole. Pure."""
