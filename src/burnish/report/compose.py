"""Short ways to make the blocks of a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from burnish.report.document import Block, Cell, Column, Heading, Points, Role, Row, Section, Span, Table
from burnish.report.words import spaced


def role_of(word: str) -> Role:
    """The role of a text that begins with a verdict; plain for other texts."""
    first = word.partition(" ")[0]
    verdicts = (Role.FASTER, Role.SLOWER, Role.EQUIVALENT, Role.UNDECIDED, Role.INVALID)
    return next((role for role in verdicts if role == first), Role.PLAIN)


def points(items: Iterable[str], *, detail: bool = False) -> Points:
    """Plain sentences; 42% in recorded ones is written as 42 %, as everywhere else."""
    return Points(tuple(Span(spaced(item)) for item in items), detail=detail)


def row(*cells: str | Span | Cell, role: Role = Role.PLAIN) -> Row:
    """A row from texts, spans and cells."""
    return Row(tuple(_cell(cell) for cell in cells), role)


def _cell(value: str | Span | Cell) -> Cell:
    if isinstance(value, Cell):
        return value
    return Cell((value if isinstance(value, Span) else Span(value),))


def headed(text: str, width: int) -> Cell:
    """A column's name in lines of at most some width, broken after the parts of a name."""
    lines = [""]
    for part in _parts(text):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return Cell(tuple(Span(line.strip(), Role.STRONG) for line in lines))


def _parts(text: str) -> list[str]:
    parts, word = [], ""
    for sign in text:
        word += sign
        if sign in " _:,=/":
            parts.append(word)
            word = ""
    return [*parts, word]


def grid(
    kind: str, head: Sequence[str], rows: Iterable[Sequence[str | Span]], drop: Sequence[str] | None = None
) -> Table:
    """A table whose first column holds names and whose others hold figures, which are never broken.

    Args:
        kind: what the rows are, see `Table`.
        head: the columns' names.
        rows: the cells of each row.
        drop: names of columns in the order in which they are left out if there is no room for all; None: from the
            right, except the first two.
    """
    columns = [Column(name, right=number > 0, whole=number > 0) for number, name in enumerate(head)]
    order = head[:1:-1] if drop is None else drop
    return Table(kind, dropping(columns, *order), tuple(row(*cells) for cells in rows))


def dropping(columns: Iterable[Column], *names: str) -> tuple[Column, ...]:
    """The columns, where those with these names are left out in this order if there is no room for all."""
    return tuple(
        replace(column, drop=names.index(column.head) + 1) if column.head in names else column for column in columns
    )


def section(key: str, title: str, *blocks: Block | None, joined: bool = False) -> Section:
    """A section with a heading and those blocks that are not None."""
    return Section(key, (Heading(title), *(block for block in blocks if block is not None)), joined)
