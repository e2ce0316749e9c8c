"""The tables of verdicts: one for each load, or for each candidate on a suite of tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from burnish.model.quantity import BY_NAME, Quantity
from burnish.model.recipe import Marks
from burnish.report.analysis import marks, suites
from burnish.report.analysis.verdict import words
from burnish.report.compose import dropping, grid, points, role_of, row, section
from burnish.report.document import Column, Points, Section, Span, Table
from burnish.report.quantities import compared, is_latency
from burnish.report.sections import quantities
from burnish.report.words import half_width, interval

if TYPE_CHECKING:
    from burnish.report.result import Result, Row


SITTING = "sitting"
"""Head of the column with the half-width of the interval over one sitting's own starts."""


def sections(result: Result) -> list[Section]:
    """Every table of verdicts, then how long a pass of each suite takes."""
    marked = marks.by_variant(result)
    tables = []
    for load, head, rows in suites.tables(result.rows):
        verdicts = section(
            "verdicts",
            f"{load}, ratios to {result.baseline}",
            _table(head, rows, marked),
            _repeated(rows),
            shorter(cell for _, cell in rows),
            marks.legend(marked.get(cell.candidate) for _, cell in rows),
            _other_middles(rows),
        )
        also = f"{load}, also measured: change in per cent to {result.baseline}"
        measured = [(_name(name, cell, marked), cell.quantities) for name, cell in rows if cell.quantities]
        tables += [verdicts, *quantities.sections(also, head, measured)]
    times = [section("suites", title, grid("times", suites.TABLE, rows)) for title, rows in suites.times(result)]
    return [*tables, *times]


def _table(head: str, rows: Sequence[tuple[str, Row]], marked: Mapping[str, Marks]) -> Table:
    measured = compared(cell.headline for _, cell in rows)
    titles = [quantity.title for quantity in measured]
    names = (Column(name, whole=True) for name in ("verdict", *titles))
    last = (Column(name, right=True, whole=True) for name in (*((SITTING,) if _beside(rows) else ()), "starts"))
    columns = (Column(head), *names, *last)
    body = tuple(
        row(*_cells(name, cell, marked, measured), *((_sitting(cell),) if _beside(rows) else ()), _starts(cell))
        for name, cell in rows
    )
    first, *others = spared([cell for _, cell in rows], measured)
    return Table("verdicts", dropping(columns, "starts", first, SITTING, *others), body)


def spared(cells: Sequence[Row], measured: Sequence[Quantity]) -> list[str]:
    """Titles of quantities in the order in which a table can do without: those that its verdicts are about go last."""
    about = {cell.headline for cell in cells}
    titles = {wanted: [one.title for one in measured if (one.name in about) is wanted] for wanted in (False, True)}
    return [*titles[False][::-1], *titles[True][::-1]]


def _beside(rows: Sequence[tuple[str, Row]]) -> bool:
    """Whether a row has an interval over its own sitting beside the one to be repeated."""
    return any(cell.sitting is not None for _, cell in rows)


def _sitting(cell: Row) -> str:
    """Half-width of the headline's interval over the starts of the cell's own sitting."""
    return half_width(cell.sitting.intervals.get(cell.headline)) if cell.sitting else "-"


def _cells(name: str, cell: Row, marked: Mapping[str, Marks], measured: Sequence[Quantity]) -> tuple[str | Span, ...]:
    verdict = Span(words(cell.verdict, cell.within), role_of(cell.verdict))
    ratios = (interval(cell.of(quantity.name)) for quantity in measured)
    return _name(name, cell, marked), verdict, *ratios


def _name(name: str, cell: Row, marked: Mapping[str, Marks]) -> Span:
    return Span(name, marks=marks.letters(marked.get(cell.candidate)))


def _starts(cell: Row) -> str:
    return str(cell.starts) + (f" (+{cell.invalid_starts})" if cell.invalid_starts else "")


def _repeated(rows: Sequence[tuple[str, Row]]) -> Points | None:
    """What the brackets beside the starts mean."""
    if not any(cell.invalid_starts for _, cell in rows):
        return None
    return points(["starts (+n): n more were invalid and repeated"])


def shorter(cells: Iterable[Row]) -> Points | None:
    """How ratios of response times are to be read, if verdicts are about some."""
    titles = dict.fromkeys(BY_NAME[cell.headline].title for cell in cells if is_latency(cell.headline))
    return points([f"{title}: above 1 it is shorter than the baseline's" for title in titles]) if titles else None


def _other_middles(rows: Sequence[tuple[str, Row]]) -> Points:
    """The ratios by other estimators of the centre."""
    return points(
        (
            f"{name}, {other.name}: {interval(other.interval)}"
            for name, cell in rows
            for other in cell.sensitivity
            if other.interval is not None
        ),
        detail=True,
    )
