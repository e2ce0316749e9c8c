"""The report on a bundled study, block by block; pure."""
