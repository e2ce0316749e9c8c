"""How figures look: forms, colours as names of the page's own, and a finished figure as SVG for a page.

The colours are placeholders that become variables of the page's style sheet, so that one drawing suits light, dark and
print. Nothing tells by colour alone: every mark has a form, every line a marker.
"""

from __future__ import annotations

import hashlib
import html
import io
import logging
import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text
from matplotlib.ticker import NullLocator

from burnish.base.visible import visible
from burnish.report.page.figures.shapes import Mark, Point
from burnish.report.words import change, short

INK, MUTED, GRID, BACK, BAND = "#010101", "#010102", "#010103", "#010104", "#010105"
COLOURS: Mapping[Mark, str] = {
    Mark.FASTER: "#010201",
    Mark.SLOWER: "#010202",
    Mark.EQUIVALENT: "#010203",
    Mark.UNDECIDED: "#010204",
    Mark.CANARY: "#010205",
}
FORMS: Mapping[Mark, str] = {
    Mark.FASTER: "^",
    Mark.SLOWER: "v",
    Mark.EQUIVALENT: "s",
    Mark.UNDECIDED: "o",
    Mark.CANARY: "D",
}
SERIES = tuple(f"#01030{number}" for number in range(1, 8))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

_VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    BACK: "back",
    BAND: "band",
    **{colour: str(mark.name).lower() for mark, colour in COLOURS.items()},
    **{colour: f"series{number}" for number, colour in enumerate(SERIES, 1)},
}

WIDTH = 7.8
"""Width of every figure in inches of its own; a page scales it."""

LETTER = 0.059
"""Width of a letter of the figures' text in inches, on average."""

_MIDDLE = 0.38
"""How far the middle of a line of text lies above its baseline, in sizes of its font."""

_TICKS = 9
"""Most ticks of a logarithmic axis."""

LONGEST = 46
"""Characters of a label; a longer one loses its middle."""

_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be searched, and the reader's own fonts apply
    "text.parse_math": False,  # a name with dollar signs is a name
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
}


def settings() -> Any:
    """Settings for the drawing library, whose declarations of them change from version to version."""
    return dict(_SETTINGS)


def canvas(height: float) -> Canvas:
    """An empty figure of a height in inches."""
    figure = Canvas(figsize=(WIDTH, height))
    FigureCanvasSVG(figure)
    figure.patch.set_visible(False)
    return figure


def axes(figure: Canvas, *, left: float, right: float, top: float, bottom: float) -> Axes:
    """The figure's axes, with these margins in inches."""
    width, height = figure.get_size_inches()
    area = (left / width, bottom / height, 1 - (left + right) / width, 1 - (top + bottom) / height)
    made = figure.add_axes(area)
    made.patch.set_visible(False)
    made.set_axisbelow(True)
    made.tick_params(length=0)
    return made


def label(text: str) -> str:
    """A name as a label: without control characters, and not too long."""
    return short(" ".join(visible(text).split()), LONGEST)


def room(labels: Iterable[str]) -> float:
    """Inches that the longest of these labels needs, with some space."""
    return 0.2 + LETTER * max((len(text) for text in labels), default=0)


class _Label(Text):
    """A line of text that is drawn without being measured: a large study has some thousand, and its page none of the
    fonts with which they would be measured."""

    def draw(self, renderer: RendererBase) -> None:
        """Draws it, its small letters' middle at its height."""
        x, y = self.get_transform().transform(self.get_position())
        _, height = renderer.get_canvas_width_height()
        below = renderer.points_to_pixels(_MIDDLE * self.get_fontproperties().get_size_in_points())
        drawn = renderer.new_gc()
        drawn.set_foreground(self.get_color())
        renderer.draw_text(drawn, x, height - y + below, self.get_text(), self.get_fontproperties(), 0.0, mtext=self)
        drawn.restore()


