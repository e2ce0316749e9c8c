"""Forest plots: ratios below one another, each with two intervals and every start as a dot."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from burnish.report.page.figures import style
from burnish.report.page.figures.shapes import Forest, Mark, Measured, Pairs, Point

ROW = 0.27
"""Height of a row in inches."""

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
    for number, row in enumerate(rows):
        colour = style.COLOURS[row.mark]
        if row.dots:
            places = [scale.at(dot) for dot in row.dots]
            drawn.scatter(places, [number + 0.24] * len(places), s=7, color=style.MUTED, alpha=0.55, linewidths=0)
        if row.point is not None:
            drawn.hlines(number - 0.1, *_ends(scale, row.point), color=colour, linewidth=1.1)
        if row.sitting is not None:
            drawn.hlines(number - 0.1, scale.at(row.sitting[0]), scale.at(row.sitting[1]), color=colour, linewidth=3.2)
        _words(drawn, number, row.point)
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
    for number, row in enumerate(rows):
        ends = [scale.at(end) for end in row.published]
        drawn.hlines(number + 0.18, ends[0], ends[1], color=style.MUTED, linewidth=1.1)
        drawn.plot(ends, [number + 0.18] * 2, "d", color=style.MUTED, markerfacecolor="none", markersize=5)
        drawn.hlines(number - 0.12, *_ends(scale, row.measured), color=style.COLOURS[row.mark], linewidth=1.1)
        _words(drawn, number, row.measured)
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
    drawn.set_ylim(len(names) - 0.4, -0.6)
    drawn.set_yticks(range(len(names)), names)
    scale.apply(drawn)
    drawn.axvline(scale.at(1.0), color=style.MUTED, linewidth=1)
    drawn.set_xlabel(f"{axis}, {scale.words}")
    drawn.spines["left"].set_visible(False)


def _words(drawn: Axes, number: int, point: Point | None) -> None:
    """The figures at the end of a row."""
    text = "too few starts"
    if point is not None:
        ratio, low, high = (100 * (value - 1) for value in (point.ratio, point.low, point.high))
        text = f"{ratio:+.1f} [{low:+.1f}, {high:+.1f}]" if point.high < 100 else f"{ratio:+.1f} [?]"
    place = drawn.get_yaxis_transform()
    drawn.text(1.02, number, text, transform=place, va="center", fontsize=7.5, color=style.MUTED)


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
    handles: list[Line2D | Patch] = [*_mark_handles(row.mark for row in rows)]
    colour = style.MUTED
    if any(row.dots for row in rows):
        handles.append(Line2D([], [], linestyle="none", marker="o", color=colour, markersize=2.5, label="one start"))
    if any(row.sitting for row in rows):
        handles.append(Line2D([], [], color=colour, linewidth=3.2, label="95 %, this sitting"))
        handles.append(Line2D([], [], color=colour, linewidth=1.1, label="95 %, another sitting"))
    handles.append(Patch(color=style.BAND, label=f"within ±{100 * within:g} %"))
    figure.legend(handles=handles, loc="lower left", ncols=4, columnspacing=1.4, handletextpad=0.5)
