"""Multiple comparisons: claims are corrected so that all of them hold together, exploration is labelled.

Two families are corrected separately, "different" (faster or slower) and "equivalent": in each, the probability that
any claim is wrong stays at alpha. A cell that stopped early enters with the p-value of its complete sequential study,
not of the look at which it stopped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import scipy

from burnish.statistics import boundaries
from burnish.statistics.distributions import normal_density
from burnish.statistics.intervals import Interval
from burnish.statistics.sequential import HostPrior, Rule
from burnish.statistics.verdicts import Judgement, Kind, judge


class Member(Protocol):
    """A member of a family: a cell of one study, or of several merged ones (`burnish.statistics.hosts`)."""

    @property
    def name(self) -> str:
        """Its name in the report."""

    def judge(self, rule: Rule) -> Judgement:
        """The verdict as if it were the only one."""

    def difference_p(self, rule: Rule) -> float:
        """P-value of "the sides are equal" over all looks."""

    def equivalence_p(self, rule: Rule) -> float:
        """P-value of "the sides differ by at least delta" over all looks."""


@dataclass(frozen=True)
class Cell:
    """One cell of a family.

    Attributes:
        name: its name in the report.
        readings: its start readings, up to the start at which sampling ended.
        prior: the host's calibration, as given to `judge`.
        canary_sd: the canaries' standard deviation, as given to `judge`.
    """

    name: str
    readings: tuple[float, ...]
    prior: HostPrior | None = None
    canary_sd: float | None = None

    def judge(self, rule: Rule) -> Judgement:
        """The verdict as if the cell were the only one."""
        return judge(self.readings, rule, self.prior, self.canary_sd)

    def difference_p(self, rule: Rule) -> float:
        """See `difference_p`."""
        return difference_p(self, rule)

    def equivalence_p(self, rule: Rule) -> float:
        """See `equivalence_p`."""
        return equivalence_p(self, rule)


@dataclass(frozen=True)
class Corrected:
    """A cell's verdict, corrected for its family.

    Attributes:
        name: the cell.
        kind: the corrected verdict.
        alone: the judgement as if the cell were the only one.
        p: p-value of "equal", over all looks.
        adjusted_p: the same after correction; at most alpha for "faster" and "slower".
        adjusted_equivalence_p: corrected p-value of "differs by at least delta"; at most alpha for "equivalent".
        interval: simultaneous with those of all other cells (claims), or one that misses in at most alpha of the
            selected cells (exploration).
        label: how to interpret the verdict.
    """

    name: str
    kind: Kind
    alone: Judgement
    p: float
    adjusted_p: float
    adjusted_equivalence_p: float
    interval: Interval | None
    label: str


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted to control the family-wise error rate (Holm 1979, Scand. J. Stat. 6:65)."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(raised, 1.0)
    return [float(value) for value in adjusted]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted to control the false-discovery rate (Benjamini and Hochberg 1995)."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    raised = p[order] * (p.size / np.arange(1, p.size + 1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)
    return [float(value) for value in adjusted]


def claims(cells: Sequence[Member], rule: Rule) -> list[Corrected]:
    """Verdicts claimed together, corrected by Holm's method, with simultaneous intervals.

    Declare the family in the rule (`Rule.for_family`) before sampling: cells that stop as if each were the only one
    seldom survive the correction. The intervals are Bonferroni's, which are wider than Holm's test requires: a claim
    may hold although its simultaneous interval includes 1; its label then says so.

    Args:
        cells: all cells of the family; leaving out those that failed would invalidate the correction.
        rule: the rule by which each of them was sampled.
    """
    alone = [cell.judge(rule) for cell in cells]
    single = _single(cells, rule, alone)
    p = [cell.difference_p(rule) for cell in cells]
    adjusted = holm(p)
    adjusted_equivalence = holm([cell.equivalence_p(rule) for cell in cells])
    strict = replace(rule, family=max(len(cells), rule.family))
    corrected = []
    for index, cell in enumerate(cells):
        interval = cell.judge(strict).difference
        kind = _kind(single[index], adjusted[index] <= rule.alpha, adjusted_equivalence[index] <= rule.alpha)
        touches = kind in (Kind.FASTER, Kind.SLOWER) and interval is not None and not interval.excludes_one
        label = f"claim, one of {len(cells)} (Holm)" + (
            "; the simultaneous interval, which is stricter, still includes 1" if touches else ""
        )
        corrected.append(
            Corrected(
                cell.name,
                kind,
                alone[index],
                p[index],
                adjusted[index],
                adjusted_equivalence[index],
                interval,
                label,
            )
        )
    return corrected


def exploration(cells: Sequence[Member], rule: Rule) -> list[Corrected]:
    """Verdicts of an exploration, corrected by Benjamini and Hochberg's method, to be measured again.

    Of the cells called different, about 5 % may be equal; of those called equivalent, about 5 % may differ by delta:
    the two families are corrected separately here, too.

    The intervals have the level at which, on average, at most alpha of the discoveries' intervals miss (Benjamini and
    Yekutieli 2005, J. Am. Stat. Assoc. 100:71): 1 - alpha · discoveries / cells.

    Args:
        cells: all cells that were examined.
        rule: the rule by which each of them was sampled.
    """
    alone = [cell.judge(rule) for cell in cells]
    single = _single(cells, rule, alone)
    p = [cell.difference_p(rule) for cell in cells]
    adjusted = benjamini_hochberg(p)
    adjusted_equivalence = benjamini_hochberg([cell.equivalence_p(rule) for cell in cells])
    discoveries = sum(value <= rule.alpha for value in adjusted)
    share = max(discoveries, 1) / max(len(cells), 1)
    strict = replace(rule, alpha=rule.alpha * share, fast_alpha=rule.fast_alpha * share, family=1)
    label = f"exploration, one of {len(cells)} (Benjamini-Hochberg): measure again before you rely on it"
    return [
        Corrected(
            cell.name,
            _kind(single[index], adjusted[index] <= rule.alpha, adjusted_equivalence[index] <= rule.alpha),
            alone[index],
            p[index],
            adjusted[index],
            adjusted_equivalence[index],
            cell.judge(strict).difference,
            label,
        )
        for index, cell in enumerate(cells)
    ]


def _single(cells: Sequence[Member], rule: Rule, alone: Sequence[Judgement]) -> Sequence[Judgement]:
    """The judgement of each cell at the whole alpha; `alone` is that unless the rule declares a family."""
    return alone if rule.family == 1 else [cell.judge(replace(rule, family=1)) for cell in cells]


def _kind(single: Judgement, different: bool, equivalent: bool) -> Kind:
    """A corrected verdict: never more than the cell's own, whose constants lie on the strict side of its p-value."""
    if single.kind is Kind.INVALID:
        return Kind.INVALID
    if different and single.kind in (Kind.FASTER, Kind.SLOWER):
        return single.kind
    return Kind.EQUIVALENT if equivalent and single.within_delta else Kind.UNDECIDED


