"""sysbench 1.0 as the load: its command lines, its life, and the ticks that our Lua hook writes."""

from __future__ import annotations

import json
import re
import subprocess
from importlib import resources
from pathlib import Path

from burnish.engines.base import Tick, Workbench
from burnish.errors import InfrastructureError
from burnish.process import start, stop
from burnish.study.model import Workload

HOOK = Path(str(resources.files("burnish.catalogue"))) / "workloads" / "report.lua"
"""Wraps a sysbench script and writes the ticks; see there."""

TICK_S = 0.05
"""Seconds between ticks: short enough to cut a turn sharply."""

LATENCY_EVERY = 5
"""Latencies are read at every so many ticks: that takes 0.3 ms and passes a megabyte through the caches."""

_PREPARE_SEED = 42  # one dataset for a set of parameters, whoever prepares it
_TROUBLE = re.compile(r"^(FATAL|ALERT|ERROR|PANIC)\b")


def parameters(workload: Workload) -> list[str]:
    """The workload's parameters as sysbench options (``table_size`` is ``--table-size=``)."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in workload.parameters]


def _connection(socket: Path) -> list[str]:
    return ["--db-driver=mysql", f"--mysql-socket={socket}", "--mysql-user=root", "--mysql-db=sbtest"]


def prepare(workload: Workload, socket: Path, *, threads: int, bench: Workbench) -> None:
    """Fills the empty database with the workload's tables; InfrastructureError when that fails."""
    words = [
        "sysbench",
        workload.program,
        *_connection(socket),
        *parameters(workload),
        f"--threads={threads}",
        f"--rand-seed={_PREPARE_SEED}",
        "prepare",
    ]
    done = bench.run(f"prepare {workload.dataset}", words, timeout=3600)
    done.check(f"preparing the data of {workload.name}")


class SysbenchLoad:
    """One sysbench process on one server, from `start` until `stop`.

    Args:
        workload: the load.
        socket: the server's Unix socket.
        server_pid: the server, whose CPU clock is read at each tick.
        threads: client threads.
        seed: for random keys.
        folder: private folder for the ticks and the log.
        cores: CPU numbers at launch; None: all.
    """

    def __init__(
        self,
        workload: Workload,
        socket: Path,
        *,
        server_pid: int,
        threads: int,
        seed: int,
        folder: Path,
        cores: frozenset[int] | None,
    ) -> None:
        self.log = folder / "sysbench.log"
        self._ticks = folder / "ticks.jsonl"
        self._folder = folder
        self._cores = cores
        self._environment = {
            "BURNISH_SCRIPT": workload.program,
            "BURNISH_TICKS": str(self._ticks),
            "BURNISH_TICK_S": str(TICK_S),
            "BURNISH_LATENCY_EVERY": str(LATENCY_EVERY),
            "BURNISH_SERVER_PID": str(server_pid),
        }
        self.argv = [
            "sysbench",
            str(HOOK),
            *_connection(socket),
            *parameters(workload),
            f"--threads={threads}",
            "--time=0",
            "--report-interval=1",
            "--percentile=95",  # any above 0: switches the latency histogram on
            "--rand-type=uniform",  # the default, `special`, has a few hot keys that no real load has
            f"--rand-seed={seed}",
            "--mysql-ignore-errors=",  # by default deadlocks and duplicate keys are retried in silence
            "run",
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self._read = 0
        self._stopping = False

    def start(self) -> None:
        """Starts the load; it goes on until `stop`."""
        self._ticks.unlink(missing_ok=True)
        self._read = 0
        with self.log.open("wb") as sink:
            self._process = start(
                self.argv,
                cwd=self._folder,
                env=self._environment,
                stdout=sink.fileno(),
                stderr=subprocess.STDOUT,
                cores=self._cores,
            )

    def pids(self) -> list[int]:
        """The load process, while it lives."""
        process = self._process
        return [process.pid] if process is not None and process.poll() is None else []

    def ticks(self) -> list[Tick]:
        """The ticks written since the last call; an unfinished last line waits for the next one."""
        if not self._ticks.is_file():
            return []
        with self._ticks.open("rb") as file:
            file.seek(self._read)
            whole, _, _ = file.read().rpartition(b"\n")
        if not whole:
            return []
        self._read += len(whole) + 1
        return [tick for line in whole.split(b"\n") if (tick := parse_tick(line)) is not None]

    def trouble(self) -> str | None:
        """Why the load can't be relied on: it ended by itself or complained; None while all is well."""
        if self._process is None or self._stopping:
            return None
        said = complaints(self.log.read_text(errors="replace")) if self.log.is_file() else []
        code = self._process.poll()
        if code is not None:
            return f"sysbench ended by itself with exit code {code}" + (f": {said[0]}" if said else "")
        return f"sysbench said: {said[0]}" if said else None

    def stop(self) -> None:
        """Ends the load; its connections end with it."""
        self._stopping = True
        if self._process is not None:
            stop(self._process, patience=5.0)


def parse_tick(line: bytes) -> Tick | None:
    """A tick from its JSON line; None when the server's clock could not be read (it was gone).

    Raises:
        InfrastructureError: the line is not one that our hook writes.
    """
    try:
        value = json.loads(line)
        if value["server_cpu"] is None:
            return None
        return Tick(
            at=float(value["at"]),
            done=float(value["done"]),
            errors=int(value["errors"]) + int(value["reconnects"]),
            server_cpu=float(value["server_cpu"]),
            client_cpu=float(value["client_cpu"]),
            latency={str(name): float(seconds) for name, seconds in value["latency"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InfrastructureError(f"a tick that can't be read: {line[:200]!r} ({error})") from error


def complaints(text: str) -> list[str]:
    """Lines of sysbench's output that tell of an error, in order."""
    return [line.strip() for line in text.splitlines() if _TROUBLE.search(line.strip())]
