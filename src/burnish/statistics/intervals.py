"""From pairs to a start's reading, and from starts to a ratio with its interval.

Everything is computed on log-ratios (candidate over baseline, positive if the candidate is better), which are
symmetric, and shown as ratios: the ratio is the geometric mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy


@dataclass(frozen=True)
class Interval:
    """A ratio of candidate to baseline, above 1 if the candidate is better, with its confidence interval.

    Attributes:
        ratio: geometric mean ratio over the starts.
        low: lower end; 0 with too few starts.
        high: upper end; infinite with too few starts.
        level: confidence level, 0 to 1.
    """

    ratio: float
    low: float
    high: float
    level: float

    @classmethod
    def from_log(cls, centre: float, half_width: float, level: float) -> Interval:
        """The interval `centre` ± `half_width`, both as log-ratios."""
        return cls(math.exp(centre), math.exp(centre - half_width), _exp(centre + half_width), level)

    @property
    def half_width(self) -> float:
        """Half the interval's width as a log-ratio: 0.005 is ±0.5 %."""
        if self.low <= 0.0 or math.isinf(self.high):
            return math.inf
        return 0.5 * (math.log(self.high) - math.log(self.low))

    @property
    def excludes_one(self) -> bool:
        """Whether the whole interval lies on one side of 1."""
        return self.low > 1.0 or self.high < 1.0

    def within(self, delta: float) -> bool:
        """Whether the whole interval lies within ±`delta` (0.01 = 1 %), measured as a log-ratio."""
        return self.low > 1.0 / (1.0 + delta) and self.high < 1.0 + delta


def _exp(value: float) -> float:
    return math.inf if value > 700.0 else math.exp(value)


def start_reading(pair_log_ratios: Sequence[float]) -> float:
    """A start's reading: the median of its pairs, so that one disturbed pair does not move it.

    Args:
        pair_log_ratios: one log-ratio for each pair of the start.

    Raises:
        ValueError: there is no pair.
    """
    if len(pair_log_ratios) == 0:
        raise ValueError("a start without a pair has no reading")
    return float(np.median(np.asarray(pair_log_ratios, dtype=float)))


def fixed_interval(log_ratios: Sequence[float], level: float = 0.95) -> Interval:
    """Student's t interval of the geometric mean, for a number of starts that was fixed in advance.

    Args:
        log_ratios: one reading for each start (or for each layout or training replicate).
        level: confidence level.

    Raises:
        ValueError: fewer than two readings.
    """
    readings = np.asarray(log_ratios, dtype=float)
    if readings.size < 2:
        raise ValueError(f"an interval needs at least 2 starts, there are {readings.size}")
    error = float(readings.std(ddof=1)) / math.sqrt(readings.size)
    factor = float(scipy.special.stdtrit(readings.size - 1, 0.5 + level / 2.0))
    return Interval.from_log(float(readings.mean()), factor * error, level)