def rows(drawn: Axes, names: Sequence[str]) -> None:
    """Rows of these names from top to bottom, at the heights 0, 1, 2 …; texts, as ticks take longer to draw."""
    drawn.set_ylim(len(names) - 0.4, -0.6)
    drawn.set_yticks([])
    place = drawn.get_yaxis_transform()
    for number, name in enumerate(names):
        drawn.add_artist(_Label(-0.01, number, name, transform=place, ha="right", color=INK))


def beside(drawn: Axes, points: Sequence[Point | None]) -> None:
    """The figures of each row at its end."""
    place = drawn.get_yaxis_transform()
    for number, point in enumerate(points):
        drawn.add_artist(_Label(1.02, number, _words(point), transform=place, fontsize=7.5, color=MUTED))


def _words(point: Point | None) -> str:
    if point is None:
        return "too few starts"
    ratio, low, high = map(change, (point.ratio, point.low, point.high))
    return f"{ratio} [{low}, {high}]" if point.high < 100 else f"{ratio} [?]"


class Scale:
    """An axis for ratios: their change in per cent, or, if they differ by a factor of 4 or more, multiples on a
    logarithmic axis.

    Args:
        ratios: everything that is to be drawn.
    """

    def __init__(self, ratios: Iterable[float]) -> None:
        values = [ratio for ratio in ratios if math.isfinite(ratio) and ratio > 0] or [1.0]
        self.low, self.high = min(*values, 1.0), max(*values, 1.0)
        self.times = self.high / self.low >= 4

    def at(self, ratio: float) -> float:
        """A ratio's position."""
        bounded = min(max(ratio, self.low), self.high)
        return bounded if self.times else 100 * (bounded - 1)

    @property
    def words(self) -> str:
        """What the axis' figures are."""
        return "times the baseline's" if self.times else "change in per cent"

    def apply(self, drawn: Axes, *, vertical: bool = False) -> None:
        """Sets an axis and its grid up."""
        axis = drawn.yaxis if vertical else drawn.xaxis
        if self.times:
            (drawn.set_yscale if vertical else drawn.set_xscale)("log")
            first, last = math.floor(math.log2(self.low)), math.ceil(math.log2(self.high))
            places = [2.0**power for power in range(first, last + 1, math.ceil((last - first + 1) / _TICKS))]
            axis.set_minor_locator(NullLocator())
            axis.set_ticks(places, [f"{place:g}" for place in places])
        else:
            axis.set_major_formatter(lambda value, _: f"{value:+g}" if round(value, 9) else "0")
        room = (self.high / self.low) ** 0.04 if self.times else 0.04 * 100 * (self.high - self.low) or 1.0
        ends = (
            (self.low / room, self.high * room)
            if self.times
            else (100 * (self.low - 1) - room, 100 * (self.high - 1) + room)
        )
        (drawn.set_ylim if vertical else drawn.set_xlim)(*ends)
        drawn.grid(axis="y" if vertical else "x")


def svg(figure: Canvas, title: str) -> str:
    """A finished figure as an element of a page, the same bytes for the same figure."""
    text = io.StringIO()
    salt = hashlib.sha256(title.encode("utf-8", "replace")).hexdigest()
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    with warnings.catch_warnings(), mpl.rc_context({**settings(), "svg.hashsalt": salt}):
        warnings.filterwarnings("ignore", message="Glyph")  # the reader's fonts have it, or show its number
        figure.savefig(text, format="svg", metadata={"Date": None})
    return _for_a_page(text.getvalue(), title)


def _for_a_page(text: str, title: str) -> str:
    body = text[text.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>|<style\b.*?</style>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    body = re.sub(r"'DejaVu Sans'[^;\"]*", "system-ui, sans-serif", body)
    for colour, name in _VARIABLES.items():
        body = body.replace(colour, f"var(--{name})")
    box = re.search(r'viewBox="[^"]*"', body)
    assert box is not None  # noqa: S101 - every drawing has one
    content = body[body.index(">") + 1 :].strip()
    shown = html.escape(visible(title), quote=True)
    lines = "\n".join(line.strip() for line in content.splitlines() if line.strip())
    space = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<svg {box[0]} {space} role="img" aria-label="{shown}">\n{lines}'
