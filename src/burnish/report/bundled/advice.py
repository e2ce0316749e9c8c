"""What a bundled study recommends to build with; pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from burnish.record.events.bundled import TablePlanned
from burnish.record.events.verdicts import VerdictReached
from burnish.report import plainly
from burnish.report.words import per_cent, plural
from burnish.study.bundled.recommended import over_baseline

if TYPE_CHECKING:
    from burnish.report.bundled.table import Line


def letters(lines: Iterable[Line]) -> str:
    """Letters of the hosts that measured any of these lines; '' where the record is of one host."""
    return ", ".join(sorted({each["host"] for line in lines for each in line.hosts}))


NO_COMPARISON = "rows from different hosts cannot be compared with each other"


def apart(groups: Iterable[Iterable[Line]]) -> bool:
    """Whether these groups of lines were measured on different hosts; those that nobody measured do not count."""
    return len({letters(group) for group in groups} - {""}) > 1


def advice(lines: Sequence[Line], again: Mapping[str, VerdictReached | None], table: TablePlanned) -> list[str]:
    """For each series what to build with, in per cent over the baseline, as the original gives it.

    Args:
        lines: all comparisons of the study.
        again: by comparison, the verdict on the fresh starts that the best was measured again on.
        table: the study as its record has it.
    """
    said = []
    measured = {line.key: line for line in lines if line.interval is not None}
    for series, keys in over_baseline(table).items():
        name = f"{series}: " if series else ""
        rows = {row: [measured[key] for key in mine if key in measured] for row, mine in keys.items()}
        rows = {row: mine for row, mine in rows.items() if mine}
        if not rows:
            continue
        faster = {row: each for row, each in rows.items() if all(_kind(line) == "faster" for line in each)}
        if not faster:
            loses = ", ".join(row for row, each in rows.items() if any(_kind(line) == "slower" for line in each))
            worse = f"; slower somewhere: {loses}" if loses else ""
            said.append(f"{name}no row is faster than the baseline wherever it was measured: keep the baseline{worse}.")
            continue
        best = max(faster, key=lambda row: _mean(faster[row]))
        told = f"{name}build with {best}: {_mean(faster[best]):+.1f} % over the baseline ({_steps(faster[best])})"
        fresh = [again.get(line.key) for line in faster[best]]
        values = [
            plainly.interval(each.ratios.get(line.quantity))
            for line, each in zip(faster[best], fresh, strict=True)
            if each
        ]
        if values and all(values):
            figures = ", ".join(per_cent(value) for value in values if value)
            told += f"; the best of {len(rows)}, so measured again on fresh starts: {figures}, the figures to quote"
        elif len(rows) > 1:
            told += f"; the best of {len(rows)} looks better than it is"
        if apart(rows.values()):
            told += f"; {NO_COMPARISON}"
        said.append(f"{told}.")
    return said


def _kind(line: Line) -> str:
    return line.together or line.verdict


def _mean(lines: Sequence[Line]) -> float:
    """Geometric mean of the ratios, in per cent over 1."""
    logs = [math.log(line.interval["ratio"]) for line in lines if line.interval]
    return 100.0 * (math.exp(statistics.fmean(logs)) - 1.0)


def _steps(lines: Sequence[Line]) -> str:
    return ", ".join(
        per_cent(line.interval) + (f" at {plural(line.threads, 'thread')}" if line.threads else "")
        for line in lines
        if line.interval
    )
