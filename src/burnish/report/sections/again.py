"""Figures of what was measured again in another placement than that in which it was found: a winner's to quote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.report.analysis.placed import WITH, by_candidate, elsewhere
from burnish.report.analysis.verdict import words
from burnish.report.compose import dropping, role_of, row, section
from burnish.report.document import Column, Section, Span, Table
from burnish.report.quantities import compared
from burnish.report.sections import quantities
from burnish.report.sections.verdicts import shorter, spared
from burnish.report.words import interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burnish.report.result import Result, Row


def sections(result: Result) -> list[Section]:
    """A row for each load, then what else was measured on the same starts; empty if there is no such confirmation."""
    return [part for rows in by_candidate(result, elsewhere(result)).values() for part in _of(result, rows)]


def _of(result: Result, rows: Sequence[Row]) -> list[Section]:
    """The same of one candidate."""
    measured = compared(cell.headline for cell in rows)
    titles = [quantity.title for quantity in measured]
    every = (
        Column("workload"),
        *(Column(name, whole=True) for name in ("verdict", *titles)),
        Column("starts", right=True, whole=True),
    )
    columns = dropping(every, "starts", *spared(rows, measured))
    body = tuple(
        row(
            cell.workload,
            Span(words(cell.verdict, cell.within), role_of(cell.verdict)),
            *(interval(cell.of(quantity.name)) for quantity in measured),
            str(cell.starts),
        )
        for cell in rows
    )
    title = f"{rows[0].candidate} again, {WITH[rows[0].placement]}, ratios to {result.baseline}"
    also = f"{rows[0].candidate} again, also measured: change in per cent to {result.baseline}"
    return [
        section("again", title, Table("verdicts", columns, body), shorter(rows)),
        *quantities.sections(also, "workload", [(Span(cell.workload), cell.quantities) for cell in rows]),
    ]
