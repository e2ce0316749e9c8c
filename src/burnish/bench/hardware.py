"""Events that the processor counts of a server (its PMU), per transaction; by `perf stat`, where the host has one."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence

from burnish import process

EVENTS = (
    "cycles",
    "instructions",
    "branches",
    "branch-misses",
    "cache-misses",
    "L1-icache-load-misses",
    "iTLB-load-misses",
)
"""What is counted; perf's generic names. What a processor does not know is left out of the figures."""


class Counting:
    """Counts the events of running processes from now on.

    Args:
        pids: the processes.
        perf: the program.
    """

    def __init__(self, pids: Sequence[int], perf: str = "perf") -> None:
        words = [perf, "stat", "-x", ",", "-e", ",".join(EVENTS), "-p", ",".join(map(str, pids))]
        self._process = process.start(words)

    def stop(self) -> dict[str, float]:
        """Ends the counting; returns the events by name."""
        self._process.send_signal(signal.SIGINT)
        said, _ = self._process.communicate(timeout=10)
        return parse(said.decode(errors="replace"))


def parse(text: str) -> dict[str, float]:
    """Events from `perf stat -x ,`: count, unit, event, …; what was not counted or not supported is left out."""
    rows = re.findall(r"^(\d+(?:\.\d+)?),[^,]*,([^,]+),", text, re.MULTILINE)
    return {name.removesuffix(":u"): float(count) for count, name in rows}


def per_transaction(events: Mapping[str, float], done: float) -> dict[str, float]:
    """Events of each transaction, and instructions per cycle."""
    found = {name: count / done for name, count in events.items()} if done > 0 else {}
    if found.get("cycles") and "instructions" in found:
        found["instructions per cycle"] = found["instructions"] / found["cycles"]
    return found
