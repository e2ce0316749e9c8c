"""Eliminating: what a build has and does not need is taken out again, the least useful first.

After Pan and Eigenmann 2006 ("Fast and effective orchestration of compiler optimizations", CGO), who take out what
measures as harmful and look again at the rest; here each step is a race of two builds.
"""

from __future__ import annotations

import math
import statistics

from burnish.search.book import Arm, differences
from burnish.search.desk import Desk, Strategy
from burnish.search.space import Point
from burnish.search.strategies.race import first, race
from burnish.statistics.verdicts import Kind

STARTS = 8
"""Starts at most of each of the two builds of a step."""


def eliminate(desk: Desk, base: Point, best: Point) -> Strategy[Point]:
    """Takes out, one by one, what a build has beyond a base and is not shown to need; returns what is left.

    Args:
        desk: the search.
        base: what stays.
        best: the build to begin with.
    """
    tried: set[tuple[str, str]] = set()
    while True:
        doubtful = _doubtful(desk, base, best, tried)
        if not doubtful:
            return best
        name, level = doubtful[0]
        tried.add((name, level))
        without = desk.space.changed(best, {name: desk.space.levels(base)[name]}, keep=base.names)
        if without == best or not without.settings:
            continue
        before = desk.book.spent
        yield from first(desk, [best, without], "eliminate", f"whether {name}={level} is needed")
        yield from race(desk, [best, without], "eliminate", STARTS)
        if desk.book.spent == before and desk.book.starts(without) == 0:
            return best  # there is no time
        here, there = desk.book.arms.get(best), desk.book.arms.get(without)
        if there is None or there.failed or not there.scores:
            continue
        if here is None or here.failed or not here.scores or not needed(desk, here, there, (name, level)):
            desk.note(f"eliminate: {name}={level} is not needed")
            best = without


def _doubtful(desk: Desk, base: Point, best: Point, tried: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """What a build has beyond a base and is not sure to be worth it, the smallest effect first."""
    own = desk.space.levels(base)
    beyond = [(name, level) for name, level in best.settings if own[name] != level and (name, level) not in tried]
    known = {key: desk.effects[key] for key in beyond if key in desk.effects}
    least = desk.settings.rule.delta
    unclear = [key for key in beyond if key not in known or known[key].effect - known[key].half < least]
    return sorted(unclear, key=lambda key: (known[key].effect if key in known else -math.inf, key))


def needed(desk: Desk, here: Arm, there: Arm, change: tuple[str, str]) -> bool:
    """Whether a build is better than the same without a change, by their starts and by what a screen found."""
    verdict = desk.book.against(here, there)
    if verdict.kind in (Kind.FASTER, Kind.SLOWER):
        return verdict.kind is Kind.FASTER
    found = differences(here.scores, there.scores)
    mean, weight = (
        statistics.fmean(found),
        len(found) / max(statistics.variance(found), 1e-12) if len(found) > 1 else 0.0,
    )
    effect = desk.effects.get(change)
    if effect is not None and effect.error > 0.0:  # two estimates of one thing, each by its own precision
        own = 1.0 / effect.error**2
        mean = (mean * weight + effect.effect * own) / (weight + own)
    return mean > desk.settings.rule.delta
