"""Figures of the published tables (data/published/*.csv), as changes in per cent."""

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
"""Possible first columns of the tables with figures: the key of a line."""

_RATES = ("tps", "transactions_per_second")
"""Possible columns with rates."""

_COLUMNS = ("source", "binary", "buffer_pool_gb")
"""Possible columns that distinguish lines of the same name."""

SAMPLES = "% of samples"
"""Unit of figures measured with perf."""


@dataclass(frozen=True)
class Reference:
    """Location of a published figure.

    Attributes:
        table: name of the CSV file, without its suffix.
        line: value of its first column.
        against: the line that it is compared with; '' if the table contains the change itself.
        column: value of the second column that distinguishes lines of the same name (the source, the binary, the buffer
            pool), or ''.
        against_column: value of that column in the line that it is compared with, or ''.
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
    """A published change, from `low` to `high`.

    Attributes:
        low: lower end, in `unit`; None if the table gives no figure.
        high: upper end; equal to `low` if one figure was given.
        unit: ``%`` (of transactions per second; above 0 is faster), ``MB``, or ``% of samples``: a function's share of
            a profile's samples, `low` without the change and `high` with it.
        note: the published table's own remark.
    """

    low: float | None
    high: float | None
    unit: str = "%"
    note: str = ""

    @property
    def words(self) -> str:
        """Text for tables: ``-55``, ``+1 to +4``, ``200 MB``, ``3.23 to 0.44`` (of samples), ``no figure``."""
        if self.low is None or self.high is None:
            return "no figure"
        if self.unit == SAMPLES:
            return f"{self.low:g} to {self.high:g}"
        if self.unit != "%":
            return f"{self.low:g} {self.unit}"
        low, high = _signed(self.low), _signed(self.high)
        return low if low == high else f"{low} to {high}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record."""
        return asdict(self)


def _signed(value: float) -> str:
    return f"{value:+.0f}" if value == round(value) else f"{value:+.1f}"


@cache
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """The lines of a table, each by column; a `UserError` with the nearest name for an unknown table."""
    path = PUBLISHED / f"{name}.csv"
    if not path.is_file():
        raise unknown("published table", name, [path.stem for path in PUBLISHED.glob("*.csv")])
    with path.open(newline="") as file:
        return tuple(csv.DictReader(file))


def lines(name: str) -> tuple[str, ...]:
    """The names of a table's lines, without duplicates, in order."""
    key = _key(name)
    return tuple(dict.fromkeys(row[key] for row in table(name)))


def _key(name: str) -> str:
    columns = list(table(name)[0])
    if columns[0] not in _KEYS:
        raise UserError(f"published table {name}: its first column {columns[0]!r} names no lines")
    return columns[0]


def figure(reference: Reference, threads: int | None = None) -> Figure | None:
    """The figure at a reference; None if nothing was published for that number of threads.

    Raises:
        UserError: no such table or line.
    """
    rows = _rows(reference.table, reference.line, reference.column)
    if rate_column(rows[0]):
        base_rows = _rows(reference.table, reference.against, reference.against_column)
        rate, base_rate = _rate(rows, threads), _rate(base_rows, threads)
        if rate is None or base_rate is None:
            return None
        change = 100.0 * (rate / base_rate - 1.0)
        return Figure(change, change)
    row = rows[0]
    if "percent_before" in row:
        return Figure(float(row["percent_before"]), float(row["percent_after"]), SAMPLES)
    if "percent" in row:
        return Figure(float(row["percent"]), float(row["percent"]))
    return _range(row)


def _range(row: Mapping[str, str]) -> Figure:
    """The figure of a line with a direction and a range of per cents."""
    note = row.get("note", "")
    low, high = (float(row[name]) if row.get(name) else None for name in ("percent_low", "percent_high"))
    if low is None or high is None:
        return Figure(None, None, note=note)
    if row["direction"] == "slower":
        return Figure(-high, -low, note=note)
    change = Figure(low, high, note=note)
    # One line is a size rather than a change, and has no direction.
    return change if row["direction"] else replace(change, unit="MB")


def _rows(name: str, line: str, column: str) -> Sequence[Mapping[str, str]]:
    key = _key(name)
    rows = [row for row in table(name) if row[key] == line]
    if not rows:
        raise unknown(f"line of {name}", line, lines(name))
    if column:
        chosen = [row for row in rows if column in (row.get(name) for name in _COLUMNS)]
        if not chosen:
            known = {value for row in rows for name in _COLUMNS if (value := row.get(name))}
            raise unknown(f"column of {name}: {line}", column, known)
        return chosen
    return rows


def _rate(rows: Sequence[Mapping[str, str]], threads: int | None) -> float | None:
    """Mean of the rates at that number of threads (of all rows if they have the same number); None without rates."""
    counts = {row["threads"] for row in rows}
    fitting = [row for row in rows if (len(counts) == 1 and threads is None) or row["threads"] == str(threads)]
    return statistics.fmean(float(row[rate_column(row)]) for row in fitting) if fitting else None


def rate_column(row: Mapping[str, str]) -> str:
    """The column of a line's rate; '' if its table has no rates."""
    return next((name for name in _RATES if name in row), "")


def rates(name: str, line: str, run: str = "") -> Mapping[tuple[str, int], float]:
    """The rates of a line by distinguishing column and threads, each the mean of its runs; or those of one run.

    Raises:
        UserError: no such table, line or run; or the table has no rates.
    """
    rows = _rows(name, line, "")
    if not rate_column(rows[0]):
        raise UserError(f"published table {name}: it has no rates ({', '.join(_RATES)}), so no mean of them")
    if run and run not in (runs := {row.get("run", "") for row in rows}):
        raise unknown(f"run of {name}: {line}", run, runs)
    cells: dict[tuple[str, int], list[float]] = {}
    for row in rows:
        if row.get("run", "") == run or not run:
            column = next((row[own] for own in _COLUMNS if own in row), "")
            cells.setdefault((column, int(row["threads"])), []).append(float(row[rate_column(row)]))
    return {cell: statistics.fmean(values) for cell, values in cells.items()}
