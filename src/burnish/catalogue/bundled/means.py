"""Means over whole published tables: as their text states them, and computed again from their cells."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from pydantic import Field

from burnish.base.errors import UserError
from burnish.catalogue.bundled import published
from burnish.catalogue.edge import Entry, Reason


class MeanEntry(Entry):
    """``[means.NAME]``: a mean that a publication states, and the lines of its table that it is of."""

    title: str = Field(min_length=3)
    reason: Reason
    stated: float
    table: str
    line: str
    against: str
    run: str = ""


@dataclass(frozen=True)
class PublishedMean:
    """A stated mean beside what its cells give.

    Attributes:
        name: as in the study's file.
        title: which mean.
        reason: how it came about, and why it differs from others.
        stated: change in per cent, as printed.
        table: the published table.
        line: the line that is compared.
        against: the line that it is compared with.
        arithmetic: mean of the cells' changes, in per cent.
        geometric: geometric mean of their ratios, as a change in per cent.
        cells: number of cells with a rate in both lines.
        lowest: smallest change of a cell, in per cent.
        highest: largest.
    """

    name: str
    title: str
    reason: str
    stated: float
    table: str
    line: str
    against: str
    arithmetic: float
    geometric: float
    cells: int
    lowest: float
    highest: float


def computed(name: str, entry: MeanEntry, where: str) -> PublishedMean:
    """The mean with what its cells give; a `UserError` if the table has no such lines or no cell in both."""
    rates = published.rates(entry.table, entry.line, entry.run)
    base = published.rates(entry.table, entry.against, entry.run)
    ratios = [rates[cell] / base[cell] for cell in rates.keys() & base.keys()]
    if not ratios:
        raise UserError(f"{where}: means.{name}: no cell of {entry.table} has both {entry.line} and {entry.against}")
    return PublishedMean(
        name=name,
        arithmetic=100.0 * (statistics.fmean(ratios) - 1.0),
        geometric=100.0 * (math.exp(statistics.fmean(map(math.log, ratios))) - 1.0),
        cells=len(ratios),
        lowest=100.0 * (min(ratios) - 1.0),
        highest=100.0 * (max(ratios) - 1.0),
        **entry.model_dump(exclude={"run"}),
    )
