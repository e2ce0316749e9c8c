"""A cell that several hosts have measured, each in its sittings: what holds on all of them, and what on another one.

Ratios of one recipe differ between hosts by far more than any interval of one host (1.13 on one processor, 1.36 on
another), so starts of several hosts are never pooled. Each host has the interval of its own sittings
(`burnish.statistics.sittings`), and:

**Two hosts** are no sample of hosts. The interval runs from the lower end of the one to the upper end of the other,
each at level 1 − p/2: both hosts' ratios lie in it with probability 1 − p (Bonferroni). "Faster" means faster on each.

**Three hosts and more** are judged as a sample: a host's mean is one observation

    ȳ ± t(1 − p/2; H − 1) · sd(ȳ_1 … ȳ_H) / √H

which is about the mean of hosts like these (Ibragimov and Müller 2010, J. Bus. Econ. Stat. 28:453). Another host's own
ratio lies with the same probability in the prediction interval, which is √(H + 1) times as wide.

**Heterogeneity** is Cochran's Q (1954, Biometrics 10:101) of the hosts' means with their standard errors, and I², the
share of their variance that is not noise (Higgins and Thompson 2002, Stat. Med. 21:1539).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from burnish.statistics.distributions import chi2_upper, normal_quantile
from burnish.statistics.hosts import SAMPLE
from burnish.statistics.intervals import Interval
from burnish.statistics.sequential import Rule
from burnish.statistics.sittings import SittingCell
from burnish.statistics.verdicts import Judgement, Kind, percent


@dataclass(frozen=True)
class Heterogeneity:
    """How far hosts differ in one cell.

    Attributes:
        p: p-value of "all hosts have the same ratio".
        share: I², 0 to 1.
        another: interval in which another host's ratio lies with 95 %; None below three hosts.
    """

    p: float
    share: float
    another: Interval | None


@dataclass(frozen=True)
class HostsCell:
    """One cell of a family that two hosts or more have measured.

    Attributes:
        name: its name in the report.
        hosts: by the host's letter, its sittings; every host has a finite reading.
    """

    name: str
    hosts: Mapping[str, SittingCell]

    @property
    def starts(self) -> int:
        """Number of starts on all hosts."""
        return sum(host.starts for host in self.hosts.values())

    @property
    def mean(self) -> float:
        """Mean log-ratio; each host counts once."""
        return float(np.mean([host.mean for host in self.hosts.values()]))

    def judge(self, rule: Rule) -> Judgement:
        """The verdict on these hosts, or from three on, on hosts like these."""
        if len(self.hosts) >= SAMPLE:
            alpha = rule.alpha / rule.family
            difference, equivalence = (self._sample(tail) for tail in (alpha / 2, alpha))
        else:
            difference, equivalence = (self._each(rule, tost=tost) for tost in (False, True))
        small = max(-equivalence[0], equivalence[1]) < math.log1p(rule.delta)
        kind = Kind.EQUIVALENT if small else Kind.UNDECIDED
        if difference[0] > 0.0 or difference[1] < 0.0:
            kind = Kind.FASTER if difference[0] > 0.0 else Kind.SLOWER
        return Judgement(
            kind=kind,
            difference=_interval(self.mean, difference, rule.level),
            equivalence=_interval(self.mean, equivalence, rule.equivalence_level),
            within_delta=small,
            starts=self.starts,
            sd_between=float(np.std(self._means, ddof=1)),
            finished=True,
            fast=False,
            reason=self._reason(kind, rule),
        )

    def difference_p(self, rule: Rule) -> float:
        """P-value of "equal on one of these hosts", or from three hosts on, "equal in the mean of hosts like these"."""
        if len(self.hosts) >= SAMPLE:
            error = float(np.std(self._means, ddof=1)) / math.sqrt(len(self.hosts))
            return float(2.0 * scipy.special.stdtr(len(self.hosts) - 1, -abs(self.mean) / error)) if error else 0.0
        if len({host.mean > 0.0 for host in self.hosts.values()}) > 1:
            return 1.0
        return min(1.0, len(self.hosts) * max(host.difference_p(rule) for host in self.hosts.values()))

    def equivalence_p(self, rule: Rule) -> float:
        """P-value of "one of these hosts differs by at least delta", or their mean from three hosts on."""
        if len(self.hosts) >= SAMPLE:
            room = math.log1p(rule.delta) - abs(self.mean)
            error = float(np.std(self._means, ddof=1)) / math.sqrt(len(self.hosts))
            if room <= 0.0 or error == 0.0:
                return 1.0 if room <= 0.0 else 0.0
            return float(scipy.special.stdtr(len(self.hosts) - 1, -room / error))
        return min(1.0, len(self.hosts) * max(host.equivalence_p(rule) for host in self.hosts.values()))

    def by_host(self, rule: Rule) -> dict[str, Judgement]:
        """The judgement of each host by itself."""
        return {label: host.judge(rule) for label, host in self.hosts.items()}

    def heterogeneity(self, rule: Rule) -> Heterogeneity:
        """How far the hosts differ; their standard errors are read off their own 95 % intervals."""
        halves = [judged.difference.half_width for judged in self.by_host(rule).values() if judged.difference]
        errors = np.array(halves) / normal_quantile(1.0 - rule.alpha / rule.family / 2.0)
        means = np.array(self._means)
        if not np.isfinite(errors).all() or (errors <= 0.0).any():
            return Heterogeneity(1.0, 0.0, self._another())
        weights = 1.0 / errors**2
        q = float((weights * (means - (weights * means).sum() / weights.sum()) ** 2).sum())
        df = len(self.hosts) - 1
        return Heterogeneity(chi2_upper(q, df), max(0.0, (q - df) / q) if q > 0.0 else 0.0, self._another())

    @property
    def _means(self) -> list[float]:
        return [host.mean for host in self.hosts.values()]

    def _another(self) -> Interval | None:
        count = len(self.hosts)
        if count < SAMPLE:
            return None
        half = -float(scipy.special.stdtrit(count - 1, 0.025)) * float(np.std(self._means, ddof=1))
        return Interval.from_log(self.mean, half * math.sqrt(1.0 + 1.0 / count), 0.95)

    def _sample(self, tail: float) -> tuple[float, float]:
        """Ends of Student's interval over hosts."""
        factor = -float(scipy.special.stdtrit(len(self.hosts) - 1, tail))
        half = factor * float(np.std(self._means, ddof=1)) / math.sqrt(len(self.hosts))
        return self.mean - half, self.mean + half

    def _each(self, rule: Rule, *, tost: bool) -> tuple[float, float]:
        """Ends between which each host's ratio lies."""
        shared = rule.for_family(rule.family * len(self.hosts))
        ends = []
        for host in self.hosts.values():
            judged = host.judge(shared)
            interval = judged.equivalence if tost else judged.difference
            if interval is None or interval.low <= 0.0 or math.isinf(interval.high):
                return -math.inf, math.inf
            ends.append((math.log(interval.low), math.log(interval.high)))
        return min(low for low, _ in ends), max(high for _, high in ends)

    def _reason(self, kind: Kind, rule: Rule) -> str:
        """The sentence that goes with a verdict."""
        sample = len(self.hosts) >= SAMPLE
        about = "on hosts like these" if sample else "on each of these hosts"
        parts = ", ".join(f"{host.starts} on {label}" for label, host in self.hosts.items())
        after = f"after {self.starts} starts ({parts})"
        if kind is Kind.EQUIVALENT:
            level = f"{100.0 * rule.equivalence_level:.4g} %"
            return f"equivalent {about}: the whole {level} interval lies within {percent(rule.delta)} {after}"
        if kind is Kind.UNDECIDED:
            return f"undecided {about}: the interval still includes 1 {after}"
        side = "above" if kind is Kind.FASTER else "below"
        return f"{kind} {about}: the whole interval lies {side} 1 {after}"


def _interval(mean: float, ends: tuple[float, float], level: float) -> Interval:
    """The interval of these ends, as log-ratios."""
    low, high = ends
    return Interval(math.exp(mean), math.exp(low), math.exp(high) if high < 700.0 else math.inf, level)
