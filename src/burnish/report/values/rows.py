"""Every ratio of a run as a row of plain values, for tables of other programs (CSV, Parquet)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from burnish.report.page.cells import Shown, shown
from burnish.report.words import inert

if TYPE_CHECKING:
    from burnish.report.page.details import Details
    from burnish.report.result import Result

Value = str | float | int | None

COLUMNS: Mapping[str, type] = {
    "run": str,
    "begun": str,
    "engine": str,
    "version": str,
    "host": str,
    "baseline": str,
    "candidate": str,
    "cell": str,
    "workload": str,
    "threads": int,
    "quantity": str,
    "verdict": str,
    "ratio": float,
    "low": float,
    "high": float,
    "level": float,
    "sitting_low": float,
    "sitting_high": float,
    "starts": int,
    "marks": str,
}
"""Columns in order, with the type of their values; any value may be missing.

Ratios are above 1 where the candidate is better. `low` and `high` are for another sitting, `sitting_low` and
`sitting_high` for the run's own.
"""


def rows(result: Result, details: Details) -> list[dict[str, Value]]:
    """A row for each cell with a ratio."""
    version = details.source.version if details.source else None
    hosts = (f"{facts.get('cpu_model', '')} {facts.get('machine', '')}".strip() for facts in details.hosts.values())
    head: dict[str, Value] = {
        "run": result.name,
        "begun": result.begun,
        "engine": result.engine,
        "version": version,
        "host": ", ".join(hosts),
        "baseline": result.baseline,
    }
    return [{**head, **_cell(cell)} for cell in shown(result, details)]


def _cell(cell: Shown) -> dict[str, Value]:
    interval, inner = cell.interval, cell.sitting
    assert interval is not None  # noqa: S101 - cells without a ratio are not shown
    return {
        "candidate": cell.candidate,
        "cell": cell.key or cell.name,
        "workload": cell.workload,
        "threads": cell.threads,
        "quantity": cell.quantity,
        "verdict": cell.verdict,
        "ratio": interval.ratio,
        "low": interval.low,
        "high": interval.high,
        "level": interval.level,
        "sitting_low": inner.low if inner else None,
        "sitting_high": inner.high if inner else None,
        "starts": cell.starts,
        "marks": ", ".join(cell.marks.words),
    }


def as_csv(every: Iterable[Mapping[str, Value]]) -> str:
    """The rows as CSV with a head; missing values are empty.

    A text that a spreadsheet would take for a formula gets an apostrophe before it, which spreadsheets do not show.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in every:
        values = (row[name] for name in COLUMNS)
        writer.writerow([inert(value) if isinstance(value, str) else value for value in values])
    return text.getvalue()


def by_column(every: Sequence[Mapping[str, Value]]) -> dict[str, list[Value]]:
    """The rows by column."""
    return {name: [row[name] for row in every] for name in COLUMNS}
