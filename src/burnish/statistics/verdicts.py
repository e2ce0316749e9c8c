"""The verdict on one cell: its kind, its interval and reason, and whether to continue sampling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from burnish.statistics.boundaries import FAST_LOOKS
from burnish.statistics.intervals import Interval, fixed_interval, start_reading
from burnish.statistics.planning import Components, best_pairs, half_width_after, starts_needed, variance_components
from burnish.statistics.sequential import HostPrior, Outcome, Rule, decide, widest

__all__ = [
    "Components",
    "HostPrior",
    "Interval",
    "Judgement",
    "Kind",
    "Rule",
    "best_pairs",
    "fixed_interval",
    "half_width_after",
    "invalid",
    "judge",
    "start_reading",
    "starts_needed",
    "variance_components",
]


class Kind(StrEnum):
    """The kinds of verdict."""

    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"
    INVALID = "invalid"


_KINDS = {
    Outcome.OPEN: Kind.UNDECIDED,
    Outcome.FASTER: Kind.FASTER,
    Outcome.SLOWER: Kind.SLOWER,
    Outcome.EQUIVALENT: Kind.EQUIVALENT,
}

IN_SITTING: Mapping[str, str] = {Kind.FASTER: "ahead", Kind.SLOWER: "behind", Kind.EQUIVALENT: "equal"}
"""Words for what a sitting showed, which leave those of the verdicts to the report."""


@dataclass(frozen=True)
class Judgement:
    """A verdict with its evidence.

    Attributes:
        kind: the verdict. "Faster" and "slower" take precedence over "equivalent".
        difference: the repeated interval that answers "faster or slower?", at `Rule.level`; its ends are 0
            and infinity before the first look, and it is None without any valid reading.
        equivalence: the repeated interval that answers "equivalent?", at `Rule.equivalence_level`; None if the last
            look did not test equivalence.
        within_delta: whether `equivalence` lies within ±delta ("faster, and within ±1 %").
        starts: number of starts that the verdict is based on.
        sd_between: standard deviation of those starts' readings (log-ratio); NaN below two.
        finished: whether sampling ends: decided, as precise as requested, or at the cap.
        fast: whether the fast lane decided, which uses the host's calibration.
        reason: one sentence for the reader.
    """

    kind: Kind
    difference: Interval | None
    equivalence: Interval | None
    within_delta: bool
    starts: int
    sd_between: float
    finished: bool
    fast: bool
    reason: str

    @property
    def interval(self) -> Interval | None:
        """The interval that decided the verdict; print its level with it.

        Once finished, it lies above 1 for "faster", below 1 for "slower", within ±delta for "equivalent" and
        includes 1 for "undecided". That of an equivalent cell may lie on one side of 1, as its level is lower:
        a difference that small does not matter, and `difference`, which includes 1, does not prove it.
        """
        return self.equivalence if self.kind is Kind.EQUIVALENT else self.difference

    @property
    def at_stop(self) -> str:
        """The sentence to say when sampling ends: a report judges for another sitting, whose interval is wider."""
        difference = self.difference
        size = f", {100.0 * (difference.ratio - 1.0):+.1f} %" if difference and self.kind is not Kind.EQUIVALENT else ""
        if self.kind not in IN_SITTING:
            return self.reason
        return f"{IN_SITTING[self.kind]} in this sitting{size}{self.reason.removeprefix(self.kind)}"


def invalid(reason: str, starts: int = 0) -> Judgement:
    """The judgement of a cell that cannot be judged.

    Args:
        reason: what is wrong with it and how to fix that, in one sentence.
        starts: starts taken so far.
    """
    return Judgement(
        kind=Kind.INVALID,
        difference=None,
        equivalence=None,
        within_delta=False,
        starts=starts,
        sd_between=math.nan,
        finished=True,
        fast=False,
        reason=f"invalid: {reason}",
    )


def judge(
    start_log_ratios: Sequence[float],
    rule: Rule,
    prior: HostPrior | None = None,
    canary_sd: float | None = None,
    unit: str = "start",
) -> Judgement:
    """Judges the starts taken so far; call it after every start, and stop when it is `finished`.

    The looks are evaluated in order, and the first one that decides gives the verdict: starts taken after it change
    nothing. (With `Rule.precision`, it is the first look that is narrow enough.)

    Args:
        start_log_ratios: one reading for each start, in the order in which they were taken.
        rule: declared before the first start, and the same at every call.
        prior: the host's calibration, the same at every call; the fast lane needs one of at least 12 A/A
            starts.
        canary_sd: standard deviation of the study's own A/A starts (None below two of them); the fast lane is off if
            it exceeds twice the calibrated one.
        unit: what one reading is, for the sentence: a start, or a replicate in a study with replicates.
    """
    readings = np.asarray(start_log_ratios, dtype=float)
    if readings.size == 0:
        return _no_readings(rule, unit)
    broken = np.flatnonzero(~np.isfinite(readings))
    if broken.size:
        return invalid(
            f"{unit} {broken[0] + 1} has no finite reading ({readings[broken[0]]}); exclude and repeat it",
            readings.size,
        )
    prior_sd, prior_starts = None, 0
    if prior is not None and prior.usable():
        prior_sd = np.array([prior.sd if prior.usable(canary_sd) else math.nan])
        prior_starts = prior.starts
    decisions = decide(readings[np.newaxis, :], rule, prior_sd, prior_starts)
    looked = int(decisions.starts[0])
    used = readings[: looked or readings.size]
    mean, half = float(used.mean()), float(decisions.half[0])
    tost = float(decisions.equivalence_half[0])
    judgement = Judgement(
        kind=_KINDS[Outcome(int(decisions.outcome[0]))],
        difference=Interval.from_log(mean, math.inf if math.isnan(half) else half, rule.level),
        equivalence=None if math.isnan(tost) else Interval.from_log(mean, tost, rule.equivalence_level),
        within_delta=abs(mean) + tost < math.log1p(rule.delta),
        starts=int(used.size),
        sd_between=float(used.std(ddof=1)) if used.size > 1 else math.nan,
        finished=bool(decisions.stopped[0]),
        fast=bool(decisions.fast[0]),
        reason="",
    )
    return replace(judgement, reason=_reason(judgement, rule, _Counts(readings.size, unit, prior_sd is not None)))


@dataclass(frozen=True)
class _Counts:
    """Facts for the sentence besides the verdict: number of readings, their unit, whether the host is calibrated."""

    taken: int
    unit: str
    calibrated: bool

    def count(self, number: int) -> str:
        return f"{number} {self.unit}" if number == 1 else f"{number} {self.unit}s"


def _reason(judgement: Judgement, rule: Rule, counts: _Counts) -> str:
    """The sentence that goes with a verdict."""
    after = f"after {counts.count(judgement.starts)}"
    width = _width(judgement, rule.precision) if judgement.finished and rule.precision is not None else ""
    if judgement.kind is Kind.EQUIVALENT:
        level = f"{100.0 * rule.equivalence_level:.4g} %"
        return f"equivalent: the whole {level} interval lies within {percent(rule.delta)} {after}{width}"
    if judgement.kind in (Kind.FASTER, Kind.SLOWER):
        within = f", and within {percent(rule.delta)}" if judgement.within_delta else ""
        side = "above" if judgement.kind is Kind.FASTER else "below"
        lane = " (fast lane: the host's calibration helps to tell the spread)" if judgement.fast else ""
        return f"{judgement.kind}{within}: the whole interval lies {side} 1 {after}{lane}{width}"
    if judgement.finished:
        return f"undecided: {after} the interval still includes 1{_missing(judgement, rule, counts)}{width}"
    return f"undecided so far, {counts.count(counts.taken)} taken: the next look is at {_next_look(rule, counts)}"


def _next_look(rule: Rule, counts: _Counts) -> str:
    if rule.precision is not None:
        following = max(counts.taken + 1, min(rule.minimum, rule.cap))
        return f"{counts.count(following)}, until the interval is {percent(rule.precision)}"
    looks = {*rule.looks, *(FAST_LOOKS if counts.calibrated and rule.fast_alpha > 0.0 else ())}
    return f"{counts.count(min(look for look in looks if look > counts.taken))} of at most {rule.cap}"


def _width(judgement: Judgement, precision: float) -> str:
    interval = judgement.difference
    if interval is None:
        return ""
    half, ratio = interval.half_width, interval.ratio
    narrow = half <= float(widest(precision, np.array(math.log(ratio))))
    reached = "as narrow as asked" if narrow else "wider than asked"
    width = percent(math.expm1(half), 2)
    if ratio < 1.0 - precision:
        width += f" of itself, {percent(ratio * math.expm1(half), 2)} of the baseline"
    return f"; the {100.0 * interval.level:.4g} % interval is {width}, {reached} ({percent(precision)})"


def _missing(judgement: Judgement, rule: Rule, counts: _Counts) -> str:
    """The number of starts that would have decided: those with an interval half as wide as delta."""
    if judgement.within_delta or not judgement.sd_between > 0.0:
        return ""
    bound = percent(rule.delta)
    try:
        needed = starts_needed(judgement.sd_between, math.log1p(rule.delta) / 2.0)
    except ValueError:  # a start stalled or was disturbed
        return f" and reaches beyond {bound}; no number of starts so far apart would tell it from nothing"
    more = counts.count(max(needed, judgement.starts + 1))
    return f" and reaches beyond {bound}; with this spread some {more} would tell {bound} from nothing"


def percent(fraction: float, digits: int = 3) -> str:
    """A half-width for the reader: 0.01 is "±1 %"."""
    return f"±{100.0 * fraction:.{digits}g} %"


def _no_readings(rule: Rule, unit: str) -> Judgement:
    return Judgement(
        kind=Kind.UNDECIDED,
        difference=None,
        equivalence=None,
        within_delta=False,
        starts=0,
        sd_between=math.nan,
        finished=False,
        fast=False,
        reason=f"undecided so far: no {unit} has been read of at most {rule.cap}",
    )
