"""How far a ratio holds on another day: the sitting is a block.

Between two sittings (a gap of half an hour, a reboot) the ratio of the same two binaries moves by more than starts of
one sitting scatter, and A/A starts do not show it: it is an interaction of build and host state. So an interval over
the starts of one sitting is about that sitting only. With k sittings of means ȳ_j, each of n_j starts, a sitting counts
once:

    ȳ = (1/k) Σ ȳ_j

**One sitting, or two.** Their own means can't tell the spread τ between sittings. It is taken from elsewhere (this
host's history, else a shipped figure), with its degrees of freedom ν, and added to what the starts tell:

    ȳ ± √( t²(1 − p'/2; Σ(n_j − 1)) · s² · Σ(1/n_j) / k²  +  t²(1 − p/2; ν) · τ² / k )

s² being the pooled variance within sittings. The sum is that of Banerjee (1960, Sankhyā 22:357), which covers at least
as often as it says whatever the shares of the two variances (`burnish.statistics.hosts` has the argument). p' is the
stricter level of the looks at the starts (`burnish.statistics.boundaries`); no look depends on τ, so it has p itself.

**Two that contradict it.** Where two sittings differ by more than a 95 % interval of that kind allows their difference,
this host or one of the hours is not what τ was measured on. Then |ȳ_1 − ȳ_2| / √2, their own standard deviation, takes
the place of τ, as Birge's ratio (1932, Phys. Rev. 40:207) does for measurements that scatter by more than their errors:
the interval has both sittings in it, until a third one lets sittings speak for themselves.

**Three sittings and more.** A sitting's mean is one observation, and the interval is Student's over sittings

    ȳ ± t(1 − p/2; k − 1) · sd(ȳ_1 … ȳ_k) / √k

which needs no τ from elsewhere and holds at least as often as it says though the means are not equally precise
(Ibragimov and Müller 2010, J. Bus. Econ. Stat. 28:453). `benchmarks/sittings_coverage.py` counts how often both hold.

**The fast lane.** Where it ended the sampling of one sitting or two, after two or three starts, s is the lane's: shrunk
towards the host's calibration, with the lane's factor in the place of t. Like the lane itself, it holds up to twice the
calibrated spread. Whatever the lane did, the usual looks of a calibrated cell have what it leaves of alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from burnish.model.sittings import Spread, SpreadKind, Spreads
from burnish.statistics import boundaries
from burnish.statistics.boundaries import Floats
from burnish.statistics.hosts import tails
from burnish.statistics.intervals import Interval
from burnish.statistics.planning import starts_needed
from burnish.statistics.sequential import HostPrior, Rule
from burnish.statistics.verdicts import Judgement, Kind, invalid, percent

ENOUGH = 3
"""Number of sittings from which on they tell their own spread."""

CONTRARY = 0.05
"""P-value of two sittings' difference, given their starts and the assumed spread, below which they contradict it."""

_LEAST_P = 1e-30
"""The smallest p-value that is computed."""


_OfP = Callable[[float], float]
"""A figure by the nominal p-value of a look."""


def spread_half(spread: Spread, tail: float, sittings: int) -> float:
    """Half-width of what an assumed spread between sittings adds to the mean of some of them.

    Args:
        spread: the spread.
        tail: probability beyond each end.
        sittings: number of sittings.
    """
    if spread.sd == 0.0:
        return 0.0
    factor = -float(scipy.special.ndtri(tail) if math.isinf(spread.df) else scipy.special.stdtrit(spread.df, tail))
    return factor * spread.sd / math.sqrt(sittings)


def contradicted(apart: Floats | float, starts: Floats | float, assumed: Spread) -> npt.NDArray[np.bool_]:
    """Whether two sittings contradict the spread that is assumed: the interval of their mean would have neither in it.

    Args:
        apart: how far their means lie apart; 0 where there are not two.
        starts: half-width of the interval of their mean by the starts alone, at the level 1 - `CONTRARY`.
        assumed: the spread. Where none is, as of the same program, nothing contradicts it.
    """
    if assumed.sd == 0.0:
        return np.zeros(np.shape(apart), dtype=bool)
    neither: npt.NDArray[np.bool_] = apart / 2.0 > np.hypot(starts, spread_half(assumed, CONTRARY / 2.0, 2))
    return neither


