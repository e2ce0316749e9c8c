"""Waterfalls, matrices and lines."""

from __future__ import annotations

import math

from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Rectangle

from burnish.report.page.figures import style
from burnish.report.page.figures.shapes import Heat, Lines, Mark, Waterfall
from burnish.report.words import change

_STRONGEST = 0.5
"""Opacity of the largest change in a matrix: text on it stays readable."""


def waterfall(shape: Waterfall) -> Canvas:
    """Each step as a bar that begins where the one before it ends."""
    names = [style.label(step.label) for step in shape.steps]
    reached = [1.0]
    for step in shape.steps:
        reached.append(reached[-1] * step.point.ratio)
    ends = [
        at * end for at, step in zip(reached, shape.steps, strict=False) for end in (step.point.low, step.point.high)
    ]
    scale = style.Scale((*reached, *ends))
    figure = style.canvas(0.65 + 0.42 * len(names))
    drawn = style.axes(figure, left=style.room(names), right=1.75, top=0.1, bottom=0.5)
    style.rows(drawn, names)
    scale.apply(drawn)
    drawn.axvline(scale.at(1.0), color=style.MUTED, linewidth=1)
    drawn.set_xlabel(f"{shape.axis}, {scale.words}")
    for number, step in enumerate(shape.steps):
        before, after = reached[number], reached[number + 1]
        mark = Mark.FASTER if step.point.low > 1 else Mark.SLOWER if step.point.high < 1 else Mark.UNDECIDED
        place, width = scale.at(before), scale.at(after) - scale.at(before)
        colour = style.COLOURS[mark]
        hollow = mark is Mark.UNDECIDED
        drawn.barh(
            number, width, left=place, height=0.5, color="none" if hollow else colour, edgecolor=colour,
            hatch="///" if hollow else None, alpha=0.8,
        )  # fmt: skip
        drawn.hlines(
            number,
            scale.at(before * step.point.low),
            scale.at(before * step.point.high),
            color=style.INK,
            linewidth=1.3,
        )
        if number + 1 < len(names):
            drawn.vlines(scale.at(after), number, number + 1, color=style.MUTED, linewidth=0.7, linestyle=":")
    style.beside(drawn, [step.point for step in shape.steps])
    return figure


def heat(shape: Heat) -> Canvas:
    """A matrix whose cells are the stronger coloured, the further they are from 1; each holds its figure."""
    rows, columns = list(map(style.label, shape.rows)), list(map(style.label, shape.columns))
    top = 0.25 + 0.045 * max(map(len, columns))
    figure = style.canvas(top + 0.2 + 0.34 * len(rows))
    right = max(0.45, 0.88 * style.LETTER * len(columns[-1]) - 0.15)  # its name leans out of the last column
    drawn = style.axes(figure, left=style.room(rows), right=right, top=top, bottom=0.2)
    drawn.set_xlim(-0.5, len(columns) - 0.5)
    drawn.set_ylim(len(rows) - 0.5, -0.5)
    drawn.set_yticks(range(len(rows)), rows)
    drawn.xaxis.tick_top()
    drawn.set_xticks(range(len(columns)), columns, rotation=28, ha="left")
    for spine in drawn.spines.values():
        spine.set_visible(False)
    most = max((abs(math.log(ratio)) for row in shape.ratios for ratio in row if ratio), default=0.0) or 1.0
    for down, row in enumerate(shape.ratios):
        for across, ratio in enumerate(row):
            own = (down, across) in shape.own
            strength = abs(math.log(ratio)) / most if ratio else 0.0
            colour = style.COLOURS[Mark.FASTER if (ratio or 1.0) >= 1 else Mark.SLOWER]
            box = (across - 0.47, down - 0.44), 0.94, 0.88
            drawn.add_patch(Rectangle(*box, facecolor=colour, alpha=_STRONGEST * strength, linewidth=0))
            edge = style.INK if own else style.GRID
            drawn.add_patch(Rectangle(*box, facecolor="none", edgecolor=edge, linewidth=1.6 if own else 0.6))
            text = change(ratio) if ratio else "-"
            drawn.text(across, down, text, ha="center", va="center", fontsize=7.5)
    return figure


def lines(shape: Lines) -> Canvas:
    """Lines with their intervals, each with a marker of its own."""
    names = dict(shape.ticks)
    more = 0.14 * max((name.count("\n") for name in names.values()), default=0)
    figure = style.canvas(3.2 + more + 0.19 * math.ceil(len(shape.runs) / 2))
    below = 0.55 + more + 0.19 * math.ceil(len(shape.runs) / 2)
    drawn = style.axes(figure, left=0.75, right=0.4, top=0.12, bottom=below)
    scale = style.Scale(value for run in shape.runs for point in run.points for value in point[1:])
    places = sorted({point[0] for run in shape.runs for point in run.points})
    at = {place: number for number, place in enumerate(places)}
    for number, run in enumerate(shape.runs):
        colour, marker = style.SERIES[number % len(style.SERIES)], style.MARKERS[number % len(style.MARKERS)]
        shift = 0.1 * (number / max(1, len(shape.runs) - 1) - 0.5)  # so that intervals do not hide one another
        across = [at[point[0]] + shift for point in run.points]
        middle, low, high = (
            [scale.at(point[part]) if shape.ratio else point[part] for point in run.points] for part in (1, 2, 3)
        )
        dashes = "-" if number < len(style.SERIES) else "--"
        drawn.plot(across, middle, marker=marker, color=colour, linestyle=dashes, markersize=4.5, linewidth=1.4,
                   label=style.label(run.label))  # fmt: skip
        drawn.vlines(across, low, high, color=colour, linewidth=1)
    if shape.ratio:
        scale.apply(drawn, vertical=True)
        drawn.axhline(scale.at(1.0), color=style.MUTED, linewidth=1)
        drawn.set_ylabel(f"{shape.axis}, {scale.words}")
    else:
        drawn.grid(axis="y")
        drawn.set_ylim(bottom=0)
        drawn.set_ylabel(shape.axis)
    drawn.set_xticks(range(len(places)), [names.get(place, f"{place:g}") for place in places])
    drawn.set_xlabel(shape.across)
    figure.legend(loc="lower left", ncols=2, columnspacing=1.4)
    return figure
