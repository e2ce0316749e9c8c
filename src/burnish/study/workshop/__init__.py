"""A study while it runs: makes builds, prepares sides, takes starts; records why a comparison is not measured."""
