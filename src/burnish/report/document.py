"""A report as values: sections of blocks that say what stands there and what it means, never how it is drawn.

Each renderer of `burnish.report.render` turns a `Document` into one format and knows nothing of runs or records. A
renderer needs an answer for every class of this module that is a `Block`, and for nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


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


@dataclass(frozen=True)
class Span:
    """Text with one meaning.

    Attributes:
        text: what stands there, without markup of any format.
        role: what it means.
        marks: letters that warn of it, as in ``S`` (see `burnish.report.analysis.marks`); '' without any.
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
        beside: whether the lines stand beside each other instead where the table has room for that.
    """

    lines: tuple[Span, ...]
    beside: bool = False


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
        detail: whether full reports alone have it: a page, a file; not a terminal unless all is asked for.
    """

    detail: bool = field(default=False, kw_only=True)


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
