"""Settings that verbs read from a file, burnish.toml; what is made from the same declarations: schemas, manual page."""
