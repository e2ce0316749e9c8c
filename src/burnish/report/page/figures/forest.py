"""Forest plots: ratios below one another, each with two intervals and every start as a dot."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path

from burnish.report.page.figures import style
from burnish.report.page.figures.shapes import Forest, Mark, Measured, Pairs, Point

ROW = 0.27
"""Height of a row in inches."""

_LAYERS = 3
"""Elements among which the dots of a plot are divided."""

_TOP, _BOTTOM, _LEGEND = 0.12, 0.5, 0.38


def forest(shape: Forest) -> Canvas:
    """The plot of a forest."""
    rows = shape.rows
    names = [style.label(row.label) for row in rows]
    scale = style.Scale((*_ratios(rows), 1 - shape.within, 1 + shape.within))
    figure = style.canvas(_TOP + _BOTTOM + _LEGEND + ROW * len(rows))
    drawn = style.axes(figure, left=style.room(names), right=1.75, top=_TOP, bottom=_BOTTOM + _LEGEND)
    _frame(drawn, names, scale, shape.axis)
    drawn.axvspan(scale.at(1 - shape.within), scale.at(1 + shape.within), color=style.BAND, linewidth=0, zorder=0)
    _dots(drawn, [(scale.at(dot), number + 0.24) for number, row in enumerate(rows) for dot in sorted(row.dots)])
    places = [(number - 0.1, row) for number, row in enumerate(rows)]
    _bars(drawn, [(at, row.mark, _ends(scale, row.point)) for at, row in places if row.point], 1.1)
    sittings = [(at, row.mark, row.sitting) for at, row in places if row.sitting]
    _bars(drawn, [(at, mark, (scale.at(low), scale.at(high))) for at, mark, (low, high) in sittings], 3.2)
    style.beside(drawn, [row.point for row in rows])
    _marks(drawn, scale, [(number - 0.1, row.mark, row.point) for number, row in enumerate(rows) if row.point])
    _legend(figure, rows, shape.within)
    return figure


def pairs(shape: Pairs) -> Canvas:
    """Published figures beside measured ones."""
    rows = shape.rows
    names = [style.label(row.label) for row in rows]
    scale = style.Scale(
        end for row in rows for end in (*row.published, row.measured.low, row.measured.high, row.measured.ratio)
    )
    figure = style.canvas(_TOP + _BOTTOM + _LEGEND + ROW * len(rows))
    drawn = style.axes(figure, left=style.room(names), right=1.75, top=_TOP, bottom=_BOTTOM + _LEGEND)
    _frame(drawn, names, scale, shape.axis)
    ends = [tuple(map(scale.at, row.published)) for row in rows]
    heights = [number + 0.18 for number in range(len(rows))]
    drawn.hlines(heights, *zip(*ends, strict=True), color=style.MUTED, linewidth=1.1)
    drawn.plot(
        [end for both in ends for end in both], [height for height in heights for _ in range(2)], "d",
        color=style.MUTED, markerfacecolor="none", markersize=5,
    )  # fmt: skip
    _bars(drawn, [(number - 0.12, row.mark, _ends(scale, row.measured)) for number, row in enumerate(rows)], 1.1)
    style.beside(drawn, [row.measured for row in rows])
    _marks(drawn, scale, [(number - 0.12, row.mark, row.measured) for number, row in enumerate(rows)])
    published = Line2D([], [], marker="d", color=style.MUTED, markerfacecolor="none", markersize=5, label="published")
    figure.legend(handles=[published, *_mark_handles(row.mark for row in rows)], loc="lower left", ncols=6)
    return figure


def _ratios(rows: tuple[Measured, ...]) -> list[float]:
    """Everything to be drawn, of intervals no more than reasonable: the ends of two starts' may be anywhere."""
    ratios = [dot for row in rows for dot in row.dots]
    ratios += [row.point.ratio for row in rows if row.point]
    low, high = min(ratios, default=1.0), max(ratios, default=1.0)
    margin = max(high / low, 1.02) if low > 0 else 2.0
    ends = [end for row in rows if row.point for end in (row.point.low, row.point.high)]
    return ratios + [min(max(end, low / margin), high * margin) for end in ends]


def _ends(scale: style.Scale, point: Point) -> tuple[float, float]:
    return scale.at(point.low), scale.at(point.high)


def _frame(drawn: Axes, names: list[str], scale: style.Scale, axis: str) -> None:
    style.rows(drawn, names)
    scale.apply(drawn)
    drawn.axvline(scale.at(1.0), color=style.MUTED, linewidth=1)
    drawn.set_xlabel(f"{axis}, {scale.words}")
    drawn.spines["left"].set_visible(False)


def _dots(drawn: Axes, places: list[tuple[float, float]]) -> None:
    """A dot at each place, those of a row from left to right.

    A dot is a line without length, of which the round ends are seen: many in one element of the page, which a browser
    shows sooner than an element for each. Neighbours are in different ones, so that they are darker where they overlap.
    """
    for layer in range(_LAYERS):
        if chosen := places[layer::_LAYERS]:
            path = Path([place for place in chosen for _ in range(2)], [Path.MOVETO, Path.LINETO] * len(chosen))
            path.should_simplify = False  # what has no length would be left out
            dots = PathPatch(path, fill=False, edgecolor=style.MUTED, alpha=0.55, linewidth=2.6, capstyle="round")
            drawn.add_artist(dots)


def _bars(drawn: Axes, bars: list[tuple[float, Mark, tuple[float, float]]], width: float) -> None:
    """Horizontal lines, each as (height, what its row says, its ends)."""
    for mark in Mark:  # one call for all of a colour: a large study has some thousand lines
        chosen = [(height, *ends) for height, of, ends in bars if of is mark]
        if chosen:
            drawn.hlines(*zip(*chosen, strict=True), color=style.COLOURS[mark], linewidth=width)


def _marks(drawn: Axes, scale: style.Scale, rows: list[tuple[float, Mark, Point]]) -> None:
    for mark in Mark:
        chosen = [(scale.at(point.ratio), height) for height, which, point in rows if which is mark]
        if chosen:
            drawn.scatter(
                [place for place, _ in chosen],
                [height for _, height in chosen],
                s=34,
                marker=style.FORMS[mark],
                facecolor=style.BACK if mark is Mark.UNDECIDED else style.COLOURS[mark],
                edgecolor=style.COLOURS[mark],
                linewidths=1.2,
                zorder=4,
            )


def _mark_handles(marks: object) -> list[Line2D]:
    present = set(marks)  # type: ignore[call-overload]
    return [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=style.FORMS[mark],
            color=style.COLOURS[mark],
            markerfacecolor=style.BACK if mark is Mark.UNDECIDED else style.COLOURS[mark],
            markersize=5.5,
            label=str(mark),
        )
        for mark in Mark
        if mark in present
    ]


def _legend(figure: Canvas, rows: tuple[Measured, ...], within: float) -> None:
    handles: list[Line2D | Patch] = [*_mark_handles(row.mark for row in rows if row.point)]
    colour = style.MUTED
    if any(row.dots for row in rows):
        handles.append(Line2D([], [], linestyle="none", marker="o", color=colour, markersize=2.5, label="one start"))
    if any(row.sitting for row in rows):
        handles.append(Line2D([], [], color=colour, linewidth=3.2, label="95 %, this sitting"))
        handles.append(Line2D([], [], color=colour, linewidth=1.1, label="95 %, another sitting"))
    handles.append(Patch(color=style.BAND, label=f"within ±{100 * within:g} %"))
    figure.legend(handles=handles, loc="lower left", ncols=4, columnspacing=1.4, handletextpad=0.5)
