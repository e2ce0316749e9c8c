"""Every renderer has an answer for every block, and nothing else knows how a format looks."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

import burnish.report
from burnish.report.compose import grid, points, role_of, row, section
from burnish.report.document import (
    Bar,
    Bars,
    Block,
    Cell,
    Column,
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
    Section,
    Span,
    Table,
)
from burnish.report.page.figures.shapes import Forest, Mark, Measured, Point
from burnish.report.render.html import page
from burnish.report.render.markdown import markdown
from drawn import drawn

EXAMPLES: dict[type[Block], Block] = {
    Heading: Heading("text"),
    Paragraph: Paragraph(Span("text")),
    Points: points(["text"]),
    Table: grid("kind", ("name", "figure"), [("text", "1")]),
    Bars: Bars((("░", "one"), ("█", "other")), (Bar("text", (0.5, 0.5)),)),
    Literal: Literal(("text  --option",)),
    Entry: Entry("text", " (note)", ("prose",), ("detail",)),
    Facts: Facts((("name", (Span("text"),)),)),
    Figure: Figure("text", Forest("quantity", (Measured("one", Mark.FASTER, Point(1.1, 1.0, 1.2)),), 0.01)),
    Picture: Picture("text", "<svg/>"),
}

DRAWN = {Figure, Picture}
"""Blocks that formats of text leave out."""

RENDERERS: dict[str, Callable[[Document], str]] = {"terminal": drawn, "markdown": markdown}


def document(*blocks: Block, joined: bool = False) -> Document:
    return Document("title", (Section("first", (Heading("First"),)), Section("second", blocks, joined)))


def test_every_block_has_an_example() -> None:
    kinds = {kind for kind in Block.__subclasses__() if kind.__module__ == Block.__module__}
    assert kinds == set(EXAMPLES)


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_every_renderer_shows_every_block(renderer: str, kind: type[Block]) -> None:
    shown = "text" in RENDERERS[renderer](document(EXAMPLES[kind]))
    assert shown == (kind not in DRAWN)


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_a_page_shows_every_block(kind: type[Block]) -> None:
    shown = page(document(EXAMPLES[kind]))
    assert ">text" in shown[shown.index('<section id="second">') :]


@pytest.mark.parametrize("renderer", RENDERERS)
def test_a_block_that_nobody_knows_is_an_error(renderer: str) -> None:
    class Unknown(Block):
        pass

    with pytest.raises(TypeError, match="Unknown"):
        RENDERERS[renderer](document(Unknown()))


def test_details_are_in_full_reports_alone() -> None:
    both = document(points(["always"]), points(["detail"], detail=True))
    assert "always" in drawn(both)
    assert "detail" not in drawn(both)
    assert "detail" in drawn(both, full=True)
    assert "always" in markdown(both)
    assert "detail" in markdown(both)


def test_sections_are_apart_unless_joined_and_empty_ones_leave_no_trace() -> None:
    assert drawn(document(points(["text"]))) == "First\n\ntext\n"
    assert drawn(document(points(["text"]), joined=True)) == "First\ntext\n"
    assert drawn(document(points([]))) == "First\n"
    assert markdown(document(points(["text"]))) == "# title\n\n## First\n\n* text\n"
    assert markdown(document(points([]))) == "# title\n\n## First\n"


def test_markdown_keeps_tables_whole_and_drawings_as_they_are() -> None:
    columns = (Column("a"), Column("b"))
    table = Table("kind", columns, (row("x | y", Cell((Span("1"), Span("2")))), row(Span("alone", Role.STRONG))))
    text = markdown(document(table, Literal(("  1", "░ 2"))))
    assert "| a | b |\n| --- | --- |\n| x \\| y | 1 2 |\n| alone |  |\n" in text
    assert "```\n  1\n░ 2\n```" in text


def test_roles_are_colours_on_a_terminal_only() -> None:
    shown = document(Table("verdicts", (Column("verdict"),), (row(Span("faster", role_of("faster (=)"))),)))
    assert "\x1b[32mfaster" in drawn(shown, coloured=True)
    assert "\x1b" not in drawn(shown)
    assert "| faster |" in markdown(shown)


def test_brackets_are_no_markup() -> None:
    assert "[vdso] and [bold]" in drawn(document(points(["[vdso] and [bold]"])))


def test_a_section_has_the_blocks_that_are_there() -> None:
    assert section("key", "Title", None, points(["a"])).blocks == (Heading("Title"), points(["a"]))


def test_only_the_terminals_renderer_knows_rich() -> None:
    root = Path(burnish.report.__file__).parent
    knowing = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "rich"
    }
    assert knowing == {"render/terminal.py"}
