"""Combines starts of several hosts: the host is a block.

A ratio is computed within a start, and a start runs on one host: a ratio never mixes hosts of different speed, and a
standard deviation never mixes hosts of different noise. With n_h starts on host h, their mean log-ratio ȳ_h and their
standard deviation s_h, each of H hosts has the same weight, whatever its number of starts:

    ȳ = (1/H) Σ ȳ_h

**These hosts** (the host as a fixed effect; one host, two, or any with few starts). The interval is

    ȳ ± (1/H) √( Σ t²(1 − p/2; n_h − 1) · s²_h / n_h )

(Banerjee 1960, Sankhyā 22:357). With one host it is Student's. With more it holds at least as often as it says,
whatever the hosts' spreads and numbers of starts: given the true shares a_h of the variance of ȳ (Σ a_h = 1), its
coverage is E F(Σ a_h t²_h s²_h/σ²_h), F being the distribution of the square of a standard normal variable, which is
concave, hence at least Σ a_h E F(t²_h s²_h/σ²_h), where each term is 1 − p. Pooling the spreads, as an analysis of
variance does, would underestimate the spread of a noisy host with few starts beside a quiet one with many.

**Hosts like these** (the host as a replicate, `burnish.statistics.replicates`). With at least three hosts that have at
least three starts each, a host's mean is one observation and the interval is Student's over hosts

    ȳ ± t(1 − p/2; H − 1) · sd(ȳ_1 … ȳ_H) / √H

It holds for hosts that were not measured, as far as these are a fair sample of them. Its coverage is at least the
stated one, although the means are not equally precise (Ibragimov and Müller 2010, J. Bus. Econ. Stat. 28:453, after
Bakirov and Székely 2006). Two hosts are too few: Student's factor would be 12.7 instead of 2.

Either interval is evaluated once, when the records are merged, at the level p' of the looks of each record: a record
whose sampling stopped at a significant look is biased away from 1, and the stricter level corrects for that
(`benchmarks/merged_coverage.py` counts how often).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from burnish.statistics import boundaries
from burnish.statistics.boundaries import Floats
from burnish.statistics.intervals import Interval
from burnish.statistics.sequential import Rule
from burnish.statistics.verdicts import Judgement, Kind, invalid, percent

SAMPLE = 3
"""Minimum number of hosts to generalise to others, and minimum number of starts on each of them."""

_LEAST_TAIL = 1e-30
"""The smallest p-value that is computed."""


def half_width(means: Floats, variances: Floats, counts: Floats, tail: float) -> Floats:
    """Half-width of the interval of the mean over hosts, for many studies at a time.

    Args:
        means: means of the hosts' start readings (log-ratios), shape (…, hosts).
        variances: sample variances of those readings, NaN for a single start.
        counts: numbers of starts.
        tail: probability beyond each end of the interval.

    Returns:
        shape (…); NaN if a host has a single start, whose spread is unknown.
    """
    hosts = means.shape[-1]
    factors = -scipy.special.stdtrit(np.maximum(counts - 1.0, 1.0), tail)
    errors = np.where(counts > 1, factors**2 * variances / counts, np.nan)
    here: Floats = np.sqrt(errors.sum(axis=-1)) / hosts
    if hosts < SAMPLE:
        return here
    factor = -float(scipy.special.stdtrit(hosts - 1, tail))
    alike = factor * means.std(axis=-1, ddof=1) / math.sqrt(hosts)
    return np.where((counts >= SAMPLE).all(axis=-1), alike, here)


def tails(rule: Rule) -> tuple[float, float]:
    """Probability beyond each end of the intervals for "faster or slower?" and for "equivalent?" at each look."""
    alpha = rule.alpha / rule.family
    if rule.precision is not None:
        minimum = min(rule.minimum, rule.cap)
        wide = boundaries.width_level(minimum, rule.cap, 2.0 * alpha)
        return boundaries.width_level(minimum, rule.cap, alpha) / 2.0, wide / 2.0
    return (
        boundaries.superiority_level(rule.looks, alpha) / 2.0,
        boundaries.equivalence_level(rule.equivalence_looks, alpha),
    )


@dataclass(frozen=True)
class HostCell:
    """A cell whose starts were taken on several hosts, or in several sessions on one.

    Attributes:
        name: its name in the report.
        readings: by host, its start readings (log-ratios); a host without any is left out.
        unit: what one reading is: a start, or a replicate that was measured on each host.
    """

    name: str
    readings: Mapping[str, Sequence[float]]
    unit: str = "start"

    @property
    def stands_for_others(self) -> bool:
        """Whether the interval is for hosts like these rather than for these only."""
        sizes = [len(readings) for readings in self.readings.values()]
        return len(sizes) >= SAMPLE and min(sizes) >= SAMPLE

    @cached_property
    def finite(self) -> bool:
        """Whether there are readings and all of them are finite."""
        values = [value for readings in self.readings.values() for value in readings]
        return bool(values) and all(math.isfinite(value) for value in values)

    @cached_property
    def mean(self) -> float:
        """Mean log-ratio; each host counts once."""
        return float(self._moments[0].mean())

    def half(self, tail: float) -> float:
        """Half-width with probability `tail` beyond each end; infinite while a host has a single start."""
        half = float(half_width(*self._moments, tail))
        return math.inf if math.isnan(half) else half

    def judge(self, rule: Rule) -> Judgement:
        """The verdict at the only look, at all starts together."""
        taken = sum(len(readings) for readings in self.readings.values())
        if not taken:
            return invalid("no start could be read on any host; run it again", 0)
        if not self.finite:
            return invalid("a start has no finite reading; leave its record out", taken)
        tail, equivalence_tail = tails(rule)
        mean, half, tost = self.mean, self.half(tail), self.half(equivalence_tail)
        delta = math.log1p(rule.delta)
        within = abs(mean) + tost < delta
        kind = Kind.EQUIVALENT if within else Kind.UNDECIDED
        if abs(mean) > half:
            kind = Kind.FASTER if mean > 0.0 else Kind.SLOWER
        return Judgement(
            kind=kind,
            difference=Interval.from_log(mean, half, rule.level),
            equivalence=Interval.from_log(mean, tost, rule.equivalence_level),
            within_delta=within,
            starts=taken,
            sd_between=float(np.sqrt(np.nanmean(self._moments[1]))) if taken > len(self.readings) else math.nan,
            finished=True,
            fast=False,
            reason=self._reason(kind, rule, within=within),
        )

    def by_host(self, rule: Rule) -> dict[str, Interval]:
        """The interval of each host by itself, at the same level."""
        tail, _ = tails(rule)
        cells = {name: HostCell(self.name, {name: readings}) for name, readings in self.readings.items()}
        return {name: Interval.from_log(host.mean, host.half(tail), rule.level) for name, host in cells.items()}

    def difference_p(self, rule: Rule) -> float:
        """P-value of "the sides are equal" over all looks; 1 if unknown."""
        if not self.finite:
            return 1.0
        p = 2.0 * self._tail_at(abs(self.mean))
        if rule.precision is not None:
            return boundaries.width_p(min(rule.minimum, rule.cap), rule.cap, rule.alpha, p)
        return boundaries.overall_p(rule.looks, p)

    def equivalence_p(self, rule: Rule) -> float:
        """P-value of "the sides differ by at least delta" over all looks; 1 if unknown."""
        if not self.finite:
            return 1.0
        room = math.log1p(rule.delta) - abs(self.mean)
        p = self._tail_at(room) if room > 0.0 else 1.0
        if p >= 0.5:
            return 1.0
        if rule.precision is not None:
            return boundaries.width_p(min(rule.minimum, rule.cap), rule.cap, 2.0 * rule.alpha, 2.0 * p) / 2.0
        return boundaries.overall_p(rule.equivalence_looks, p, two_sided=False)

    @cached_property
    def _moments(self) -> tuple[Floats, Floats, Floats]:
        groups = [np.asarray(readings, dtype=float) for readings in self.readings.values()]
        return (
            np.array([group.mean() for group in groups]),
            np.array([group.var(ddof=1) if group.size > 1 else math.nan for group in groups]),
            np.array([group.size for group in groups], dtype=float),
        )

    def _tail_at(self, distance: float) -> float:
        """The tail whose half-width is `distance`; 0.5 if there is none."""
        if not distance > 0.0 or math.isinf(self.half(0.25)):
            return 0.5
        if self.half(_LEAST_TAIL) <= distance:
            return _LEAST_TAIL
        low, high = math.log(_LEAST_TAIL), math.log(0.5)
        log_tail = scipy.optimize.brentq(lambda log_tail: self.half(math.exp(log_tail)) - distance, low, high)
        return math.exp(float(log_tail))

    def _reason(self, kind: Kind, rule: Rule, *, within: bool) -> str:
        """The sentence that goes with a verdict."""
        about, after = self._about()
        if kind is Kind.EQUIVALENT:
            level = f"{100.0 * rule.equivalence_level:.4g} %"
            return f"equivalent{about}: the whole {level} interval lies within {percent(rule.delta)} {after}"
        if kind is Kind.UNDECIDED:
            single = [name for name, readings in self.readings.items() if len(readings) == 1]
            why = f"; host {single[0]} has one start, two at least tell its spread" if single else ""
            return f"undecided{about}: the interval still includes 1 {after}{why}"
        side = "above" if kind is Kind.FASTER else "below"
        small = f", and within {percent(rule.delta)}" if within else ""
        return f"{kind}{small}{about}: the whole interval lies {side} 1 {after}"

    def _about(self) -> tuple[str, str]:
        """The hosts that the verdict is about, and the starts that it is based on."""
        counts = {name: len(readings) for name, readings in self.readings.items()}
        taken = sum(counts.values())
        after = f"after {taken} {self.unit}{'' if taken == 1 else 's'}"
        if len(counts) == 1:
            return "", after
        parts = ", ".join(f"{count} on {name}" for name, count in counts.items())
        about = "hosts like these" if self.stands_for_others else "the mean of these hosts"
        return f" on {about}", f"{after} ({parts})"
