"""Text in a given width: where lines are broken, and which columns of a table fit; pure.

A path in prose is never broken, so that it can be copied.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from burnish.report.document import Bars, Cell, Column, Role, Row, Span, Table
from burnish.report.words import one_line

Line = tuple[Span, ...]
"""A line of text, in pieces that may have different roles."""

LONGEST = 24
"""Width up to which a column is kept wide enough for its longest word; see `NAMES` for the first column."""

NAMES = 36
"""The same for the names in the first column: the length of the longest variant name in the catalogue."""

_WORDS = re.compile(r"\s*\S+(?: %\S*)?\s*")  # no line begins with a per cent sign
_SIGNS = "/,:=+_.-"
_PIECES = re.compile(f"[^{_SIGNS}]*[{_SIGNS}]*")
"""Parts of a long word in a table; it may be broken between them."""


def size(text: str) -> int:
    """Width of a text in a terminal, in columns."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def wrap(text: str, width: int) -> list[str]:
    """The text as lines of at most `width` columns, except paths that are longer."""
    return [line for part in text.split("\n") for line in _wrap(part, width)]


def _wrap(text: str, width: int) -> list[str]:
    words = _WORDS.findall(text)
    return _lines([part for word in words for part in ([word] if "/" in word else _pieces(word, width))], width)


def _lines(words: Sequence[str], width: int) -> list[str]:
    """Words and pieces of words, with their blanks, as lines of at most `width` columns."""
    lines = [""]
    for word in words:
        if lines[-1] and size(lines[-1]) + size(word.rstrip()) > width:
            lines.append(word.lstrip())
        else:
            lines[-1] += word
    return [line.rstrip() for line in lines]


BAR_WIDTH = 60
"""Largest width of a bar, in columns."""


def drawn(block: Bars, width: int) -> list[str]:
    """The bars as lines, each below its label, followed by the legend."""
    lines = [line for bar in block.bars for line in (bar.label, _bar(bar.shares, block.legend, width)) if line]
    return [*lines, "  ".join(f"{sign} {words}" for sign, words in block.legend)] if lines else []


def _bar(shares: Sequence[float], legend: Sequence[tuple[str, str]], width: int) -> str:
    text, total = "", 0.0
    for share, (sign, _) in zip(shares, legend, strict=True):
        total += share
        text += sign * (round(min(BAR_WIDTH, width) * total) - len(text))
    return text


@dataclass(frozen=True)
class Fitted:
    """A table in a given width.

    Attributes:
        lines: lines of its head and its rows.
        dropped: names of the columns that did not fit.
    """

    lines: tuple[Line, ...]
    dropped: tuple[str, ...]


def fit(table: Table, width: int) -> Fitted:
    """The table in `width` columns of text: columns are left out in the order of `Column.drop` until the rest fits."""
    beside = _beside(table)
    table = beside if sum(_least(beside)) + table.gap * (len(table.columns) - 1) <= width else table
    kept = _kept(table, width)
    room = width - table.gap * (len(kept) - 1)
    columns = [table.columns[number] for number in kept]
    texts = [_texts(table, number) for number in kept]
    least = _least(table)
    free = [number for number, column in enumerate(columns) if not column.whole]
    widths = _shared([least[number] for number in kept], [_widest(column) for column in texts], room, free)
    head = [Row(tuple(Cell((Span(column.head, Role.STRONG),)) for column in table.columns))] if table.headed else []
    gap = " " * table.gap
    lines = tuple(line for row in (*head, *table.rows) for line in _row(row, kept, columns, widths, gap))
    dropped = tuple(column.head for number, column in enumerate(table.columns) if number not in kept)
    return Fitted(lines, dropped)


def _beside(table: Table) -> Table:
    """The table with the lines of each cell joined into one where `Cell.beside` allows it."""
    return replace(table, rows=tuple(replace(row, cells=tuple(map(_joined, row.cells))) for row in table.rows))


def _joined(cell: Cell) -> Cell:
    """The cell with its lines joined into one, which has the role of the first."""
    return Cell((Span(" ".join(span.marked for span in cell.lines), cell.lines[0].role),)) if cell.beside else cell


