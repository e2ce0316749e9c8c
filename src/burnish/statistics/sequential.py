"""The rule a study declares in advance, and the decision it leads to.

The decision is written once, for many studies at a time (rows of a matrix): the simulations that validate it
run the very code that judges a real study.
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
"""Fewest A/A starts that make a host's calibration good enough for the fast lane."""

CANARY_LIMIT = 2.0
"""The fast lane is off where the canaries' spread exceeds the calibrated one by more than this factor."""

FIRST_EQUIVALENCE_LOOK = 4
"""Starts before which equivalence is not looked at by default: earlier looks cost more than they find."""

_USUAL_LOOKS = (3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 30)


def usual_looks(cap: int) -> tuple[int, ...]:
    """The looks of a rule that names none: dense at first, then ever further apart, the last one at `cap`."""
    looks = list(_USUAL_LOOKS)
    while looks[-1] < cap:
        looks.append(math.ceil(looks[-1] * 1.2))
    return (*(look for look in looks if look < cap), cap)


@dataclass(frozen=True)
class Rule:
    """How long a cell is sampled and what it takes to decide; declared before the first start.

    Attributes:
        cap: most starts that the cell may take.
        alpha: chance of calling equal sides different, and of calling sides equivalent that differ by delta.
        delta: sides within ±delta are equivalent for the user's purpose (0.01 = 1 %).
        looks: numbers of starts at which "faster or slower?" is asked; the last one is `cap`. Empty: the
            usual ones. `(cap,)` is a study with a fixed number of starts.
        equivalence_looks: the same for "equivalent?"; a part of `looks`. Empty: the usual ones.
        precision: half-width to go on to (0.005 = ±0.5 %; `widest`), or None to stop at the first verdict. With it,
            the only look is the one where the interval became narrow enough, or the cap.
        minimum: starts before which an interval is never called narrow enough.
        fast_alpha: the part of `alpha` that the fast lane spends where the host is calibrated.
        family: verdicts that the study is going to claim together; each spends alpha / family.

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
        """A fixed number of starts and one look: for figures that are going to be published."""
        return cls(cap=starts, alpha=alpha, delta=delta, looks=(starts,), equivalence_looks=(starts,))

    def for_family(self, verdicts: int) -> Rule:
        """The same rule for a cell that is one of `verdicts` claimed together."""
        return replace(self, family=verdicts)

    @property
    def level(self) -> float:
        """Confidence level of the intervals about "faster or slower?"."""
        return 1.0 - self.alpha / self.family

    @property
    def equivalence_level(self) -> float:
        """Confidence level of the intervals about "equivalent?": TOST at alpha is one at 1 - 2 alpha."""
        return 1.0 - 2.0 * self.alpha / self.family


@dataclass(frozen=True)
class HostPrior:
    """What the host's calibration says about the spread of one quantity under one design.

    Attributes:
        sd: standard deviation of an A/A start's reading (a log-ratio), same number of pairs as in the study.
        starts: A/A starts that it was found from.
    """

    sd: float
    starts: int

    def usable(self, canary_sd: float | None = None) -> bool:
        """Whether the fast lane may lean on it, given the spread of the study's own A/A starts."""
        known = self.starts >= CALIBRATION_STARTS and math.isfinite(self.sd) and self.sd > 0.0
        return known and (canary_sd is None or canary_sd <= CANARY_LIMIT * self.sd)


def widest(precision: float, mean: Floats) -> Floats:
    """The largest half-width (a log-ratio) that is as narrow as asked around these means (log-ratios).

    Precision is in per cent of the faster side, as reports give a ratio in per cent of the baseline: of a candidate
    with a quarter of the baseline's rate, ±1 % of its own would be ±0.25 % of what it is compared with.

    Args:
        precision: 0.005 = ±0.5 %.
        mean: mean readings.
    """
    found: Floats = np.log1p(precision * np.exp(np.maximum(0.0, -mean)))
    return found


class Outcome(IntEnum):
    """What a row of `decide` came to."""

    OPEN = 0
    FASTER = 1
    SLOWER = 2
    EQUIVALENT = 3


@dataclass(frozen=True)
class Decisions:
    """One row for each study; lengths are log-ratios, NaN where there is no look yet.

    Attributes:
        outcome: an `Outcome`.
        starts: number of starts that the outcome rests on (the last look, where it is open).
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
        # Taken from the row's first reading: equal readings then have a spread of exactly 0.
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
    """Walk each study through its looks and stop it at the first that decides.

    Args:
        readings: start readings, shape (studies, starts), in the order in which they were taken.
        rule: the rule declared in advance.
        prior_sd: calibrated spread, shape (studies,), NaN where the fast lane is off; None: no calibration.
        prior_starts: A/A starts behind the calibration. Wherever `prior_sd` is given, the usual looks leave
            `rule.fast_alpha` to the fast lane, whether it is on or not.
    """
    table = _Table(readings)
    result = _nothing_yet(readings.shape[0])
    if rule.precision is not None:
        _until_narrow(table, rule, rule.precision, result)
    else:
        _looks(table, rule, result, prior_sd, prior_starts)
    result.stopped[:] |= table.count >= rule.cap
    return result


def _nothing_yet(rows: int) -> Decisions:
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
        # A look that does not stop is not a look at the ratio: only its width is read.
        asked = ~result.stopped
        _note(result, _Look(starts, table.mean(starts), half, table.half(starts, equivalence_tail)), asked)
        result.outcome[:] = np.where(asked & ready, _outcome(result, rule), result.outcome)
        result.stopped[:] |= ready


@dataclass(frozen=True)
class _Look:
    """What all studies look like after so many starts."""

    starts: int
    mean: Floats
    half: Floats
    equivalence_half: Floats


def _settle(result: Decisions, rule: Rule, look: _Look, where: npt.NDArray[np.bool_], *, fast: bool = False) -> None:
    """One look: note where the open studies stand, and stop those that it decides."""
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
    """Precedence: faster or slower first; equivalent only where neither holds."""
    inside = np.abs(result.mean) + result.equivalence_half < math.log1p(rule.delta)
    outcome = np.where(inside, Outcome.EQUIVALENT, Outcome.OPEN)
    outcome = np.where(result.mean + result.half < 0.0, Outcome.SLOWER, outcome)
    return np.where(result.mean - result.half > 0.0, Outcome.FASTER, outcome).astype(np.int8)
