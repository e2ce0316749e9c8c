"""Analyses of a result: rankings, ties, ceilings, effects of patches, totals of suites. Pure."""
