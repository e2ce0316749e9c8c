"""A document as a page: one file of HTML that needs nothing else, with all details and drawings; pure.

Everything in a document may come from a record that somebody else made, so that every text is escaped, and drawings of
unknown content are shown as pictures, in which no script runs. The page's policy forbids to load anything, too.
"""

from __future__ import annotations

import base64
import hashlib
import html
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import resources

from burnish import __version__
from burnish.base.visible import visible
from burnish.record import pages
from burnish.report.document import (
    Bar,
    Bars,
    Block,
    Cell,
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
    Row,
    Section,
    Span,
    Table,
)

WIDE = 150
"""Characters of what is said of a thing from which on it gets twice the width on the first screen."""

WIDER = ' class="wide"'

SHORT = {
    "verdicts": "Verdicts",
    "quantities": "Also measured",
    "cells": "Each cell",
    "ladder": "By threads",
    "loads": "Candidates and loads",
    "again": "Measured again",
    "means": "Means",
    "deployment": "Deployment",
    "answer": None,
}
"""What the contents say of sections whose headings are long, or of which there are several; None: nothing."""


def _here(figures: Sequence[Figure]) -> Iterator[str]:
    """The figures, drawn one by one as they are asked for."""
    # The drawing library takes a second to load, which is in vain where all is drawn beside this process.
    from burnish.report.page.figures.drawing import draw  # noqa: PLC0415

    return (draw(figure.shape, figure.title) for figure in figures)


