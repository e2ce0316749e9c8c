"""Plain values for `--json`: results as dictionaries and lists; one function for each kind."""
