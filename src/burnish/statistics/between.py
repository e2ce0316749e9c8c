"""How far sittings of one comparison differ, from many comparisons that were each measured in several sittings; pure.

Each comparison g has a true ratio of its own; sitting j of it has the mean y_gj of its starts, known with the variance
v_gj. The variance between sittings τ² is the one at which the weighted squares of deviations from each comparison's
mean have the size that they should have (the generalised Q statistic; Paule and Mandel 1982, J. Res. Nat. Bur. Stand.
87:377):

    Q(τ²) = Σ_g Σ_j w_gj (y_gj − ȳ_g)² = N − G        w_gj = 1 / (v_gj + τ²),  ȳ_g weighted by them

for N sittings of G comparisons. Its 95 % interval has the values at which Q(τ²) equals the quantiles of χ² with N − G
degrees of freedom (Q profile; Viechtbauer 2007, Stat. Med. 26:37).

The degrees of freedom of τ² itself are those of the χ² whose upper end would be that of this interval: N − G if the
sittings' means are exact, fewer where their starts scatter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from burnish.statistics.distributions import chi2_quantile

_LEAST_DF = 0.1
"""Fewest degrees of freedom that are told apart from none."""

MOST = 1.0
"""Largest standard deviation between sittings that is looked for, of log-ratios."""


@dataclass(frozen=True)
class Known:
    """The mean of a sitting's starts.

    Attributes:
        mean: a log-ratio.
        variance: of that mean: the starts' variance by their number.
    """

    mean: float
    variance: float


@dataclass(frozen=True)
class Between:
    """The standard deviation between sittings, of log-ratios.

    Attributes:
        sd: the estimate τ.
        low: lower end of its 95 % interval.
        high: upper end.
        df: degrees of freedom of τ²: those of the squares, less what the starts' own noise takes from them; 0 if the
            estimate is 0.
        comparisons: number of comparisons that had several sittings.
        sittings: number of their sittings.
    """

    sd: float
    low: float
    high: float
    df: float
    comparisons: int
    sittings: int


def between(groups: Sequence[Sequence[Known]]) -> Between | None:
    """The common spread between the sittings of each group; None if no group has two sittings.

    Args:
        groups: for each comparison, its sittings.
    """
    usable = [group for group in groups if len(group) > 1]
    sittings = sum(map(len, usable))
    squares = sittings - len(usable)
    if squares < 1:
        return None
    ends = [_solve(usable, chi2_quantile(p, squares)) for p in (0.975, 0.025)]
    variance = _solve(usable, float(squares))
    low, high = sorted(math.sqrt(end) for end in ends)
    df = _degrees(high**2 / variance, squares) if variance > 0.0 else 0.0
    return Between(math.sqrt(variance), low, high, df, len(usable), sittings)


def _degrees(ratio: float, most: int) -> float:
    """The degrees of freedom, at most so many, at which an estimate's upper 97.5 % end is so many times itself."""

    def excess(df: float) -> float:
        return math.log(df / chi2_quantile(0.025, df)) - math.log(ratio)

    if excess(most) >= 0.0:
        return float(most)
    return float(scipy.optimize.brentq(excess, _LEAST_DF, most)) if excess(_LEAST_DF) > 0.0 else _LEAST_DF


def _solve(groups: Sequence[Sequence[Known]], q: float) -> float:
    """The variance between sittings at which the statistic is `q`; 0 if it is smaller even without any."""
    if _statistic(groups, 0.0) <= q:
        return 0.0
    if _statistic(groups, MOST**2) >= q:
        return MOST**2
    return float(scipy.optimize.brentq(lambda variance: _statistic(groups, variance) - q, 0.0, MOST**2, xtol=1e-12))


def _statistic(groups: Sequence[Sequence[Known]], variance: float) -> float:
    total = 0.0
    for group in groups:
        means = np.array([known.mean for known in group])
        weights = 1.0 / np.maximum(np.array([known.variance for known in group]) + variance, 1e-16)
        total += float((weights * (means - (weights * means).sum() / weights.sum()) ** 2).sum())
    return total
