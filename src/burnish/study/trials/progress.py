"""Progress of trials: starts taken, number of starts that are probably left, expected time for these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from burnish.base.durations import duration
from burnish.statistics.sequential import Rule, decide

SCATTER_KNOWN = 4
"""Readings from which a cell's scatter says something of its end; of fewer it may be several times too small."""


@dataclass
class Progress:
    """Starts of one session's trials.

    Attributes:
        taken: starts taken in this session.
        seconds: total wall time of these.
    """

    taken: int = 0
    seconds: float = 0.0

    def note(self, seconds: float, cells: int = 1) -> None:
        """Counts a start of so many cells."""
        self.taken += cells
        self.seconds += seconds

    def words(self, left: int, usual: float) -> str:
        """The progress in words: ``start 3/8, about 20 s left``.

        Args:
            left: number of starts that are left, including the next one.
            usual: expected seconds of a start, used before the first one was taken.
        """
        per_start = self.seconds / self.taken if self.taken else usual
        return f"start {self.taken + 1}/{self.taken + left}, about {duration(left * per_start)} left"


def least_starts(rule: Rule) -> int:
    """Starts before which no cell ends: where a precision is to be reached the rule's minimum, else its first look."""
    return rule.looks[0] if rule.precision is None else min(rule.minimum, rule.cap)


def probable_starts(readings: Sequence[float], rule: Rule) -> int:
    """Starts that an open cell probably has in the end, at least one more than it has.

    The rule itself is asked where it would end if readings lay as far on either side of their mean as those so far; the
    fast lane is left out. Below `SCATTER_KNOWN` readings it is the least number.

    Args:
        readings: log-ratios of the cell's valid starts.
        rule: the cell's rule.
    """
    probable = least_starts(rule)
    if len(readings) >= SCATTER_KNOWN:
        sides = np.where(np.arange(rule.cap) % 2 == 0, 1.0, -1.0)
        going_on = np.mean(readings) + np.std(readings, ddof=1) * sides
        probable = int(decide(going_on[np.newaxis, :], rule).starts[0])
    return max(probable, len(readings) + 1)
