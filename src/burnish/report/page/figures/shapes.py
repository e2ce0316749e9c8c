"""What a figure shows, as values; how it is drawn is in the modules beside this one.

All ratios are oriented so that above 1 is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """What a measured ratio says; each has a colour and a form of its own."""

    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"
    CANARY = "the baseline against itself"


@dataclass(frozen=True)
class Point:
    """A ratio with its interval.

    Attributes:
        ratio: the estimate.
        low: lower end.
        high: upper end.
    """

    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Measured:
    """A row of a forest plot.

    Attributes:
        label: its name.
        mark: what it says.
        point: the ratio with the interval for another sitting; None if there are too few starts.
        sitting: ends of the interval within its own sitting; None if that is not known beside the other.
        dots: the ratio of every valid start.
    """

    label: str
    mark: Mark
    point: Point | None
    sitting: tuple[float, float] | None = None
    dots: tuple[float, ...] = ()


@dataclass(frozen=True)
class Forest:
    """Ratios below one another, each with its intervals and every start as a dot.

    Attributes:
        axis: what the ratio is of.
        rows: from top to bottom.
        within: largest distance of a ratio from 1 that counts as no difference.
    """

    axis: str
    rows: tuple[Measured, ...]
    within: float


@dataclass(frozen=True)
class Step:
    """What one step of a series of builds adds to those before it.

    Attributes:
        label: the step.
        point: the ratio of the build with it to the build without it.
    """

    label: str
    point: Point


@dataclass(frozen=True)
class Waterfall:
    """Steps on top of one another, from the baseline to the last build.

    Attributes:
        axis: what the ratio is of.
        steps: in order.
    """

    axis: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Heat:
    """A matrix of ratios.

    Attributes:
        down: what the rows are.
        across: what the columns are.
        rows: names of the rows.
        columns: names of the columns.
        ratios: by row and column; None where nothing was measured.
        own: (row, column) of cells to be set apart, by number from 0.
    """

    down: str
    across: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    ratios: tuple[tuple[float | None, ...], ...]
    own: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Run:
    """Values of one thing over the steps of an axis.

    Attributes:
        label: its name.
        points: (position, value, lower end, upper end); the ends are the value itself without an interval.
    """

    label: str
    points: tuple[tuple[float, float, float, float], ...]


LINES = 14
"""Most lines of one figure, so that they can be distinguished."""


def by_figure(lines: Sequence[Run]) -> list[tuple[Run, ...]]:
    """The lines of each figure, of which many need several."""
    return [tuple(lines[begin : begin + LINES]) for begin in range(0, len(lines), LINES)]


@dataclass(frozen=True)
class Lines:
    """Lines over a common axis.

    Attributes:
        across: what the axis is.
        axis: what the values are.
        runs: the lines.
        ratio: whether the values are ratios, which are drawn as a change in per cent.
        ticks: names of the positions on the axis; empty: the positions themselves.
    """

    across: str
    axis: str
    runs: tuple[Run, ...]
    ratio: bool = True
    ticks: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True)
class Pair:
    """A published figure and the same thing measured.

    Attributes:
        label: its name.
        published: the published ratio, or the ends of its range.
        mark: what the measured one says.
        measured: the measured ratio with its interval.
    """

    label: str
    published: tuple[float, float]
    mark: Mark
    measured: Point


@dataclass(frozen=True)
class Pairs:
    """Published figures beside measured ones.

    Attributes:
        axis: what the ratio is of.
        rows: from top to bottom.
    """

    axis: str
    rows: tuple[Pair, ...]


Shape = Forest | Waterfall | Heat | Lines | Pairs
"""Everything that can be drawn."""
