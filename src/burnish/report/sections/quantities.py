"""Quantities measured besides the headline one: latency, memory, each with its own verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burnish.model.quantity import Quantity
from burnish.report.compose import role_of, row, section
from burnish.report.document import Cell, Column, Section, Span, Table
from burnish.report.quantities import Measured, further
from burnish.report.words import inverse, level_mark, per_cent

_BETTER = {"faster": "better", "slower": "worse"}
"""Words for verdicts that fit every quantity: less memory is better, not faster."""


def sections(
    title: str, head: str, rows: Sequence[tuple[Span, Mapping[str, Measured]]], *, beside: Sequence[Quantity] = ()
) -> list[Section]:
    """A row for each cell, a column for each quantity that has verdicts; empty if none has.

    Args:
        title: what the table is about, and what it is compared with.
        head: title of the first column.
        rows: for each row, the text of the first column and the measurements by quantity.
        beside: quantities without a verdict of their own that get a column too.
    """
    quantities = (*beside, *further(measured for _, measured in rows))
    if not quantities:
        return []
    columns = (Column(head), *(Column(quantity.title, whole=True) for quantity in quantities))
    body = tuple(
        row(name, *(_cell(quantity, measured.get(quantity.name)) for quantity in quantities)) for name, measured in rows
    )
    return [section("quantities", title, Table("quantities", columns, body))]


def _cell(quantity: Quantity, measured: Measured | None) -> Cell:
    """``-4.1 better [-5.0, -3.2]``: how much more or less the candidate has; without its verdict, the rest."""
    if measured is None or (not measured.verdict and (measured.interval is None or not quantity.headline)):
        return Cell((Span("-"),))
    if not measured.verdict and measured.interval is not None:
        return Cell((Span(f"{per_cent(measured.interval)}{level_mark(measured.interval)}"),))
    verdict = Span(_BETTER.get(measured.verdict, measured.verdict), role_of(measured.verdict))
    if measured.interval is None:
        return Cell((verdict,))
    change = measured.interval if quantity.better == "more" else inverse(measured.interval)
    estimate, _, ends = per_cent(change).partition(" ")
    return Cell((Span(f"{estimate} {verdict.text}", verdict.role), Span(f"{ends}{level_mark(change)}")), beside=True)
