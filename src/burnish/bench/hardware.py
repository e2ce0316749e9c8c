"""A server's hardware events per transaction, counted with `perf stat` if the host has a PMU."""

from __future__ import annotations

import re
import signal
import subprocess
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
"""The counted events, by perf's generic names. Events that a processor does not support are left out."""


class Counting:
    """Counts the events of running processes from its creation on.

    Args:
        pids: the processes.
        perf: the program.
    """

    def __init__(self, pids: Sequence[int], perf: str = "perf") -> None:
        words = [perf, "stat", "-x", ",", "-e", ",".join(EVENTS), "-p", ",".join(map(str, pids))]
        self._process = process.start(words)

    def stop(self) -> dict[str, float]:
        """Ends the counting; returns the events by name."""
        return parse(_said(self._process))


GROUPS = ("TopdownL1", "PipelineL1", "PipelineUtilization")
"""perf's names for top-down analysis at its first level: Intel's and ARM's, AMD's newer and older one."""

_SLOT = re.compile(r"retiring|bad.?spec|front.?end|back.?end", re.IGNORECASE)


def top_down_group(perf: str = "perf") -> str | None:
    """The metric group for top-down analysis (use of the processor's slots) on this processor; None if it has none."""
    known = process.capture([perf, "list", "--no-desc", "metricgroup"], timeout=20).split()
    return next((name for name in GROUPS if name in known), None)


class TopDown:
    """Counts the use of the processor's slots by running processes: the first level of top-down analysis.

    Args:
        pids: the processes.
        group: from `top_down_group`.
        perf: the program.
    """

    def __init__(self, pids: Sequence[int], group: str, perf: str = "perf") -> None:
        self._process = process.start([perf, "stat", "-x", ",", "-M", group, "-p", ",".join(map(str, pids))])

    def stop(self) -> dict[str, float]:
        """Ends the counting; returns shares of the slots by name, 0 to 1."""
        return parse_shares(_said(self._process))


def _said(counting: subprocess.Popen[bytes]) -> str:
    """What perf prints at its end; nothing, where it does not end: counts are no part of a verdict."""
    counting.send_signal(signal.SIGINT)
    try:
        output, _ = counting.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        counting.kill()
        counting.communicate()
        return ""
    return output.decode(errors="replace")


def parse_shares(text: str) -> dict[str, float]:
    """Shares of the slots from the last two fields of ``perf stat -x , -M``: a metric's value and name."""
    shares = {}
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) < 2 or not re.fullmatch(r"\d+(?:\.\d+)?", fields[-2]) or not _SLOT.search(fields[-1]):
            continue
        name = fields[-1].lstrip("% ").removeprefix("tma_")
        shares[name] = float(fields[-2]) / (100 if fields[-1].startswith("%") else 1)
    return shares


def parse(text: str) -> dict[str, float]:
    """Events from `perf stat -x ,`: count, unit, event, …; events not counted or not supported are left out."""
    rows = re.findall(r"^(\d+(?:\.\d+)?),[^,]*,([^,]+),", text, re.MULTILINE)
    return {name.removesuffix(":u"): float(count) for count, name in rows}


def per_transaction(events: Mapping[str, float], done: float) -> dict[str, float]:
    """Events per transaction, and instructions per cycle."""
    result = {name: count / done for name, count in events.items()} if done > 0 else {}
    if result.get("cycles") and "instructions" in result:
        result["instructions per cycle"] = result["instructions"] / result["cycles"]
    return result
