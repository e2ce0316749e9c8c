"""Profiles of a server: from training output to an accepted, named profile; merged, imported and exported."""
