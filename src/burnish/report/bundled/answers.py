"""The lines of a bundled study as answers to what was published; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burnish.report.bundled import claims
from burnish.report.bundled.claims import IDENTICAL, Answered, Holds, Measured
from burnish.report.bundled.table import Line
from burnish.statistics.means import geometric_mean


def answered(line: Line, delta: float) -> Line:
    """A line with the answer whether its published figure still holds, if it can have one."""
    if not line.claim or line.figure is None or not (line.verdict or line.identical):
        return line
    return replace(line, holds=str(claims.holds(line.figure, _measured(line), line.likeness, delta)))


def _measured(line: Line) -> Measured:
    return Measured(IDENTICAL if line.identical else line.corrected, line.interval)


def sentences(lines: Sequence[Line], delta: float) -> list[str]:
    """How many of the published claims still hold."""
    return claims.sentences([_claim(group, delta) for group in claimed(lines)])


def claimed(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines that answer each claim: one, or the tests of a suite for which one figure was published."""
    groups: dict[str, list[Line]] = {}
    for line in lines:
        if line.claim:
            name = f"{line.series} / {line.row} / {line.reading} / {line.load.partition(':')[0]}"
            groups.setdefault(name if line.test else line.key, []).append(line)
    return list(groups.values())


def _claim(group: Sequence[Line], delta: float) -> Answered:
    holds, likeness = of_claim(group, delta), group[0].likeness
    return Answered(holds, likeness)


def of_claim(group: Sequence[Line], delta: float) -> Holds | None:
    """The answer to a claim: its line's, or that of the geometric mean of a suite's tests; None if not measured."""
    known = [line for line in group if line.holds]
    if len(group) == 1 or len(known) < 2:
        return Holds(known[0].holds) if known else None
    figure = group[0].figure
    mean = geometric_mean([line.interval for line in known if line.interval is not None])
    if figure is None or mean is None:
        return Holds.UNKNOWN
    verdict = "faster" if mean.low > 1 else "slower" if mean.high < 1 else "undecided"
    return claims.holds(figure, Measured(verdict, mean), group[0].likeness, delta)
