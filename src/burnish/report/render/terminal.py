"""A document for a terminal: lines of its width, in colour if it supports that."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

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
    Role,
    Span,
    Table,
)
from burnish.report.render.layout import Line, drawn, fit, wrap

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
"""Style of each role; roles without an entry have no style."""

NARROWEST = 20
"""Columns that are taken at least, however few a terminal has or says it has."""

INDENT = "    "
"""Indentation of an entry's text below its name."""


def show(document: Document, console: Console, *, full: bool = False) -> None:
    """Prints the document without its title, which the command that the user typed already says.

    Args:
        document: what to print.
        console: where to print; decides width and colours.
        full: whether to print details too.
    """
    text = Text("\n").join(styled(line) for line in lines(document, console.width, full=full))
    console.print(text, soft_wrap=True)  # the lines are already broken; unbreakable ones may be longer


def lines(document: Document, width: int, *, full: bool = False) -> list[Line]:
    """The document as lines of at most `width` columns, except paths and commands, which are not broken."""
    width = max(width, NARROWEST)
    printed: list[Line] = []
    dropped: dict[str, None] = {}
    for section in document.sections:
        blocks = (block for block in section.blocks if full or not block.detail)
        shown = [line for block in blocks for line in _block(block, width, dropped)]
        if shown:
            printed += [*([()] if printed and not section.joined else []), *shown]
    if dropped:
        printed += _wrapped(Span(f"no room at this width for: {', '.join(dropped)}", Role.ASIDE), width)
    return printed


def _block(block: Block, width: int, dropped: dict[str, None]) -> Iterator[Line]:
    """A block's lines; adds the names of columns that do not fit to `dropped`."""
    match block:
        case Heading(text):
            yield from _wrapped(Span(text, Role.STRONG), width)
        case Paragraph(span):
            yield from _wrapped(span, width)
        case Points(items):
            for item in items:
                yield from _wrapped(item, width)
        case Table():
            fitted = fit(block, width)
            dropped.update(dict.fromkeys(fitted.dropped))
            yield from fitted.lines
        case Bars():
            for line in drawn(block, width):
                yield from _wrapped(Span(line), width)
        case Facts(items=items):
            for name, spans in items:
                yield from _wrapped(Span(f"{name}: {'; '.join(span.marked for span in spans)}"), width)
        case Figure() | Picture():
            pass
        case Literal(texts):
            yield from ((Span(text),) for text in texts)
        case Entry():
            yield from _entry(block, width)
        case _:
            raise TypeError(f"no way to draw a {type(block).__name__}")


def _wrapped(span: Span, width: int, indent: str = "") -> Iterator[Line]:
    for line in wrap(span.text, width - len(indent)):
        yield (Span(f"{indent}{line}", span.role),)


def _entry(entry: Entry, width: int) -> Iterator[Line]:
    first, *others = wrap(f"{entry.name}{entry.note}", width)
    if len(first) >= len(entry.name):
        yield Span(entry.name, Role.STRONG), Span(first[len(entry.name) :])
    else:  # the terminal is so narrow that the name itself takes several lines
        yield (Span(first, Role.STRONG),)
    yield from ((Span(line),) for line in others)
    for role, texts in ((Role.PLAIN, entry.prose), (Role.ASIDE, entry.details)):
        for text in texts:
            yield from _wrapped(Span(text, role), width, INDENT)


def styled(line: Line) -> Text:
    """A line with the styles of its roles; no name of a record controls the terminal."""
    return Text.assemble(*((visible(span.text), STYLES.get(span.role, "")) for span in line))
