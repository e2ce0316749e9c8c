"""From source to a gated build: sources, toolchains, recipes, builder, training, gate."""
