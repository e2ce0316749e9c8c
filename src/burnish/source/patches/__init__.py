"""Patches: files and series in, which of them apply, stand alone or conflict out."""
