"""Debian packages: what the archive has, fetched by apt-get with a private state folder."""
