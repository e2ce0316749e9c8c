"""The default: known-good builds, a screen around the best, what is not needed taken out, the winner again."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.search.desk import Desk, Strategy
from burnish.search.space import Choice, Point, Step
from burnish.search.strategies.eliminate import eliminate
from burnish.search.strategies.ladder import ROUND, climb, end
from burnish.search.strategies.race import confirm, first, race
from burnish.search.strategies.screen import affordable, combined, cost, factors_around, hopeless, screen

ROUNDS = 3
"""Further screens at most, of what an earlier one left open."""

SHARE = 0.6
"""Share of what is left of the budget that a screen may take: what it finds must be tried by itself."""


def default(desk: Desk) -> Strategy[None]:
    """The ladder, a screen for each kind of step, the most promising for its time first, then the winner again."""
    best = yield from climb(desk)
    groups = list(Step)
    while groups:
        step = max(groups, key=lambda one: _value(desk, best, one))
        groups.remove(step)
        best = yield from _around(desk, best, factors_around(desk, best, _choices(desk, step)))
    for _ in range(ROUNDS):
        unsettled = [factor for factor in factors_around(desk, best, desk.space.choices) if open_question(desk, factor)]
        if not unsettled:
            break
        best = yield from _around(desk, best, unsettled)
    yield from end(desk)
    yield from confirm(desk)


def open_question(desk: Desk, change: tuple[str, str]) -> bool:
    """Whether a change that is not in the best build may still help: it looked useful, and its interval is wide."""
    effect = desk.effects.get(change)
    return effect is not None and effect.effect > 0.0 and effect.effect + effect.half > desk.settings.rule.delta


def screen_alone(desk: Desk) -> Strategy[None]:
    """One screen of all choices around the first rung that can be had, and the winner again."""
    best = yield from _first_rung(desk)
    best = yield from _around(desk, best, factors_around(desk, best, desk.space.choices), thorough=False)
    yield from confirm(desk)


def eliminate_alone(desk: Desk) -> Strategy[None]:
    """Everything on that is allowed together, then taken out again one by one."""
    best = yield from _first_rung(desk)
    everything = best
    for name, level in _possible(desk, factors_around(desk, best, desk.space.choices)):
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


def _choices(desk: Desk, step: Step) -> list[Choice]:
    return [choice for choice in desk.space.choices if choice.step is step]


def _value(desk: Desk, best: Point, step: Step) -> float:
    """Expected gain for each second of screening the choices of a step."""
    choices = _choices(desk, step)
    factors = factors_around(desk, best, choices)
    seconds = cost(desk, factors, desk.settings.screen_starts) if factors else 0.0
    return desk.promise([choice for choice in choices if choice.name in dict(factors)]) / seconds if seconds else 0.0


def _around(desk: Desk, best: Point, every: Sequence[tuple[str, str]], *, thorough: bool = True) -> Strategy[Point]:
    """Screens changes of a build, combines what helps, takes out what does not; returns the best.

    Args:
        desk: the search.
        best: the build to change.
        every: the changes, (choice, level) each.
        thorough: whether what does not help is taken out again, one by one.
    """
    every = _possible(desk, every)
    factors = affordable(desk, every, SHARE)
    desk.untried |= {factor: "the budget lacks the time" for factor in every if factor not in factors}
    if not factors:
        return best
    effects = yield from screen(desk, best, factors)
    sure = combined(desk, best, [one for one in effects if one.clear])
    likely = combined(desk, best, effects)
    yield from first(desk, [best, likely, sure], "race", "what helped, together")
    yield from race(desk, [best, likely, sure], "race", ROUND)
    tried = [arm for arm in desk.book.measured if arm.point in (best, likely, sure)]
    top = next((arm.point for arm in tried if not desk.book.slower_on(arm)), best)
    if thorough and top != best:
        return (yield from eliminate(desk, best, top))
    return top


def _possible(desk: Desk, every: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The changes but for those that failed by themselves."""
    failed = hopeless(desk, every)
    desk.untried |= dict.fromkeys(failed, "a build that differs in nothing else failed")
    if failed:
        desk.note(f"{' and '.join(map('='.join, failed))} failed by itself, so it is left out")
    return [factor for factor in every if factor not in failed]
