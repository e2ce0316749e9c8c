"""The tables of verdicts: one for each load, or for each candidate on a suite of tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from burnish.model.recipe import Marks
from burnish.report.analysis import marks, suites
from burnish.report.analysis.verdict import words
from burnish.report.compose import dropping, grid, points, role_of, row, section
from burnish.report.document import Column, Points, Section, Span, Table
from burnish.report.words import interval

if TYPE_CHECKING:
    from burnish.report.result import Result, Row


def sections(result: Result) -> list[Section]:
    """Every table of verdicts, then what a pass of each suite takes."""
    marked = marks.by_variant(result)
    tables = [
        section(
            "verdicts",
            f"{load}, ratios to {result.baseline}",
            _table(head, rows, marked),
            _repeated(rows),
            marks.legend(marked.get(cell.candidate) for _, cell in rows),
            _other_middles(rows),
        )
        for load, head, rows in suites.tables(result.rows)
    ]
    times = [section("suites", title, grid("times", suites.TABLE, rows)) for title, rows in suites.times(result)]
    return [*tables, *times]


def _table(head: str, rows: Sequence[tuple[str, Row]], marked: Mapping[str, Marks]) -> Table:
    names = (Column(name, whole=True) for name in ("verdict", "capacity", "throughput"))
    columns = (Column(head), *names, Column("starts", right=True, whole=True))
    body = tuple(row(*_cells(name, cell, marked), _starts(cell)) for name, cell in rows)
    return Table("verdicts", dropping(columns, "starts", "throughput", "capacity"), body)


def _cells(name: str, cell: Row, marked: Mapping[str, Marks]) -> tuple[str | Span, ...]:
    candidate = Span(name, marks=marks.letters(marked.get(cell.candidate)))
    verdict = Span(words(cell.verdict, cell.within), role_of(cell.verdict))
    return candidate, verdict, interval(cell.capacity), interval(cell.throughput)


def _starts(cell: Row) -> str:
    return str(cell.starts) + (f" (+{cell.invalid_starts})" if cell.invalid_starts else "")


def _repeated(rows: Sequence[tuple[str, Row]]) -> Points | None:
    """What stands in brackets beside the starts."""
    if not any(cell.invalid_starts for _, cell in rows):
        return None
    return points(["starts (+n): n more were invalid and repeated"])


def _other_middles(rows: Sequence[tuple[str, Row]]) -> Points:
    """What other ways of taking the middle say."""
    return points(
        (
            f"{name}, {other['name']}: {interval(other)}"
            for name, cell in rows
            for other in cell.sensitivity
            if "ratio" in other
        ),
        detail=True,
    )
