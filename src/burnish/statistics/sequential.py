"""The stopping rule that a study declares in advance, and its decision.

The decision is implemented once, for many studies at a time (rows of a matrix): the simulations that validate it run
the same code that judges a real study.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import scipy

from burnish.base.errors import UserError
from burnish.statistics import boundaries
from burnish.statistics.boundaries import Floats

CALIBRATION_STARTS = 12
"""Minimum number of A/A starts in a calibration that the fast lane uses."""

CANARY_LIMIT = 2.0
"""The fast lane is off if the canaries' standard deviation exceeds the calibrated one by more than this factor."""

FIRST_EQUIVALENCE_LOOK = 4
"""First look at equivalence by default, in starts: earlier looks would cost more power than they gain."""

_USUAL_LOOKS = (3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 30)


def usual_looks(cap: int) -> tuple[int, ...]:
    """The default looks of a rule: dense at first, then further and further apart, the last one at `cap`."""
    looks = list(_USUAL_LOOKS)
    while looks[-1] < cap:
        looks.append(math.ceil(looks[-1] * 1.2))
    return (*(look for look in looks if look < cap), cap)


@dataclass(frozen=True)
class Rule:
    """When a cell is decided and sampling stops; declared before the first start.

    Attributes:
        cap: maximum number of starts of the cell.
        alpha: probability of calling equal sides different, and of calling sides equivalent that differ by delta.
        delta: sides within ±delta are equivalent for the user's purpose (0.01 = 1 %).
        looks: numbers of starts at which "faster or slower?" is tested; the last one is `cap`. Empty: the
            defaults. `(cap,)` is a study with a fixed number of starts.
        equivalence_looks: the same for "equivalent?"; a subset of `looks`. Empty: the defaults.
        precision: half-width to reach (0.005 = ±0.5 %; `widest`), or None to stop at the first verdict. With it,
            the only look is the one at which the interval is narrow enough, or the cap.
        minimum: number of starts before which an interval is never narrow enough.
        fast_alpha: the part of `alpha` that the fast lane spends if the host is calibrated.
        family: number of verdicts that the study claims together; each spends alpha / family.

    Raises:
        UserError: a value out of its range.
    """

    cap: int = 12
    alpha: float = 0.05
    delta: float = 0.01
    looks: tuple[int, ...] = ()
    equivalence_looks: tuple[int, ...] = ()
    precision: float | None = None
    minimum: int = 8
    fast_alpha: float = 0.01
    family: int = 1

    def __post_init__(self) -> None:
        if self.cap < 2:
            raise UserError(f"rule: cap is {self.cap}; an interval needs at least 2 starts, so set cap >= 2")
        for name, value, top in (("alpha", self.alpha, 0.5), ("delta", self.delta, 1.0)):
            if not 0.0 < value < top:
                raise UserError(f"rule: {name} is {value}; it must lie between 0 and {top:g}, as in 0.05")
        if self.precision is not None and not 0.0 < self.precision < 1.0:
            raise UserError(f"rule: precision is {self.precision}; it must lie between 0 and 1 (0.005 = ±0.5 %)")
        if not 0.0 <= self.fast_alpha < self.alpha:
            raise UserError(f"rule: fast_alpha is {self.fast_alpha}; it must be below alpha ({self.alpha:g})")
        if self.minimum < 2 or self.family < 1:
            raise UserError(
                f"rule: minimum is {self.minimum} and family {self.family}; use minimum >= 2 and family >= 1"
            )
        looks = self.looks or usual_looks(self.cap)
        usual = tuple(look for look in looks if look >= min(FIRST_EQUIVALENCE_LOOK, self.cap))
        for name, given in (("looks", looks), ("equivalence_looks", self.equivalence_looks or usual)):
            if list(given) != sorted(set(given)) or given[0] < 2 or given[-1] != self.cap:
                raise UserError(
                    f"rule: {name} is {list(given)}; it must rise from at least 2 to cap ({self.cap}), "
                    f"as in {list(usual_looks(self.cap))}"
                )
            object.__setattr__(self, name, tuple(given))
        if not set(self.equivalence_looks) <= set(self.looks):
            raise UserError(
                f"rule: equivalence_looks is {list(self.equivalence_looks)}; each must be one of looks "
                f"({list(self.looks)})"
            )

    @classmethod
    def fixed(cls, starts: int, *, alpha: float = 0.05, delta: float = 0.01) -> Rule:
        """A fixed number of starts and one look: for figures to be published."""
        return cls(cap=starts, alpha=alpha, delta=delta, looks=(starts,), equivalence_looks=(starts,))

    def for_family(self, verdicts: int) -> Rule:
        """The same rule for a cell that is one of `verdicts` claimed together."""
        return replace(self, family=verdicts)

    def at_most(self, cap: int) -> Rule:
        """The same rule with a smaller maximum number of starts, to be declared before the first start as well."""
        if cap >= self.cap:
            return self
        looks = (*(look for look in self.looks if look < cap), cap)
        equivalence = (*(look for look in self.equivalence_looks if look < cap), cap)
        return replace(self, cap=cap, looks=looks, equivalence_looks=equivalence)

    @property
    def sequential(self) -> bool:
        """Whether it looks more than once; with a single look, as of `fixed`, there is no fast lane either."""
        return len(self.looks) > 1

    @property
    def level(self) -> float:
        """Confidence level of the intervals about "faster or slower?"."""
        return 1.0 - self.alpha / self.family

    @property
    def equivalence_level(self) -> float:
        """Confidence level of the intervals about "equivalent?": TOST at alpha corresponds to 1 - 2 alpha."""
        return 1.0 - 2.0 * self.alpha / self.family


