"""What the tests of the MariaDB engine share: a real server where there is one, and a workbench without a record."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

import debians
from burnish.base import process
from burnish.catalogue import load
from burnish.engines.mariadb.engine import MariaDB
from burnish.model.workload import Workload
from burnish.program.built import Built

SERVER_VARIABLE = "BURNISH_TEST_MARIADBD"
"""Names a mariadbd for the tests that need a real one; else one that is installed is taken, or Debian's downloaded."""


class PlainBench:
    """A workbench that only runs and remembers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []
        self.lived: list[str] = []
        self.commands: list[list[str]] = []

    def run(
        self,
        what: str,
        argv: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin_file: Path | None = None,
        timeout: float | None = None,
        on_line: Callable[[str], None] | None = None,
        log: Path | None = None,
    ) -> process.Completed:
        self.commands.append([str(word) for word in argv])
        return process.run(
            argv,
            cwd=cwd,
            env=env,
            stdin_file=stdin_file,
            timeout=timeout,
            on_line=on_line,
            log=log or self.log_path("bench.log"),
        )

    def say(self, text: str) -> None:
        self.said.append(text)

    def live(self, text: str, share: float = 0.0) -> None:
        self.lived.append(text)

    def log_path(self, name: str) -> Path:
        return self.folder / name


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
