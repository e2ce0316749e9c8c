"""A side of the SQLite engine: one process that runs speedtest1 or kvtest again and again and reports each unit."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError, unknown
from burnish.engines.contract import Side, SideSpec, Tick
from burnish.model.workload import Workload

PROGRAMS = ("speedtest1", "kvtest")
DATABASE = "kv.db"
DATA_PREFIX = "data-"
"""Parameters of the data, not of the run, begin with this."""

BOOT_S = 60.0
PATIENCE_S = 60.0
"""Seconds that the current unit may take to its end when a side stops: instrumented builds are slow."""


def options_of(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    """Parameters as options of a program: ``--name value``; ``ON`` gives a bare option, ``OFF`` none."""
    words = []
    for name, value in pairs:
        if value == "OFF":
            continue
        words += [f"--{name}"] if value in ("ON", "") else [f"--{name}", value]
    return words


def data_options(workload: Workload) -> list[str]:
    """The options of ``kvtest init`` that make the workload's data."""
    pairs = workload.parameters
    return options_of(
        tuple((name.removeprefix(DATA_PREFIX), value) for name, value in pairs if name.startswith(DATA_PREFIX))
    )


def program_arguments(spec: SideSpec) -> list[str]:
    """What the loop runs: program and arguments; a condition's settings are options, added to the workload's."""
    workload = spec.workload
    if workload.program not in PROGRAMS:
        raise unknown(f"program in workload {workload.name}", workload.program, PROGRAMS)
    pairs = dict(pair for pair in workload.parameters if not pair[0].startswith(DATA_PREFIX))
    options = options_of(tuple((pairs | dict(spec.condition.settings)).items()))
    if workload.program == "kvtest":
        return ["kvtest", "run", str(spec.data / DATABASE), *options]
    return ["speedtest1", *options, str(spec.data / "speedtest1.db")]


def one_thread(threads: int, where: str) -> None:
    """A `UserError` for more threads than one: SQLite's loads are its own programs, which have one."""
    if threads != 1:
        raise UserError(f"{where}: {threads} threads, but a load of SQLite has one; leave threads out")


class SqliteSide(Side):
    """SQLite and its load in one process: `boot` starts it, `load` lets it go."""

    def __init__(self, spec: SideSpec) -> None:
        one_thread(spec.workload.threads, spec.workload.name)
        self.spec = spec
        self._arguments = program_arguments(spec)
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._stopping = False

    @property
    def _log(self) -> Path:
        return self.spec.folder / "loop.log"

    def boot(self) -> None:
        """Starts the process, paused before its first unit."""
        spec = self.spec
        if spec.workload.dataset != "none" and not (spec.data / DATABASE).is_file():
            raise InfrastructureError(f"{spec.label}: its data are missing ({spec.data / DATABASE})")
        with self._log.open("ab") as log:
            self._process = process.start(
                [spec.built.server.resolve(), "loop", *self._arguments, *spec.built.options],
                cwd=spec.folder,
                env=dict((*spec.built.environment, *spec.environment)),
                stdin=subprocess.PIPE,
                stderr=log.fileno(),
                cores=spec.cores,
            )
        assert self._process.stdout is not None  # noqa: S101 - PIPE is the default
        os.set_blocking(self._process.stdout.fileno(), False)
        deadline = time.monotonic() + BOOT_S
        while b"ready\n" not in self._rest:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise InfrastructureError(f"{spec.label}: {self.trouble() or 'it is not ready'}", log=self._log)
            select.select([self._process.stdout], [], [], 0.1)
            self._rest += self._process.stdout.read() or b""
        self._rest = self._rest.partition(b"ready\n")[2]

    def fingerprint(self) -> str:
        """SHA-256 of the database file that the load reads; '' without one."""
        if self.spec.workload.dataset == "none":
            return ""
        with (self.spec.data / DATABASE).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def load(self) -> None:
        """Lets the process begin with its first unit."""
        assert self._process is not None and self._process.stdin is not None  # noqa: S101, PT018 - boot() came first
        with contextlib.suppress(BrokenPipeError):  # trouble() reports why it ended
            self._process.stdin.write(b"go\n")
            self._process.stdin.flush()

    def ticks(self) -> list[Tick]:
        """One tick for each unit that was finished since the last call."""
        if self._process is None or self._process.stdout is None or self._process.stdout.closed:
            return []
        *lines, self._rest = (self._rest + (self._process.stdout.read() or b"")).split(b"\n")
        return [
            Tick(at=tick["at"], done=tick["done"], errors=0, server_cpu=tick["server_cpu"], client_cpu=0.0)
            for tick in map(json.loads, lines)
        ]

    def server_pids(self) -> list[int]:
        """The one process, while it is alive."""
        return [self._process.pid] if self._process is not None and self._process.poll() is None else []

    def client_pids(self) -> list[int]:
        """None: SQLite lives in the process that uses it."""
        return []

    def trouble(self) -> str | None:
        """How the process ended and its last words, when it has ended by itself: a failed unit ends it."""
        if self._process is None or self._stopping or self._process.poll() is None:
            return None
        code = self._process.returncode
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        words = (
            self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines() if self._log.is_file() else []
        )
        last = f": {words[-1]}" if words else ""
        return f"{' '.join(self._arguments)} {how}{last}"

    def finish(self, patience: float) -> None:
        """See `Side.finish`."""
        self._end(patience)
        if self._process is not None and (code := self._process.returncode) != 0:
            why = f"{self.spec.label}: the program ended with exit code {code} when it was stopped"
            raise InfrastructureError(f"{why}, so its counts are not whole", log=self._log)

    def stop(self) -> None:
        """Lets the current unit finish (a profile is written at the end), then ends the process."""
        self._end(PATIENCE_S)

    def _end(self, patience: float) -> None:
        self._stopping = True
        if self._process is None:
            return
        with contextlib.suppress(BrokenPipeError, ValueError):  # gone already; or closed by an earlier call
            if self._process.stdin is not None:
                self._process.stdin.close()  # ends it when it is still paused
        process.stop(self._process, patience=patience)
        if self._process.stdout is not None:
            self._process.stdout.close()
