"""From a recipe to a finished build in the store: stages, training, post-link steps, evidence."""
