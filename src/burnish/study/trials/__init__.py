"""The trials of a study: starts of every cell until each is decided."""
