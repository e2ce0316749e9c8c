"""A document as Markdown, with all details, for committed results and for comments of reviews; pure.

Names may come from somebody else's record or branch: they make no tags, links, rows or lines of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from burnish.base.visible import visible
from burnish.report.document import (
    Bars,
    Block,
    Document,
    Entry,
    Facts,
    Figure,
    Heading,
    Literal,
    Paragraph,
    Picture,
    Points,
    Section,
    Table,
)
from burnish.report.render.layout import BAR_WIDTH, drawn
from burnish.report.words import one_line

_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINK = re.compile(r"\](?=\()")
_FENCE = re.compile(r"`{3,}")


def markdown(document: Document) -> str:
    """The whole document."""
    return f"# {_text(document.title)}\n\n{sections(document.sections)}"


def sections(chosen: Iterable[Section]) -> str:
    """Some sections without a title, for use within another page."""
    blocks = (block for section in chosen for block in section.blocks)
    return "\n\n".join(text for block in blocks if (text := "\n".join(_lines(block)))) + "\n"


def _lines(block: Block) -> list[str]:
    match block:
        case Heading(text):
            return [f"## {_text(text)}"]
        case Paragraph(span):
            return [_text(span.text)]
        case Points(items):
            return [_point(item.text) for item in items]
        case Table():
            return _table(block)
        case Bars():
            return _fenced(drawn(block, BAR_WIDTH))
        case Facts(items=items):
            return [_point(f"{name}: {'; '.join(span.marked for span in spans)}") for name, spans in items]
        case Figure() | Picture():
            return []
        case Literal(lines):
            return _fenced(lines)
        case Entry():
            return [f"### {_text(block.name + block.note)}", "", *map(_text, block.prose), *map(_point, block.details)]
    raise TypeError(f"no way to write a {type(block).__name__}")


def _text(text: str) -> str:
    """A text in one line, without tags and links."""
    return _LINK.sub(r"\\]", _TAG.sub(r"\\<", one_line(text)))


def _fenced(lines: Sequence[str]) -> list[str]:
    """The lines as they are, within a fence that none of them ends."""
    fence = "`" * max((len(run) + 1 for line in lines for run in _FENCE.findall(line)), default=3)
    return [fence, *map(visible, lines), fence] if lines else []


def _point(text: str) -> str:
    """An item of a list; a star at its beginning (a footnote) is escaped, so that it does not begin another list."""
    return f"* \\{_text(text)}" if text.startswith("*") else f"* {_text(text)}"


def _table(table: Table) -> list[str]:
    """The table with its head, which Markdown requires."""
    texts = [[" ".join(span.marked for span in cell.lines) for cell in row.cells] for row in table.rows]
    width = len(table.columns)
    return [
        _row([column.head for column in table.columns]),
        _row(["---"] * width),
        *(_row([*cells, *[""] * (width - len(cells))]) for cells in texts),
    ]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_text(cell).replace("|", "\\|") for cell in cells) + " |"
