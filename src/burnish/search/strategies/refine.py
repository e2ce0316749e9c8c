"""Refining: what is left of the budget goes to the builds that are expected to gain most for their time.

Each next build is the one with the largest expected improvement for each second that it takes (Jones et al. 1998;
Snoek et al. 2012, "Practical Bayesian Optimization of Machine Learning Algorithms", NeurIPS, 3.2), by a model of all
that was measured (`burnish.search.model`).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from burnish.search.desk import LATE, Desk, Strategy, Want
from burnish.search.model import Model
from burnish.search.space import Point
from burnish.search.strategies.screen import possible

AROUND = 3
"""Builds whose neighbours are looked at: those of which most is expected."""

AGAIN = 8
"""Builds that may get more starts: those of which most is expected."""

PAIRED = 8
"""Changes that are also looked at two together: those of which most is expected by themselves."""

PRICED = 40
"""Builds whose costs are looked at: those that are expected to gain most at any cost."""

LEAST = 0.0002
"""What is expected to gain less than this (a log-ratio) is not done."""

MOST = 40
"""Builds at most: where time is no limit, more would gain no more than chance does."""

KEPT = 16
"""Starts of the best builds for which time is kept."""

MOST_KEPT = 0.2
"""Share of the time that these may take: where a start takes as long as a build, builds are worth more."""

STARTS = (1, 2, 4, 8)
"""Starts of a measured build that may be taken together."""


def refine(desk: Desk) -> Strategy[bool]:
    """Makes builds as long as one is worth its time, then takes starts of the best; returns whether time is left."""
    before, asked, late = len(desk.book.measured), 0, False
    kept = min(KEPT * desk.start, MOST_KEPT * desk.left)
    while not late and asked < MOST and (want := proposed(desk)) is not None:
        late = desk.cost(want.point, want.starts, tested=want.tested) + kept > desk.left
        if not late:
            yield (want,)
            asked += 1
    if made := len(desk.book.measured) - before:
        what = "1 build" if made == 1 else f"{made} builds"
        desk.note(f"refine: {what} more, each expected to gain most for its time by all that was measured")
    while (want := doubted(desk)) is not None and desk.fitting([want]):
        yield (want,)
    return not late


def _model(desk: Desk) -> Model | None:
    """The model of the builds that may be the best; None without any."""
    arms = desk.book.allowed
    return Model(desk.space, arms) if arms else None


def proposed(desk: Desk) -> Want | None:
    """The build with the largest expected improvement for its time that was not tried; None if none is worth it."""
    model = _model(desk)
    if model is None:
        return None
    order = model.order
    near = (_neighbours(desk, model, arm.point) for arm, _ in order[:AROUND])
    points = list(dict.fromkeys(point for those in near for point in those))
    if not points:
        return None
    gains = model.expected(points).gain(max(0.0, order[0][1]))
    promising = [number for number in np.argsort(-gains, kind="stable")[:PRICED] if gains[number] > LEAST]
    tested, best = not desk.settings.costs.gate, list[tuple[float, Want]]()
    for number in promising:
        starts = desk.screen_starts(desk.step_of(points[number]))
        want = Want(points[number], starts, "refine", "expected to gain most for its time", tested=tested)
        best.append((float(gains[number]) / desk.cost(want.point, starts, tested=tested), want))
    return max(best, key=lambda one: (one[0], one[1].point), default=(0.0, None))[1]


def doubted(desk: Desk) -> Want | None:
    """The starts of a measured build from which most is expected for their time; None if none are worth it."""
    model = _model(desk)
    if model is None or len(order := model.order) < 2:
        return None
    points = [arm.point for arm, _ in order[:AGAIN]]
    over = np.array([order[1][1], *[order[0][1]] * (len(points) - 1)])
    expected, steps = model.expected(points), list[tuple[float, Want]]()
    for starts in STARTS:
        gains = expected.gain_of_starts(over, model.scatter**2 / starts)
        for point, gain in zip(points, gains, strict=True):
            if gain > LEAST and desk.book.starts(point) + starts <= desk.settings.rule.cap:
                want = Want(point, starts, "refine", "may be the best")
                steps.append((float(gain) / desk.cost(point, starts), want))
    return max(steps, key=lambda one: (one[0], one[1].point, one[1].starts), default=(0.0, None))[1]


def _neighbours(desk: Desk, model: Model, base: Point) -> list[Point]:
    """Builds that were not tried and differ from this one in one choice, or in two of the most promising."""
    space, arms = desk.space, desk.book.arms
    now = space.levels(base)
    every = [(one.name, level) for one in space.choices for level in one.levels if level != now[one.name]]
    open_ = [change for change in every if desk.untried.get(change, LATE) == LATE]
    changes = [{name: level} for name, level in possible(desk, open_)]
    singles = [(space.changed(base, change), change) for change in changes]
    means = model.expected([point for point, _ in singles]).means
    best = sorted(range(len(singles)), key=lambda number: (-float(means[number]), number))[:PAIRED]
    pairs = [
        space.changed(base, {**changes[one], **changes[other]})
        for one, other in combinations(best, 2)
        if changes[one].keys() != changes[other].keys()
    ]
    near = dict.fromkeys([*(point for point, _ in singles), *pairs])
    return [point for point in near if point.settings and point not in arms]
