"""The constants that correct for repeated looks at the data, computed by Monte Carlo simulation.

Testing at 5 % after every few starts calls two identical servers different in far more than 5 % of studies. Every
constant here answers one question: how strict must each single look be, so that all looks together err in at most
`alpha` of studies? The answer comes from simulating studies of pure normal noise with a fixed seed. No constant is
copied from a table.

The nominal level is the same at every look and is applied to that look's Student's t, so that small numbers of starts
are accounted for (Pocock 1977, Biometrika 64:191, whose boundary is for a known variance; Jennison and Turnbull 2000,
Group Sequential Methods, chapters 9 and 11 for repeated intervals and t tests, and 1993, Biometrika 80:31, for
equivalence).
All readings are in units of their own standard deviation: none of the constants depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

Floats = npt.NDArray[np.float64]

REPETITIONS = 200_000
"""Simulated studies behind each constant of a sequential boundary."""

FEWEST_STUDIES = 100
"""Minimum number of simulated studies to estimate a probability from; below it, a larger bound is used instead."""

SEED = 20_240_229
"""Seed of every simulation in this module: the same rule has the same constants on every machine."""

CALIBRATION_INFLATION = 1.5
"""Factor by which the fast lane inflates the calibrated standard deviation."""

TOLERATED_MISFIT = 2.0
"""Factor by which the true standard deviation may exceed the calibrated one with the fast lane still valid."""

FAST_LOOKS = (2, 3)
"""Numbers of starts at which the fast lane looks."""

_WIDTH_REPETITIONS = 20_000
_WIDTH_GRID = 12


def _safe_rank(alpha: float) -> int:
    """Rank of the `alpha` quantile, moved two Monte Carlo standard errors to the strict side."""
    expected = alpha * REPETITIONS
    return int(expected - 2.0 * math.sqrt(expected))


class _Studies:
    """Simulated studies without any effect, start by start; both questions are asked of the same ones."""

    def __init__(self) -> None:
        self._begin()
        self.lower_tail = lru_cache(maxsize=16)(self._lower_tail)

    def _begin(self) -> None:
        self._rng = np.random.default_rng(SEED)
        self._total, self._squares = np.zeros(REPETITIONS), np.zeros(REPETITIONS)
        self._starts = 0

    def _lower_tail(self, look: int) -> Floats:
        """P-value of each study's t below 0 at a look; above 0, that of -t, negated."""
        if look < self._starts:
            self._begin()
        while self._starts < look:
            reading = self._rng.standard_normal(REPETITIONS)
            self._total += reading
            self._squares += reading * reading
            self._starts += 1
        variance = (self._squares - self._total * self._total / look) / (look - 1)
        t = self._total / np.sqrt(look * variance)
        signed: Floats = np.copysign(scipy.special.stdtr(look - 1, -np.abs(t)), -t)
        return signed


_studies = _Studies()


@lru_cache(maxsize=64)
def _least_p(looks: tuple[int, ...], two_sided: bool) -> Floats:
    """Sorted smallest p-values over all looks, one for each simulated study without any effect."""
    least = np.ones(REPETITIONS)
    for look in looks:
        tail = _studies.lower_tail(look)
        p = 2.0 * np.abs(tail) if two_sided else np.where(tail > 0.0, tail, 1.0 + tail)
        np.minimum(least, p, out=least)
    least.sort()
    return least


@lru_cache(maxsize=256)
def superiority_level(looks: tuple[int, ...], alpha: float) -> float:
    """Nominal two-sided level p' of each look, so that all looks together err in at most `alpha`.

    Args:
        looks: numbers of starts at which the data are looked at, ascending, each at least 2.
        alpha: probability, over all looks, of calling two equal sides different.
    """
    return _level(looks, alpha, two_sided=True)


@lru_cache(maxsize=256)
def equivalence_level(looks: tuple[int, ...], alpha: float) -> float:
    """Nominal one-sided level of each of the two one-sided tests (TOST), for all looks together.

    The worst case is a true difference of exactly delta, where one of the two tests almost certainly rejects and the
    other one errs by chance (Schuirmann 1987, J. Pharmacokin. Biopharm. 15:657); the latter is simulated.

    Args:
        looks: numbers of starts at which equivalence is tested, ascending, each at least 2.
        alpha: probability, over all looks, of calling sides equivalent that differ by delta.
    """
    return _level(looks, alpha, two_sided=False)


