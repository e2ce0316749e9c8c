"""Plain values for machines: a result comes in, dictionaries and lists go out; one function for each kind."""
