"""Program files: their contents, what they need from a host, how two of them differ."""
