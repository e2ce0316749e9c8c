"""Figures of the published tables (data/published/*.csv), as changes in per cent; pure once the files are read."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from burnish.base.errors import UserError, unknown
from burnish.catalogue.answers import PUBLISHED

_KEYS = ("id", "option_set", "build", "workload", "flag", "patch")
"""First columns of the tables that hold figures: what a line is called by."""

SAMPLES = "% of samples"
"""Unit of what perf saw."""


@dataclass(frozen=True)
class Reference:
    """Where a published figure stands.

    Attributes:
        table: name of the CSV, without its suffix.
        line: value of its first column.
        against: the line that it is compared with; '' where the table itself tells the change.
        column: value of the second column that tells apart lines of one name (the source, the binary); '' without.
        against_column: likewise, of the line that it is compared with.
    """

    table: str
    line: str
    against: str = ""
    column: str = ""
    against_column: str = ""

    @property
    def key(self) -> str:
        """As in the answers: ``TABLE: LINE``."""
        return f"{self.table}: {self.line}"


@dataclass(frozen=True)
class Figure:
    """What was published: a change from `low` to `high`.

    Attributes:
        low: smaller end, in `unit`; None where a line gives no figure.
        high: larger end; equal to `low` where one figure was given.
        unit: ``%`` (of transactions per second; above 0 is faster), ``MB``, or ``% of samples``: a function's share of
            a profile's samples, `low` without the change and `high` with it.
        note: the table's own remark.
    """

    low: float | None
    high: float | None
    unit: str = "%"
    note: str = ""

    @property
    def words(self) -> str:
        """In a table: ``-55``, ``+1 to +4``, ``200 MB``, ``3.23 to 0.44`` (of samples), ``no figure``."""
        if self.low is None or self.high is None:
            return "no figure"
        if self.unit == SAMPLES:
            return f"{self.low:g} to {self.high:g}"
        if self.unit != "%":
            return f"{self.low:g} {self.unit}"
        one, other = _signed(self.low), _signed(self.high)
        return one if one == other else f"{one} to {other}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record."""
        return asdict(self)


def _signed(value: float) -> str:
    return f"{value:+.0f}" if value == round(value) else f"{value:+.1f}"


@cache
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """A table's lines by column; a `UserError` with the nearest name for one that is not there."""
    path = PUBLISHED / f"{name}.csv"
    if not path.is_file():
        raise unknown("published table", name, [each.stem for each in PUBLISHED.glob("*.csv")])
    with path.open(newline="") as file:
        return tuple(csv.DictReader(file))


def lines(name: str) -> tuple[str, ...]:
    """The names of a table's lines, each once, in their order."""
    key = _key(name)
    return tuple(dict.fromkeys(row[key] for row in table(name)))


def _key(name: str) -> str:
    columns = list(table(name)[0])
    if columns[0] not in _KEYS:
        raise UserError(f"published table {name}: its first column {columns[0]!r} names no lines")
    return columns[0]


def figure(reference: Reference, threads: int | None = None) -> Figure | None:
    """The figure that a reference names; None where nothing was published for that many threads.

    Raises:
        UserError: no such table or line.
    """
    mine = _rows(reference.table, reference.line, reference.column)
    if "tps" in mine[0]:
        other = _rows(reference.table, reference.against, reference.against_column)
        one, base = _rate(mine, threads), _rate(other, threads)
        if one is None or base is None:
            return None
        change = 100.0 * (one / base - 1.0)
        return Figure(change, change)
    row = mine[0]
    if "percent_before" in row:
        return Figure(float(row["percent_before"]), float(row["percent_after"]), SAMPLES)
    if "percent" in row:
        return Figure(float(row["percent"]), float(row["percent"]))
    return _told(row)


def _told(row: Mapping[str, str]) -> Figure:
    """The figure of a line that tells a direction and per cents."""
    note = row.get("note", "")
    low, high = (float(row[name]) if row.get(name) else None for name in ("percent_low", "percent_high"))
    if low is None or high is None:
        return Figure(None, None, note=note)
    if row["direction"] == "slower":
        return Figure(-high, -low, note=note)
    found = Figure(low, high, note=note)
    # The one line that is no change: its remark begins with its unit.
    return found if row["direction"] else replace(found, unit="MB")


def _rows(name: str, line: str, column: str) -> Sequence[Mapping[str, str]]:
    key = _key(name)
    found = [row for row in table(name) if row[key] == line]
    if not found:
        raise unknown(f"line of {name}", line, lines(name))
    if column:
        chosen = [row for row in found if column in (row.get("source"), row.get("binary"))]
        if not chosen:
            known = {value for row in found for value in (row.get("source"), row.get("binary")) if value}
            raise unknown(f"column of {name}: {line}", column, known)
        return chosen
    return found


def _rate(rows: Sequence[Mapping[str, str]], threads: int | None) -> float | None:
    """Mean of the rates at that many threads (of all where the table has one number only); None without any."""
    counts = {row["threads"] for row in rows}
    fitting = [
        float(row["tps"]) for row in rows if (len(counts) == 1 and threads is None) or row["threads"] == str(threads)
    ]
    return statistics.fmean(fitting) if fitting else None
