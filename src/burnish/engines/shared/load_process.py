"""A load program in a separate process that writes ticks to a file: start, stop, and the ticks as values."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.base.process import start, stop
from burnish.engines.side import Tick
from burnish.engines.ticks import TickFile

STOP_S = 5.0


class LoadProcess:
    """One load program on one server, from `start` until `stop`.

    Attributes:
        argv: its command line.
        log: its output.

    Args:
        argv: see there.
        log: see there.
        ticks: file that it appends its ticks to, a line each.
        folder: the folder that it works in.
        environment: variables for it.
        cores: CPU numbers at launch; None: all.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        log: Path,
        ticks: Path,
        folder: Path,
        environment: Mapping[str, str],
        cores: frozenset[int] | None,
    ) -> None:
        self.argv = list(argv)
        self.log = log
        self._ticks = TickFile(ticks)
        self._folder = folder
        self._environment = environment
        self._cores = cores
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = False

    def start(self) -> None:
        """Starts the load, which runs until `stop`."""
        self._ticks.clear()
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
        """The load's processes, while they live."""
        process = self._process
        return [process.pid] if process is not None and process.poll() is None else []

    def ticks(self) -> list[Tick]:
        """The ticks written since the last call; an unfinished last line waits for the next one."""
        return self._ticks.ticks()

    def cipher(self) -> str | None:
        """The TLS cipher of the load's connections, '' where they are not encrypted; None: not known (yet)."""
        return None

    def silence(self) -> float:
        """Seconds for which it may write no tick and yet be at work; 0 where it ticks all the time."""
        return 0.0

    def ended(self) -> int | None:
        """The exit code of a load that ended by itself, else None."""
        return None if self._process is None or self._stopping else self._process.poll()

    def trouble(self) -> str | None:
        """Why the load can't be relied on; None while all is well."""
        code = self.ended()
        return None if code is None else f"{self.argv[0]} ended by itself with exit code {code}"

    def stop(self) -> None:
        """Ends the load; its connections end with it."""
        self._stopping = True
        if self._process is not None:
            stop(self._process, patience=STOP_S)
