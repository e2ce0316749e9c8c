"""Whether the ratio drifts within starts, from the pairs of each in their order; pure.

A start's reading takes its pairs as samples of one ratio. If the ratio goes on changing while a start lasts (a cache
that still fills, memory that grows), the reading depends on the number of pairs and on the length of the warm-up.
Each start has a slope, by least squares over the pairs' numbers; starts are independent, so a t test of their slopes
tells whether these have a common direction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

P_BOUND = 0.01
"""P-value below which a drift is taken as real."""

SIZE_BOUND = 0.002
"""Change of the log-ratio over a start below which a drift does not matter."""

STARTS = 3
"""Minimum number of starts with two pairs or more."""


@dataclass(frozen=True)
class Drift:
    """The change of a ratio over a start.

    Attributes:
        change: from a start's first pair to its last, as a log-ratio, mean over starts.
        p: p-value of "no drift" (two-sided t test over starts).
        starts: number of starts that it is from.
        matters: whether it is proved (`P_BOUND`) and larger than `SIZE_BOUND`.
    """

    change: float
    p: float
    starts: int
    matters: bool


def drift(starts: Sequence[Sequence[tuple[int, float]]]) -> Drift | None:
    """The drift within starts; None with too few starts of two pairs and more.

    Args:
        starts: for each start, number and log-ratio of each of its valid pairs.
    """
    changes = np.array([_change(pairs) for pairs in starts if len(pairs) > 1])
    changes = changes[np.isfinite(changes)]
    if changes.size < STARTS:
        return None
    mean, error = float(changes.mean()), float(changes.std(ddof=1)) / math.sqrt(changes.size)
    away = abs(mean) / error if error > 0.0 else math.inf if mean else 0.0
    p = 2.0 * float(scipy.special.stdtr(changes.size - 1, -away))
    return Drift(mean, p, int(changes.size), p < P_BOUND and abs(mean) > SIZE_BOUND)


def _change(pairs: Sequence[tuple[int, float]]) -> float:
    """Slope of the log-ratio, by least squares, times the pairs from the first to the last."""
    numbers, ratios = np.array([pair[0] for pair in pairs], float), np.array([pair[1] for pair in pairs], float)
    away = numbers - numbers.mean()
    slope = float((away * ratios).sum() / (away**2).sum())
    return slope * float(numbers[-1] - numbers[0])