def across_half(apart: Floats | float, starts: Floats | float, assumed: Spread, tail: float, sittings: int) -> Floats:
    """What one sitting or two add to the half-width of their mean: by the spread that is assumed, or by how far they
    lie apart where that contradicts it.

    Args:
        apart: as in `contradicted`.
        starts: as in `contradicted`.
        assumed: the spread.
        tail: probability beyond each end.
        sittings: number of sittings.
    """
    own = spread_half(replace(assumed, sd=1.0), tail, sittings) * apart / math.sqrt(2.0)
    half: Floats = np.where(contradicted(apart, starts, assumed), own, spread_half(assumed, tail, sittings))
    return half


def contradiction(means: Sequence[float]) -> str:
    """Words for two sittings that contradict the assumed spread, by their mean log-ratios."""
    one, other = (f"{100.0 * math.expm1(mean):+.1f}" for mean in means)
    return f"its two sittings contradict one another ({one} and {other} %)"


def spread_for(spreads: Spreads, kind: SpreadKind | None) -> Spread:
    """The spread of a comparison's kind.

    Args:
        spreads: by kind.
        kind: None if it is not known, and it is not of sides that take turns on a load that commits: then the larger of
            the other two, by what it adds to a 95 % interval.
    """
    if kind is None:
        return max(spreads.profiled, spreads.alike, key=lambda spread: spread_half(spread, 0.025, 1))
    return spreads.of(kind)


def half_width(
    means: Floats, variances: Floats, counts: Floats, within: float, across: float, between: Spread
) -> Floats:
    """Half-width of the interval of the mean over sittings, for many studies at a time.

    Args:
        means: means of the sittings' start readings (log-ratios), shape (studies, sittings).
        variances: sample variances of those readings; any finite value for a single start.
        counts: numbers of starts.
        within: probability beyond each end, for what starts tell: that of the looks at them.
        across: the same for what sittings tell.
        between: the spread that is assumed for fewer than three sittings.

    Returns:
        shape (studies,); infinite if no sitting has two starts and there are fewer than three sittings.
    """
    return _Errors.of(means, variances, counts).half(within, across, between)


class _Errors(NamedTuple):
    """The part of half-widths that does not depend on their level.

    Attributes:
        sittings: number of sittings.
        df: degrees of freedom, shape (studies,).
        error: standard error of the mean, of one or two sittings as if it were their sum; infinite if unknown.
        apart: how far the means of two sittings lie apart; 0 where there are not two.
    """

    sittings: int
    df: Floats
    error: Floats
    apart: Floats

    @classmethod
    def of(cls, means: Floats, variances: Floats, counts: Floats) -> _Errors:
        """From the moments of each sitting's readings, as in `half_width`."""
        sittings = means.shape[-1]
        if sittings >= ENOUGH:
            spread: Floats = means.std(axis=-1, ddof=1) / math.sqrt(sittings)
            return cls(sittings, np.full(spread.shape, sittings - 1.0), spread, np.zeros(spread.shape))
        df = (counts - 1.0).sum(axis=-1)
        known = df > 0
        pooled = ((counts - 1.0) * variances).sum(axis=-1) / np.where(known, df, 1.0)
        error = np.where(known, np.sqrt(pooled * (1.0 / counts).sum(axis=-1)), math.inf)
        with np.errstate(invalid="ignore"):  # of readings that are not finite, which nothing is made of
            apart = np.abs(means[..., -1] - means[..., 0])
        return cls(sittings, np.where(known, df, 1.0), error, apart)

    def half(self, within: float, across: float, between: Spread) -> Floats:
        """The half-widths; see `half_width`."""
        if self.sittings >= ENOUGH:
            return -scipy.special.stdtrit(self.df, across) * self.error
        half: Floats = np.hypot(self._starts(within), self.between(across, between))
        return half

    def between(self, across: float, assumed: Spread) -> Floats:
        """What sittings add to the half-width of one or two of them."""
        return across_half(self.apart, self._starts(CONTRARY / 2.0), assumed, across, self.sittings)

    def contrary(self, assumed: Spread) -> npt.NDArray[np.bool_]:
        """Whether two sittings contradict the assumed spread."""
        return contradicted(self.apart, self._starts(CONTRARY / 2.0), assumed)

    def _starts(self, tail: float) -> Floats:
        """What starts alone say of the mean of one sitting or two, as a half-width."""
        half: Floats = -scipy.special.stdtrit(self.df, tail) * self.error / self.sittings
        return half


