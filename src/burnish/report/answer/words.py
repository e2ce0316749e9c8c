"""Figures of the short report: changes in per cent with half-widths, ranges over loads; pure."""

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
    """Half the width of an interval in per cent of the baseline; infinity if nothing is known."""
    return 50.0 * (value.high - value.low) if value.high < 100 else math.inf


def change(value: Ratio | None, *, brief: bool = False) -> str:
    """A ratio as a change in per cent with the half-width of its interval: ``+17.9 ±2.8``; `brief`: without that."""
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
