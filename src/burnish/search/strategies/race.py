"""Racing: the hopeless are dropped by the sequential test, those that may be the best get more starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from burnish.search.book import Arm
from burnish.search.desk import Desk, Strategy, Want
from burnish.search.space import Point, Space
from burnish.statistics.verdicts import Kind


def first(desk: Desk, points: Sequence[Point], stage: str, why: str) -> Strategy[None]:
    """Takes the first look's starts of builds that have fewer, of each that fits, a few at a time.

    One that would take too long is passed over: a later one may be in the store.
    """
    least = desk.settings.rule.looks[0]
    left = [point for point in dict.fromkeys(points) if _wants_starts(desk, point, least)]
    passed = 0
    while left:
        wants = [Want(point, least - desk.book.starts(point), stage, why) for point in left[:4]]
        fitting = desk.fitting(wants)
        yield from [fitting] if fitting else []
        if not fitting:
            passed += 1
            desk.late.append(left[0])
        left = left[len(fitting) or 1 :]
    if passed:
        what = "1 build is" if passed == 1 else f"{passed} builds are"
        desk.note(f"{stage}: {what} left out, the budget lacks the time")


def _wants_starts(desk: Desk, point: Point, least: int) -> bool:
    arm = desk.book.arms.get(point)
    return bool(point.settings) and (arm is None or (not arm.failed and len(arm.scores) < least))


def race(desk: Desk, points: Sequence[Point], stage: str, most: int) -> Strategy[None]:
    """Gives the best of these builds, and those that are not told from it, the next look's starts, until one is left.

    Args:
        desk: the search.
        points: the builds; those without starts take no part.
        stage: part of the search.
        most: starts of a build at most.
    """
    while True:
        wanted = {id(desk.book.arms[point]) for point in points if point in desk.book.arms}
        arms = [arm for arm in desk.book.allowed if id(arm) in wanted]
        if len(arms) < 2:
            return
        rivals = [arm for arm in arms[1:] if not decided(desk, arms[0], arm)]
        wants = [want for arm in ([arms[0], *rivals] if rivals else []) for want in _next(desk, arm, stage, most)]
        fitting = desk.fitting(wants)
        if not fitting:
            return
        yield fitting


def decided(desk: Desk, best: Arm, other: Arm) -> bool:
    """Whether two builds are told apart, or shown to be alike."""
    return desk.book.against(best, other).kind in (Kind.FASTER, Kind.EQUIVALENT, Kind.SLOWER)


def _next(desk: Desk, arm: Arm, stage: str, most: int) -> list[Want]:
    """The starts of a build up to its next look; none if it has had them all."""
    looks = [look for look in desk.settings.rule.looks if len(arm.scores) < look <= most]
    return [Want(arm.point, looks[0] - len(arm.scores), stage, "may be the best")] if looks else []


Ranking = Callable[[Space, Sequence[Arm]], list[Arm]]
"""Puts builds into an order, the best first."""


def by_mean(_: Space, arms: Sequence[Arm]) -> list[Arm]:
    """Builds in the order of their means, as they come."""
    return list(arms)


def confirm(desk: Desk, ranking: Ranking = by_mean) -> Strategy[None]:
    """Races the best builds to the rule's end; takes fresh starts of the winner if it beats the baseline.

    A build that the race does not tell from the baseline is not worth it: it would be announced by chance alone.

    Args:
        desk: the search.
        ranking: which builds are the best.
    """
    # One that was only screened has its tests before it, and is worth them if it looks better than the best.
    order = ranking(desk.space, desk.book.measured)
    least = next((number for number, arm in enumerate(order) if arm.tested), 1)
    every = [arm.point for number, arm in enumerate(order) if arm.tested or number < least]
    yield from race(desk, every[:6], "race", desk.settings.rule.cap)
    best = yield from _finalist(desk, ranking)
    if best is None:
        desk.note("no build was shown to be faster than the baseline, so none is measured again")
        return
    desk.finalist = best.point
    if desk.settings.confirmation:
        desk.note(f"measured again on fresh starts: {best.point.words}")
        yield (Want(best.point, desk.settings.confirmation, "confirm", "the best of the search", fresh=True),)


def _finalist(desk: Desk, ranking: Ranking) -> Strategy[Arm | None]:
    """The best build, if it passed its tests and was shown to be faster than the baseline; None if there is none.

    Where there is no time to tell that of the best, or all its starts do not tell, it is the best of those that were
    shown to be faster: none of these is given up for one that only looks so.
    """
    while (best := next(iter(best_first(desk, ranking)), None)) is not None:
        if _shown(desk, best):
            return best
        wants = [] if best.tested else [Want(best.point, 0, "race", "its tests")]
        if best.tested and desk.book.against_baseline(best).kind is Kind.UNDECIDED:
            wants = _next(desk, best, "race", desk.settings.rule.cap)
        fitting = desk.fitting(wants)
        if fitting:
            yield fitting
            continue
        shown = next((arm for arm in best_first(desk, ranking) if _shown(desk, arm)), None)
        if wants:
            desk.note(f"race: {best.point.words} looks better, the budget lacks the time to tell")
        elif shown is not None:
            desk.note(f"race: {best.point.words} looks better, its starts do not tell it from the baseline")
        return shown
    return None


def best_first(desk: Desk, ranking: Ranking) -> list[Arm]:
    """The builds that are slower on no guarded load, the best first."""
    return [arm for arm in ranking(desk.space, desk.book.measured) if not desk.book.slower_on(arm)]


def _shown(desk: Desk, arm: Arm) -> bool:
    """Whether a build passed its tests and was shown to be faster than the baseline."""
    return arm.tested and desk.book.against_baseline(arm).kind is Kind.FASTER
