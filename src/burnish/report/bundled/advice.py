"""What a bundled study recommends to build with; pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from burnish.record.events.builds import BuildMade
from burnish.record.events.bundled import TablePlanned
from burnish.record.events.verdicts import VerdictReached
from burnish.report.analysis.placed import WITH
from burnish.report.words import per_cent, plural
from burnish.statistics.rivals import rival
from burnish.study.bundled.recommended import over_baseline

if TYPE_CHECKING:
    from burnish.record.events.verdicts import Interval
    from burnish.report.bundled.table import Line

Quotient: TypeAlias = "Callable[[Line, Line], Interval | None]"
"""How many times a line's candidate is another line's, where both were measured in the same sittings."""


def letters(lines: Iterable[Line]) -> str:
    """Letters of the hosts that measured any of these lines; '' if the record is from one host."""
    return ", ".join(sorted({host.host for line in lines for host in line.hosts}))


NO_COMPARISON = "rows from different hosts cannot be compared with each other"


def apart(groups: Iterable[Iterable[Line]]) -> bool:
    """Whether these groups of lines were measured on different hosts; groups without measurements are ignored."""
    return len({letters(group) for group in groups} - {""}) > 1


@dataclass(frozen=True)
class Advice:
    """The recommendation from one series of a study.

    Attributes:
        series: its name; '' if the study has only one.
        row: the row to build with; '' if none is faster than the baseline.
        tied: rows that it is not proved to be faster than.
        words: the recommendation in a sentence.
    """

    series: str
    row: str
    tied: tuple[str, ...]
    words: str


def steps_of(builds: Iterable[BuildMade]) -> dict[str, int]:
    """By build, the number of steps that make it: compile, train, compile again, rewrite …

    The record of a bundled study has no recipes, whose changes would tell more of what is simple.
    """
    return {build.build.name: len(build.stages) for build in builds}


def advice(
    lines: Sequence[Line],
    again: Mapping[str, VerdictReached | None],
    table: TablePlanned,
    steps: Mapping[str, int],
    quotient: Quotient,
) -> list[Advice]:
    """The recommendation from each series, in per cent over the baseline, as the published study gives it.

    Args:
        lines: all comparisons of the study.
        again: by comparison, the verdict on the fresh starts with which the best was measured again.
        table: the study's table, as recorded.
        steps: by build, the number of steps that make it.
        quotient: how many times a line's candidate is another line's; None where they were not measured in the same
            sittings.
    """
    measured = {line.key: line for line in lines if line.interval is not None}
    advised = []
    for series, keys in over_baseline(table).items():
        rows = {row: [measured[key] for key in own if key in measured] for row, own in keys.items()}
        rows = {row: own for row, own in rows.items() if own}
        if rows:
            advised.append(_of_series(series, rows, again, steps, quotient))
    return advised


def _of_series(
    series: str,
    rows: Mapping[str, Sequence[Line]],
    again: Mapping[str, VerdictReached | None],
    steps: Mapping[str, int],
    quotient: Quotient,
) -> Advice:
    name = f"{series}: " if series else ""
    faster = {row: lines for row, lines in rows.items() if all(line.corrected == "faster" for line in lines)}
    if not faster:
        loses = ", ".join(row for row, lines in rows.items() if any(line.corrected == "slower" for line in lines))
        worse = f"; slower somewhere: {loses}" if loses else ""
        words = f"no row is faster than the baseline wherever it was measured: keep the baseline{worse}."
        return Advice(series, "", (), f"{name}{words}")
    best = max(faster, key=lambda row: _mean(faster[row]))
    tied = tuple(row for row in faster if row != best and _tied(faster[best], faster[row], quotient))
    marked = {row: ", ".join(lines[0].marks.words) for row, lines in faster.items()}
    costs = f" ({marked[best]})" if marked[best] else ""
    words = f"{name}build with {best}{costs}: {_mean(faster[best]):+.1f} % over the baseline ({_steps(faster[best])})"
    words += _again(faster[best], again, len(rows))
    if tied:
        words += f"; tied with {', '.join(tied)}, as no difference is proved: {_simplest(best, tied, faster, steps)}"
    plain = max((row for row in faster if not marked[row]), key=lambda row: _mean(faster[row]), default="")
    if costs and plain:
        words += f"; the best without such marks is {plain}: {_mean(faster[plain]):+.1f} %"
    if apart(rows.values()):
        words += f"; {NO_COMPARISON}"
    return Advice(series, best, tied, f"{words}.")


def _simplest(best: str, tied: Sequence[str], rows: Mapping[str, Sequence[Line]], steps: Mapping[str, int]) -> str:
    """Which of rows that are tied to take."""
    taken = {row: steps.get(rows[row][0].candidate, 0) for row in (best, *tied)}
    simple = min(taken, key=lambda row: taken[row])  # the best, if none takes fewer
    if taken[simple] == max(taken.values()):
        return f"take {best}, as none of them takes fewer steps to build"
    return f"take {simple}, the {'simpler' if len(taken) == 2 else 'simplest'} one"


def _again(lines: Sequence[Line], again: Mapping[str, VerdictReached | None], candidates: int) -> str:
    """The result of the best on fresh starts, or a warning if there are none."""
    fresh = [(line, verdict) for line in lines if (verdict := again.get(line.key)) is not None]
    values = [verdict.ratios.get(line.quantity) for line, verdict in fresh]
    if values and all(values):
        figures = ", ".join(per_cent(value) for value in values if value)
        moved = any(verdict.placed != line.placement for line, verdict in fresh)
        where = f", {WITH[fresh[0][1].placed]}" if moved else ""
        return f"; the best of {candidates}, so measured again on fresh starts{where}: {figures}, the figures to quote"
    return f"; as the best of {candidates} it looks better than it is" if candidates > 1 else ""


def _tied(best: Sequence[Line], other: Sequence[Line], quotient: Quotient) -> bool:
    """Whether the best is not proved to be faster, on the cells that both have on the same hosts."""
    mine, its = ({_place(line): line for line in lines if line.interval} for lines in (best, other))
    both = mine.keys() & its.keys()
    if not both:
        return False
    beside = {place: found for place in both if (found := quotient(mine[place], its[place])) is not None}
    ratios = [{place: line.interval for place, line in lines.items() if line.interval} for lines in (mine, its)]
    return rival("", ratios[0], ratios[1], once=True, beside=beside).tied


def _place(line: Line) -> str:
    """Key that two lines must share to be compared: load, test, threads and hosts."""
    return f"{line.load} {line.test} {line.threads} {letters([line])}"


def _mean(lines: Sequence[Line]) -> float:
    """Geometric mean of the ratios, in per cent over 1."""
    logs = [math.log(line.interval.ratio) for line in lines if line.interval]
    return 100.0 * (math.exp(statistics.fmean(logs)) - 1.0)


def _steps(lines: Sequence[Line]) -> str:
    return ", ".join(
        per_cent(line.interval) + (f" at {plural(line.threads, 'thread')}" if line.threads else "")
        for line in lines
        if line.interval
    )
