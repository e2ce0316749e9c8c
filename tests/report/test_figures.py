"""Figures as SVG: what a page needs of them, whatever their labels are."""

from __future__ import annotations

import re
import warnings
from itertools import pairwise
from multiprocessing import active_children
from xml.etree.ElementTree import XML, Element

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.report.document import Figure
from burnish.report.page.figures import style
from burnish.report.page.figures.beside import drawing
from burnish.report.page.figures.drawing import draw
from burnish.report.page.figures.shapes import (
    Forest,
    Heat,
    Lines,
    Mark,
    Measured,
    Pair,
    Pairs,
    Point,
    Run,
    Shape,
    Step,
    Waterfall,
)


def parsed(drawn: str) -> Element:
    return XML(drawn)


P = Point(1.1, 1.08, 1.12)


def forest(*labels: str) -> Forest:
    rows = [
        Measured(label, mark, P, (1.09, 1.11), (1.1, 1.11)) for label, mark in zip(labels, [*Mark] * 9, strict=False)
    ]
    return Forest("capacity", (*rows, Measured("none", Mark.UNDECIDED, None)), 0.01)


SHAPES: dict[str, Shape] = {
    "forest": forest("one", "two", "three", "four", "five"),
    "far": Forest("capacity", (Measured("one", Mark.FASTER, Point(57.0, 40.0, 80.0)),), 0.01),
    "pairs": Pairs("change", (Pair("one", (1.05, 1.07), Mark.SLOWER, P),)),
    "waterfall": Waterfall("capacity", (Step("one", P), Step("+ two", Point(0.99, 0.97, 1.01)))),
    "heat": Heat("trained", "measured", ("a", "b"), ("x", "y"), ((1.1, None), (0.9, 1.0)), ((0, 0),)),
    "lines": Lines("threads", "capacity", (Run("one", ((1, 1.1, 1.0, 1.2), (16, 1.2, 1.1, 1.3))),)),
    "times": Lines("threads", "ms", (Run("one", ((1, 5.0, 5.0, 5.0),)),), ratio=False, ticks=((1, "first"),)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_figure_stands_by_itself_in_a_page(name: str) -> None:
    drawn = draw(SHAPES[name], "What is shown")
    root = parsed(drawn)
    assert root.get("role") == "img"
    assert root.get("aria-label") == "What is shown"
    assert set(root.keys()) == {"viewBox", "role", "aria-label"}, "its size is the page's"
    assert "<style" not in drawn
    assert "DejaVu" not in drawn, "the reader's own fonts"
    assert not re.search(r"#0\d0\d0\d", drawn), "every colour is a variable of the page"
    assert "var(--muted)" in drawn
    assert not re.search(r'(href|src)="(?!#)', drawn), "nothing is loaded"
    assert drawn == draw(SHAPES[name], "What is shown"), "the same bytes each time"


def test_marks_differ_in_form_and_colour() -> None:
    assert len({style.FORMS[mark] for mark in Mark}) == len({style.COLOURS[mark] for mark in Mark}) == len(Mark)


def test_every_start_is_drawn() -> None:
    dots = tuple(1 + number / 1000 for number in range(20))
    drawn = draw(Forest("q", (Measured("one", Mark.FASTER, P, None, dots),), 0.01), "t")
    places = [re.findall(r"M (\S+) (\S+)\s+L \1 \2(?!\S)", path) for path in re.findall(r'<path d="([^"]+)"', drawn)]
    elements = [sorted(float(across) for across, _ in found) for found in places if found]
    assert sum(map(len, elements)) == 20
    step = (max(map(max, elements)) - min(map(min, elements))) / 19
    # Neighbours are in different elements, so that they are darker where they overlap.
    assert all(right - left > 1.5 * step for found in elements for left, right in pairwise(found)), (
        "overlaps are darker"
    )


def test_two_figures_share_no_ids() -> None:
    first, second = (set(re.findall(r' id="([^"]+)"', draw(SHAPES["forest"], title))) for title in ("one", "two"))
    assert not first & second


def test_labels_are_text_and_nothing_else() -> None:
    drawn = draw(forest("<script>alert(1)</script>", '$x_1$ & "q" ]]> {{', "a" * 300, "\x00\x1b[31m"), '<b>&"t')
    assert "<script" not in drawn
    texts = [element.text or "" for element in parsed(drawn).iter() if element.tag.endswith("text")]
    assert "<script>alert(1)</script>" in texts
    assert '$x_1$ & "q" ]]> {{' in texts
    assert max(map(len, texts)) <= 60


@settings(max_examples=25, deadline=None)
@given(st.text(min_size=1, max_size=30), st.floats(0.01, 100.0), st.floats(1.0, 3.0))
def test_any_label_and_ratio_can_be_drawn(label: str, ratio: float, width: float) -> None:
    row = Measured(label, Mark.FASTER, Point(ratio, ratio / width, ratio * width), None, (ratio,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = draw(Forest("q", (row,), 0.01), label)
    parsed(drawn)


def test_a_process_beside_draws_the_same_in_order() -> None:
    asked = [Figure(name, SHAPES[name]) for name in ("heat", "lines", "pairs")]
    with drawing() as beside:
        assert list(beside(asked)) == [draw(figure.shape, figure.title) for figure in asked]
    assert active_children() == []


def failing() -> None:
    with drawing() as beside:
        beside([Figure("heat", SHAPES["heat"])] * 50)
        raise ValueError("not a page")


def test_a_page_that_fails_leaves_no_process() -> None:
    with pytest.raises(ValueError, match="not a page"):
        failing()
    assert active_children() == []
