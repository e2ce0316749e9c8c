"""Screening around a build: which of many choices have an effect at all."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.search.desk import Desk, Strategy, Want
from burnish.search.effects import Effect, effects_of, points_around, pooled, size_for
from burnish.search.space import Choice, Point, Step

BATCH = 4
"""Builds that are asked for together: costs are looked at in between."""

KEEP = 1.0
"""A choice is taken into the combined build if its effect is this many standard errors above 0."""


def factors_around(desk: Desk, base: Point, choices: Sequence[Choice]) -> list[tuple[str, str]]:
    """(choice, level) of every other level that is allowed at this build without changing anything else.

    No level is a step back to the usual one. What a build has beyond the baseline is a known gain: it has it from the
    known-good build that the ladder found best, or from a screen. Offered as a change, `profile=none` would be expected
    to bring what the profile brought, and half of a design's builds would be without it. What it has from an earlier
    run alone is no known gain here, and is offered.
    """
    now = desk.space.levels(base)
    doubted = {name for name, _ in desk.space.doubted & set(base.settings)}
    return [
        (choice.name, level)
        for choice in choices
        for level in choice.levels[0 if choice.name in doubted else 1 :]
        if level != now[choice.name] and desk.space.broken(desk.space.point({**now, choice.name: level})) is None
    ]


def cost(desk: Desk, factors: Sequence[tuple[str, str]]) -> float:
    """Expected seconds of screening so many factors; the first build of a design is the base, which is there."""
    step = _step(desk, factors)
    return (size_for(len(factors)) - 1) * (desk.untested_seconds(step) + desk.screen_starts(step) * desk.start)


def _step(desk: Desk, factors: Sequence[tuple[str, str]]) -> Step:
    return max((desk.space.choice(name).step for name, _ in factors), default=Step.REWRITE)


def affordable(desk: Desk, factors: Sequence[tuple[str, str]], share: float) -> list[tuple[str, str]]:
    """The most promising of these factors whose design takes at most a share of what is left."""
    order = sorted(factors, key=lambda factor: -desk.space.choice(factor[0]).expected)
    while order and cost(desk, order) > share * desk.left:
        order.pop()
    return [factor for factor in factors if factor in order]


def screen(desk: Desk, base: Point, factors: Sequence[tuple[str, str]]) -> Strategy[list[Effect]]:
    """Measures a design around a base; returns the effects of its factors, and notes them at the desk."""
    points = [point for point in points_around(desk.space, base, factors, desk.random) if point.settings]
    starts = desk.screen_starts(_step(desk, factors))
    left = [point for point in points if desk.book.starts(point) < starts and not _failed(desk, point)]
    while left:
        why = f"design of {len(points)} builds"
        # Their tests would take as long as the builds and their starts together, and most are not looked at again.
        tested = not desk.settings.costs.gate
        wants = [Want(point, starts - desk.book.starts(point), "screen", why, tested=tested) for point in left[:BATCH]]
        fitting = desk.fitting(wants)
        if not fitting:
            break
        yield fitting
        left = left[len(fitting) :]
    tried = [point for point in points if desk.book.starts(point) and not _failed(desk, point)]
    scores = {point: desk.book.arms[point].scores for point in tried}
    if base.settings and desk.book.starts(base):
        scores[base] = desk.book.arms[base].scores
    effects = effects_of(desk.space, factors, scores, {point: id(desk.book.arms[point]) for point in scores})
    effects = [pooled(effect, desk.effects.get((effect.choice, effect.level))) for effect in effects]
    desk.effects |= {(effect.choice, effect.level): effect for effect in effects}
    desk.note(sentence(len(factors), len(tried), base, sum(effect.clear for effect in effects)))
    guilty = culprits(desk, factors, points)
    if guilty:
        desk.note(f"screen: {' and '.join(map('='.join, guilty))} is in every build that failed, so it is left out")
        desk.untried |= dict.fromkeys(guilty, "every build with it failed")
        return (yield from screen(desk, base, [factor for factor in factors if factor not in guilty]))
    return effects


def sentence(changes: int, builds: int, base: Point, clear: int) -> str:
    """A screen in one line of the search's path."""
    tried = f"{changes} change{'s' * (changes != 1)} in {builds} build{'s' * (builds != 1)}"
    found = {0: "none has", 1: "1 has"}.get(clear, f"{clear} have")
    return f"screen: {tried} around {base.words}: {found} a clear effect"


def hopeless(desk: Desk, factors: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The changes that made a build fail by themselves, and are in no build that did not fail.

    By themselves: the build that failed differs in nothing else from the baseline, or from one that did not fail.
    """
    arms = desk.book.arms.items()
    fine = [set[tuple[str, str]](), *(set(point.settings) for point, arm in arms if not arm.failed)]
    guilty = set[tuple[str, str]]()
    for failed in (set(point.settings) for point, arm in arms if arm.failed and not arm.disturbed):
        for other in fine:
            new = failed - other
            if len(new) == 1 and {name for name, _ in other - failed} <= {name for name, _ in new}:
                guilty |= new
    return [one for one in factors if one in guilty and not any(one in other for other in fine)]


def possible(desk: Desk, every: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The changes but for those that failed by themselves."""
    failed = hopeless(desk, every)
    desk.untried |= dict.fromkeys(failed, "a build that differs in nothing else failed")
    if failed:
        desk.note(f"{' and '.join(map('='.join, failed))} failed by itself, so it is left out")
    return [factor for factor in every if factor not in failed]


def culprits(desk: Desk, factors: Sequence[tuple[str, str]], points: Sequence[Point]) -> list[tuple[str, str]]:
    """The changes that are in every build that failed and in none that did not."""
    failed = [set(point.settings) for point in points if _failed(desk, point) and not desk.book.arms[point].disturbed]
    fine = [set(point.settings) for point in points if desk.book.starts(point) and not _failed(desk, point)]
    if not failed or not fine:
        return []
    return [one for one in factors if all(one in each for each in failed) and not any(one in each for each in fine)]


def _failed(desk: Desk, point: Point) -> bool:
    return point in desk.book.arms and bool(desk.book.arms[point].failed)


def combined(desk: Desk, base: Point, effects: Sequence[Effect], least: float = KEEP) -> Point:
    """The base with every change whose effect is so many standard errors above 0; of one choice the best level."""
    good = sorted((one for one in effects if one.effect > least * one.error), key=lambda one: one.effect)
    # Of two that exclude each other the better one is kept: it comes last.
    point = base
    for one in good:
        point = desk.space.changed(point, {one.choice: one.level}, keep=base.names)
    return point
