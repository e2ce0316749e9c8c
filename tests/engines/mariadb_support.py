"""What the tests of the MariaDB engine share: a real server where there is one, and little data."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from burnish.catalogue import load
from burnish.engines.mariadb.engine import MariaDB
from burnish.engines.testing import PlainBench
from burnish.model.workload import Workload
from burnish.program.built import Built

__all__ = ["PlainBench", "engine", "real_server", "small"]

SERVER_VARIABLE = "BURNISH_TEST_MARIADBD"
"""Names a mariadbd for the tests that need a real one; else one that is installed is taken."""


def engine() -> MariaDB:
    return MariaDB(load.engine("mariadb"))


def real_server() -> Built:
    """A mariadbd that is here, or the reason why the test is skipped."""
    named = os.environ.get(SERVER_VARIABLE) or shutil.which("mariadbd", path="/usr/sbin:/usr/local/sbin")
    if named is None:
        pytest.skip(f"no mariadbd is installed; name one in {SERVER_VARIABLE}")
    if shutil.which("sysbench") is None:
        pytest.skip("sysbench is not installed")
    return engine().existing(Path(named))


def small(name: str, *, threads: int = 2) -> Workload:
    """A workload of the catalogue with little data."""
    entry = load.workload(load.engine("mariadb"), name)
    return Workload(
        name=name,
        engine="mariadb",
        reason=entry.reason,
        program=entry.program,
        parameters=(("tables", "2"), ("table_size", "2000")),
        threads=threads,
        writes=entry.writes,
        dataset=entry.dataset,
    )
