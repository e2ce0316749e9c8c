"""Reads tables from a dump: columns, their types, and sample values from its rows; pure.

Only the head and the tail of each INSERT are parsed, so that a dump of gigabytes is read quickly. The range of a column
that the rows are not sorted by is therefore the range of a sample.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

SAMPLES = 16
"""Maximum number of different sample values of a column."""

LARGEST = (1 << 31) - 1
"""Largest number that a placeholder can draw."""

_PARSED = 1 << 16  # characters parsed at either end of an INSERT
_LONG = 200  # maximum length of a sample
_TABLE = re.compile(r"^\s*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:[`\w$]+\.)?`?([\w$-]+)`?\s*\(", re.IGNORECASE)
_INSERT = re.compile(
    r"^\s*(?:INSERT|REPLACE)\s+(?:IGNORE\s+)?INTO\s+(?:[`\w$]+\.)?`?([\w$-]+)`?\s*(\([^()]*\))?\s*VALUES\s*",
    re.IGNORECASE,
)
_USE = re.compile(r"\bUSE\s+`?([^`;\s]+)`?\s*;", re.IGNORECASE)
_COLUMN = re.compile(r"^`?([\w$-]+)`?\s+([A-Za-z]+)\s*(?:\(([^()]*)\))?(.*)$", re.DOTALL)
_KEY = re.compile(r"^(?:CONSTRAINT\s+\S+\s+)?(PRIMARY|UNIQUE)(?:\s+(?:KEY|INDEX))?[^(]*\(([^()]*)\)", re.IGNORECASE)
_NO_COLUMN = re.compile(
    r"^(?:CONSTRAINT|PRIMARY|UNIQUE|KEY|INDEX|FULLTEXT|SPATIAL|FOREIGN|CHECK|PERIOD)\b", re.IGNORECASE
)
_TOKEN = re.compile(r"(?:_\w+\s*)?'(?:[^'\\]|\\.|'')*'|[(),;]|[^'(),;]+")
_INTEGERS: Mapping[str, int] = {
    "tinyint": 127,
    "bool": 1,
    "boolean": 1,
    "bit": 1,
    "smallint": 32_767,
    "mediumint": 8_388_607,
    "int": LARGEST,
    "integer": LARGEST,
    "bigint": LARGEST,
    "serial": LARGEST,
}


@dataclass(frozen=True)
class Column:
    """Facts about a column.

    Attributes:
        name: its name in lower case.
        kind: first word of its type, in lower case.
        size: text in parentheses after the type: length, digits, or members of an enum.
        counts: whether it is AUTO_INCREMENT.
        alone: whether it is unique by itself.
        low: smallest integer in the rows, or None.
        high: largest integer in the rows, or None.
        samples: values from the rows, as SQL literals.
    """

    name: str
    kind: str
    size: str = ""
    counts: bool = False
    alone: bool = False
    low: int | None = None
    high: int | None = None
    samples: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether it contains integers."""
        return self.kind in _INTEGERS


@dataclass(frozen=True)
class Table:
    """A table with the server's spelling of its name, and its columns in order, by name in lower case."""

    name: str
    columns: Mapping[str, Column]


@dataclass
class _Seen:
    """Range and samples of a column in the rows so far."""

    low: int | None = None
    high: int | None = None
    samples: dict[str, None] = field(default_factory=dict)

    def add(self, literal: str) -> None:
        if re.fullmatch(r"-?\d{1,18}", literal):
            number = int(literal)
            self.low = number if self.low is None else min(self.low, number)
            self.high = number if self.high is None else max(self.high, number)
        if len(self.samples) < SAMPLES and literal.upper() != "NULL" and len(literal) <= _LONG:
            self.samples[literal] = None


def from_dump(lines: Iterable[str], database: str | None = None) -> dict[str, Table]:
    """The tables of a dump by their names in lower case.

    Args:
        lines: lines of the dump.
        database: database whose tables are read, if the dump names databases; None: all.
    """
    tables: dict[str, Table] = {}
    seen: dict[tuple[str, str], _Seen] = {}
    current: str | None = None
    for statement in _statements(lines):
        made, filled = _TABLE.match(statement), _INSERT.match(statement)
        if not (made or filled):
            used = _USE.findall(statement)
            current = used[-1] if used else current
        elif database is not None and current is not None and current.lower() != database.lower():
            continue
        elif made:
            tables[made[1].lower()] = _table(made[1], statement[made.end() :])
        elif filled and filled[1].lower() in tables:
            key = filled[1].lower()
            table = tables[key]
            order = [name.strip(" `").lower() for name in (filled[2] or "").strip("()").split(",")]
            names = order if filled[2] else list(table.columns)
            for row in _rows(statement[filled.end() :], len(names)):
                for name, literal in zip(names, row, strict=True):
                    seen.setdefault((key, name), _Seen()).add(literal)
    return {name: known(table, {key[1]: item for key, item in seen.items() if key[0] == name}) for name, table in
            tables.items()}  # fmt: skip


def known(table: Table, seen: Mapping[str, _Seen]) -> Table:
    """The table with the ranges and samples from its rows."""
    columns = dict(table.columns)
    for name, item in seen.items():
        if name in columns:
            before = columns[name]
            lows = [number for number in (before.low, item.low) if number is not None]
            highs = [number for number in (before.high, item.high) if number is not None]
            columns[name] = replace(
                before,
                low=min(lows, default=None),
                high=max(highs, default=None),
                samples=tuple(item.samples),
            )
    return replace(table, columns=columns)


def seen_in(values: Iterable[str]) -> _Seen:
    """Range and samples from literals of one column."""
    observed = _Seen()
    for value in values:
        observed.add(value)
    return observed


