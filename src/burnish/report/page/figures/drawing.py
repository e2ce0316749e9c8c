"""From what a figure shows to SVG. The only module of reports that loads the drawing library, which takes a while."""

from __future__ import annotations

import matplotlib as mpl

from burnish.report.page.figures import forest, others, style
from burnish.report.page.figures.shapes import Forest, Heat, Lines, Pairs, Shape, Waterfall


def draw(shape: Shape, title: str) -> str:
    """The figure as an SVG element for a page; its colours are variables of the page's style sheet."""
    with mpl.rc_context(style.settings()):
        match shape:
            case Forest():
                figure = forest.forest(shape)
            case Pairs():
                figure = forest.pairs(shape)
            case Waterfall():
                figure = others.waterfall(shape)
            case Heat():
                figure = others.heat(shape)
            case Lines():
                figure = others.lines(shape)
        return style.svg(figure, title)