def _level(looks: tuple[int, ...], alpha: float, *, two_sided: bool) -> float:
    if len(looks) == 1:
        return alpha
    bonferroni = alpha / len(looks)
    if alpha * REPETITIONS < FEWEST_STUDIES:
        return bonferroni
    return float(max(_least_p(looks, two_sided)[_safe_rank(alpha)], bonferroni))


def overall_p(looks: tuple[int, ...], least_p: float, *, two_sided: bool = True) -> float:
    """P-value of a complete sequential study: the probability of a smallest p at least as small as `least_p`.

    If fewer than `FEWEST_STUDIES` simulated studies are that extreme, Bonferroni's bound is used.

    Args:
        looks: the declared looks.
        least_p: smallest p-value seen at any look so far.
        two_sided: whether it comes from two-sided tests (faster or slower) or one-sided ones (TOST).
    """
    if len(looks) == 1:
        return least_p
    bound = min(1.0, len(looks) * least_p)
    reached = int(np.searchsorted(_least_p(looks, two_sided), least_p, side="right"))
    return min(bound, max(reached, FEWEST_STUDIES) / REPETITIONS)


@lru_cache(maxsize=64)
def _fast_statistics(calibration_starts: int) -> Floats:
    """Sorted largest |mean| / shrunk standard error over the fast lane's looks, without any effect."""
    rng = np.random.default_rng(SEED + calibration_starts)
    calibrated = rng.chisquare(calibration_starts - 1, REPETITIONS) / (calibration_starts - 1)
    readings = TOLERATED_MISFIT * rng.standard_normal((REPETITIONS, FAST_LOOKS[-1]))
    largest = np.zeros(REPETITIONS)
    for starts in FAST_LOOKS:
        so_far = readings[:, :starts]
        variance = shrunk_variance(so_far.var(axis=1, ddof=1), starts, calibrated, calibration_starts)
        np.maximum(largest, np.abs(so_far.mean(axis=1)) / np.sqrt(variance / starts), out=largest)
    largest.sort()
    return largest


def shrunk_variance(own: Floats, starts: int, calibrated: Floats, calibration_starts: int) -> Floats:
    """Variance of a start's reading, shrunk towards the host's inflated calibration.

    Both are weighted by their degrees of freedom, as in an empirical Bayes variance (Smyth 2004, Stat. Appl.
    Genet. Mol. Biol. 3:3).

    Args:
        own: sample variance of the readings so far.
        starts: number of those readings.
        calibrated: sample variance of the host's A/A readings.
        calibration_starts: number of those readings.
    """
    prior_df = calibration_starts - 1
    inflated = CALIBRATION_INFLATION**2 * calibrated
    shrunk: Floats = (prior_df * inflated + (starts - 1) * own) / (prior_df + starts - 1)
    return shrunk


@lru_cache(maxsize=256)
def fast_factor(calibration_starts: int, alpha: float) -> float:
    """Distance of the mean from 0, in standard errors (of the shrunk variance), at which the fast lane decides.

    Computed for a true standard deviation of `TOLERATED_MISFIT` times the calibrated one: as long as the host is not
    noisier than that, the lane's looks together err in at most `alpha`.

    Args:
        calibration_starts: A/A starts behind the calibration.
        alpha: the lane's share of the study's probability of a false positive.
    """
    if alpha * REPETITIONS < FEWEST_STUDIES:
        level = alpha / len(FAST_LOOKS)
        return max(
            -float(scipy.special.stdtrit(calibration_starts - 1, level / 2.0)) / _fast_scale(calibration_starts, look)
            for look in FAST_LOOKS
        )
    return float(_fast_statistics(calibration_starts)[REPETITIONS - 1 - _safe_rank(alpha)])


def _fast_scale(calibration_starts: int, look: int) -> float:
    """Factor that turns the lane's statistic into at most a Student's t with the calibration's degrees of freedom.

    The shrunk variance is never smaller than the calibration's part of it, whatever the cell's spread.
    """
    prior_df = calibration_starts - 1
    return CALIBRATION_INFLATION / TOLERATED_MISFIT * math.sqrt(prior_df / (prior_df + look - 1))


def fast_p(calibration_starts: int, largest: float) -> float:
    """P-value of the fast lane alone: the probability of a statistic at least as large as `largest`.

    If fewer than `FEWEST_STUDIES` simulated studies are that extreme, a bound from Student's t is used.
    """
    bound = sum(
        2.0 * float(scipy.special.stdtr(calibration_starts - 1, -largest * _fast_scale(calibration_starts, look)))
        for look in FAST_LOOKS
    )
    statistics = _fast_statistics(calibration_starts)
    reached = REPETITIONS - int(np.searchsorted(statistics, largest, side="left"))
    return min(bound, max(reached, FEWEST_STUDIES) / REPETITIONS)


