"""The known-good builds first: what others and this project found to be fast, the simplest first."""

from __future__ import annotations

from burnish.search.desk import Desk, Strategy
from burnish.search.space import Point
from burnish.search.strategies.race import confirm, first, race

ROUND = 6
"""Starts at most in a race between two steps of a search: the finals have more."""

DEAR = 0.1
"""Share of the time that is left from which on making a rung is dear: a screen would find more in that time."""


def climb(desk: Desk) -> Strategy[Point]:
    """Measures the rungs and races them; returns the best, or the baseline if none was measured.

    A dear rung that has nothing which another one lacks comes after that one, and is left for `end` where that one was
    measured: it only tells what the parts of a good build are worth.
    """
    rungs = desk.space.known_good
    parts = [point for point in rungs if _dear(desk, point) and any(_within(point, other) for other in rungs)]
    yield from first(desk, [point for point in rungs if point not in parts], "ladder", "known to be good")
    for point in parts:
        whole = next((arm.point for arm in desk.book.measured if _within(point, arm.point)), None)
        if whole is not None and _dear(desk, point):
            desk.deferred[point] = whole
        else:
            yield from first(desk, [point], "ladder", "known to be good")
    for point, whole in desk.deferred.items():
        desk.note(f"ladder: {point.words} is left for the end, as {whole.words} has all of it")
    yield from race(desk, rungs, "ladder", ROUND)
    best = next((arm for arm in desk.book.allowed if arm.mean > 0.0), None)
    if best is None:
        return Point()
    desk.note(
        f"ladder: {len(desk.book.measured)} of {len(rungs)} known-good builds measured, the best is {best.point.words}"
    )
    return best.point


def end(desk: Desk) -> Strategy[None]:
    """Measures the rungs that were left for the end, as the time allows."""
    yield from first(desk, list(desk.deferred), "ladder", "known to be good, a part of a better one")


def _dear(desk: Desk, point: Point) -> bool:
    return desk.seconds_for(point) > DEAR * desk.left


def _within(point: Point, other: Point) -> bool:
    return set(point.settings) < set(other.settings)


def alone(desk: Desk) -> Strategy[None]:
    """The ladder, then the winner again."""
    yield from climb(desk)
    yield from end(desk)
    yield from confirm(desk)
