"""How far trials have come: how many starts were taken, how many are left at the least, how long those take."""

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
        seconds: wall time of these together.
    """

    taken: int = 0
    seconds: float = 0.0

    def note(self, seconds: float) -> None:
        """A start was taken."""
        self.taken += 1
        self.seconds += seconds

    def words(self, left: int, usual: float) -> str:
        """As it stands before a start's title: ``start 3/8, about 20 s left``.

        Args:
            left: starts that are still to be taken at the least, the next one among them.
            usual: seconds of one start where none was taken yet.
        """
        each = self.seconds / self.taken if self.taken else usual
        return f"start {self.taken + 1}/{self.taken + left}, about {duration(left * each)} left"


def least_starts(rule: Rule) -> int:
    """Starts before which no cell ends: where a precision is to be reached the rule's minimum, else its first look."""
    return rule.looks[0] if rule.precision is None else min(rule.minimum, rule.cap)


def least_left(valid: Iterable[int], minimum: int) -> int:
    """Starts that are left at the least: what each open cell lacks of the minimum, or one more where it has that.

    Args:
        valid: for each open cell, the number of its valid starts.
        minimum: the least number of starts of a cell.
    """
    return sum(max(1, minimum - have) for have in valid)
