"""The real thing: SQLite is built from source, tested, and made again by its script."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from real_sqlite import VARIANT, folder_of
from scripts import run_script
from sqlite_builds import SPEC

pytestmark = pytest.mark.real


@pytest.mark.timeout(1000)
def test_sqlite_comes_out_the_same(sqlite_home: Path, tmp_path: Path) -> None:
    """With a profile and link-time optimisation; gcc -O2 and others are in the fast tests, on the fake engine."""
    folder = folder_of(VARIANT, sqlite_home)
    (archives,) = (sqlite_home / "downloads").glob("debian/sqlite3_*")
    done = run_script(folder / "build.sh", archives, cwd=tmp_path, limit=300)
    assert done.returncode == 0, done.stdout
    assert "the same program, bit for bit" in done.stdout
    made = (tmp_path / "burnish-sqlite").read_bytes()
    assert made == (folder / SPEC.server).read_bytes()
    assert hashlib.sha256(made).hexdigest() == json.loads((folder / "burnish.json").read_text())["sha256"]