def difference_p(cell: Cell, rule: Rule) -> float:
    """P-value of "the sides are equal" over all looks of a cell; 1 without a look.

    If the host is calibrated, the fast lane and the usual looks share alpha, and the result is the smaller of their
    two p-values, each divided by its share.
    """
    readings = np.asarray(cell.readings, dtype=float)
    if not np.isfinite(readings).all():
        return 1.0
    if rule.precision is not None:
        return _at_the_end(cell, rule)
    least = min((_t_p(readings[:look]) for look in rule.looks if look <= readings.size), default=1.0)
    usual = boundaries.overall_p(rule.looks, least)
    prior = cell.prior
    if prior is None or not prior.usable() or rule.fast_alpha <= 0.0:
        return usual
    share = rule.fast_alpha / rule.alpha
    lane = _lane_p(readings, prior) if prior.usable(cell.canary_sd) else 1.0
    return min(1.0, usual / (1.0 - share), lane / share)


def equivalence_p(cell: Cell, rule: Rule) -> float:
    """P-value of "the sides differ by at least delta" over all looks of a cell; 1 without a look."""
    readings = np.asarray(cell.readings, dtype=float)
    if not np.isfinite(readings).all():
        return 1.0
    delta = math.log1p(rule.delta)
    if rule.precision is not None:
        minimum = min(rule.minimum, rule.cap)
        used = readings[: judge(cell.readings, rule).starts]
        p = _tost_p(used, delta) if used.size >= minimum else 1.0
        if p >= 0.5:
            return 1.0
        # A one-sided test at p is an interval at 1 - 2p, which misses twice as often: once on either side.
        return boundaries.width_p(minimum, rule.cap, 2.0 * rule.alpha, 2.0 * p) / 2.0
    least = min(
        (_tost_p(readings[:look], delta) for look in rule.equivalence_looks if look <= readings.size),
        default=1.0,
    )
    return boundaries.overall_p(rule.equivalence_looks, least, two_sided=False)


def _at_the_end(cell: Cell, rule: Rule) -> float:
    minimum = min(rule.minimum, rule.cap)
    used = np.asarray(cell.readings, dtype=float)[: judge(cell.readings, rule).starts]
    if used.size < minimum:
        return 1.0
    return boundaries.width_p(minimum, rule.cap, rule.alpha, _t_p(used))


def _t(readings: boundaries.Floats, centre: float) -> float:
    error = float(readings.std(ddof=1)) / math.sqrt(readings.size)
    shift = float(readings.mean()) - centre
    if error == 0.0:
        return math.copysign(math.inf, shift) if shift else 0.0
    return shift / error


def _t_p(readings: boundaries.Floats) -> float:
    return float(2.0 * scipy.special.stdtr(readings.size - 1, -abs(_t(readings, 0.0))))


def _tost_p(readings: boundaries.Floats, delta: float) -> float:
    df = readings.size - 1
    below = float(scipy.special.stdtr(df, _t(readings, delta)))
    above = float(scipy.special.stdtr(df, -_t(readings, -delta)))
    return max(below, above)


def _lane_p(readings: boundaries.Floats, prior: HostPrior) -> float:
    largest = 0.0
    for look in boundaries.FAST_LOOKS:
        if look <= readings.size:
            used = readings[:look]
            own = np.array([used.var(ddof=1)])
            shrunk = boundaries.shrunk_variance(own, look, np.array([prior.sd**2]), prior.starts)
            largest = max(largest, abs(float(used.mean())) / math.sqrt(float(shrunk[0]) / look))
    return boundaries.fast_p(prior.starts, largest)


def winner_overstatement(cells: int, standard_error: float) -> float:
    """By how much the best of many equal cells is overestimated: the expected maximum of that many errors.

    Measuring the winner again on new starts removes this bias.

    Args:
        cells: number of cells that the winner was picked from.
        standard_error: standard error of each cell's mean (log-ratio).
    """

    def density(x: float) -> float:
        return x * cells * normal_density(x) * float(scipy.special.ndtr(x)) ** (cells - 1)

    return standard_error * float(scipy.integrate.quad(density, -10.0, 10.0, limit=200)[0])
