"""Combines ratios of independent cells: their geometric mean, and the quotient of two.

The mean of n log-ratios has the standard error sqrt(sum of squared standard errors) / n. Each cell's standard error is
derived from its interval as if it were normal. With few starts that interval is wider, so the combined one is
conservative too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

LEVEL = 0.95


def geometric_mean(values: Sequence[Mapping[str, float]], level: float = LEVEL) -> dict[str, float] | None:
    """Geometric mean of independent ratios with intervals (keys ratio, low, high, level); None without ratios.

    Args:
        values: the ratios.
        level: confidence level of the mean's interval, whatever theirs are.
    """
    if not values:
        return None
    middle = sum(math.log(value["ratio"]) for value in values) / len(values)
    return _around(middle, math.hypot(*map(_error, values)) / len(values), level)


def quotient(one: Mapping[str, float], other: Mapping[str, float], level: float = LEVEL) -> dict[str, float]:
    """Quotient of two independent ratios with its interval (keys as in the mean).

    The variances of the two logarithms are added.

    Args:
        one: the dividend, a ratio with its interval.
        other: the divisor, a ratio with its interval, to the same baseline, which cancels out.
        level: confidence level of the quotient's interval, whatever theirs are.
    """
    return _around(math.log(one["ratio"] / other["ratio"]), math.hypot(_error(one), _error(other)), level)


def _around(middle: float, error: float, level: float) -> dict[str, float]:
    """The ratio whose logarithm is `middle`, with its interval from the standard error `error`."""
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return {
        "ratio": math.exp(middle),
        "low": math.exp(middle - half),
        "high": math.exp(middle + half),
        "level": level,
    }


def _error(value: Mapping[str, float]) -> float:
    """Standard error of a ratio's logarithm, from its interval; infinite with too few starts."""
    if value["low"] <= 0.0 or math.isinf(value["high"]):
        return math.inf
    half = (math.log(value["high"]) - math.log(value["low"])) / 2
    return half / NormalDist().inv_cdf((1 + value["level"]) / 2)
