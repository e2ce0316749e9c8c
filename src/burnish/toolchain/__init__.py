"""Compilers and linkers as found on this machine, and what their flags, caches and files mean."""