def page(
    document: Document,
    records: Iterable[tuple[str, bytes]] = (),
    *,
    draw: Callable[[Sequence[Figure]], Iterator[str]] = _here,
) -> str:
    """The whole page.

    Args:
        document: what it shows.
        records: of each run in it, its name and its packed record, which the page carries; asked for last, so that
            they can be made meanwhile.
        draw: draws figures in order, as SVG elements; called first, so that they can be drawn meanwhile.
    """
    drawn = draw([block for section in document.sections for block in section.blocks if isinstance(block, Figure)])
    style, script = _file("page.css"), _file("page.js")
    policy = (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    bodies = [(section, "".join(_block(block, drawn) for block in section.blocks)) for section in document.sections]
    shown = [section for section, body in bodies if body]
    names = _names(shown)
    parts = [
        f'<section id="{_text(name)}">\n{body}</section>\n'
        for name, body in zip(names, (body for _, body in bodies if body), strict=True)
    ]
    elements = {name: pages.element(name, data) for name, data in records}
    carried = "".join(f"{element}\n" for element in elements.values())
    runs = ", ".join(elements)
    holds = f" It holds the record of {_text(runs)}: <code>burnish show</code> reads it." if runs else ""
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="{pages.META}" content="{pages.VERSION}">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(document.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<main>\n<h1>{_text(document.title)}</h1>\n"
        f"{_with_contents(parts, _contents(shown, names))}</main>\n"
        f"<footer><p>Made by burnish {_text(__version__)} from its record alone.{holds}</p></footer>\n"
        f"<script>{script}</script>\n{carried}</body>\n</html>\n"
    )


@cache
def _file(name: str) -> str:
    return (resources.files("burnish.report.render") / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    """A script as the page's policy names it: no other runs."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


_BEFORE_PER_CENT = re.compile(r"(?<=\d) (?=%)")
_NO_BREAK = "\N{NO-BREAK SPACE}"


def _text(text: str) -> str:
    """Escaped text; control characters, which HTML does not have, become a sign for the unknown.

    No line begins with a per cent sign.
    """
    return _BEFORE_PER_CENT.sub(_NO_BREAK, html.escape(visible(text), quote=True))


def _names(sections: Sequence[Section]) -> list[str]:
    """A name for each section that no other has: its key, from the second on with a number."""
    counts: dict[str, itertools.count[int]] = {}
    numbers = [next(counts.setdefault(section.key, itertools.count(1))) for section in sections]
    return [section.key if at == 1 else f"{section.key}-{at}" for section, at in zip(sections, numbers, strict=True)]


def _contents(sections: Sequence[Section], names: Sequence[str]) -> str:
    """Links to the sections, of those with one key to the first."""
    links = {}
    for section, name in zip(sections, names, strict=True):
        heading = next((block.text for block in section.blocks if isinstance(block, Heading)), None)
        heading = SHORT.get(section.key, heading)
        if heading is not None and name == section.key and section.listed:
            links[name] = f'<a href="#{_text(name)}">{_text(heading)}</a>'
    return f'<nav aria-label="Contents">{" ".join(links.values())}</nav>\n' if len(links) > 1 else ""


def _with_contents(parts: Sequence[str], contents: str) -> str:
    """The sections, the contents after the first."""
    return "".join([*parts[:1], contents, *parts[1:]])


def _block(block: Block, drawn: Iterator[str]) -> str:
    """A block's part of the page; '' if it is empty. A figure is the next one that was drawn."""
    match block:
        case Heading(text):
            return f"<h2>{_text(text)}</h2>\n"
        case Paragraph(span):
            return f"<p{_class(span.role)}>{_marked(span)}</p>\n"
        case Points(items):
            return (
                f"<ul>{''.join(f'<li{_class(item.role)}>{_marked(item)}</li>' for item in items)}</ul>\n"
                if items
                else ""
            )
        case Table():
            return _table(block)
        case Bars():
            return _bars(block)
        case Literal(lines):
            return f'<pre tabindex="0">{_text(chr(10).join(lines))}</pre>\n' if lines else ""
        case Entry():
            return _entry(block)
        case Facts():
            return _facts(block)
        case Figure():
            title = _text(block.title)
            shown = next(drawn)
            return f'<figure><figcaption>{title}</figcaption><div class="scroll" tabindex="0">{shown}</div></figure>\n'
        case Picture():
            data = base64.b64encode(block.svg.encode()).decode()
            title = _text(block.title)
            shown = f'<img alt="{title}" src="data:image/svg+xml;base64,{data}">'
            return f'<figure><figcaption>{title}</figcaption><div class="scroll" tabindex="0">{shown}</div></figure>\n'
        case _:
            raise TypeError(f"no way to show a {type(block).__name__}")


def _class(role: Role) -> str:
    return "" if role is Role.PLAIN else f' class="{role.value}"'


def _marked(span: Span) -> str:
    """A span's text, its marks set apart."""
    return _text(span.text) + (f' <span class="mark">{_text(span.marks)}</span>' if span.marks else "")


def _span(span: Span) -> str:
    return f"<span{_class(span.role)}>{_marked(span)}</span>"


def _table(table: Table) -> str:
    columns = table.columns
    classes = [
        " ".join(word for word, holds in (("num", column.right), ("whole", column.whole)) if holds)
        for column in columns
    ]
    named = [f' class="{words}"' if words else "" for words in classes]
    heads = "".join(
        f'<th scope="col"{words}>{_text(column.head)}</th>' for column, words in zip(columns, named, strict=True)
    )
    head = f"<thead><tr>{heads}</tr></thead>" if table.headed else ""
    rows = "\n".join(_row(row, named) for row in table.rows)
    kind = ' class="sortable"' if table.headed and len(table.rows) > 2 else ""
    return f'<div class="scroll" tabindex="0"><table{kind}>{head}<tbody>\n{rows}\n</tbody></table></div>\n'


def _row(row: Row, classes: Sequence[str]) -> str:
    empty = Cell((Span(""),))
    cells = [*row.cells, *[empty] * (len(classes) - len(row.cells))]
    texts = [_cell(cell, row.role) for cell in cells]
    first = f'<th scope="row"{classes[0]}>{texts[0]}</th>' if texts and classes else ""
    others = "".join(f"<td{words}>{text}</td>" for text, words in zip(texts[1:], classes[1:], strict=True))
    return f"<tr>{first}{others}</tr>"


def _cell(cell: Cell, role: Role) -> str:
    spans = [span if span.role is not Role.PLAIN else Span(span.text, role, span.marks) for span in cell.lines]
    if len(spans) == 1 and spans[0].role is Role.PLAIN:
        return _marked(spans[0])
    return "".join(map(_span, spans))


def _bars(block: Bars) -> str:
    """Each bar with its parts' shares in words, and the legend."""
    patterns = _patterns(block)
    drawn = [_bar(bar, block, patterns) for bar in block.bars]
    keys = "".join(
        f'<span class="key part{number}"></span>{_text(words)}'
        for number, (_, words) in zip(patterns, block.legend, strict=True)
    )
    return f"{''.join(drawn)}<p>{keys}</p>\n" if drawn else ""


def _bar(bar: Bar, block: Bars, patterns: Sequence[int]) -> str:
    shares = ", ".join(
        f"{words} {100 * share:.0f} %" for share, (_, words) in zip(bar.shares, block.legend, strict=True)
    )
    parts = "".join(
        f'<i class="part{number}" style="width:{100 * max(0.0, share):.2f}%"></i>'
        for number, share in zip(patterns, bar.shares, strict=True)
    )
    label = f"{bar.label}: " if bar.label else ""
    return f'<p>{_text(label + shares)}</p><div class="bar" aria-hidden="true">{parts}</div>\n'


def _patterns(block: Bars) -> list[int]:
    """Numbers of the patterns: the last part is always full, as the kernel is."""
    return [*range(len(block.legend) - 1), 3]


def _entry(entry: Entry) -> str:
    prose = "".join(f"<p>{_text(text)}</p>" for text in entry.prose)
    details = "".join(f"<div>{_text(text)}</div>" for text in entry.details)
    return f'<div class="entry"><h3>{_text(entry.name + entry.note)}</h3>{prose}{details}</div>\n'


def _facts(block: Facts) -> str:
    items = [(_text(name), "".join(map(_span, spans))) for name, spans in block.items]
    if block.first:
        wide = [sum(len(span.text) for span in spans) > WIDE for _, spans in block.items]
        tiles = (
            f"<div{WIDER if broad else ''}><dt>{name}</dt><dd>{value}</dd></div>"
            for broad, (name, value) in zip(wide, items, strict=True)
        )
        return f'<dl class="first">{"".join(tiles)}</dl>\n'
    return f"<dl>{''.join(f'<dt>{name}</dt><dd>{value}</dd>' for name, value in items)}</dl>\n"