@dataclass(frozen=True)
class Lane:
    """The fast lane of a cell on a calibrated host.

    Attributes:
        prior: the calibration.
        ended: whether it ended sampling.
    """

    prior: HostPrior
    ended: bool


@dataclass(frozen=True)
class SittingCell:
    """One cell of a family, with its starts by sitting.

    Attributes:
        name: its name in the report.
        sittings: for each sitting in order of time, its starts' readings (log-ratios).
        between: the spread between sittings that is assumed for fewer than three of them.
        replicates: for each replicate, its starts' readings, if both sides were built several times; else empty. A
            replicate is then an observation as well: more sittings of the same builds tell nothing about another link.
        lane: its fast lane; None where the host was not calibrated for it, or a rule has no lane.
    """

    name: str
    sittings: tuple[tuple[float, ...], ...]
    between: Spread
    replicates: tuple[tuple[float, ...], ...] = ()
    lane: Lane | None = None

    @property
    def starts(self) -> int:
        """Number of starts in all sittings."""
        return sum(map(len, self.sittings))

    @property
    def assumes(self) -> bool:
        """Whether the interval relies on a spread between sittings from elsewhere."""
        return len(self.sittings) < ENOUGH and not self.contrary

    @cached_property
    def contrary(self) -> bool:
        """Whether its two sittings differ by more than starts and the assumed spread explain."""
        return self.finite and bool(self._errors.contrary(self.between)[0])

    @cached_property
    def finite(self) -> bool:
        """Whether there are readings and all of them are finite."""
        return self.starts > 0 and all(math.isfinite(value) for readings in self.sittings for value in readings)

    @cached_property
    def means(self) -> tuple[float, ...]:
        """Mean log-ratio of each sitting."""
        return tuple(float(np.mean(readings)) for readings in self.sittings)

    @cached_property
    def mean(self) -> float:
        """Mean log-ratio; each sitting counts once."""
        return float(np.mean(self.means))

    @property
    def sd_between(self) -> float:
        """Standard deviation of the sittings' means; NaN with one sitting."""
        return float(np.std(self.means, ddof=1)) if len(self.sittings) > 1 else math.nan

    def half(self, within: float, across: float) -> float:
        """Half-width of the interval of the mean.

        Args:
            within: probability beyond each end, for what starts tell: that of the looks at them.
            across: the same for what sittings or replicates tell.

        Returns:
            infinite with too few starts to bound it.
        """
        replicates = [float(np.mean(readings)) for readings in self.replicates]
        if len(self.sittings) >= ENOUGH or not replicates:
            half = float(self._errors.half(within, across, self.between)[0])
            return math.hypot(half, _student(replicates, across)) if replicates else half
        return math.hypot(_student(replicates, within), float(self._errors.between(across, self.between)[0]))

    def _usual_half(self, rule: Rule) -> float:
        """Half-width about "faster or slower?" by the usual looks, which a lane leaves the rest of alpha."""
        alpha = rule.alpha / rule.family
        if self.lane is None:
            return self.half(tails(rule)[0], alpha / 2.0)
        spent = rule.fast_alpha / rule.family
        return self.half(boundaries.superiority_level(rule.looks, alpha - spent) / 2.0, alpha / 2.0)

    def _lane_half(self, p: float, share: float) -> float:
        """Half-width by the fast lane; infinite unless it ended sampling and all starts are of the lane's looks.

        Args:
            p: probability beyond both ends, over all looks.
            share: the lane's part of it, for what starts tell.
        """
        lane = self.lane
        most = max(map(len, self.sittings))
        if lane is None or not lane.ended or len(self.sittings) >= ENOUGH or most > boundaries.FAST_LOOKS[-1]:
            return math.inf
        df = self.starts - len(self.sittings)
        squares = sum(float(np.var(readings)) * len(readings) for readings in self.sittings)
        own, calibrated = np.array([squares / max(df, 1)]), np.array([lane.prior.sd**2])
        shrunk = float(boundaries.shrunk_variance(own, df + 1, calibrated, lane.prior.starts)[0])
        error = math.sqrt(shrunk * sum(1.0 / len(readings) for readings in self.sittings)) / len(self.sittings)
        starts = boundaries.fast_factor(lane.prior.starts, p * share) * error
        return math.hypot(starts, float(self._errors.between(p / 2.0, self.between)[0]))

    @cached_property
    def _errors(self) -> _Errors:
        """Kept, as a p-value is sought in many steps."""
        variances = [float(np.var(readings, ddof=1)) if len(readings) > 1 else 0.0 for readings in self.sittings]
        counts = [float(len(readings)) for readings in self.sittings]
        return _Errors.of(np.array([self.means]), np.array([variances]), np.array([counts]))

    def judge(self, rule: Rule) -> Judgement:
        """The verdict on what is to be expected in another sitting."""
        if not self.starts:
            return invalid("no start could be read", 0)
        if not self.finite:
            return invalid("a start has no finite reading; leave it out", self.starts)
        alpha = rule.alpha / rule.family
        usual, lane = self._usual_half(rule), self._lane_half(alpha, rule.fast_alpha / rule.alpha)
        mean, half, tost = self.mean, min(usual, lane), self.half(tails(rule)[1], alpha)
        small = abs(mean) + tost < math.log1p(rule.delta)
        kind = Kind.EQUIVALENT if small else Kind.UNDECIDED
        if abs(mean) > half:
            kind = Kind.FASTER if mean > 0.0 else Kind.SLOWER
        judgement = Judgement(
            kind=kind,
            difference=Interval.from_log(mean, half, rule.level),
            equivalence=Interval.from_log(mean, tost, rule.equivalence_level),
            within_delta=small,
            starts=self.starts,
            sd_between=self.sd_between,
            finished=True,
            fast=lane < usual,
            reason="",
        )
        reason = self._reason(judgement, rule)
        if self.contrary:
            reason += f"; {contradiction(self.means)}, a third one will show which holds"
        return replace(judgement, reason=reason)

    def difference_p(self, rule: Rule) -> float:
        """P-value of "the sides are equal in the mean of all sittings"; 1 if unknown."""
        if not self.finite:
            return 1.0
        distance, share = abs(self.mean), rule.fast_alpha / rule.alpha if self.lane is not None else 0.0

        def overall(p: float) -> float:
            return min(1.0, _overall(rule, p) / (1.0 - share))

        usual = self._p(distance, lambda p: self.half(p / 2.0, overall(p) / 2.0), overall)
        if self._lane_half(rule.alpha, share) == math.inf:
            return usual
        return min(usual, self._p(distance, lambda p: self._lane_half(p, share), lambda p: p))

    def equivalence_p(self, rule: Rule) -> float:
        """P-value of "the sides differ by at least delta in the mean of all sittings"; 1 if unknown."""
        room = math.log1p(rule.delta) - abs(self.mean) if self.finite else 0.0
        if room <= 0.0:
            return 1.0

        def overall(p: float) -> float:
            return _overall_equivalence(rule, p)

        p = self._p(room, lambda p: self.half(p, overall(p)), overall, top=0.5)
        return 1.0 if p >= 0.5 else p

    def _p(self, distance: float, half: _OfP, overall: _OfP, *, top: float = 1.0) -> float:
        """The overall p-value at which the interval's half-width is `distance`.

        Args:
            distance: what the half-width is to be.
            half: the half-width by the nominal p-value of a look.
            overall: the p-value over all looks by the same.
            top: the largest p-value.
        """
        largest = top * (1.0 - 1e-9)
        if not distance > half(largest):
            return top
        if half(_LEAST_P) <= distance:
            return overall(_LEAST_P)
        low, high = math.log(_LEAST_P), math.log(largest)
        log_p = scipy.optimize.brentq(lambda log_p: half(math.exp(log_p)) - distance, low, high, xtol=1e-6)
        return overall(math.exp(float(log_p)))

    def _reason(self, judgement: Judgement, rule: Rule) -> str:
        """The sentence that goes with a verdict."""
        count = len(self.sittings)
        after = f"after {_count(self.starts, 'start')} in {_count(count, 'sitting')}"
        if judgement.kind is Kind.EQUIVALENT:
            level = f"{100.0 * rule.equivalence_level:.4g} %"
            return f"equivalent: the whole {level} interval lies within {percent(rule.delta)} {after}"
        if judgement.kind is Kind.UNDECIDED:
            return f"undecided: {after} the interval still includes 1{self._missing(judgement, rule)}"
        side = "above" if judgement.kind is Kind.FASTER else "below"
        small = f", and within {percent(rule.delta)}" if judgement.within_delta else ""
        lane = " (fast lane: the host's calibration helps to tell the spread)" if judgement.fast else ""
        return f"{judgement.kind}{small}: the whole interval lies {side} 1 {after}{lane}"

    def _missing(self, judgement: Judgement, rule: Rule) -> str:
        """The number of sittings that would have decided: those with an interval half as wide as delta."""
        error = self.sd_between
        if self.assumes:
            df = self.starts - len(self.sittings)
            within = sum(float(np.var(readings)) * len(readings) for readings in self.sittings) / max(df, 1)
            error = math.hypot(self.between.sd, math.sqrt(within / self.starts * len(self.sittings)))
        if judgement.within_delta or self.contrary or not error > 0.0:
            return ""
        bound = percent(rule.delta)
        try:
            needed = max(starts_needed(error, math.log1p(rule.delta) / 2.0), len(self.sittings) + 1)
        except ValueError:
            return f" and reaches beyond {bound}; no number of sittings so far apart would tell it from nothing"
        return f" and reaches beyond {bound}; some {_count(needed, 'sitting')} would tell {bound} from nothing"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _student(values: Sequence[float], tail: float) -> float:
    """Half-width of Student's interval of a mean; infinite with a single value."""
    if len(values) < 2:
        return math.inf
    factor = -float(scipy.special.stdtrit(len(values) - 1, tail))
    return factor * float(np.std(values, ddof=1)) / math.sqrt(len(values))


