"""Combines ratios of cells: their geometric mean, and the quotient of two.

The mean of n log-ratios has the standard error sqrt(sum of squared standard errors) / n. Each cell's standard error is
derived from its interval as if it were normal. With few starts that interval is wider, so the combined one is
conservative too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Protocol

from burnish.statistics.intervals import Interval

LEVEL = 0.95


class Ratio(Protocol):
    """A ratio with its confidence interval, as judged or as recorded."""

    @property
    def ratio(self) -> float:
        """The estimate."""

    @property
    def low(self) -> float:
        """Lower end."""

    @property
    def high(self) -> float:
        """Upper end."""

    @property
    def level(self) -> float:
        """Confidence level, 0 to 1."""


def geometric_mean(values: Sequence[Ratio], level: float = LEVEL) -> Interval | None:
    """Geometric mean of independent ratios, each with its interval; None without any.

    Args:
        values: the ratios.
        level: confidence level of the mean's interval, whatever theirs are.
    """
    return mean_over_loads([(value, value) for value in values], level)  # all that is known of each is its own


def mean_over_loads(values: Sequence[tuple[Ratio, Ratio | None]], level: float = LEVEL) -> Interval | None:
    """Geometric mean of a candidate's ratios on several loads of the same sittings; None without any.

    What the starts of each load tell is independent. What another sitting changes is taken to change on all loads
    alike, as a crowded host does, so that it does not average out:

        error² = Σ own² / n² + ( Σ √(repeated² − own²) / n )²

    Args:
        values: of each load, its ratio with the interval for another sitting, and with that which its own starts tell;
            None where only the first is known, which is then taken to change alike.
        level: confidence level of the mean's interval, whatever theirs are.
    """
    if not values:
        return None
    errors = [(_error(repeated), _error(own) if own is not None else 0.0) for repeated, own in values]
    middle = sum(math.log(repeated.ratio) for repeated, _ in values) / len(values)
    if math.inf in (error for both in errors for error in both):
        return _around(middle, math.inf, level)
    shared = math.fsum(math.sqrt(max(0.0, repeated**2 - own**2)) for repeated, own in errors)
    return _around(middle, math.hypot(*(own for _, own in errors), shared) / len(values), level)


def quotient(one: Ratio, other: Ratio, level: float = LEVEL) -> Interval:
    """How many times the first of two independent ratios is the second, with its interval.

    The variances of the two logarithms are added.

    Args:
        one: the dividend, a ratio with its interval.
        other: the divisor, a ratio with its interval, to the same baseline, which cancels out.
        level: confidence level of the quotient's interval, whatever theirs are.
    """
    return _around(math.log(one.ratio / other.ratio), math.hypot(_error(one), _error(other)), level)


def _around(middle: float, error: float, level: float) -> Interval:
    """The ratio whose logarithm is `middle`, known to a standard error of `error`."""
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return Interval(math.exp(middle), math.exp(middle - half), math.exp(middle + half), level)


def _error(value: Ratio) -> float:
    """Standard error of a ratio's logarithm, from its interval; infinite where too few starts were read to say."""
    if value.low <= 0.0 or math.isinf(value.high):
        return math.inf
    half = (math.log(value.high) - math.log(value.low)) / 2
    return half / NormalDist().inv_cdf((1 + value.level) / 2)
