"""The words of the field as frozen values: recipes, workloads, conditions, engines as data."""
