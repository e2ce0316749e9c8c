"""Bundled studies: published comparisons, expanded to cells, run in sessions."""