def _statements(lines: Iterable[str]) -> Iterator[str]:
    """Complete definitions and INSERTs of a dump; other lines one by one."""
    held: list[str] = []
    for line in lines:
        if held or _TABLE.match(line) or _INSERT.match(line):
            held.append(line)
            if not line.rstrip().endswith(";"):
                continue
            yield "".join(held)
            held = []
        else:
            # A dump written by hand may have several statements in a line.
            parts = line.split(";") if line.count(";") > 1 else [line]
            yield from (f"{part.strip()};" if len(parts) > 1 else part for part in parts)
    if held:
        yield "".join(held)


def _table(name: str, body: str) -> Table:
    """A table from what follows its opening parenthesis."""
    parts, tail = _parts(body)
    columns: dict[str, Column] = {}
    for part in parts:
        key = _KEY.match(part)
        match = None if _NO_COLUMN.match(part) else _COLUMN.match(part)
        if key is not None:
            members = [
                re.sub(r"\(\d+\)| (ASC|DESC)$", "", member, flags=re.IGNORECASE).strip(" `").lower()
                for member in key[2].split(",")
            ]
            if len(members) == 1 and members[0] in columns:
                columns[members[0]] = replace(columns[members[0]], alone=True)
        elif match is not None:
            rest = match[4].upper()
            columns[match[1].lower()] = Column(
                name=match[1].lower(),
                kind=match[2].lower(),
                size=(match[3] or "").strip(),
                counts="AUTO_INCREMENT" in rest or match[2].lower() == "serial",
                alone="PRIMARY KEY" in rest or " UNIQUE" in rest or match[2].lower() == "serial",
            )
    following = re.search(r"AUTO_INCREMENT\s*=\s*(\d+)", tail, re.IGNORECASE)
    if following:
        last = int(following[1]) - 1
        columns = {
            key: replace(column, low=1, high=last) if column.counts and last > 0 else column
            for key, column in columns.items()
        }
    return Table(name, columns)


def _parts(body: str) -> tuple[list[str], str]:
    """The parts between commas within the parentheses, and the text after these."""
    parts: list[str] = []
    depth, words = 0, ""
    for match in re.finditer(r"'(?:[^'\\]|\\.|'')*'|`[^`]*`|[(),]|[^'`(),]+|['`]", body, re.DOTALL):
        piece = match[0]
        if piece == ")" and depth == 0:
            return [*parts, words.strip()], body[match.end() :]
        if piece == "," and depth == 0:
            parts.append(words.strip())
            words = ""
            continue
        depth += (piece == "(") - (piece == ")")
        words += piece
    return [*parts, words.strip()], ""


def _rows(values: str, width: int) -> Iterator[Sequence[str]]:
    """Rows with `width` values from the head of an INSERT, and from its tail if it is long."""
    yield from _read(values[:_PARSED], width)
    if len(values) > _PARSED:
        tail = values[max(_PARSED, len(values) - _PARSED) :]
        begin = tail.find("),(")
        if begin >= 0:
            yield from _read(tail[begin + 2 :], width)


def _read(text: str, width: int) -> Iterator[Sequence[str]]:
    row: list[str] = []
    word, depth = "", 0
    for piece in _TOKEN.findall(text):
        if piece == "(" and depth == 0:
            row, word, depth = [], "", 1
        elif piece == ")" and depth == 1:
            row.append(word.strip())
            if len(row) == width:
                yield row
            depth = 0
        elif piece == "," and depth == 1:
            row.append(word.strip())
            word = ""
        elif depth:
            depth += (piece == "(") - (piece == ")")
            word += piece


def literal(column: Column, turn: int = 0, *, fresh: bool = False) -> str:
    """A value of the column as SQL: a sample if there is one, otherwise a value of its type.

    Args:
        column: the column.
        turn: index among several samples.
        fresh: whether the value must be new, for a new row.
    """
    if fresh and column.counts:
        return "NULL"
    if column.whole:
        return _whole(column, turn, fresh=fresh)
    if fresh and column.alone:
        return _made(column)
    if column.samples:
        return column.samples[turn % len(column.samples)]
    return _made(column)


def _whole(column: Column, turn: int, *, fresh: bool) -> str:
    most = _INTEGERS[column.kind]
    low, high = (0, most) if column.low is None or column.high is None else (column.low, column.high)
    if fresh and column.alone:
        low, high = min(high + 1, most), most
    if max(abs(low), abs(high)) <= LARGEST:
        return f"{{{low}..{high}}}" if low < high else str(low)
    return column.samples[turn % len(column.samples)] if column.samples else f"{{0..{LARGEST}}}"


_DATE = "20{10..24}-0{1..9}-{10..28}"
_TIME = "{10..23}:{10..59}:{10..59}"


def _made(column: Column) -> str:
    """A value derived from the type only."""
    kind, size = column.kind, column.size
    if kind in ("enum", "set"):
        return size.split(",", maxsplit=1)[0].strip() or "''"
    if kind in ("decimal", "numeric", "dec", "fixed", "float", "double", "real"):
        digits = [int(digits_text) for digits_text in size.split(",") if digits_text.strip().isdigit()] or [10, 0]
        before = max(1, min(6, digits[0] - (digits[1] if len(digits) > 1 else 0)))
        return f"{{1..{10**before - 1}}}"
    if kind == "year":
        return "{2000..2024}"
    times = {"date": _DATE, "datetime": f"{_DATE} {_TIME}", "timestamp": f"{_DATE} {_TIME}", "time": _TIME}
    if kind in times:
        return f"'{times[kind]}'"
    length = int(size) if size.isdigit() else 255
    digits_allowed = max(1, min(9, length))
    return f"'{{1..{10**digits_allowed - 1}}}'"