class _Stops(NamedTuple):
    """Where simulated studies stop that want the same width.

    Attributes:
        at: index of the look at which each one stopped, shape (studies,).
        error: its standard error there.
    """

    at: npt.NDArray[np.int_]
    error: Floats


@lru_cache(maxsize=64)
def width_level(minimum: int, cap: int, alpha: float) -> float:
    """Two-sided level of an interval that is read once it is narrow enough, so that it has its stated coverage.

    A study that stops as soon as its interval is narrow tends to stop where the observed spread is small by chance,
    and so its interval covers less often than stated. The correction is a slightly stricter level: the largest one
    with which the interval misses in at most `alpha` of studies, whatever the requested width. The mean of a normal
    sample is independent of all spreads so far. Hence the probability of a miss, given where the study stopped, is
    computed exactly, and only the stopping is simulated.

    Args:
        minimum: number of starts before which the study never stops.
        cap: number of starts at which it always stops.
        alpha: probability that the interval misses the true value.
    """
    if minimum >= cap:
        return alpha
    errors, used = _width_errors(minimum, cap)
    low, high = alpha / 4.0, alpha
    for _ in range(12):
        level = 0.5 * (low + high)
        if _worst_miss(_stops(errors, used, level), used, level) <= alpha:
            low = level
        else:
            high = level
    return low


def width_p(minimum: int, cap: int, alpha: float, p: float) -> float:
    """P-value of a study that stopped once its interval was narrow enough, from the t test's `p` at its end.

    Args:
        minimum: number of starts before which the study never stops.
        cap: number of starts at which it always stops.
        alpha: declared alpha of the study's intervals.
        p: p-value of Student's t test on the starts taken.
    """
    if minimum >= cap:
        return p
    _, used = _width_errors(minimum, cap)
    return max(p, _worst_miss(_stops_at_level(minimum, cap, alpha), used, p))


@lru_cache(maxsize=8)
def _stops_at_level(minimum: int, cap: int, alpha: float) -> list[_Stops]:
    """Where studies stop by `width_level`: a table of p-values needs it for each of them."""
    return _stops(*_width_errors(minimum, cap), width_level(minimum, cap, alpha))


@lru_cache(maxsize=8)
def _width_errors(minimum: int, cap: int) -> tuple[Floats, npt.NDArray[np.int_]]:
    """Standard errors of simulated studies after `minimum` to `cap` starts, and these numbers of starts."""
    rng = np.random.default_rng(SEED)
    readings = rng.standard_normal((_WIDTH_REPETITIONS, cap))
    counts = np.arange(1, cap + 1)
    means = readings.cumsum(axis=1) / counts
    squares = (readings * readings).cumsum(axis=1) - counts * means * means
    used = counts[minimum - 1 :]
    return np.sqrt(squares[:, minimum - 1 :] / ((used - 1) * used)), used


def _stops(errors: Floats, used: npt.NDArray[np.int_], level: float) -> list[_Stops]:
    """Where studies stop, for a grid of requested widths.

    Args:
        errors: standard errors, shape (studies, looks).
        used: number of starts at each look.
        level: two-sided level of the interval whose width stops the study.
    """
    halves = errors * -scipy.special.stdtrit(used - 1, level / 2.0)
    # The widths that a study with a spread of 1 would reach between its minimum and its cap; outside that
    # range it stops at one of the two ends, as with a fixed number of starts.
    stops = []
    for width in np.geomspace(1.3 * halves[:, 0].mean(), halves[:, -1].mean(), _WIDTH_GRID):
        narrow = halves <= width
        narrow[:, -1] = True
        at = narrow.argmax(axis=1)
        stops.append(_Stops(at, np.take_along_axis(errors, at[:, None], axis=1)[:, 0]))
    return stops


def _worst_miss(stops: Sequence[_Stops], used: npt.NDArray[np.int_], level: float) -> float:
    """Largest probability of a miss over a grid of requested widths.

    Args:
        stops: where studies stop, for each width.
        used: number of starts at each look.
        level: two-sided level of the interval that is read then.
    """
    factors = np.asarray(-scipy.special.stdtrit(used - 1, level / 2.0), dtype=np.float64)
    return max(
        float((2.0 * scipy.special.ndtr(-factors[at] * error * np.sqrt(used[at]))).mean()) for at, error in stops
    )
