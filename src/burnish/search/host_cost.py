"""Corrects a search's starts for what the baseline's transactions cost at that moment; pure.

Builds are measured one after the other, on a host that neighbours make dearer or cheaper from minute to minute. That
moves the ratio of a build with a profile, too: 10 % dearer transactions raise it by some 1.4 % (docs/BIAS.md, "What one
experiment cannot know"). The baseline is the same in all starts, so what it costs tells how the host was, and a common
slope corrects for it (analysis of covariance). The slope is that of these very starts, each less the mean of its build
and load, so that no build's own gain is in it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from burnish.statistics.common_slope import CommonSlope

FEWEST_FREE = 10
"""Degrees of freedom below which there is no correction."""

CERTAIN = 3.0
"""Standard errors by which the slope must differ from 0."""

Group = Sequence[tuple[float, float]]
"""The starts of one build on one load: (logarithm of the baseline's cost, log-ratio)."""


@dataclass(frozen=True)
class HostCost:
    """How log-ratios go with the baseline's cost of a transaction.

    Attributes:
        slope: of the log-ratio for each unit of log cost; 0 if it is not certain.
        removed: share of the standard deviation of a start that the correction removes.
        means: by load, the mean logarithm of the cost, to which starts are corrected.
    """

    slope: float
    removed: float
    means: Mapping[str, float]

    @classmethod
    def unknown(cls) -> HostCost:
        """Before any start: nothing is corrected."""
        return cls(0.0, 0.0, {})

    @classmethod
    def of(cls, groups: Mapping[str, Iterable[Group]]) -> HostCost:
        """From the starts of all builds, by load; those of unknown cost (not a number) are left out."""
        known = {
            load: [[start for start in starts if math.isfinite(start[0])] for starts in builds]
            for load, builds in groups.items()
        }
        means = {
            load: statistics.fmean(costs)
            for load, builds in known.items()
            if (costs := [cost for starts in builds for cost, _ in starts])
        }
        found = CommonSlope.of(starts for builds in known.values() for starts in builds)
        if found is None or found.df < FEWEST_FREE or abs(found.slope) < CERTAIN * found.error:
            return cls(0.0, 0.0, means)
        return cls(found.slope, found.removed, means)

    def corrected(self, load: str, starts: Group) -> tuple[float, ...]:
        """The log-ratios of these starts at the load's mean cost."""
        if self.slope == 0.0:
            return tuple(reading for _, reading in starts)
        return tuple(
            reading - self.slope * (cost - self.means[load]) if math.isfinite(cost) else reading
            for cost, reading in starts
        )

    @property
    def words(self) -> str:
        """What was corrected, for people; '' if nothing was."""
        if self.slope == 0.0:
            return ""
        change = 100 * math.expm1(self.slope * math.log(1.1))
        return (
            f"corrected for the host: where the baseline's transactions cost 10 % more, ratios are {change:+.1f} %; "
            f"a start scatters by {100 * self.removed:.0f} % less"
        )
