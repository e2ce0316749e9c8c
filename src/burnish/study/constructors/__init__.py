"""From a verb's words to a study: one module for each measuring verb, all of them values that one runner runs."""
