"""Whether a candidate is slower than a bound allows: a one-sided test each way, on a number of starts fixed in advance.

"Fail if it is more than 1 % slower" asks two questions, and each has its own error:

* **Slower than allowed** is said if the whole one-sided interval lies beyond the bound, at `ALPHA` shared by all loads
  (Bonferroni): of 20 pairs that are exactly at the bound on each load, or better, at most one fails, however many loads
  are looked at.
* **Within the bound** is said of a load if the whole one-sided interval lies on its good side, at `ALPHA`. A pair
  passes only if every load does, so that this needs no correction (intersection-union test, Berger 1982, Technometrics
  24:295): of 20 pairs that are at the bound on one load at most one passes.

Between them it is undecided, which more starts can settle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from burnish.statistics.intervals import Interval, fixed_interval

ALPHA = 0.05
"""Probability of failing a pair that is at the bound, and of passing one."""

FEWEST = 3
"""Starts below which nothing is said."""


class Side(StrEnum):
    """On which side of a bound a candidate is."""

    WITHIN = "within"
    BEYOND = "beyond"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Bounded:
    """A candidate against a bound.

    Attributes:
        side: on which side of it the candidate is proved to be.
        interval: its ratio with the interval whose ends were compared: of a passing or an undecided one the one-sided
            limits at `ALPHA` (as a 90 % interval), of a failing one those corrected for all loads.
    """

    side: Side
    interval: Interval | None


def against(readings: Sequence[float], slower: float, loads: int = 1) -> Bounded:
    """A candidate's readings against the largest loss that is allowed.

    Args:
        readings: a log-ratio (candidate over baseline) for each start; their number was fixed in advance.
        slower: the loss that is allowed, as a share: 0.01 allows a ratio of 0.99.
        loads: number of loads that are looked at together.
    """
    if len(readings) < FEWEST:
        return Bounded(Side.UNDECIDED, None)
    bound = 1.0 - slower
    strict = fixed_interval(readings, 1.0 - 2.0 * ALPHA / loads)
    if strict.high < bound:
        return Bounded(Side.BEYOND, strict)
    usual = fixed_interval(readings, 1.0 - 2.0 * ALPHA)
    return Bounded(Side.WITHIN if usual.low > bound else Side.UNDECIDED, usual)


def needed(readings: Sequence[float], slower: float) -> int | None:
    """Roughly how many starts would settle an undecided one, if it is what it looks like; None if none would.

    Args:
        readings: as for `against`, at least two.
        slower: as for `against`.
    """
    mean = math.fsum(readings) / len(readings)
    distance = abs(mean - math.log1p(-slower))
    variance = math.fsum((value - mean) ** 2 for value in readings) / (len(readings) - 1)
    if distance < 1e-9:
        return None
    return max(len(readings) + 1, math.ceil(variance * (1.9 / distance) ** 2))  # 1.9: t at 5 % and some 8 starts
