"""A report as values: sections of blocks that say what stands there and what it means, never how it is drawn.

Each renderer of `burnish.report.render` turns a `Document` into one format and knows nothing of runs or records. A
renderer needs an answer for every class of this module that is a `Block`, and for nothing else.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

Medium = typing.Literal["terminal", "markdown"]


class Role(StrEnum):
    """What a piece of text means, for renderers that have colours or classes for it."""

    PLAIN = "plain"
    STRONG = "strong"
    ASIDE = "aside"
    FIX = "fix"
    DONE = "done"
    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"
    INVALID = "invalid"
    OK = "ok"
    LACK = "lack"
    NOTE = "note"


def role_of(word: str) -> Role:
    """The role of a text that begins with a verdict's word; plain without one."""
    first = word.partition(" ")[0]
    verdicts = (Role.FASTER, Role.SLOWER, Role.EQUIVALENT, Role.UNDECIDED, Role.INVALID)
    return next((role for role in verdicts if role == first), Role.PLAIN)


@dataclass(frozen=True)
class Span:
    """Text with one meaning.

    Attributes:
        text: what stands there, without markup of any format.
        role: what it means.
        marks: letters that warn of it, as in ``S`` (see `burnish.report.marks`); '' without any.
    """

    text: str
    role: Role = Role.PLAIN
    marks: str = ""

    @property
    def marked(self) -> str:
        """The text with its marks, as formats write it that have text only: ``static-full !S``."""
        return f"{self.text} !{self.marks}" if self.marks else self.text


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        lines: what stands there, each span on a line of its own.
    """

    lines: tuple[Span, ...]


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        cells: one for each column; fewer leave the last columns empty.
        role: of the whole row.
    """

    cells: tuple[Cell, ...]
    role: Role = Role.PLAIN


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        head: its name.
        right: whether its cells are figures, which stand flush right.
        whole: whether its cells are never broken into lines; others are, between words.
        drop: when it is left out where there is no room for all columns: 1 first, then 2; 0: never.
    """

    head: str
    right: bool = False
    whole: bool = False
    drop: int = 0


@dataclass(frozen=True)
class Block:
    """A part of a section.

    Attributes:
        only: the one format that has it; None: all. For what formats differ in by their content, not their form.
    """

    only: Medium | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Heading(Block):
    """The name of what follows, within the document's title."""

    text: str


@dataclass(frozen=True)
class Paragraph(Block):
    """Prose by itself."""

    text: Span


@dataclass(frozen=True)
class Points(Block):
    """Sentences that each stand for themselves: a line each, or the items of a list."""

    items: tuple[Span, ...]


@dataclass(frozen=True)
class Table(Block):
    """Rows and columns.

    Attributes:
        kind: what it is a table of, as in ``verdicts``, ``builds``, ``sizes``; a renderer may know some by name.
        columns: from left to right.
        rows: from top to bottom.
        headed: whether the columns' names are shown.
        gap: columns of space between two columns in fixed-width text.
    """

    kind: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    headed: bool = True
    gap: int = 1


@dataclass(frozen=True)
class Bar:
    """A whole and its parts.

    Attributes:
        label: what it is the whole of; empty where the text above says so.
        shares: of the parts, 0 to 1, in the legend's order; they add up to 1.
    """

    label: str
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Bars(Block):
    """Bars that are divided into the same parts.

    Attributes:
        legend: the parts, as (sign that they are drawn with in text, what they are).
        bars: from top to bottom.
    """

    legend: tuple[tuple[str, str], ...]
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Literal(Block):
    """Lines to be copied, which are never broken: commands, paths."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Entry(Block):
    """An entry of a list to look things up in.

    Attributes:
        name: what it is called.
        note: said beside the name; empty: nothing.
        prose: what it is, a paragraph each.
        details: its particulars, a line each.
    """

    name: str
    note: str = ""
    prose: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """Blocks about one thing.

    Attributes:
        key: names the section, for anchors and for choosing among sections: ``verdicts``, ``builds``…
        blocks: in order.
        joined: whether it goes on with the subject of the section before it, with no space between.
    """

    key: str
    blocks: tuple[Block, ...]
    joined: bool = False


@dataclass(frozen=True)
class Document:
    """A whole report.

    Attributes:
        title: what it is about, in a few words.
        sections: in order; those without a block are left out by every renderer.
    """

    title: str
    sections: tuple[Section, ...]


def points(items: Iterable[str], *, only: Medium | None = None) -> Points:
    """Plain sentences."""
    return Points(tuple(Span(item) for item in items), only=only)


def row(*cells: str | Span | Cell, role: Role = Role.PLAIN) -> Row:
    """A row from texts, spans and cells."""
    return Row(tuple(_cell(cell) for cell in cells), role)


def _cell(value: str | Span | Cell) -> Cell:
    if isinstance(value, Cell):
        return value
    return Cell((value if isinstance(value, Span) else Span(value),))


def grid(
    kind: str, head: Sequence[str], rows: Iterable[Sequence[str | Span]], drop: Sequence[str] | None = None
) -> Table:
    """A table whose first column is names and whose others are figures, which are never broken.

    Args:
        kind: what it is a table of.
        head: the columns' names.
        rows: their texts.
        drop: names of columns in the order in which they are left out where there is no room for all; None: from the
            right, but for the first two.
    """
    columns = [Column(name, right=number > 0, whole=number > 0) for number, name in enumerate(head)]
    order = head[:1:-1] if drop is None else drop
    return Table(kind, dropping(columns, *order), tuple(row(*cells) for cells in rows))


def dropping(columns: Iterable[Column], *names: str) -> tuple[Column, ...]:
    """The columns, of which those of these names are left out in this order where there is no room for all."""
    return tuple(
        replace(column, drop=names.index(column.head) + 1) if column.head in names else column for column in columns
    )


def section(key: str, title: str, *blocks: Block | None, joined: bool = False) -> Section:
    """A section under a heading, of those blocks that are there."""
    return Section(key, (Heading(title), *(block for block in blocks if block is not None)), joined)
