"""Random search: what every other strategy must be better than."""

from __future__ import annotations

from burnish.search.desk import Desk, Strategy
from burnish.search.space import Point
from burnish.search.strategies.race import confirm, first

TRIES = 200
"""Draws of a build that is not tried yet, before a small space counts as used up."""


def drawn(desk: Desk) -> Point | None:
    """A random allowed build that is not tried; None if none is found."""
    for _ in range(TRIES):
        levels = {choice.name: desk.random.choice(choice.levels) for choice in desk.space.choices}
        point = desk.space.repaired(desk.space.point(levels))
        if point.settings and point not in desk.book.arms:
            return point
    return None


def alone(desk: Desk) -> Strategy[None]:
    """Draws builds until the budget is used up, then measures the best again."""
    while (point := drawn(desk)) is not None:
        before = len(desk.book.arms)
        yield from first(desk, [point], "random", "drawn")
        if len(desk.book.arms) == before:
            break
    yield from confirm(desk)
