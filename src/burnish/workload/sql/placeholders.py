"""Converts a statement's digest to statements that can be run, with a value for each ``?``; pure.

A digest has a ``?`` for each literal and ``(...)`` for a list of literals. The words around a literal show with which
column it is compared, or into which it is inserted; the column's type and values then provide a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from burnish.workload.sql.schema import Column, Table, literal

VARIANTS = 8
"""Number of statements that represent a digest whose literals are not numbers, each with other sample values."""

LISTED = 100
"""Maximum number of values in a list, and of rows in an INSERT."""

_TOKEN = re.compile(
    r"`[^`]*`|'[^']*'|\"[^\"]*\"|/\*.*?\*/|\(\s*\.\.\.\s*\)|\.\.\.|[A-Za-z_@$][\w@$]*|\d+|<=>|<=|>=|<>|!=|:=|\|\||&&|\S"
)
_COMPARISONS = {"=", "<", ">", "<=", ">=", "<>", "!=", "<=>", "LIKE"}
_ENDS_TABLES = {"WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "SET", "VALUES", "VALUE", "SELECT", "ON", "USING",
                "FOR", "UNION", "PROCEDURE", "INTO", "("}  # fmt: skip
_BEFORE_TABLES = {"FROM", "UPDATE", "INTO", "JOIN", "STRAIGHT_JOIN", ",", "."}
_JOINS = {"JOIN", "STRAIGHT_JOIN", ","}
_NO_ALIAS = {"INNER", "LEFT", "RIGHT", "CROSS", "OUTER", "NATURAL", "JOIN", "STRAIGHT_JOIN", "AS", "USE", "FORCE",
             "IGNORE", "PARTITION"}  # fmt: skip
_NO_FUNCTIONS = {"ALL", "AND", "ANY", "AS", "BETWEEN", "BY", "CASE", "DISTINCT", "ELSE", "EXISTS", "FROM", "HAVING",
                 "IN", "INTO", "JOIN", "LIKE", "NOT", "ON", "OR", "OVER", "SELECT", "SET", "SOME", "THEN", "UNION",
                 "USING", "VALUE", "VALUES", "WHEN", "WHERE", "XOR"}  # fmt: skip


class Unfilled(Exception):
    """A digest can't be converted to a statement; the message says why, in a few words."""


@dataclass(frozen=True)
class Averages:
    """Average rows per execution, if known; they determine the sizes of lists and limits."""

    sent: float | None = None
    examined: float | None = None
    affected: float | None = None


def filled(text: str, tables: Mapping[str, Table], averages: Averages) -> tuple[str, ...]:
    """The statements for a digest: one, or several if its values can't be drawn at run time.

    Args:
        text: the digest.
        tables: the known tables, by names in lower case.
        averages: average rows per execution.

    Raises:
        Unfilled: a literal's column is unknown or can't be determined.
    """
    tokens = _TOKEN.findall(text)
    if tokens and tokens[-1] == "...":
        raise Unfilled("it is cut off (max_digest_length was too small)")
    if not any(part == "?" or _is_list(part) for part in tokens):
        return (_joined(tokens),)
    first = _Filling(list(tokens), tables, averages, 0)
    statement = first.statement()
    if not first.sampled:
        return (statement,)
    turns = range(1, min(VARIANTS, first.sampled))
    rest = (_Filling(list(tokens), tables, averages, turn).statement() for turn in turns)
    return tuple(dict.fromkeys([statement, *rest]))


def _is_list(part: str) -> bool:
    return part.startswith("(") and part.endswith(")") and len(part) > 1


def _joined(tokens: list[str]) -> str:
    """Tokens as a statement, without spaces between a function's name and its parenthesis or around dots in names."""
    text = re.sub(r"(?<![`\w])([A-Za-z_]\w*) \(", _called, " ".join(tokens))
    text = re.sub(r"(?<=[`\w]) \. (?=[`\w*])", ".", text)
    return re.sub(r"@ (?=[@`\w])", "@", text)


def _called(match: re.Match[str]) -> str:
    return match[0] if match[1].upper() in _NO_FUNCTIONS else f"{match[1]}("


