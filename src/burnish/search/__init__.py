"""The search for the fastest build within a budget: a space as data, strategies, decisions; pure, asked and told."""