@dataclass(frozen=True)
class HostPrior:
    """Calibrated standard deviation of one quantity under one design on this host.

    Attributes:
        sd: standard deviation of an A/A start's reading (a log-ratio), with as many pairs as in the study.
        starts: number of A/A starts in the calibration.
    """

    sd: float
    starts: int

    def usable(self, canary_sd: float | None = None) -> bool:
        """Whether the fast lane may use it, given the standard deviation of the study's own A/A starts."""
        known = self.starts >= CALIBRATION_STARTS and math.isfinite(self.sd) and self.sd > 0.0
        return known and (canary_sd is None or canary_sd <= CANARY_LIMIT * self.sd)


def widest(precision: float, mean: Floats) -> Floats:
    """The largest half-width (a log-ratio) that meets the requested precision around these means (log-ratios).

    Precision is relative to the faster side, because reports give ratios in per cent of the baseline: for a candidate
    with a quarter of the baseline's rate, ±1 % of its own rate would be ±0.25 % of the baseline's.

    Args:
        precision: 0.005 = ±0.5 %.
        mean: mean readings.
    """
    half_width: Floats = np.log1p(precision * np.exp(np.maximum(0.0, -mean)))
    return half_width


class Outcome(IntEnum):
    """The outcome of a row of `decide`."""

    OPEN = 0
    FASTER = 1
    SLOWER = 2
    EQUIVALENT = 3


@dataclass(frozen=True)
class Decisions:
    """One row for each study; lengths are log-ratios, NaN where there is no look yet.

    Attributes:
        outcome: an `Outcome`.
        starts: number of starts that the outcome is based on (the last look, if it is open).
        mean: mean reading over those starts.
        half: half-width of the interval about "faster or slower?", at `Rule.level`.
        equivalence_half: half-width of the one about "equivalent?", at `Rule.equivalence_level`.
        fast: whether the fast lane decided.
        stopped: whether sampling ends there.
    """

    outcome: npt.NDArray[np.int8]
    starts: npt.NDArray[np.int_]
    mean: Floats
    half: Floats
    equivalence_half: Floats
    fast: npt.NDArray[np.bool_]
    stopped: npt.NDArray[np.bool_]


class _Table:
    """Means and sample variances of the first 1, 2, … readings of each row."""

    def __init__(self, readings: Floats) -> None:
        self.count = readings.shape[1]
        counts = np.arange(1, self.count + 1)
        # Relative to the row's first reading: equal readings then have a variance of exactly 0.
        centred = readings - readings[:, :1]
        means = centred.cumsum(axis=1) / counts
        squares = (centred * centred).cumsum(axis=1) - counts * means * means
        self.means = means + readings[:, :1]
        self.variances = np.maximum(squares, 0.0) / np.maximum(counts - 1, 1)

    def mean(self, starts: int) -> Floats:
        column: Floats = self.means[:, starts - 1]
        return column

    def variance(self, starts: int) -> Floats:
        column: Floats = self.variances[:, starts - 1]
        return column

    def half(self, starts: int, tail: float) -> Floats:
        """Student's t times the standard error, `tail` of the probability beyond it."""
        factor = -float(scipy.special.stdtrit(starts - 1, tail))
        half: Floats = factor * np.sqrt(self.variance(starts) / starts)
        return half


def decide(readings: Floats, rule: Rule, prior_sd: Floats | None = None, prior_starts: int = 0) -> Decisions:
    """Takes each study through its looks and stops it at the first look that decides.

    Args:
        readings: start readings, shape (studies, starts), in the order in which they were taken.
        rule: the rule declared in advance.
        prior_sd: calibrated standard deviation, shape (studies,), NaN where the fast lane is off; None: not
            calibrated.
        prior_starts: number of A/A starts in the calibration. If `prior_sd` is given, the usual looks leave
            `rule.fast_alpha` to the fast lane, whether it is on or not.
    """
    table = _Table(readings)
    result = _undecided(readings.shape[0])
    if rule.precision is not None:
        _until_narrow(table, rule, rule.precision, result)
    else:
        _looks(table, rule, result, prior_sd, prior_starts)
    result.stopped[:] |= table.count >= rule.cap
    return result


