"""The domain's vocabulary as frozen values: recipes, workloads, conditions, engines as data."""
