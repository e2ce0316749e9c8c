"""The slope that groups of observations have in common, each about its own means (analysis of covariance); pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class CommonSlope:
    """How y goes with x, both less their means within a group.

    Attributes:
        count: number of observations, of groups of two and more.
        df: degrees of freedom: these, less one for each group, less one.
        slope: of y for each unit of x.
        error: its standard error; not a number without degrees of freedom.
        r: correlation.
        removed: share of the standard deviation of y that the slope removes.
    """

    count: int
    df: int
    slope: float
    error: float
    r: float
    removed: float

    @classmethod
    def of(cls, groups: Iterable[Sequence[tuple[float, float]]]) -> CommonSlope | None:
        """By least squares from (x, y) by group; None if x or y never differs within one."""
        x: list[float] = []
        y: list[float] = []
        df = -1
        for group in groups:
            if len(group) > 1:
                mean_x, mean_y = (statistics.fmean(values) for values in zip(*group, strict=True))
                x += [value - mean_x for value, _ in group]
                y += [value - mean_y for _, value in group]
                df += len(group) - 1
        squares, total = math.fsum(value * value for value in x), math.fsum(value * value for value in y)
        if squares == 0.0 or total == 0.0:
            return None
        slope = math.fsum(one * other for one, other in zip(x, y, strict=True)) / squares
        left = max(0.0, total - slope * slope * squares)
        error = math.sqrt(left / df / squares) if df > 0 else math.nan
        return cls(len(x), df, slope, error, slope * math.sqrt(squares / total), 1.0 - math.sqrt(left / total))
