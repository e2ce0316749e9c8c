"""Screening designs and what is read from them."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

from burnish.search.effects import Effect, design, effects_of, points_around, pooled, size_for
from burnish.search.space import Choice, Forbidden, Point, Space

SPACE = Space(
    tuple(Choice(f"c{number}", ("off", "on")) for number in range(9)), (Forbidden({"c0": ("on",), "c1": ("on",)}),)
)
WORTH = {"c2": 0.03, "c5": -0.02}


@pytest.mark.parametrize(("factors", "size"), [(1, 4), (3, 4), (4, 8), (8, 12), (11, 12), (15, 16), (19, 20), (31, 32)])
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
