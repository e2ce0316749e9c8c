"""Progress of trials: starts taken, minimum number of starts left, expected time for these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from burnish.base.durations import duration
from burnish.statistics.sequential import Rule


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
            left: minimum number of starts left, including the next one.
            usual: expected seconds of a start, used before the first one was taken.
        """
        per_start = self.seconds / self.taken if self.taken else usual
        return f"start {self.taken + 1}/{self.taken + left}, about {duration(left * per_start)} left"


def least_starts(rule: Rule) -> int:
    """Starts before which no cell ends: where a precision is to be reached the rule's minimum, else its first look."""
    return rule.looks[0] if rule.precision is None else min(rule.minimum, rule.cap)


def least_left(valid: Iterable[int], minimum: int) -> int:
    """Minimum number of starts left: for each open cell those missing to the minimum, or one more.

    Args:
        valid: for each open cell, the number of its valid starts.
        minimum: the minimum number of starts of a cell.
    """
    return sum(max(1, minimum - have) for have in valid)
