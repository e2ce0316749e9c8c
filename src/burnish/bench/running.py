"""A side of a running start: its ticks so far, suspending and resuming its load, its processes."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from burnish.bench import counters, readings
from burnish.bench.page_scatter import PageScatter, page_scatter
from burnish.bench.pairs import Contestant, Trouble, blamed
from burnish.bench.readings import Reading
from burnish.engines.contract import Side, Tick
from burnish.engines.reported import Reported


@dataclass
class Running:
    """State of a side in a running start.

    Attributes:
        contestant: the side of the cell.
        side: its server and load.
        cores: its CPU numbers.
        ticks: all ticks of its load so far.
        frozen: whether its load is suspended.
        still: whether its server is suspended together with its load.
    """

    contestant: Contestant
    side: Side
    cores: frozenset[int]
    ticks: list[Tick] = field(default_factory=list)
    frozen: bool = False
    still: bool = False

    @property
    def label(self) -> str:
        """Its name in the record."""
        return self.contestant.label

    def read(self) -> None:
        """Reads the new ticks; raises `Trouble` if the side died or had errors."""
        with blamed(self.label):
            self.ticks += self.side.ticks()
        trouble = self.side.trouble()
        if trouble is not None:
            raise Trouble(f"{self.label}: {trouble}", self.label)

    def load(self) -> None:
        """Puts its server under load; raises `Trouble` if that fails."""
        with blamed(self.label):
            self.side.load()

    def fingerprint(self) -> str:
        """The digest of its data; raises `Trouble` if they can't be read."""
        with blamed(self.label):
            return self.side.fingerprint()

    def reading(self, bounds: tuple[int, int], waited: float = 0.0) -> Reading:
        """Its reading between two ticks; raises `Trouble` if its CPU time is unknown.

        Args:
            bounds: indices of the two ticks.
            waited: share of the turn in which its cores waited for a device, 0 to 1.
        """
        result = readings.reading(self.ticks, bounds, sorted(self.cores), waited)
        if result.server_cpu <= 0:  # without it there is no capacity
            raise Trouble(f"{self.label}: its server's CPU time could not be read")
        return result

    def freeze(self, *, frozen: bool) -> None:
        """Suspends or resumes the load (of an embedded engine: the server), and the server if it is to be still."""
        if frozen != self.frozen:
            for _ in range(2):  # again, for processes started in the meantime
                clients = self.side.client_pids() or self.side.server_pids()
                servers = self.side.server_pids() if self.still else []
                # A load must not meet a server that is suspended: it would take that for a stall.
                for pid in [*clients, *servers] if frozen else [*servers, *clients]:
                    _signal(pid, signal.SIGSTOP if frozen else signal.SIGCONT)
            self.frozen = frozen

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """Lets a suspended server answer while it is active; its load stays suspended."""
        asleep = self.side.server_pids() if self.frozen and self.still and self.side.client_pids() else []
        for pid in asleep:
            _signal(pid, signal.SIGCONT)
        try:
            yield
        finally:
            for pid in asleep:
                _signal(pid, signal.SIGSTOP)

    def reported(self) -> Reported:
        """What its server says of itself, with the folders that are its own."""
        spec = self.side.spec
        program = (spec.built.folder, spec.built.server.parent, spec.built.server.parent.parent)
        places = [str(place) for place in (spec.folder, spec.data, *program) if len(place.parts) > 2]
        reported = self.side.reported()
        return replace(reported, places=(*reported.places, *places))

    def launched(self) -> list[dict[str, Any]]:
        """For its server and load: role, argv, and of its memory how much and of which kind, from the kernel."""
        processes = []
        for role, pids in (("server", self.side.server_pids()), ("load", self.side.client_pids())):
            for pid in pids[:1]:
                with contextlib.suppress(OSError):
                    words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
                    peak = re.search(r"^VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
                    processes.append(
                        {
                            "role": role,
                            "argv": [word.decode(errors="replace") for word in words],
                            "peak_rss_bytes": int(peak[1]) * 1024 if peak else None,
                            "huge_text_bytes": counters.code_on_huge_pages(pid),
                            "huge_memory": counters.huge_memory(pid),
                            "nodes": counters.memory_by_node(pid),
                            "scatter": page_scatter(pid) if role == "server" else PageScatter(),
                        }
                    )
        return processes


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
