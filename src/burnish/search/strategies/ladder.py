"""The known-good builds first: what others and this project found to be fast, the simplest first."""

from __future__ import annotations

from burnish.search.desk import Desk, Strategy
from burnish.search.space import Point
from burnish.search.strategies.race import confirm, first, race

ROUND = 6
"""Starts at most in a race between two steps of a search: the finals have more."""


def climb(desk: Desk) -> Strategy[Point]:
    """Measures the rungs and races them; returns the best, or the baseline if none was measured."""
    rungs = desk.space.known_good
    yield from first(desk, rungs, "ladder", "known to be good")
    yield from race(desk, rungs, "ladder", ROUND)
    best = next((arm for arm in desk.book.measured if arm.mean > 0.0 and not desk.book.slower_on(arm)), None)
    if best is None:
        return Point()
    desk.note(
        f"ladder: {len(desk.book.measured)} of {len(rungs)} known-good builds measured, the best is {best.point.words}"
    )
    return best.point


def alone(desk: Desk) -> Strategy[None]:
    """The ladder, then the winner again."""
    yield from climb(desk)
    yield from confirm(desk)
