"""Which candidate of a run is the best; pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burnish.report.result import Result


def winner(result: Result) -> str | None:
    """The candidate with the largest geometric mean of headline ratios, if it is faster everywhere."""
    best, best_value = None, 1.0
    for name in dict.fromkeys(row.candidate for row in result.rows):
        rows = [row for row in result.rows if row.candidate == name]
        if any(row.verdict != "faster" for row in rows):
            continue
        ratios = [row.ratio["ratio"] if row.ratio else 1.0 for row in rows]
        value = math.prod(ratios) ** (1 / len(ratios))
        if value > best_value:
            best, best_value = name, value
    return best
