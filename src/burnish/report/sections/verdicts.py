"""The tables of verdicts: one for each load, or for each candidate on a suite of tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from burnish.model.recipe import Marks
from burnish.report import marks, suites
from burnish.report.document import Column, Points, Section, Span, Table, dropping, grid, points, role_of, row, section
from burnish.report.verdict import words
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
            *_tables(head, rows, marked),
            marks.legend(marked.get(cell.candidate) for _, cell in rows),
            _other_middles(rows),
        )
        for load, head, rows in suites.tables(result.rows)
    ]
    times = [section("suites", title, grid("times", suites.TABLE, rows)) for title, rows in suites.times(result)]
    return [*tables, *times]


def _tables(head: str, rows: Sequence[tuple[str, Row]], marked: Mapping[str, Marks]) -> tuple[Table, Table]:
    """The same twice: a terminal has no room for a column of invalid starts."""
    narrow = (Column(head), *(Column(name, whole=True) for name in ("verdict", "capacity", "throughput")))
    starts = Column("starts", right=True, whole=True)
    return (
        Table(
            "verdicts",
            dropping((*narrow, starts), "starts", "throughput", "capacity"),
            tuple(row(*_cells(name, cell, marked), _starts(cell)) for name, cell in rows),
            only="terminal",
        ),
        Table(
            "verdicts",
            (*narrow, starts, Column("invalid starts", right=True, whole=True)),
            tuple(row(*_cells(name, cell, marked), str(cell.starts), str(cell.invalid_starts)) for name, cell in rows),
            only="markdown",
        ),
    )


def _cells(name: str, cell: Row, marked: Mapping[str, Marks]) -> tuple[str | Span, ...]:
    candidate = Span(name, marks=marks.letters(marked.get(cell.candidate)))
    verdict = Span(words(cell.verdict, cell.within), role_of(cell.verdict))
    return candidate, verdict, interval(cell.capacity), interval(cell.throughput)


def _starts(cell: Row) -> str:
    return str(cell.starts) + (f" (+{cell.invalid_starts})" if cell.invalid_starts else "")


def _other_middles(rows: Sequence[tuple[str, Row]]) -> Points:
    """What other ways of taking the middle say."""
    return points(
        (
            f"{name}, {other['name']}: {interval(other)}"
            for name, cell in rows
            for other in cell.sensitivity
            if "ratio" in other
        ),
        only="markdown",
    )
