"""Events that the processor counts of a server (its PMU), per transaction; by `perf stat`, where the host has one."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence

from burnish.base import process

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


GROUPS = ("TopdownL1", "PipelineL1", "PipelineUtilization")
"""perf's names for top-down analysis at its first level: Intel's and ARM's, AMD's newer and older one."""

_SLOT = re.compile(r"retiring|bad.?spec|front.?end|back.?end", re.IGNORECASE)


def top_down_group(perf: str = "perf") -> str | None:
    """The group of metrics that tells where the processor's slots went, on this processor; None: it has none."""
    known = process.capture([perf, "list", "--no-desc", "metricgroup"], timeout=20).split()
    return next((name for name in GROUPS if name in known), None)


class TopDown:
    """Counts where the processor's slots go in running processes: the first level of top-down analysis.

    Args:
        pids: the processes.
        group: from `top_down_group`.
        perf: the program.
    """

    def __init__(self, pids: Sequence[int], group: str, perf: str = "perf") -> None:
        self._process = process.start([perf, "stat", "-x", ",", "-M", group, "-p", ",".join(map(str, pids))])

    def stop(self) -> dict[str, float]:
        """Ends the counting; returns shares of the slots by name, 0 to 1."""
        self._process.send_signal(signal.SIGINT)
        said, _ = self._process.communicate(timeout=10)
        return parse_shares(said.decode(errors="replace"))


def parse_shares(text: str) -> dict[str, float]:
    """Shares of the slots from the last two fields of ``perf stat -x , -M``: a metric and its name."""
    found = {}
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) < 2 or not re.fullmatch(r"\d+(?:\.\d+)?", fields[-2]) or not _SLOT.search(fields[-1]):
            continue
        name = fields[-1].lstrip("% ").removeprefix("tma_")
        found[name] = float(fields[-2]) / (100 if fields[-1].startswith("%") else 1)
    return found


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
