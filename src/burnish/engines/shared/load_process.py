"""A load program in a separate process that writes ticks to a file: start, stop, and the ticks as values."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from burnish.base.process import start, stop
from burnish.engines.side import Tick
from burnish.engines.ticks import TickFile

STOP_S = 5.0


class LoadProcess:
    """One load program on one server, from `start` until `stop`.

    Attributes:
        name: what it is called when it is in trouble.
        complaint: what lines of its output have that tell of an error; None: its output tells of none.
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

    name: ClassVar[str] = "the load"
    complaint: ClassVar[re.Pattern[str] | None] = None

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
        """Why the load can't be relied on: it ended by itself or complained; None while all is well."""
        if self._process is None or self._stopping:
            return None
        code, complaints = self.ended(), self.complaints()
        said = complaints[0] if complaints else ""
        if code is not None:
            return f"{self.name} ended by itself with exit code {code}{': ' if said else ''}{said}"
        return f"{self.name} said: {said}" if said else None

    def complaints(self) -> list[str]:
        """Lines of its output so far that tell of an error, in order."""
        if self.complaint is None or not self.log.is_file():
            return []
        lines = map(str.strip, self.log.read_text(encoding="utf-8", errors="replace").splitlines())
        return [line for line in lines if self.complaint.search(line)]

    def stop(self) -> None:
        """Ends the load; its connections end with it."""
        self._stopping = True
        if self._process is not None:
            stop(self._process, patience=STOP_S)
