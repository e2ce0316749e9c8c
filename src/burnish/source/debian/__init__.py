"""Debian packages, fetched from the archive by apt-get with a private state folder."""
