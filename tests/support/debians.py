"""Debian's own MariaDB server for tests that need a real one: downloaded and extracted, not installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


def mariadbd(place: Path) -> Path:
    """The program, below the folder `place`; the test is skipped where the mirror does not deliver it."""
    if not any(Path("/var/lib/apt/lists").glob("*_Packages*")):  # a machine that has everything was never asked
        subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)
    fetched = subprocess.run(
        ["apt-get", "-o", "APT::Sandbox::User=root", "download", "mariadb-server-core"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    packages = list(place.glob("mariadb-server-core_*.deb"))
    if not packages:
        pytest.skip(f"the mirror has no mariadb-server-core: {fetched.stderr.strip()[-200:]}")
    subprocess.run(["dpkg", "-x", packages[0], place / "root"], check=True)
    return place / "root/usr/sbin/mariadbd"
