"""Debian's own servers for tests that need a real one: downloaded and extracted, not installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


def mariadbd(place: Path) -> Path:
    """The program, below the folder `place`; the test is skipped where the mirror does not deliver it."""
    return _extracted(place, "mariadb-server-core") / "usr/sbin/mariadbd"


def postgres(place: Path) -> Path:
    """The program with initdb and pgbench beside it, below `place`; skipped as `mariadbd`."""
    return _extracted(place, "postgresql-15") / "usr/lib/postgresql/15/bin/postgres"


def _extracted(place: Path, package: str) -> Path:
    """Folder that a binary package is extracted into."""
    if not any(Path("/var/lib/apt/lists").glob("*_Packages*")):  # a machine that has everything was never asked
        subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)
    fetched = subprocess.run(
        ["apt-get", "-o", "APT::Sandbox::User=root", "download", package],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    packages = list(place.glob(f"{package}_*.deb"))
    if not packages:
        pytest.skip(f"the mirror has no {package}: {fetched.stderr.strip()[-200:]}")
    subprocess.run(["dpkg", "-x", packages[0], place / "root"], check=True)
    return place / "root"
