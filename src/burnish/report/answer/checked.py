"""A pair of programs against a bound, for a pipeline: from a record's events to an outcome for each load; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from burnish.report.analysis.verdict import NO_EFFECT
from burnish.report.words import milliseconds, plural
from burnish.statistics.bounds import Side, against, needed
from burnish.statistics.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burnish.report.result import Result, Row


class Outcome(StrEnum):
    """What a check came to, on one load or as a whole."""

    PASSED = "passed"
    SLOWER = "slower"
    UNDECIDED = "undecided"
    INVALID = "invalid"


_WORST = (Outcome.SLOWER, Outcome.INVALID, Outcome.UNDECIDED)
"""Outcomes that decide for the whole as soon as one load has them, in this order."""


@dataclass(frozen=True)
class LoadChecked:
    """The pair on one load.

    Attributes:
        load: its name.
        outcome: what it came to.
        interval: the ratio with its limits (`burnish.statistics.bounds.Bounded`); None without starts.
        starts: valid starts.
        quantity: what was compared.
        reason: why, in a sentence.
        p95: p95 latency of A and of B in words; '' if it is not known.
    """

    load: str
    outcome: Outcome
    interval: Interval | None
    starts: int
    quantity: str
    reason: str
    p95: str


@dataclass(frozen=True)
class Check:
    """A pair of programs against a bound.

    Attributes:
        run: the run's name.
        engine: the engine's name.
        base: name of A.
        candidate: name of B.
        slower: the loss that is allowed, as a share.
        host: the host, in one line.
        seconds: wall time that was given.
        loads: what it came to on each load.
        differences: how the programs differ, beside speed.
    """

    run: str
    engine: str
    base: str
    candidate: str
    slower: float
    host: str
    seconds: float
    loads: tuple[LoadChecked, ...]
    differences: tuple[str, ...]

    @property
    def outcome(self) -> Outcome:
        """The outcome as a whole: that of the worst load."""
        seen = {one.outcome for one in self.loads} or {Outcome.INVALID}
        return next((outcome for outcome in _WORST if outcome in seen), Outcome.PASSED)

    @property
    def sentence(self) -> str:
        """The outcome as a whole in a sentence."""
        bound, named = f"{100 * self.slower:g} %", [one.load for one in self.loads if one.outcome is self.outcome]
        where = ", ".join(named)
        return {
            Outcome.PASSED: f"{self.candidate} is not slower than {self.base} by more than {bound}: proved on every "
            "load.",
            Outcome.SLOWER: f"{self.candidate} is slower than {self.base} by more than {bound} on {where}: proved.",
            Outcome.INVALID: f"{self.candidate} could not be compared with {self.base} on {where or 'any load'}.",
            Outcome.UNDECIDED: f"Undecided whether {self.candidate} is slower than {self.base} by more than {bound} on "
            f"{where}: more starts can tell.",
        }[self.outcome]


def check(result: Result, readings: Mapping[str, Sequence[float]], slower: float, seconds: float) -> Check:
    """The check of a finished comparison.

    Args:
        result: the comparison's result.
        readings: by load, a log-ratio of the headline quantity (B over A) for each valid start.
        slower: the loss that is allowed, as a share.
        seconds: wall time that was given.
    """
    return Check(
        run=result.name,
        engine=result.engine,
        base=result.baseline,
        candidate=result.rows[0].candidate if result.rows else "B",
        slower=slower,
        host=result.host,
        seconds=seconds,
        loads=tuple(_load(result, row, readings.get(row.workload, ()), slower) for row in result.rows),
        differences=result.differences,
    )


def _load(result: Result, row: Row, readings: Sequence[float], slower: float) -> LoadChecked:
    if row.verdict == NO_EFFECT:
        return LoadChecked(row.workload, Outcome.PASSED, None, 0, row.headline, "the same program", "")
    if row.verdict == "invalid":
        return LoadChecked(row.workload, Outcome.INVALID, None, row.starts, row.headline, row.reason, "")
    found = against(readings, slower, len(result.rows))
    outcomes = {Side.WITHIN: Outcome.PASSED, Side.BEYOND: Outcome.SLOWER, Side.UNDECIDED: Outcome.UNDECIDED}
    outcome = outcomes[found.side]
    return LoadChecked(
        load=row.workload,
        outcome=outcome,
        interval=found.interval,
        starts=len(readings),
        quantity=row.headline,
        reason=_reason(outcome, readings, slower),
        p95=_latency(result, row),
    )


def _reason(outcome: Outcome, readings: Sequence[float], slower: float) -> str:
    bound = f"-{100 * slower:g} %" if slower else "0 %"
    if outcome is Outcome.PASSED:
        return f"the whole interval is above {bound}"
    if outcome is Outcome.SLOWER:
        return f"the whole interval is below {bound}"
    more = needed(readings, slower) if len(readings) > 1 else None
    return f"the interval includes {bound}" + (f"; some {plural(more, 'start')} would tell" if more else "")


def _latency(result: Result, row: Row) -> str:
    base, own = row.sides.get(result.baseline), row.sides.get(row.candidate)
    if not base or not own or "p95" not in base.latency or "p95" not in own.latency:
        return ""
    return f"{milliseconds(base.latency['p95'])} -> {milliseconds(own.latency['p95'])}"
