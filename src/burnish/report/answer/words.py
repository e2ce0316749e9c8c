"""Figures of the short report: changes in per cent with how far they may be off, ranges over loads; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from burnish.report.words import level_mark
from burnish.statistics.means import Ratio

VERDICTS = {"equivalent": "equal", "undecided": "?", "running": "…", "identical code": "same code"}
"""Verdicts in one short word; those not listed are themselves."""

SIGNS = {"faster": "+", "slower": "-", "equivalent": "=", "undecided": "?", "invalid": "!", "running": "…"}
"""Verdicts as one sign, where there is no room for words."""

SIGN_LEGEND = "+ faster, - slower, = equal, ? not decided"


def half(value: Ratio) -> float:
    """How far the estimate is from the end of its interval nearer to no change, in per cent of the baseline.

    Intervals are symmetric in logarithms, so that the other end of a gain is a little farther, of a loss nearer. With
    this end the figure shows what the verdict says: less than the change itself if no change is outside the interval.
    Infinity if nothing is known.
    """
    if value.high >= 100:
        return math.inf
    return 100.0 * (value.ratio - value.low if value.ratio > 1 else value.high - value.ratio)


def change(value: Ratio | None, *, brief: bool = False) -> str:
    """A ratio as a change in per cent with `half` of its interval: ``+17.9 ±2.8``; `brief`: without that."""
    if value is None:
        return "-"
    estimate = f"{100.0 * (value.ratio - 1.0):+.1f}"
    if brief:
        return estimate
    return f"{estimate} ±{half(value):.1f}{level_mark(value)}" if math.isfinite(half(value)) else f"{estimate} ±?"


def span(values: Sequence[float], *, digits: int = 0) -> str:
    """The smallest and the largest of some figures: ``13 to 15``, or ``13`` if they look alike."""
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"


def precise(values: Sequence[float]) -> int:
    """Digits after the point with which small figures are written."""
    return 0 if min(map(abs, values)) >= 2 else 1


def short_loads(loads: Sequence[str]) -> dict[str, str]:
    """The loads' names without the word that all begin with: ``read_only`` for ``oltp_read_only``."""
    words = {load.partition("_")[0] for load in loads}
    same = len(words) == 1 and len(set(loads)) > 1 and all("_" in load for load in loads)
    return {load: load.partition("_")[2] if same else load for load in loads}
