"""Ratios of several independent cells as one: their geometric mean, and the quotient of two.

The mean of n logarithms of ratios has the standard error sqrt(sum of their squares) / n. Each cell's own is read off
its interval, which for few starts is wider than the normal one's, so that the mean's errs on the same side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

LEVEL = 0.95


def geometric_mean(values: Sequence[Mapping[str, float]], level: float = LEVEL) -> dict[str, float] | None:
    """Geometric mean of independent ratios, each with its interval (keys ratio, low, high, level); None without any.

    Args:
        values: the ratios.
        level: of the mean's interval, whatever theirs are.
    """
    if not values:
        return None
    middle = sum(math.log(each["ratio"]) for each in values) / len(values)
    return _around(middle, math.hypot(*map(_error, values)) / len(values), level)


def quotient(one: Mapping[str, float], other: Mapping[str, float], level: float = LEVEL) -> dict[str, float]:
    """How many times the first of two independent ratios is the second, with its interval (keys as in the mean).

    The variances of two logarithms add up.

    Args:
        one: a ratio with its interval.
        other: likewise; against the same baseline, so that this cancels out.
        level: of the quotient's interval, whatever theirs are.
    """
    return _around(math.log(one["ratio"] / other["ratio"]), math.hypot(_error(one), _error(other)), level)


def _around(middle: float, error: float, level: float) -> dict[str, float]:
    """The ratio whose logarithm is `middle`, known to a standard error of `error`."""
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return {
        "ratio": math.exp(middle),
        "low": math.exp(middle - half),
        "high": math.exp(middle + half),
        "level": level,
    }


def _error(value: Mapping[str, float]) -> float:
    """Standard error of a ratio's logarithm, from its interval; infinite where too few starts were read to say."""
    if value["low"] <= 0.0 or math.isinf(value["high"]):
        return math.inf
    half = (math.log(value["high"]) - math.log(value["low"])) / 2
    return half / NormalDist().inv_cdf((1 + value["level"]) / 2)
