"""Sensitivity analyses that show how much a verdict depends on single starts; they never change it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy

from burnish.statistics.intervals import Interval

FEWEST_FOR_RANKS = 6
"""Fewest starts for an interval from ranks: with 5, no rank interval reaches 95 % (2 / 2⁵ = 6.25 %)."""


def trimmed_mean(log_ratios: Sequence[float], level: float = 0.95, cut: float = 0.2) -> Interval | None:
    """Trimmed mean with an interval from the winsorised standard deviation; None below 4 readings.

    Tukey and McLaughlin 1963, Sankhya A 25:331; the standard error as in Yuen 1974, Biometrika 61:165.

    Args:
        log_ratios: one reading for each start.
        level: confidence level.
        cut: share of the readings that is cut off at each end.
    """
    readings = np.sort(np.asarray(log_ratios, dtype=float))
    count = readings.size
    gone = int(cut * count)
    left = count - 2 * gone
    if count < 4 or left < 2:
        return None
    winsorised = np.clip(readings, readings[gone], readings[count - gone - 1])
    error = float(winsorised.std(ddof=1)) * math.sqrt((count - 1) / (left * (left - 1)))
    factor = float(scipy.special.stdtrit(left - 1, 0.5 + level / 2.0))
    return Interval.from_log(float(readings[gone : count - gone].mean()), factor * error, level)


def hodges_lehmann(log_ratios: Sequence[float], level: float = 0.95) -> Interval | None:
    """Median of all pairwise means, with the interval that Wilcoxon's signed rank test accepts.

    Hodges and Lehmann 1963, Ann. Math. Stat. 34:598. The interval's true level is the next one at or above
    `level` that ranks can reach. None below 6 readings.

    Args:
        log_ratios: one reading for each start.
        level: confidence level.
    """
    readings = np.asarray(log_ratios, dtype=float)
    if readings.size < FEWEST_FOR_RANKS:
        return None
    first, second = np.triu_indices(readings.size)
    walsh = np.sort((readings[first] + readings[second]) / 2.0)
    outside = _signed_rank_quantile(readings.size, (1.0 - level) / 2.0)
    if outside < 0:
        return None
    low, high = float(walsh[outside]), float(walsh[walsh.size - 1 - outside])
    return Interval(math.exp(float(np.median(walsh))), math.exp(low), math.exp(high), level)


def _signed_rank_quantile(count: int, tail: float) -> int:
    """Largest w with P(signed rank sum <= w) <= `tail`; -1 if there is none. Exact, by convolution."""
    ways = np.ones(1)
    for rank in range(1, count + 1):
        ways = np.convolve(ways, np.concatenate(([0.5], np.zeros(rank - 1), [0.5])))
    return int(np.searchsorted(np.cumsum(ways), tail, side="right")) - 1


def sensitivity(log_ratios: Sequence[float], level: float = 0.95) -> list[tuple[str, Interval]]:
    """The sensitivity analyses that the number of readings allows, as (name, interval)."""
    lines = (
        ("trimmed mean (20 % off each end)", trimmed_mean(log_ratios, level)),
        ("Hodges-Lehmann", hodges_lehmann(log_ratios, level)),
    )
    return [(name, interval) for name, interval in lines if interval is not None]
