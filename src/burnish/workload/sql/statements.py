"""Parses a user's file of SQL statements with weights into the units that a load replays; pure.

A unit is one statement, or all from BEGIN (START TRANSACTION) to COMMIT (ROLLBACK). ``-- weight: 3`` before a unit is
its relative frequency (default 1). ``{1..1000}`` in a statement is an integer drawn at each execution, with the
distribution ``rand-type``; ``{+99}`` is the last drawn number plus 99.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from burnish.base.errors import UserError

_WEIGHT = re.compile(r"^--\s*weight\s*:\s*(.*?)\s*$", re.IGNORECASE)
_TOKEN = re.compile(
    r"""
    (?P<quoted>'(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | `[^`]*`)
    | (?P<open>['"`])                        # a quote without its end
    | (?P<line>(?:--(?=[ \t\n]|$)|\#)[^\n]*)
    | (?P<block>/\*(?!!).*?\*/)
    | (?P<end>;)
    | (?P<text>[^'"`;\-\#/]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BEGIN = re.compile(r"^(BEGIN|START\s+TRANSACTION)\b", re.IGNORECASE)
_FINISH = re.compile(r"^(COMMIT|ROLLBACK)\b(?!\s+TO\b)", re.IGNORECASE)
PLACEHOLDER = re.compile(r"\{(?:(-?\d+)\.\.(-?\d+)|\+(\d+))\}")
"""A number to be drawn: its range; or an offset from the last drawn number in the statement."""


@dataclass(frozen=True)
class Unit:
    """Statements that are replayed as one transaction of the load.

    Attributes:
        statements: the statements in order, without semicolons.
        weight: its frequency relative to the other units' weights.
        line: number of its first line in the file, from 1.
    """

    statements: tuple[str, ...]
    weight: float = 1.0
    line: int = 0


def parse(text: str, where: str) -> tuple[Unit, ...]:
    """The units of a file; a `UserError` with file and line if it can't be parsed."""
    units: list[Unit] = []
    weight: float | None = None
    block: list[str] = []
    begun = 0
    for line, kind, words in _pieces(text, where):
        if kind == "weight":
            if block:
                raise UserError(f"{where}:{line}: a weight within a transaction; put it before its BEGIN")
            weight = _weight(words, f"{where}:{line}")
            continue
        if block and _BEGIN.match(words):
            raise UserError(f"{where}:{line}: BEGIN within the transaction that began in line {begun}")
        if not block:
            begun = line
        if block or _BEGIN.match(words):
            block.append(words)
            if not _FINISH.match(words):
                continue
        units.append(Unit(tuple(block) or (words,), 1.0 if weight is None else weight, begun))
        block, weight = [], None
    if block:
        raise UserError(f"{where}:{begun}: the transaction that begins here has no COMMIT")
    if not units:
        raise UserError(f"{where}: there is no statement in it")
    for unit in units:
        _check_placeholders(unit, where)
    return tuple(units)


def _weight(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise UserError(f"{where}: weight {text!r}: give a number above 0 that is not infinite")
    return value


def _check_placeholders(unit: Unit, where: str) -> None:
    for statement in unit.statements:
        drawn = False
        for first, last, more in PLACEHOLDER.findall(statement):
            if more and not drawn:
                raise UserError(f"{where}:{unit.line}: {{+{more}}}: no number is drawn before it in the statement")
            drawn = True
            if more and int(more) >= 1 << 31:
                raise UserError(f"{where}:{unit.line}: {{+{more}}}: give a number of 32 bits")
            if not more and (int(first) > int(last) or max(abs(int(first)), abs(int(last))) >= 1 << 31):
                raise UserError(f"{where}:{unit.line}: {{{first}..{last}}}: give two numbers of 32 bits in order")


def example(statement: str) -> str:
    """The statement with the lower end of each placeholder's range."""
    last = "0"

    def number(match: re.Match[str]) -> str:
        nonlocal last
        if match[3] is not None:
            return str(int(last) + int(match[3]))
        last = match[1]
        return last

    return PLACEHOLDER.sub(number, statement)


def _pieces(text: str, where: str) -> Iterator[tuple[int, str, str]]:
    """(line, ``weight`` or ``statement``, words) in order; comments are skipped, except hints in /*! */."""
    words: list[str] = []
    line, begun = 1, 0
    for match in _TOKEN.finditer(text):
        kind, piece = str(match.lastgroup), match[0]
        if kind == "open":
            raise UserError(f"{where}:{line}: a quote ({piece}) that does not end")
        if kind == "line":
            weight = _WEIGHT.match(piece)
            if weight:
                yield line, "weight", weight[1]
        elif kind == "end":
            statement = "".join(words).strip()
            if statement:
                yield begun, "statement", statement
            words, begun = [], 0
        elif kind != "block":
            if not begun and piece.strip():
                begun = line + piece[: len(piece) - len(piece.lstrip())].count("\n")
            words.append(piece)
        line += piece.count("\n")
    statement = "".join(words).strip()
    if statement:
        yield begun, "statement", statement


def as_text(units: Iterable[Unit]) -> str:
    """A file of statements that `parse` reads as these units."""
    parts = []
    for unit in units:
        weight = "" if unit.weight == 1 else f"-- weight: {unit.weight:g}\n"
        parts.append(weight + "".join(f"{_ended(statement)}\n" for statement in unit.statements))
    return "\n".join(parts)


def _ended(statement: str) -> str:
    """The statement with a semicolon, on a new line if it would otherwise be part of a comment."""
    last = statement.rpartition("\n")[2]
    return f"{statement}\n;" if "--" in last or "#" in last else f"{statement};"


def compiled(units: Iterable[Unit]) -> bytes:
    """The units in the replay script's format: a line with weight and count, then each statement after its length."""
    out = []
    for unit in units:
        out.append(f"unit {unit.weight:g} {len(unit.statements)}\n".encode())
        for statement in unit.statements:
            body = statement.encode()
            out.append(b"%d %d\n%b\n" % (len(body), bool(PLACEHOLDER.search(statement)), body))
    return b"".join(out)