def _undecided(rows: int) -> Decisions:
    def unknown() -> Floats:
        return np.full(rows, np.nan)

    return Decisions(
        outcome=np.zeros(rows, dtype=np.int8),
        starts=np.zeros(rows, dtype=np.int_),
        mean=unknown(),
        half=unknown(),
        equivalence_half=unknown(),
        fast=np.zeros(rows, dtype=bool),
        stopped=np.zeros(rows, dtype=bool),
    )


def _looks(table: _Table, rule: Rule, result: Decisions, prior_sd: Floats | None, prior_starts: int) -> None:
    spent = 0.0 if prior_sd is None else rule.fast_alpha
    tail = boundaries.superiority_level(rule.looks, (rule.alpha - spent) / rule.family) / 2.0
    equivalence_tail = boundaries.equivalence_level(rule.equivalence_looks, rule.alpha / rule.family)
    never = np.full(result.mean.shape, np.nan)
    for starts in sorted({*rule.looks, *boundaries.FAST_LOOKS}):
        if starts > min(table.count, rule.cap):
            break
        if prior_sd is not None and spent > 0.0 and starts in boundaries.FAST_LOOKS:
            factor = boundaries.fast_factor(prior_starts, spent / rule.family)
            variance = boundaries.shrunk_variance(table.variance(starts), starts, prior_sd**2, prior_starts)
            half = factor * np.sqrt(variance / starts)
            _settle(result, rule, _Look(starts, table.mean(starts), half, never), ~np.isnan(prior_sd), fast=True)
        if starts in rule.looks:
            asked = starts in rule.equivalence_looks
            equivalence_half = table.half(starts, equivalence_tail) if asked else never
            look = _Look(starts, table.mean(starts), table.half(starts, tail), equivalence_half)
            _settle(result, rule, look, np.ones_like(result.fast))


def _until_narrow(table: _Table, rule: Rule, precision: float, result: Decisions) -> None:
    minimum = min(rule.minimum, rule.cap)
    tail = boundaries.width_level(minimum, rule.cap, rule.alpha / rule.family) / 2.0
    equivalence_tail = boundaries.width_level(minimum, rule.cap, 2.0 * rule.alpha / rule.family) / 2.0
    for starts in range(minimum, min(table.count, rule.cap) + 1):
        half = table.half(starts, tail)
        ready = (half <= widest(precision, table.mean(starts))) | (starts == rule.cap)
        # An interval that is not narrow enough is not a look: only its width is used, not the ratio.
        asked = ~result.stopped
        _note(result, _Look(starts, table.mean(starts), half, table.half(starts, equivalence_tail)), asked)
        result.outcome[:] = np.where(asked & ready, _outcome(result, rule), result.outcome)
        result.stopped[:] |= ready


@dataclass(frozen=True)
class _Look:
    """Means and half-widths of all studies after `starts` starts."""

    starts: int
    mean: Floats
    half: Floats
    equivalence_half: Floats


def _settle(result: Decisions, rule: Rule, look: _Look, where: npt.NDArray[np.bool_], *, fast: bool = False) -> None:
    """Updates the open studies at one look, and stops those that it decides."""
    asked = ~result.stopped & where
    _note(result, look, asked)
    result.outcome[:] = np.where(asked, _outcome(result, rule), result.outcome)
    decided = asked & (result.outcome != Outcome.OPEN)
    result.fast[:] |= decided & fast
    result.stopped[:] |= decided


def _note(result: Decisions, look: _Look, asked: npt.NDArray[np.bool_]) -> None:
    result.starts[asked] = look.starts
    result.mean[asked] = look.mean[asked]
    result.half[asked] = look.half[asked]
    result.equivalence_half[asked] = look.equivalence_half[asked]


def _outcome(result: Decisions, rule: Rule) -> npt.NDArray[np.int8]:
    """The outcomes: faster or slower take precedence; equivalent only if neither holds."""
    inside = np.abs(result.mean) + result.equivalence_half < math.log1p(rule.delta)
    outcome = np.where(inside, Outcome.EQUIVALENT, Outcome.OPEN)
    outcome = np.where(result.mean + result.half < 0.0, Outcome.SLOWER, outcome)
    return np.where(result.mean - result.half > 0.0, Outcome.FASTER, outcome).astype(np.int8)
