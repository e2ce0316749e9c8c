"""The default: known-good builds, screens around the best, what may gain more, what is not needed out, the winner."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.search.desk import LATE, Desk, Strategy
from burnish.search.model import ranked
from burnish.search.space import Point, Step
from burnish.search.strategies.eliminate import eliminate
from burnish.search.strategies.ladder import ROUND, climb, end
from burnish.search.strategies.race import best_first, confirm, first, race
from burnish.search.strategies.refine import refine
from burnish.search.strategies.screen import affordable, combined, cost, factors_around, possible, screen

SHARE = 0.4
"""Share of what is left of the budget that a screen may take: the model that comes after it finds more a minute."""

ALONE = 0.6
"""The same where nothing comes after the screen but what helped, together."""


def default(desk: Desk) -> Strategy[None]:
    """The ladder, screens of steps that are cheap together, the most promising first, what the model expects most of.

    Then what the best has beyond the ladder's best and does not need is taken out, if there is time for it, and the
    winner is measured again.
    """
    base = best = yield from climb(desk)
    steps = list(Step)
    while steps:
        group = _group(desk, best, steps)
        steps = [step for step in steps if step not in group]
        best = yield from _around(desk, best, _factors(desk, best, group))
    if (yield from refine(desk)) and (order := best_first(desk, ranked)):
        yield from eliminate(desk, base, order[0].point)
    yield from end(desk)
    yield from confirm(desk, ranked)


def screen_alone(desk: Desk) -> Strategy[None]:
    """One screen of all choices around the first rung that can be had, and the winner again."""
    best = yield from _first_rung(desk)
    best = yield from _around(desk, best, factors_around(desk, best, desk.space.choices), ALONE)
    yield from confirm(desk)


def eliminate_alone(desk: Desk) -> Strategy[None]:
    """Everything on that is allowed together, then taken out again one by one."""
    best = yield from _first_rung(desk)
    everything = best
    for name, level in possible(desk, factors_around(desk, best, desk.space.choices)):
        everything = desk.space.repaired(
            desk.space.point({name: level, **dict(everything.settings)}), keep=tuple(dict(everything.settings))
        )
    yield from first(desk, [everything], "eliminate", "everything at once")
    # What the best has from an earlier run alone is taken out as well where it is not needed here.
    own = desk.space.point(dict(pair for pair in best.settings if pair not in desk.space.doubted))
    yield from eliminate(desk, desk.space.repaired(own), everything)
    yield from confirm(desk)


def _first_rung(desk: Desk) -> Strategy[Point]:
    """The best of earlier runs that can be made, else the last of the known-good builds, with its first starts."""
    first_ones = [desk.space.rungs[name] for name in desk.space.first]
    for point in dict.fromkeys((*first_ones, *reversed(list(desk.space.rungs.values())))):
        yield from first(desk, [point], "ladder", "known to be good")
        if desk.book.starts(point):
            return point
    return Point()


def _factors(desk: Desk, best: Point, steps: Sequence[Step]) -> list[tuple[str, str]]:
    """The changes of a build that differ by these steps."""
    return factors_around(desk, best, [choice for choice in desk.space.choices if choice.step in steps])


def _group(desk: Desk, best: Point, steps: Sequence[Step]) -> list[Step]:
    """The steps to screen next: the most promising for its time, with those that cost less with it than by themselves.

    A design of few changes is poor: each change needs a build, and each build tells of every change.
    """
    group = [max(steps, key=lambda one: _value(desk, best, one))]
    for step in steps:
        own, had = (_factors(desk, best, which) for which in ([step], group))
        if step not in group and own and had and cost(desk, [*had, *own]) <= cost(desk, had) + cost(desk, own):
            group.append(step)
    return group


def _value(desk: Desk, best: Point, step: Step) -> float:
    """Expected gain for each second of screening the choices of a step."""
    factors = _factors(desk, best, [step])
    names = {name for name, _ in factors}
    promise = desk.promise([choice for choice in desk.space.choices if choice.name in names])
    return promise / cost(desk, factors) if factors else 0.0


def _around(desk: Desk, best: Point, every: Sequence[tuple[str, str]], share: float = SHARE) -> Strategy[Point]:
    """Screens changes of a build, (choice, level) each, and combines what helps; returns the best."""
    every = possible(desk, every)
    factors = affordable(desk, every, share)
    desk.untried |= {factor: LATE for factor in every if factor not in factors}
    if not factors:
        return best
    effects = yield from screen(desk, best, factors)
    sure = combined(desk, best, [one for one in effects if one.clear])
    likely = combined(desk, best, effects)
    yield from first(desk, [best, likely, sure], "race", "what helped, together")
    yield from race(desk, [best, likely, sure], "race", ROUND)
    return next((arm.point for arm in desk.book.allowed if arm.point in (best, likely, sure)), best)
