"""Reports for people and for `--json`; pure functions of the record."""
