"""A report as values: sections of blocks that hold text and its meaning, but not how it is drawn.

Each renderer of `burnish.report.render` turns a `Document` into one format and knows nothing about runs or records. A
renderer must handle every subclass of `Block` in this module, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from burnish.report.page.figures.shapes import Shape


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
        text: the text, without markup of any format.
        role: what it means.
        marks: letters that warn about it, such as ``S`` (see `burnish.report.analysis.marks`); '' without any.
    """

    text: str
    role: Role = Role.PLAIN
    marks: str = ""

    @property
    def marked(self) -> str:
        """The text with its marks, for formats that have only text: ``static-full !S``."""
        return f"{self.text} !{self.marks}" if self.marks else self.text


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        lines: the content, each span on a line of its own.
        beside: whether the lines are joined into one where the table has room for that.
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
        right: whether its cells are figures, which are aligned right.
        whole: whether its cells are never broken into lines; other cells are broken between words.
        drop: order in which it is left out if there is no room for all columns: 1 first, then 2; 0: never.
    """

    head: str
    right: bool = False
    whole: bool = False
    drop: int = 0


@dataclass(frozen=True)
class Block:
    """A part of a section.

    Attributes:
        detail: whether only full reports show it (pages, files); a terminal does if the user requested everything.
    """

    detail: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class Heading(Block):
    """The heading of a section, one level below the document's title."""

    text: str


@dataclass(frozen=True)
class Paragraph(Block):
    """A paragraph of prose."""

    text: Span


@dataclass(frozen=True)
class Points(Block):
    """Independent sentences: one per line, or the items of a list."""

    items: tuple[Span, ...]


@dataclass(frozen=True)
class Table(Block):
    """Rows and columns.

    Attributes:
        kind: what the rows are: ``verdicts``, ``builds``, ``sizes`` and others; a renderer may treat some specially.
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
    """A total and its parts.

    Attributes:
        label: what the total is; empty if the text above says so.
        shares: the parts' shares, 0 to 1, in the legend's order; they add up to 1.
    """

    label: str
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Bars(Block):
    """Bars that are divided into the same parts.

    Attributes:
        legend: the parts, as (character that they are drawn with in text, what they are).
        bars: from top to bottom.
    """

    legend: tuple[tuple[str, str], ...]
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Facts(Block):
    """What is known about one thing, as names with their values.

    Attributes:
        items: (name, what is said of it, each span on a line of its own).
        first: whether they are the answer that a reader looks for first.
    """

    items: tuple[tuple[str, tuple[Span, ...]], ...]
    first: bool = False


@dataclass(frozen=True)
class Figure(Block):
    """A drawing of figures that a table of the same document has too; formats of text leave it out.

    Attributes:
        title: what it shows, in a sentence for who can't see it.
        shape: what is drawn.
    """

    title: str
    shape: Shape


@dataclass(frozen=True)
class Picture(Block):
    """A finished drawing from a record, of unknown content.

    Attributes:
        title: what it shows.
        svg: the drawing; it may hold anything, scripts included.
    """

    title: str
    svg: str


@dataclass(frozen=True)
class Literal(Block):
    """Lines that the reader copies, so that they are never broken: commands, paths."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Entry(Block):
    """An entry of a reference list.

    Attributes:
        name: its name.
        note: text after the name; may be empty.
        prose: its description, one paragraph each.
        details: its details, one line each.
    """

    name: str
    note: str = ""
    prose: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """Blocks about one subject.

    Attributes:
        key: identifies the section, for anchors and for selecting sections: ``verdicts``, ``builds``…
        blocks: in order.
        joined: whether it continues the section before it, without space between them.
        listed: whether a table of contents names it.
    """

    key: str
    blocks: tuple[Block, ...]
    joined: bool = False
    listed: bool = True


@dataclass(frozen=True)
class Document:
    """A whole report.

    Attributes:
        title: what it is about, in a few words.
        sections: in order; every renderer leaves out those without a block.
    """

    title: str
    sections: tuple[Section, ...]
