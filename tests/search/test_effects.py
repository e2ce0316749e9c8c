"""Screening designs and what is read from them."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

from burnish.search.asks import Ask, Costs, Objective, Settings, Told
from burnish.search.book import Arm
from burnish.search.effects import Effect, design, effects_of, points_around, pooled, size_for
from burnish.search.model import scatter
from burnish.search.search import Search
from burnish.search.space import Choice, Forbidden, Point, Space, Step
from burnish.search.strategies.screen import screen

SPACE = Space(
    tuple(Choice(f"c{number}", ("off", "on")) for number in range(9)), (Forbidden({"c0": ("on",), "c1": ("on",)}),)
)
WORTH = {"c2": 0.03, "c5": -0.02}


@pytest.mark.parametrize(
    ("factors", "size"),
    [(1, 4), (3, 4), (4, 8), (8, 12), (11, 12), (15, 16), (19, 20), (31, 32), (127, 128), (128, 256), (300, 512)],
)
def test_designs_are_orthogonal_and_balanced(factors: int, size: int) -> None:
    table = design(factors).astype(int) * 2 - 1
    assert table.shape == (size, factors)
    assert size_for(factors) == size
    assert (table.T @ table == size * np.eye(factors)).all()
    assert (table.sum(axis=0) == 0).all()


def scores(noise: float, seed: int = 1) -> dict[Point, list[float]]:
    random = Random(seed)
    points = points_around(SPACE, Point(), [(choice.name, "on") for choice in SPACE.choices], random)
    truth = {point: sum(WORTH.get(name, 0.0) for name, _ in point.settings) for point in points}
    return {point: [random.gauss(truth[point], noise) for _ in range(3)] for point in points}


def test_effects_are_what_was_planted_and_their_intervals_cover_it() -> None:
    factors = [(choice.name, "on") for choice in SPACE.choices]
    exact = {effect.choice: effect.effect for effect in effects_of(SPACE, factors, scores(0.0))}
    assert exact == pytest.approx({choice.name: WORTH.get(choice.name, 0.0) for choice in SPACE.choices}, abs=1e-9)
    missed = [
        abs(effect.effect - WORTH.get(effect.choice, 0.0)) > effect.half
        for seed in range(60)
        for effect in effects_of(SPACE, factors, scores(0.02, seed))
    ]
    assert 0.02 < sum(missed) / len(missed) < 0.09


def test_builds_are_allowed_and_each_is_there_once() -> None:
    points = list(scores(0.0))
    assert len(points) == len(set(points))
    assert all(SPACE.broken(point) is None for point in points)


def test_pairs_that_act_together_widen_the_intervals() -> None:
    factors = [(choice.name, "on") for choice in SPACE.choices[2:]]
    plain = scores(0.001)
    both = {
        point: [each + 0.05 * ({"c3", "c4"} <= dict(point.settings).keys()) for each in starts]
        for point, starts in plain.items()
    }
    assert effects_of(SPACE, factors, both)[0].half > 3 * effects_of(SPACE, factors, plain)[0].half


def test_what_can_not_be_told_apart_has_no_effect() -> None:
    always = {point: starts for point, starts in scores(0.0).items() if ("c2", "on") in point.settings}
    found = {effect.choice for effect in effects_of(SPACE, [("c2", "on"), ("c5", "on")], always)}
    assert found == {"c5"}, "c2 is on in all of them"
    assert effects_of(SPACE, [("c2", "on")], {}) == []


def test_two_screens_make_one_estimate() -> None:
    one, other = Effect("a", "on", 0.01, 0.01, 0.02, 8), Effect("a", "on", 0.04, 0.005, 0.0125, 12)
    both = pooled(one, other)
    assert both.effect == pytest.approx(0.034)
    assert both.error == pytest.approx(1 / math.sqrt(1 / 0.01**2 + 1 / 0.005**2))
    assert both.half / both.error == pytest.approx(2.5)
    assert pooled(one, None) is one


def screened(space: Space, codes: set[str], seed: int) -> list[Effect]:
    """A screen around a base where these choices alone change a build's code, by 1 % more each; a start has 2 %."""
    costs = Costs(dict.fromkeys(Step, 100.0), start=10.0)
    desk = Search(space, Settings("default", None, seed, costs, Objective({"load": 1.0}))).desk
    random, first = Random(seed), dict[str, Point]()
    strategy = screen(desk, Point((("base", "on"),)), [(one.name, "on") for one in space.choices[1:]])
    number = 0
    wants = next(strategy)
    while True:
        for want in wants:
            code = " ".join(name for name, _ in want.point.settings if name in codes)
            truth = 0.01 * sum(sorted(codes).index(name) for name in code.split())
            own = first.setdefault(code, want.point) == want.point
            readings = tuple(random.gauss(truth, 0.02) for _ in range(want.starts)) if own else ()
            number += 1
            ask = Ask(number, want.point, want.starts, want.stage, want.why)
            desk.book.enter(ask, Told({"load": readings}, digest=f"code {code}"))
        try:
            wants = next(strategy)
        except StopIteration as ended:
            found: list[Effect] = ended.value
            return found


def test_builds_of_equal_code_are_one_measurement() -> None:
    """As two they would count their starts twice, and the intervals of what changes the code would be too narrow."""
    space = Space((Choice("base", ("off", "on")), *(Choice(f"c{number}", ("off", "on")) for number in range(7))))
    codes = {"c0", "c1", "c2"}
    missed = [
        abs(effect.effect - 0.01 * sorted(codes).index(effect.choice)) > effect.half
        for seed in range(150)
        for effect in screened(space, codes, seed)
        if effect.choice in codes
    ]
    assert len(missed) == 3 * 150
    assert 0.02 < sum(missed) / len(missed) < 0.09


def test_the_baselines_own_code_says_nothing_of_the_scatter() -> None:
    """Nothing is measured of it: each of its scores is 0."""
    measured = [Arm(Point((("a", "on"),)), scores=(0.05, -0.05, 0.06, -0.04))]
    same = Arm(Point((("b", "on"),)), scores=(0.0,) * 12)
    assert scatter([*measured, same]) == scatter(measured)
    space = Space((Choice("a", ("off", "on")), Choice("b", ("off", "on"))))
    scores = {arm.point: arm.scores for arm in measured}
    without, beside = (
        effects_of(space, [("a", "on")], {**scores, same.point: same.scores[:starts]})[0].half for starts in (1, 12)
    )
    assert beside > 0.5 * without
