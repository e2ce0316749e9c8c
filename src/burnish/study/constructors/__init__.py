"""From a verb's options to a `Study`: one module for each measuring verb; one runner executes them all."""
