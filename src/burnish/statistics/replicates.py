"""Layout or training replicates: a claim about a flag, not about one binary, is judged by replicates.

A binary is one sample of code layout (Mytkowicz et al. 2009, ASPLOS; Curtsinger and Berger 2013, ASPLOS):
more starts of the same two binaries narrow the interval of *their* ratio, but say nothing about the next link.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from burnish.statistics.sequential import Rule
from burnish.statistics.verdicts import Judgement, judge, percent

LAYOUT_SD = 0.005
"""Assumed standard deviation of one side's speed between layouts (log-ratio), from a manual measurement of shuffled
links of one server; a study with ``--layouts`` measures its own."""


LAYOUT_BOUND = 0.03
"""Size of a difference below which a claim about a flag or a patch needs replicates. A patch that changes nothing for
its load was once measured at +3.9 % [+1.6, +6.3] on single links, so that a few per cent need not be a flag's own."""

LAYOUTS = 6
"""Link orders of both sides by which such a claim is tested: as many as show by one look that a flag does nothing,
within ±1 %, with a power of 80 % (`burnish.statistics.planning`)."""


def small(log_ratio: float) -> bool:
    """Whether a difference is so small that link orders may have made it.

    Args:
        log_ratio: of the two binaries.
    """
    return abs(log_ratio) < math.log1p(LAYOUT_BOUND)


def by_replicate(readings: Sequence[float], count: int) -> list[list[float]]:
    """Readings of starts, grouped by replicate; starts take the replicates in turn."""
    return [list(readings[first::count]) for first in range(min(count, len(readings)))]


def replicate_readings(starts_by_replicate: Sequence[Sequence[float]]) -> list[float]:
    """One reading for each replicate: the mean of its starts' readings.

    Args:
        starts_by_replicate: for each replicate (a fresh layout or training of both sides) its start readings.

    Raises:
        ValueError: a replicate without a start.
    """
    if any(len(starts) == 0 for starts in starts_by_replicate):
        raise ValueError("a replicate without a start has no reading")
    return [float(np.mean(np.asarray(starts, dtype=float))) for starts in starts_by_replicate]


def judge_replicates(starts_by_replicate: Sequence[Sequence[float]], rule: Rule) -> Judgement:
    """Judges a flag: replicates take the place of starts, both in the rule's looks and cap and in the interval.

    The fast lane is not used: a host's calibration does not include layouts.

    Args:
        starts_by_replicate: for each replicate, its start readings.
        rule: declared in advance, counted in replicates.
    """
    return judge(replicate_readings(starts_by_replicate), rule, unit="replicate")


def layout_alone(ratio: float, sd_layout: float = LAYOUT_SD) -> bool:
    """Whether shuffling the code layout alone makes a difference of this size: below two standard deviations.

    Args:
        ratio: of two binaries that were linked once each.
        sd_layout: standard deviation of one side's speed between layouts (log-ratio).
    """
    return abs(math.log(ratio)) < 2.0 * math.sqrt(2.0) * sd_layout


def layout_caveat(ratio: float) -> str | None:
    """The caveat for a verdict about two binaries that were linked once each; None if the difference is too large.

    Args:
        ratio: the cell's ratio.
    """
    if not small(math.log(ratio)):
        return None
    size = abs(math.log(ratio))
    return (
        f"about these two binaries only: {percent(math.expm1(size), 2)} is within the {percent(LAYOUT_BOUND)} that "
        "other layouts of the same code may make or take; --layouts 6 tests the recipe"
    )
