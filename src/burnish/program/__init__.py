"""Program files as they lie on disk: what they hold, what they need, how two of them differ."""
