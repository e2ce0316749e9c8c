"""Compilers and linkers of this machine, their flags, caches and files."""
