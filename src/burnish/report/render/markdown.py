"""A document as Markdown, with all details, for committed results; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def markdown(document: Document) -> str:
    """The whole document."""
    return f"# {document.title}\n\n{sections(document.sections)}"


def sections(chosen: Iterable[Section]) -> str:
    """Some sections without a title, for use within another page."""
    blocks = (block for section in chosen for block in section.blocks)
    return "\n\n".join(text for block in blocks if (text := "\n".join(_lines(block)))) + "\n"


def _lines(block: Block) -> list[str]:
    match block:
        case Heading(text):
            return [f"## {text}"]
        case Paragraph(span):
            return [span.text]
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
            return [f"### {block.name}{block.note}", "", *block.prose, *map(_point, block.details)]
    raise TypeError(f"no way to write a {type(block).__name__}")


def _fenced(lines: Sequence[str]) -> list[str]:
    return ["```", *lines, "```"] if lines else []


def _point(text: str) -> str:
    """An item of a list; a star at its beginning (a footnote) is escaped, so that it does not begin another list."""
    return f"* \\{text}" if text.startswith("*") else f"* {text}"


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
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
