"""A study as it runs: making the builds, holding the contest, keeping the record."""
