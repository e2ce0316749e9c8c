"""What a reader sees of a report, for the tests of reports."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console

from burnish.report.contents import document
from burnish.report.document import Document, Heading, Points, Section, Table
from burnish.report.render import markdown as renderer
from burnish.report.render import terminal
from burnish.report.result import Result


def drawn(shown: Document, width: int = 80, *, coloured: bool = False, full: bool = False) -> str:
    """A document on a terminal of that width."""
    file = io.StringIO()
    terminal.show(shown, Console(file=file, width=width, force_terminal=coloured), full=full)
    return file.getvalue()


def printed(result: Result, width: int = 80, *, coloured: bool = False) -> str:
    """The report on a run."""
    return drawn(document(result), width, coloured=coloured)


def markdown(result: Result) -> str:
    """The same as Markdown."""
    return renderer.markdown(document(result))


def title(section: Section) -> str:
    """A section's heading."""
    return next(block.text for block in section.blocks if isinstance(block, Heading))


def points(*sections: Section) -> list[str]:
    """The sentences of sections, in order."""
    return [
        item.text
        for section in sections
        for block in section.blocks
        if isinstance(block, Points)
        for item in block.items
    ]


def head(section: Section) -> tuple[str, ...]:
    """The names of a section's columns."""
    return tuple(column.head for column in _table(section).columns)


def cells(section: Section) -> list[tuple[str, ...]]:
    """The texts of a section's table."""
    return [tuple(" ".join(span.text for span in cell.lines) for cell in row.cells) for row in _table(section).rows]


def titles(sections: Iterable[Section]) -> list[str]:
    """The headings of sections."""
    return [title(section) for section in sections]


def _table(section: Section) -> Table:
    return next(block for block in section.blocks if isinstance(block, Table))
