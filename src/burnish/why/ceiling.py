"""The ceiling: how far any work on the compiler could go on a load, and how far a build has come; pure.

A compiler reaches the code that it compiles. Time in the kernel, in libc and in other libraries stays; so the most that
capacity (transactions per CPU second) can be multiplied by is total / (total - reachable), were the reachable part to
cost nothing (Amdahl's law).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

FAR = 5.0
"""A ceiling above so many times the baseline's capacity limits nobody."""


@dataclass(frozen=True)
class Ceiling:
    """The reach of compilers on one load; all times are CPU seconds per transaction.

    Attributes:
        workload: the load.
        unit: what is counted.
        baseline: name of the build that is compared with.
        winner: name of the other one.
        total: of the baseline.
        kernel: of that, in the kernel.
        libraries: of that, in libc and other libraries; None where it is not known, and counts as reachable.
        after: total of the winner.
    """

    workload: str
    unit: str
    baseline: str
    winner: str
    total: float
    kernel: float
    libraries: float | None
    after: float

    @property
    def reachable(self) -> float:
        """Time in what the compiler compiles."""
        return max(0.0, self.total - self.kernel - (self.libraries or 0.0))

    @property
    def ratio(self) -> float:
        """Largest ratio of capacities; infinite where nothing is out of reach."""
        left = self.total - self.reachable
        return self.total / left if left > 0.001 * self.total else math.inf

    @property
    def reached(self) -> float:
        """The winner's ratio of capacities."""
        return self.total / self.after

    @property
    def way(self) -> float:
        """Share of the reachable time that is gone; below 0 where the other build takes more."""
        return (self.total - self.after) / self.reachable if self.reachable > 0 else 0.0

    def sentence(self) -> str:
        """What it means, in one sentence; a ceiling that is far off is none to name."""
        spent = f"{self.baseline}'s {cpu_words(self.total)} per {self.unit}"
        reached = f"{self.winner} is at {self.reached:.2f}x"
        if self.ratio > FAR:
            share = f"{_percent(self.reachable / self.total)} of {spent}"
            own = "outside of the kernel" if self.libraries is None else "in the server's own code"
            return f"{self.workload}: {share} is {own}, so the kernel is no limit here; {reached}."
        libraries = "" if self.libraries is None else f" and {_percent(self.libraries / self.total)} library time"
        apart = " (`burnish why` shows how much of that is libraries')" if self.libraries is None else ""
        saved = f" and has saved {_percent(self.way)} of the time that a compiler could save{apart}"
        return (
            f"{self.workload}: {_percent(self.kernel / self.total)} of {spent} is kernel time{libraries}, which no "
            f"compile option reaches: {self.ratio:.1f}x at most; {reached}{saved if self.way > 0 else ''}."
        )

    @property
    def shares(self) -> tuple[float, float, float, float]:
        """Shares of the baseline's time: saved by the winner, still reachable, libraries, kernel."""
        saved = min(max(0.0, self.total - self.after), self.reachable)
        spans = (saved, self.reachable - saved, self.libraries or 0.0, self.kernel)
        return spans[0] / self.total, spans[1] / self.total, spans[2] / self.total, spans[3] / self.total


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def cpu_words(seconds: float) -> str:
    """CPU time per transaction as a person says it: 9.87 µs, 325 µs, 1.23 ms."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