def _overall(rule: Rule, p: float) -> float:
    """P-value of "equal" over all looks of a rule, of which one had the nominal p-value `p`."""
    if rule.precision is not None:
        return min(1.0, p * _inflation(min(rule.minimum, rule.cap), rule.cap, rule.alpha, p))
    return boundaries.overall_p(rule.looks, p)


def _overall_equivalence(rule: Rule, p: float) -> float:
    """P-value of "not equivalent" over all looks of a rule, of which one had the one-sided nominal p-value `p`."""
    if rule.precision is not None:
        return min(0.5, p * _inflation(min(rule.minimum, rule.cap), rule.cap, 2.0 * rule.alpha, 2.0 * p))
    return boundaries.overall_p(rule.equivalence_looks, p, two_sided=False)


def _inflation(minimum: int, cap: int, alpha: float, p: float) -> float:
    """By how much stopping at a width raises a nominal p-value: interpolated, as each value takes 12 ms to simulate."""
    return float(np.interp(math.log10(max(p, _LEAST_P)), _GRID, _inflations(minimum, cap, alpha)))


_GRID = np.linspace(-8.0, 0.0, 33)
"""Logarithms of the p-values between which `_inflation` interpolates; below, there is no inflation."""


@lru_cache(maxsize=16)
def _inflations(minimum: int, cap: int, alpha: float) -> Floats:
    return np.array([boundaries.width_p(minimum, cap, alpha, 10.0**power) / 10.0**power for power in _GRID])
