"""Engines: what one must be able to do, what several share, the tests that every one passes, a folder for each."""
