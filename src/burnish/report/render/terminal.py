"""A document for a terminal of 80 columns, as rich draws it; pure but for `show`."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from burnish.report.document import (
    Block,
    Cell,
    Document,
    Drawing,
    Entry,
    Heading,
    Paragraph,
    Points,
    Role,
    Span,
    Table,
)

STYLES = {
    Role.STRONG: "bold",
    Role.ASIDE: "dim",
    Role.DONE: "dim",
    Role.FIX: "cyan",
    Role.FASTER: "green",
    Role.SLOWER: "red",
    Role.EQUIVALENT: "cyan",
    Role.UNDECIDED: "yellow",
    Role.INVALID: "magenta",
    Role.OK: "green",
    Role.LACK: "bold red",
    Role.NOTE: "yellow",
}
"""How roles look; those without an entry look like any text."""

INDENT = 4
"""Columns by which an entry's text stands below its name."""


def render(document: Document) -> RenderableType:
    """The whole document; the title is not shown, as the command that was typed says it."""
    parts: list[RenderableType] = []
    for section in document.sections:
        drawn = [part for block in section.blocks if block.only in (None, "terminal") for part in _block(block)]
        if drawn:
            parts += [*([Text("")] if parts and not section.joined else []), *drawn]
    return Group(*parts)


def show(document: Document, console: Console) -> None:
    """Prints it."""
    console.print(render(document))


def _block(block: Block) -> Iterator[RenderableType]:
    match block:
        case Heading(text):
            yield Text(text, style="bold")
        case Paragraph(span):
            yield _text(span)
        case Points(items):
            yield from map(_text, items)
        case Table():
            yield _table(block)
        case Drawing(lines):
            yield from (Text(line, no_wrap=True) for line in lines)
        case Entry():
            yield from _entry(block)
        case _:
            raise TypeError(f"no way to draw a {type(block).__name__}")


def _text(span: Span) -> Text:
    return Text(span.text, style=STYLES.get(span.role, ""))


def _table(table: Table) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, table.gap, 0, 0), show_header=table.headed)
    for column in table.columns:
        justify = "right" if column.right else "left"
        grid.add_column(column.head, justify=justify, overflow="fold", no_wrap=column.whole, min_width=column.width)  # type: ignore[arg-type]
    for row in table.rows:
        grid.add_row(*map(_cell, row.cells), style=STYLES.get(row.role, ""))
    return grid


def _cell(cell: Cell) -> Text:
    first, *others = map(_text, cell.lines)
    return Text("\n").join([first, *others]) if others else first


def _entry(entry: Entry) -> Iterator[RenderableType]:
    title = Text(entry.name, style="bold")
    title.append(entry.note, style="not bold")
    yield title
    for style, lines in (("", entry.prose), ("dim", entry.details)):
        yield from (Padding(Text(line, style=style), (0, 0, 0, INDENT)) for line in lines)
