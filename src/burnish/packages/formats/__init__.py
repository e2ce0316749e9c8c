"""Kinds of files that a measured build is given away in; each module's `make` writes one kind."""
