"""Means that a publication states over its whole table: computed again from its cells, and measured here."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.model.quantity import BY_NAME
from burnish.record.events.bundled import StatedMean
from burnish.record.events.verdicts import Interval
from burnish.report.bundled.table import Line, StudyTable
from burnish.report.compose import grid, points, section
from burnish.report.document import Section
from burnish.report.sections.bundled.cells import names_of, of_series
from burnish.report.words import per_cent, plural
from burnish.statistics.means import geometric_mean

HEAD = ("published mean", "printed %", "its cells %", "geometric %", "cells", "worst %", "best %")
_DROPPED = ("cells", "geometric %", "best %")


def sections(table: StudyTable) -> list[Section]:
    """Each stated mean beside what its cells give, why they differ, and the mean of the cells measured here."""
    if not table.means:
        return []
    rows = [
        (
            mean.title,
            _signed(mean.stated),
            _signed(mean.arithmetic),
            _signed(mean.geometric),
            str(mean.cells),
            _signed(mean.lowest),
            _signed(mean.highest),
        )
        for mean in table.means
    ]
    lines = [f"{mean.title}: {mean.reason}" for mean in table.means]
    lines += [sentence for mean in table.means for sentence in _here(table, mean)]
    return [section("means", "The published means, computed again", grid("means", HEAD, rows, _DROPPED), points(lines))]


def _here(table: StudyTable, mean: StatedMean) -> list[str]:
    """For each series and reading, the mean of the cells that are compared with this one's, and its worst cell."""
    own = [line for line in table.lines if line.row in mean.rows and line.claim]
    sentences = []
    for series, reading in dict.fromkeys((line.series, line.reading) for line in own):
        lines = [line for line in own if (line.series, line.reading) == (series, reading)]
        sentences += _reading(table, series, reading, lines)
    return sentences


def _reading(table: StudyTable, series: str, reading: str, lines: Sequence[Line]) -> list[str]:
    measured = [line for line in lines if line.interval is not None and line.verdict != "invalid"]
    quantities = list(dict.fromkeys(line.quantity for line in measured))
    # A publication's means are of rates: where rows are compared by different quantities, ours is of throughput.
    quantity = quantities[0] if len(quantities) == 1 else "throughput"
    ratios = [ratio for line in measured if (ratio := _ratio(line, quantity)) is not None]
    here = geometric_mean(ratios) if len(ratios) == len(measured) else None
    if here is None:
        return []
    title = table.readings.get(reading, {}).get("title") or table.title
    counted = f"the geometric mean of the {plural(len(measured), 'cell')} measured of {len(lines)}"
    counted += f", all in {BY_NAME[quantity].title}" * (len(quantities) > 1)
    sentences = [f"here: {of_series(series, title)}: {per_cent(here)} %, {counted}"]
    worst = min(lines, key=lambda line: line.figure.low if line.figure and line.figure.low is not None else 0.0)
    where = f"its worst published cell ({worst.published} %: {names_of(table)[worst.key]})"
    told = f"{per_cent(worst.interval)} %, {worst.last}" if worst.interval else worst.reason or worst.last
    return [*sentences, f"here: {where}: {told}{f'; holds? {worst.holds}' if worst.holds else ''}"]


def _ratio(line: Line, quantity: str) -> Interval | None:
    """A cell's ratio of a quantity, which need not be the one that its row is compared by."""
    if line.quantity == quantity:
        return line.interval
    measured = line.quantities.get(quantity)
    return measured.interval if measured is not None else None


def _signed(value: float) -> str:
    return f"{value:+.1f}"
