"""Cost of an interval: variance components, pairs for each start, starts for a requested half-width.

Spreads and half-widths are log-ratios throughout: 0.005 is 0.5 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from burnish.statistics.distributions import chi2_density, chi2_quantile, t_quantile

MOST_PAIRS = 4
"""Maximum number of pairs in a start: more would only reduce a part of the spread that is small by then."""

MOST_STARTS = 1_000_000
"""Maximum number of starts in a search."""


@dataclass(frozen=True)
class Components:
    """Variance components of log-ratios.

    Attributes:
        sd_pair: standard deviation of a pair within its start.
        sd_start: standard deviation between starts, which more pairs do not reduce.
        starts: number of starts in the estimate.
        pairs: number of pairs in the estimate, over all starts.
    """

    sd_pair: float
    sd_start: float
    starts: int
    pairs: int

    def sd_reading(self, pairs: int) -> float:
        """Standard deviation of a start's reading, the median of `pairs` pairs, for normal noise."""
        return math.hypot(self.sd_start, self.sd_pair * math.sqrt(median_variance(pairs)))


@lru_cache(maxsize=32)
def median_variance(count: int) -> float:
    """Variance of the median of `count` standard normal values (1, 0.5, 0.449, 0.298, …), by simulation."""
    if count < 1:
        raise ValueError(f"a start has at least 1 pair, not {count}")
    if count == 1:
        return 1.0
    return float(np.median(np.random.default_rng(count).standard_normal((200_000, count)), axis=1).var())


def variance_components(pairs_by_start: Sequence[Sequence[float]]) -> Components:
    """Splits the variance of pairs into a component within starts and one between starts.

    One-way random effects with unequal group sizes, by analysis of variance; a negative estimate between starts
    becomes 0 (Searle, Casella and McCulloch 1992, Variance Components, chapter 3).

    Args:
        pairs_by_start: for each start, the log-ratios of its pairs.

    Raises:
        ValueError: fewer than two starts, or no start with two pairs.
    """
    groups = [np.asarray(pairs, dtype=float) for pairs in pairs_by_start if len(pairs) > 0]
    count = sum(group.size for group in groups)
    within_df = count - len(groups)
    if len(groups) < 2 or within_df < 1:
        raise ValueError(
            f"variance components need at least 2 starts and one of them with 2 pairs; "
            f"there are {len(groups)} starts with {count} pairs"
        )
    grand = float(np.concatenate(groups).mean())
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups) / within_df
    between_df = len(groups) - 1
    between = sum(group.size * (float(group.mean()) - grand) ** 2 for group in groups) / between_df
    typical = (count - sum(group.size**2 for group in groups) / count) / between_df
    return Components(
        sd_pair=math.sqrt(within),
        sd_start=math.sqrt(max(0.0, (between - within) / typical)),
        starts=len(groups),
        pairs=count,
    )


def best_pairs(components: Components, cost_start_s: float, cost_pair_s: float) -> int:
    """Pairs for each start, 1 to 4, that give the narrowest interval for a given bench time.

    The optimum of (c_start + k c_pair) (σ²_start + σ²_pair / k) is k = √(c_start σ²_pair / (c_pair σ²_start))
    (Cochran 1977, Sampling Techniques, chapter 10, two-stage sampling); the result is the cheapest integer.

    Args:
        components: from `variance_components`.
        cost_start_s: seconds that a start takes besides its pairs (launch, warm-up, shutdown).
        cost_pair_s: seconds that one pair takes.
    """

    def cost(pairs: int) -> float:
        seconds = cost_start_s + pairs * cost_pair_s
        return seconds * (components.sd_start**2 + components.sd_pair**2 / pairs)

    return min(range(1, MOST_PAIRS + 1), key=cost)


def half_width_after(sd: float, starts: int, level: float = 0.95) -> float:
    """Half-width that a fixed number of starts gives: t · sd / √starts.

    Args:
        sd: standard deviation of a start's reading.
        starts: number of starts; infinite half-width below 2.
        level: confidence level.
    """
    if starts < 2:
        return math.inf
    return float(scipy.special.stdtrit(starts - 1, 0.5 + level / 2.0)) * sd / math.sqrt(starts)


def starts_needed(sd: float, half_width: float, level: float = 0.95) -> int:
    """Fewest starts, fixed in advance, whose interval has at most this half-width.

    Raises:
        ValueError: `half_width` is not above 0, or more than `MOST_STARTS` starts would be needed.
    """
    return _fewest(lambda starts: half_width_after(sd, starts, level) <= half_width, half_width)


def smallest_difference(sd: float, starts: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """Smallest true difference that a fixed number of starts detects with the given power.

    Exact for normal noise, from the noncentral t distribution.

    Args:
        sd: standard deviation of a start's reading.
        starts: number of starts, at least 2.
        alpha: two-sided probability of a false positive.
        power: probability of detecting it.
    """
    if starts < 2:
        return math.inf
    critical = float(scipy.special.stdtrit(starts - 1, 1.0 - alpha / 2.0))

    def lack(shift: float) -> float:
        return float(scipy.special.nctdtr(starts - 1, shift, critical)) - (1.0 - power)

    shift = float(scipy.optimize.brentq(lack, 0.0, critical * 10.0 + 10.0))
    return shift * sd / math.sqrt(starts)


def equivalence_power(sd: float, starts: int, delta: float, alpha: float = 0.05) -> float:
    """Power of one TOST: probability that two equal sides are found equivalent within ±`delta`.

    Args:
        sd: standard deviation of a start's reading.
        starts: number of starts.
        delta: bound of equivalence.
        alpha: level of each of the two one-sided tests.
    """
    if starts < 2:
        return 0.0
    if sd <= 0.0:
        return 1.0
    df = starts - 1
    factor = t_quantile(1.0 - alpha, df)
    error = sd / math.sqrt(starts)
    largest = (delta / (factor * error)) ** 2 * df  # a chi-square above this leaves no room within ±delta

    def density(chi2: float) -> float:
        room = delta / error - factor * math.sqrt(chi2 / df)
        return chi2_density(chi2, df) * (2.0 * float(scipy.special.ndtr(room)) - 1.0)

    top = min(largest, chi2_quantile(1.0 - 1e-9, df))
    return float(scipy.integrate.quad(density, 0.0, top, limit=200)[0])


def starts_for_equivalence(sd: float, delta: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """Fewest starts (or layouts) after which equal sides are found equivalent with the given power."""
    return _fewest(lambda starts: equivalence_power(sd, starts, delta, alpha) >= power, delta)


def _fewest(enough: Callable[[int], bool], wanted: float) -> int:
    """Fewest starts that are enough, by doubling and bisection; `enough` is monotonic."""
    if not wanted > 0.0:
        raise ValueError(f"the wanted width is {wanted}; it must be above 0")
    high = 2
    while not enough(high):
        if high >= MOST_STARTS:
            raise ValueError(f"more than {MOST_STARTS} starts would be needed for ±{100.0 * wanted:.3g} %")
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return max(high, 2)
