"""A side while a start runs: its ticks so far, its load stopped and let go on, what it was launched as."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burnish.bench import counters, readings
from burnish.bench.pairs import Contestant, Trouble
from burnish.bench.readings import Reading
from burnish.engines.contract import Side, Tick


@dataclass
class Running:
    """A side in a running start: what is known of it besides the side itself.

    Attributes:
        contestant: which side of the cell it is.
        side: its server and load.
        cores: CPU numbers that it has.
        ticks: all that its load has said so far.
        frozen: whether its load is stopped.
    """

    contestant: Contestant
    side: Side
    cores: frozenset[int]
    ticks: list[Tick] = field(default_factory=list)
    frozen: bool = False

    @property
    def label(self) -> str:
        """Its name in the record."""
        return self.contestant.label

    def read(self) -> None:
        """Takes the ticks that are new; a `Trouble` when the side died or erred."""
        self.ticks += self.side.ticks()
        trouble = self.side.trouble()
        if trouble is not None:
            raise Trouble(f"{self.label}: {trouble}")

    def reading(self, bounds: tuple[int, int]) -> Reading:
        """What it did between two of its ticks, by their indices; a `Trouble` where its CPU time is unknown."""
        found = readings.reading(self.ticks, bounds, sorted(self.cores))
        if found.server_cpu <= 0:  # without it there is no capacity, nor a number to record
            raise Trouble(f"{self.label}: its server's CPU time could not be read")
        return found

    def freeze(self, *, frozen: bool) -> None:
        """Stops the load (where the server is its own load: the server), or lets it go on."""
        if frozen != self.frozen:
            for _ in range(2):  # what one of them started while it was being stopped is stopped too
                for pid in self.side.client_pids() or self.side.server_pids():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGSTOP if frozen else signal.SIGCONT)
            self.frozen = frozen

    def launched(self) -> list[dict[str, Any]]:
        """Of its server and load: role, argv, peak_rss_bytes and huge_text_bytes, as the kernel knows them."""
        found = []
        for role, pids in (("server", self.side.server_pids()), ("load", self.side.client_pids())):
            for pid in pids[:1]:
                with contextlib.suppress(OSError):
                    words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
                    peak = re.search(r"^VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
                    found.append(
                        {
                            "role": role,
                            "argv": [word.decode(errors="replace") for word in words],
                            "peak_rss_bytes": int(peak[1]) * 1024 if peak else None,
                            "huge_text_bytes": counters.code_on_huge_pages(pid),
                        }
                    )
        return found