def _kept(table: Table, width: int) -> list[int]:
    """Numbers of the columns that fit in the width, or that are never left out."""
    kept = list(range(len(table.columns)))
    least = _least(table)
    for number in sorted(kept, key=lambda number: table.columns[number].drop):
        if sum(least[index] for index in kept) + table.gap * (len(kept) - 1) <= width:
            break
        if table.columns[number].drop:
            kept.remove(number)
    return kept


def _texts(table: Table, number: int) -> list[str]:
    """Every line of text in a column."""
    cells = [row.cells[number] for row in table.rows if number < len(row.cells)]
    return [
        *([table.columns[number].head] if table.headed else []),
        *(one_line(span.marked) for cell in cells for span in cell.lines),
    ]


def _widest(texts: Sequence[str]) -> int:
    return max(map(size, texts), default=0)


def _least(table: Table) -> list[int]:
    """For each column the width below which its words (or its cells, if these must be whole) would be broken."""
    widths = []
    for number, column in enumerate(table.columns):
        texts = _texts(table, number)
        longest = _widest([word for text in texts for word in text.split()])
        widths.append(_widest(texts) if column.whole else min(longest, LONGEST if number else NAMES))
    return widths


FEWEST = 12
"""Width down to which columns that may be broken shrink before those that must be whole."""


def _shared(least: list[int], natural: list[int], room: int, free: Sequence[int]) -> list[int]:
    """Widths of columns that share `room`: the narrowest grow first, the widest shrink first.

    Args:
        least: width of each below which its words, or its cells, would be broken.
        natural: width that each would take.
        room: width for all.
        free: numbers of the columns whose cells may be broken, which shrink before the others.
    """
    widths = list(least)
    while sum(widths) < room and widths != natural:
        number = min((index for index in range(len(widths)) if widths[index] < natural[index]), key=widths.__getitem__)
        widths[number] += 1
    while sum(widths) > room and max(widths) > 1:
        first = [number for number in free if widths[number] > FEWEST]
        number = max(first or range(len(widths)), key=widths.__getitem__)
        widths[number] -= 1
    return widths


def _row(row: Row, kept: Sequence[int], columns: Sequence[Column], widths: Sequence[int], gap: str) -> list[Line]:
    """A row's lines, as many as its longest cell needs."""
    cells = [
        [
            Span(text, _role(row, span))
            for span in row.cells[number].lines
            for text in _broken(one_line(span.marked), width)
        ]
        if number < len(row.cells)
        else []
        for number, width in zip(kept, widths, strict=True)
    ]
    lines = []
    for height in range(max(map(len, cells), default=0)):
        line: list[Span] = []
        for column, width, cell in zip(columns, widths, cells, strict=True):
            span = cell[height] if height < len(cell) else Span("")
            pad = " " * (width - size(span.text))
            line += [*([Span(gap)] if line else []), *([Span(pad), span] if column.right else [span, Span(pad)])]
        lines.append(_stripped(line))
    return lines


def _role(row: Row, span: Span) -> Role:
    return row.role if span.role is Role.PLAIN else span.role


def _stripped(line: list[Span]) -> Line:
    """The line without the spaces at its end."""
    while line and not line[-1].text.strip():
        line.pop()
    return tuple(span for span in line if span.text)


def _broken(text: str, width: int) -> list[str]:
    """A cell's text as lines, broken between words; words that are too long are broken after a part of a name."""
    if size(text) <= width:
        return [text]
    return _lines([piece for word in _WORDS.findall(text) for piece in _pieces(word, width)], width)


def _pieces(word: str, width: int) -> list[str]:
    """A word as pieces of at most `width`, cut after a part of a name where possible."""
    pieces = []
    while size(word.strip()) > width:
        ends = [part.end() for part in _PIECES.finditer(word) if part[0].strip(_SIGNS)]
        end = max((end for end in ends if size(word[:end]) <= width), default=width)
        if width > 1 and not word[end:].strip(f"{_SIGNS} "):  # a sign alone on a line says nothing
            end -= 1
        pieces.append(word[:end])
        word = word[end:]
    return [*pieces, word]
