"""What the tests of MariaDB and MySQL share: a real server where there is one, and little data."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest

import debians
from burnish.catalogue import load
from burnish.engines.mariadb.engine import MariaDB
from burnish.engines.registry import create
from burnish.engines.testing import PlainBench
from burnish.model.workload import Workload
from burnish.program.built import Built

__all__ = ["PlainBench", "engine", "mysql_server", "real_server", "small"]

SERVER_VARIABLE = "BURNISH_TEST_MARIADBD"
"""Names a mariadbd for the tests that need a real one; else one that is installed is taken, or Debian's downloaded."""


MYSQL_VARIABLE = "BURNISH_TEST_MYSQLD"
"""Names a mysqld for the tests that need one; Debian stable has none, and unstable's does not run there."""


def engine() -> MariaDB:
    return MariaDB(load.engine("mariadb"))


_DOWNLOADS = tempfile.TemporaryDirectory(prefix="burnish-mariadbd-")


@cache
def _downloaded() -> Path:
    return debians.mariadbd(Path(_DOWNLOADS.name))


def real_server() -> Built:
    """A mariadbd that is named, installed or downloaded; the test is skipped where none can be had."""
    if shutil.which("sysbench") is None:
        pytest.skip("sysbench is not installed")
    named = os.environ.get(SERVER_VARIABLE) or shutil.which("mariadbd", path="/usr/sbin:/usr/local/sbin")
    return engine().existing(Path(named) if named else _downloaded())


def mysql_server() -> Built:
    """A mysqld that is named; the test is skipped without."""
    if shutil.which("sysbench") is None:
        pytest.skip("sysbench is not installed")
    named = os.environ.get(MYSQL_VARIABLE)
    if not named:
        pytest.skip(f"no MySQL server; name one in {MYSQL_VARIABLE}")
    return create(load.engine("mysql")).existing(Path(named))


def small(name: str, *, threads: int = 2, engine: str = "mariadb") -> Workload:
    """A workload of the catalogue with little data."""
    entry = load.workload(load.engine(engine), name)
    return Workload(
        name=name,
        engine=engine,
        reason=entry.reason,
        program=entry.program,
        parameters=(("tables", "2"), ("table_size", "2000")),
        threads=threads,
        writes=entry.writes,
        dataset=entry.dataset,
    )
