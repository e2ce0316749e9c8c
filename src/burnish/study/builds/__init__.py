"""The builds of a study: sources, packages, chains of stages, existing programs."""
