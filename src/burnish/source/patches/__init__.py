"""Patches: reads files and series, and determines which patches apply, need others, or conflict."""
