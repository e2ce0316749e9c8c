"""Servers under load: host facts, datasets, sides, starts and pairs."""
