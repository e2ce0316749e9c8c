"""The ceiling: the largest gain that compiler options could give on a load, and what a build has reached; pure.

A compiler affects only the code that it compiles. Time in the kernel, in libc and in other libraries stays. So capacity
(transactions per CPU second) can grow at most by the factor total / (total - reachable), if the reachable part cost
nothing (Amdahl's law).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

FAR = 5.0
"""Factor of the baseline's capacity above which a ceiling is no practical limit."""


@dataclass(frozen=True)
class Ceiling:
    """The ceiling of one load; all times are CPU seconds per transaction.

    Attributes:
        workload: the load.
        unit: what is counted.
        baseline: name of the first build.
        winner: name of the second build.
        total: total time of the baseline.
        kernel: its time in the kernel.
        libraries: its time in libc and other libraries; None if unknown: it then counts as reachable.
        after: total time of the winner.
        where: the placement in words, if it is not that of the run's other figures; '' otherwise.
    """

    workload: str
    unit: str
    baseline: str
    winner: str
    total: float
    kernel: float
    libraries: float | None
    after: float
    where: str = ""

    @property
    def reachable(self) -> float:
        """The baseline's time in code that the compiler compiles."""
        return max(0.0, self.total - self.kernel - (self.libraries or 0.0))

    @property
    def ratio(self) -> float:
        """Largest possible ratio of capacities; infinite if all of the time is reachable."""
        left = self.total - self.reachable
        return self.total / left if left > 0.001 * self.total else math.inf

    @property
    def reached(self) -> float:
        """The winner's ratio of capacities."""
        return self.total / self.after

    @property
    def way(self) -> float:
        """Share of the reachable time that was saved; below 0 if the other build takes more."""
        return (self.total - self.after) / self.reachable if self.reachable > 0 else 0.0

    def sentence(self) -> str:
        """The ceiling in one sentence; without its value if that is above `FAR`."""
        spent = f"{self.baseline}'s {cpu_words(self.total)} per {self.unit}"
        reached = f"{self.winner} is at {self.reached:.2f}x"
        load = ", ".join(filter(None, (self.workload, self.where)))
        if self.ratio > FAR:
            share = f"{_percent(self.reachable / self.total)} of {spent}"
            own = "outside of the kernel" if self.libraries is None else "in the server's own code"
            return f"{load}: {share} is {own}, so the kernel is no limit here; {reached}."
        libraries = "" if self.libraries is None else f" and {_percent(self.libraries / self.total)} library time"
        hint = " (`burnish why` shows how much of that is libraries')" if self.libraries is None else ""
        saved = f" and has saved {_percent(self.way)} of the time that a compiler could save{hint}"
        return (
            f"{load}: {_percent(self.kernel / self.total)} of {spent} is kernel time{libraries}, which no "
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
    """CPU time per transaction for people: 9.87 µs, 325 µs, 1.23 ms."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
