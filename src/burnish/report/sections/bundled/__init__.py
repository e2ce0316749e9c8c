"""The sections of a bundled study: its table comes in, sections of blocks go out."""