class _Filling:
    """One pass over a digest's tokens.

    Args:
        tokens: tokens of the digest.
        tables: the known tables.
        averages: average rows per execution.
        turn: index among several sample values of a column.
    """

    def __init__(self, tokens: list[str], tables: Mapping[str, Table], averages: Averages, turn: int) -> None:
        self.tokens = tokens
        self.tables = tables
        self.averages = averages
        self.turn = turn
        self.sampled = 0  # largest number of samples of a column whose value is not drawn; 0: all values are drawn
        self.named = self._named_tables()
        self._spell_tables()

    def statement(self) -> str:
        out: list[str] = []
        values = self._values_at()
        place = 0
        while place < len(self.tokens):
            if place == values:
                rows, place = self._rows(place)
                out += rows
                continue
            part = self.tokens[place]
            if part == "?":
                out.append(self._one(place))
            elif _is_list(part):
                out.append(self._list(place))
            else:
                out.append(part)
            place += 1
        return _joined(out)

    # Literals, by the words around them.

    def _one(self, place: int) -> str:
        before, after = self._word(place - 1), self._word(place + 1)
        if before in _COMPARISONS and (column := self._column_before(place - 1)):
            return self._value(column)
        if after in _COMPARISONS and (column := self._column_after(place + 2)):
            return self._value(column)
        if before == "BETWEEN":
            return self._value(self._compared(place - 1))
        if before == "AND" and self._word(place - 2) == "?" and self._word(place - 3) == "BETWEEN":
            return self._upper(place)
        if before == "(" and self._word(place - 2) == "IN":
            return self._value(self._compared(place - 2))
        if before in ("+", "-", "SELECT", "INTERVAL"):
            return "1"
        if before == "LIMIT" and after != ",":
            return self._limit()
        if before == "OFFSET" or (before == "LIMIT" and after == ","):
            return "0"
        if before == "," and self._word(place - 3) == "LIMIT":
            return self._limit()
        raise Unfilled(f"nothing says what the literal after {self.tokens[place - 1] if place else 'its begin'!r} is")

    def _list(self, place: int) -> str:
        if self._word(place - 1) != "IN":
            raise Unfilled(f"nothing says what the list after {self.tokens[place - 1]!r} holds")
        column = self._compared(place - 1)
        count = max(2, min(LISTED, round(self.averages.examined or 2)))
        return "(" + ", ".join(self._value(column, number) for number in range(count)) + ")"

    def _upper(self, place: int) -> str:
        """The upper end of a range, whose length is the average number of examined rows."""
        column = self._compared(place - 3)
        lower = literal(column, self.turn)
        if lower.startswith("{"):
            return f"{{+{max(0, min(1_000_000, round((self.averages.examined or 1) - 1)))}}}"
        self._sample(column)
        return max(lower, literal(column, self.turn + 1))

    def _limit(self) -> str:
        if self.averages.sent is None:
            raise Unfilled("how many rows LIMIT let through is not told (no SUM_ROWS_SENT)")
        return str(max(1, round(self.averages.sent)))

    def _value(self, column: Column, shift: int = 0) -> str:
        text = literal(column, self.turn + shift)
        if not text.startswith("{"):
            self._sample(column)
        return text

    def _sample(self, column: Column) -> None:
        self.sampled = max(self.sampled, len(column.samples))

    # INSERT: a value for each column.

    def _values_at(self) -> int:
        """Index of the token after VALUES of an INSERT; -1 if there is none."""
        if self._word(0) not in ("INSERT", "REPLACE"):
            return -1
        return next((i + 1 for i in range(len(self.tokens)) if self._word(i) in ("VALUES", "VALUE")), -1)

    def _rows(self, place: int) -> tuple[list[str], int]:
        """(tokens of the rows from `place` on, index after them)."""
        columns = self._inserted()
        part = self.tokens[place] if place < len(self.tokens) else ""
        if _is_list(part):
            given, end = [["?"]] * len(columns), place + 1
        elif part == "(":
            given, end = self._items(place + 1)
        else:
            raise Unfilled("nothing stands behind VALUES")
        if len(given) != len(columns):
            raise Unfilled(f"it has {len(given)} values for {len(columns)} columns")
        many = end < len(self.tokens) and self.tokens[end].startswith("/*")
        count = max(2, min(LISTED, round(self.averages.affected or 2))) if many else 1
        row = [self._inserted_value(column, item) for column, item in zip(columns, given, strict=True)]
        return [", ".join(["(" + ", ".join(row) + ")"] * count)], end + many

    def _items(self, place: int) -> tuple[list[list[str]], int]:
        items: list[list[str]] = [[]]
        depth = 0
        for end in range(place, len(self.tokens)):
            part = self.tokens[end]
            if part == ")" and depth == 0:
                return items, end + 1
            if part == "," and depth == 0:
                items.append([])
                continue
            depth += (part == "(") - (part == ")")
            items[-1].append(part)
        raise Unfilled("its values do not end")

    def _inserted(self) -> list[Column]:
        """The columns of an INSERT, in order."""
        if not self.named:
            raise Unfilled("the table that it fills is not known")
        table = next(iter(self.named.values()))
        into = next((i for i in range(len(self.tokens)) if self._word(i) == "INTO"), 0)
        end = self._values_at() - 1
        inside = self.tokens[into + 2 : end]
        if "(" not in inside:
            return list(table.columns.values())
        names = [token for token in inside[inside.index("(") + 1 :] if token not in (",", ")")]
        return [self._of(table, name) for name in names]

    def _inserted_value(self, column: Column, item: list[str]) -> str:
        if item == ["?"]:
            text = literal(column, self.turn, fresh=True)
            if not text.startswith("{") and text in column.samples:
                self._sample(column)
            return text
        if any(part == "?" or _is_list(part) for part in item):
            raise Unfilled(f"the value of column {column.name!r} is an expression with literals of its own")
        return _joined(item)

    # Columns and tables.

    def _word(self, place: int) -> str:
        return self.tokens[place].upper() if 0 <= place < len(self.tokens) else ""

    def _compared(self, place: int) -> Column:
        """The column before BETWEEN, IN or a similar word at `place`."""
        column = self._column_before(place - 1 if self._word(place - 1) == "NOT" else place)
        if column is None:
            raise Unfilled(f"what stands before {self.tokens[place]} is no column")
        return column

    def _column_before(self, place: int) -> Column | None:
        name = self.tokens[place - 1] if place > 0 else ""
        if not _is_name(name):
            return None
        if self._word(place - 2) == "." and place > 2:
            return self._find(name, self.tokens[place - 3])
        return self._find(name, None)

    def _column_after(self, place: int) -> Column | None:
        name = self.tokens[place] if place < len(self.tokens) else ""
        if not _is_name(name):
            return None
        if self._word(place + 1) == "." and place + 2 < len(self.tokens):
            return self._find(self.tokens[place + 2], name)
        return self._find(name, None)

    def _find(self, name: str, table: str | None) -> Column:
        if table is not None:
            key = _bare(table)
            if key not in self.named:
                raise Unfilled(f"the schema has no table {key!r}")
            return self._of(self.named[key], name)
        tables = [table for table in self.named.values() if _bare(name) in table.columns]
        if not tables:
            known = ", ".join(self.named) or "none of its tables is in the schema"
            raise Unfilled(f"no column {_bare(name)!r} in its tables ({known})")
        return tables[0].columns[_bare(name)]

    def _of(self, table: Table, name: str) -> Column:
        column = table.columns.get(_bare(name))
        if column is None:
            raise Unfilled(f"table {table.name!r} has no column {_bare(name)!r}")
        return column

    def _named_tables(self) -> dict[str, Table]:
        """The known tables of the statement, by name and by alias."""
        known_tables: dict[str, Table] = {}
        place, listing = 0, False
        while place < len(self.tokens):
            word = self._word(place)
            opens = word in ("FROM", "UPDATE", "INTO") or (word in _JOINS and (listing or word != ","))
            if opens and _is_name(self.tokens[place + 1] if place + 1 < len(self.tokens) else ""):
                listing = True
                place = self._add_table(place + 1, known_tables)
                continue
            listing = listing and word not in _ENDS_TABLES
            place += 1
        return known_tables

    def _spell_tables(self) -> None:
        """Restores names of tables that the server took for SQL keywords and wrote in capitals."""
        for place, part in enumerate(self.tokens):
            table = self.named.get(_bare(part))
            place_of_one = self._word(place + 1) == "." or self._word(place - 1) in _BEFORE_TABLES
            if table is not None and place_of_one and part.upper() == table.name.upper() != table.name:
                self.tokens[place] = f"`{table.name}`"

    def _add_table(self, place: int, known_tables: dict[str, Table]) -> int:
        """Adds the table named at `place`; returns the index after its name and alias."""
        if self._word(place + 1) == "." and place + 2 < len(self.tokens):
            place += 2
        table = self.tables.get(_bare(self.tokens[place]))
        names = [_bare(self.tokens[place])]
        after = place + 1
        if self._word(after) == "AS":
            after += 1
        alias = self.tokens[after] if after < len(self.tokens) else ""
        if _is_name(alias) and alias.upper() not in (_ENDS_TABLES | _NO_ALIAS | _JOINS):
            names.append(_bare(alias))
            after += 1
        if table is not None:
            known_tables |= dict.fromkeys(names, table)
        return after


def _is_name(part: str) -> bool:
    return part.startswith("`") or bool(re.fullmatch(r"[A-Za-z_$][\w$]*", part))


def _bare(name: str) -> str:
    return name.strip("`").lower()
