"""The measured cells of any kind of run in one form, with every start, for figures and wide tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from burnish.model.cell import AA, Role
from burnish.model.recipe import Marks
from burnish.record.events.verdicts import Interval
from burnish.report.analysis import marks
from burnish.report.page.details import Details, ratios
from burnish.report.page.figures.shapes import Mark, Measured, Point
from burnish.report.sections.bundled.cells import names_of
from burnish.statistics.intervals import fixed_interval

if TYPE_CHECKING:
    from burnish.report.result import Result, Row


_ENOUGH = 3
"""Starts from which on the baseline against itself has an interval: that of two is so wide that it hides the rest."""


@dataclass(frozen=True)
class Shown:
    """A cell as a page shows it.

    Attributes:
        group: what is shown together with it: the load, or the series and reading of a bundled study.
        name: its name within the group.
        candidate: the build or program.
        workload: the load.
        quantity: what its ratio is of.
        verdict: its verdict.
        interval: its ratio, with the interval for another sitting; None without one.
        sitting: its ratio with the interval within its own sitting; None if that is the same.
        dots: its ratio in every valid start.
        starts: number of starts that the verdict rests on.
        key: of a bundled study, identifies the comparison; '' otherwise.
        threads: number of client threads; None if unknown.
        marks: marks of its build.
    """

    group: str
    name: str
    candidate: str
    workload: str
    quantity: str
    verdict: str
    interval: Interval | None
    sitting: Interval | None
    dots: tuple[float, ...]
    starts: int
    key: str = ""
    threads: int | None = None
    marks: Marks = field(default_factory=Marks)

    @property
    def mark(self) -> Mark:
        """What it says, for a figure."""
        return Mark(self.verdict) if self.verdict in ("faster", "slower", "equivalent") else Mark.UNDECIDED

    @property
    def row(self) -> Measured:
        """The cell as a row of a forest plot."""
        ends = (self.sitting.low, self.sitting.high) if self.sitting and _finite(self.sitting) else None
        letters = marks.letters(self.marks)
        name = f"{self.name} !{letters}" if letters else self.name
        return Measured(name, self.mark, point(self.interval), ends, self.dots)


def point(interval: Interval | None) -> Point | None:
    """An interval as a point of a figure; None if there is none that can be drawn."""
    if interval is None or not _finite(interval):
        return None
    return Point(interval.ratio, interval.low, interval.high)


def _finite(interval: Interval) -> bool:
    return interval.low > 0 and all(map(math.isfinite, (interval.ratio, interval.low, interval.high)))


def shown(result: Result, details: Details) -> list[Shown]:
    """Every cell with a ratio: the claims in order, then what was measured again."""
    return [*(_lines(result, details) if result.shipped else _rows(result, details))]


def _rows(result: Result, details: Details) -> Iterator[Shown]:
    marked = marks.by_variant(result)
    for row in (*result.rows, *result.confirmations):
        if row.ratio is None:
            continue
        again = row.role == Role.CONFIRMATION
        where = f", {row.placement}" if again and row.placement and _moved(result, row) else ""
        yield Shown(
            group=row.workload,
            name=f"{row.candidate} again{where}" if again else row.candidate,
            candidate=row.candidate,
            workload=row.workload,
            quantity=row.headline,
            verdict=row.verdict,
            interval=row.ratio,
            sitting=row.sitting.intervals.get(row.headline) if row.sitting else None,
            dots=details.dots(row.candidate, row.workload, row.role, row.headline),
            starts=row.starts,
            threads=details.threads.get(row.workload),
            marks=marked.get(row.candidate, Marks()),
        )


def _moved(result: Result, row: Row) -> bool:
    """Whether a confirmation is in another placement than the claim."""
    return any(
        claim.placement != row.placement
        for claim in result.rows
        if (claim.candidate, claim.workload) == (row.candidate, row.workload)
    )


def _lines(result: Result, details: Details) -> Iterator[Shown]:
    table = result.shipped
    names = names_of(table) if table else {}
    for line in table.lines if table else ():
        if line.interval is None:
            continue
        title = (table.readings.get(line.reading, {}).get("title") if table else "") or line.reading
        name = names[line.key].removeprefix(f"{line.series}, ") if line.series else names[line.key]
        yield Shown(
            group=": ".join(filter(None, (line.series, title))) or (table.title if table else ""),
            name=name.replace(f", {line.reading}", "") if line.reading else name,
            candidate=line.candidate,
            workload=line.workload,
            quantity=line.quantity,
            verdict=line.corrected,
            interval=line.interval,
            sitting=line.sitting.intervals.get(line.quantity) if line.sitting else None,
            dots=ratios(details.by_cell.get(line.cell, ()), line.quantity),
            starts=line.starts,
            key=line.key,
            threads=line.threads or details.threads.get(line.workload),
            marks=line.marks,
        )


def canary(details: Details, workload: str, quantity: str, *, several: bool = False) -> Measured | None:
    """The baseline against itself on a load, as a row of a forest plot; None if it was not measured.

    Args:
        details: facts of the record.
        workload: the load.
        quantity: what the ratio is of.
        several: whether rows of other loads are beside it, so that it names its own.
    """
    dots = details.dots(AA, workload, Role.CANARY, quantity)
    if not dots:
        return None
    middle = point(Interval(**_interval(dots))) if len(dots) >= _ENOUGH else None
    return Measured(f"{AA}: {workload if several else 'the baseline against itself'}", Mark.CANARY, middle, None, dots)


def _interval(dots: tuple[float, ...]) -> dict[str, float]:
    found = fixed_interval([math.log(dot) for dot in dots])
    return {"ratio": found.ratio, "low": found.low, "high": found.high, "level": found.level}
