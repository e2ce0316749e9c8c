"""The model of a search: what it expects of builds, tried or not, and what is done by it."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from test_search import COSTS, SPACE, host, settings, through

from burnish.search.asks import Ask, Costs, Told
from burnish.search.book import Arm
from burnish.search.desk import SCREEN_STARTS
from burnish.search.effects import Effect
from burnish.search.model import NOISE, Expected, Model, ranked, scatter
from burnish.search.search import Search
from burnish.search.space import Choice, Point, Space, Step
from burnish.search.strategies import refine

PLAIN = Space(tuple(Choice(name, ("off", "on"), expected=0.02) for name in "abcd"))


def build(names: str) -> Point:
    return PLAIN.point(dict.fromkeys(names, "on"))


def arm(names: str, mean: float, starts: int = 50, spread: float = 0.01) -> Arm:
    """A build with this mean, and starts that scatter around it."""
    half = [spread * math.sqrt((starts - 1) / starts) * (-1) ** number for number in range(starts - starts % 2)]
    return Arm(build(names), scores=tuple(mean + value for value in [*half, *[0.0] * (starts % 2)]))


def test_what_two_changes_bring_is_expected_of_both_together() -> None:
    model = Model(PLAIN, [arm("a", 0.03), arm("b", 0.02), arm("c", -0.02)])
    means = model.expected([build("ab"), build("ac"), build("abc"), build("d")]).means
    assert 0.02 < means[0] < 0.05
    assert means[0] > means[2] > means[1]
    assert means[3] == 0.0, "nothing was read of it"


def test_the_more_is_known_of_a_build_the_less_is_left_open() -> None:
    model = Model(PLAIN, [arm("a", 0.03), arm("b", 0.02, starts=2)])
    known, hardly, near, far = model.expected([build("a"), build("b"), build("ab"), build("cd")]).spreads
    assert known < hardly < near < far
    assert known == pytest.approx(scatter([arm("a", 0.03), arm("b", 0.02, starts=2)]) / math.sqrt(50), rel=0.2)


def test_a_build_with_many_starts_is_what_it_was_read_as() -> None:
    assert Model(PLAIN, [arm("a", 0.07, starts=400)]).expected([build("a")]).means[0] == pytest.approx(0.07, rel=0.02)


def test_the_luckiest_of_many_builds_is_not_the_best() -> None:
    """All builds with a and b say that they gain; one without them was read twice, and looks best."""
    sure = [arm(names, 0.04, starts=8, spread=0.02) for names in ("ab", "abc", "abd", "abcd")]
    lucky = arm("cd", 0.045, starts=2, spread=0.02)
    losses = [arm(names, -0.01, starts=8, spread=0.02) for names in ("c", "d")]
    assert ranked(PLAIN, [lucky, *sure, *losses])[0].point.words != "c=on, d=on"
    assert ranked(PLAIN, [lucky]) == [lucky]


def test_scatter_is_the_usual_one_until_builds_tell_another() -> None:
    assert scatter([arm("a", 0.0, starts=1)]) == pytest.approx(NOISE)
    assert scatter([arm("a", 0.0, starts=200, spread=0.005)]) == pytest.approx(0.005, rel=0.2)
    assert scatter([arm("a", 0.0, starts=200, spread=0.08)]) == pytest.approx(0.08, rel=0.05)


def test_gains_are_what_drawing_finds() -> None:
    random = Random(1)
    mean, spread, over, noise = 0.01, 0.02, 0.015, 0.01**2
    expected = Expected(np.array([mean]), np.array([spread]))
    drawn = [max(0.0, random.gauss(mean, spread) - over) for _ in range(100_000)]
    assert expected.gain(over)[0] == pytest.approx(statistics.fmean(drawn), rel=0.03)
    moved = []
    for _ in range(100_000):
        read = random.gauss(mean, spread) + random.gauss(0.0, math.sqrt(noise))
        later = mean + spread**2 / (spread**2 + noise) * (read - mean)
        moved.append(max(later, over) - max(mean, over))
    assert expected.gain_of_starts(np.array([over]), noise)[0] == pytest.approx(statistics.fmean(moved), rel=0.05)
    assert expected.gain_of_starts(np.array([over]), 1e6)[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("making", "starts"), [(5.0, 2), (40.0, 2), (90.0, 3), (160.0, 4), (10_000.0, 6)])
def test_a_dear_build_is_read_by_more_starts(making: float, starts: int) -> None:
    costs = Costs(dict.fromkeys(Step, making), start=10.0)
    assert SCREEN_STARTS[0] <= starts <= SCREEN_STARTS[1]
    desk = Search(PLAIN, replace(settings(budget=None), costs=costs)).desk
    assert desk.screen_starts(Step.COMPILE) == starts
    assert desk.screen_starts(None) == SCREEN_STARTS[0], "it is there"


def test_three_large_effects_do_not_make_all_others_large() -> None:
    desk = Search(PLAIN, settings(budget=None)).desk
    assert desk.spread_of_effects() == pytest.approx(0.02), "as is expected"
    desk.effects = {(name, "on"): Effect(name, "on", 0.06, 0.01, 0.02, 4) for name in "abc"}
    assert 0.03 < desk.spread_of_effects() < 0.04
    desk.effects = {(str(number), "on"): Effect(str(number), "on", 0.06, 0.01, 0.02, 4) for number in range(200)}
    assert desk.spread_of_effects() == pytest.approx(0.059, rel=0.05), "two hundred do"


def test_the_model_is_asked_until_the_time_that_the_finals_need() -> None:
    search = Search(SPACE, settings(budget=3000.0))
    asked = through(search)
    stages = [ask.stage for ask in asked]
    assert "refine" in stages
    assert asked[-1].fresh
    assert search.desk.book.spent + 60.0 <= 3000.0
    before: set[Point] = set()
    new = 0
    for ask in asked:
        new += ask.stage == "refine" and ask.point not in before
        before.add(ask.point)
    assert f"refine: {new} builds more, each expected to gain most for its time" in "\n".join(search.desk.path)


def test_last_starts_leave_time_for_builds_where_a_start_is_dear() -> None:
    """Sixteen starts of 60 s would take all that the screen leaves."""
    costs = replace(COSTS, start=60.0, steps=dict.fromkeys(Step, 15.0))

    def dear(ask: Ask) -> Told:
        return replace(host(ask), making=15.0, seconds=15.0 + 60.0 * ask.starts)

    asked = through(Search(SPACE, replace(settings(budget=3600.0), costs=costs)), dear)
    before = {ask.point for ask in asked if ask.stage in ("ladder", "screen")}
    assert {ask.point for ask in asked if ask.stage == "refine"} - before
    assert refine.KEPT * costs.start > refine.MOST_KEPT * 3600.0


def test_without_a_budget_it_ends() -> None:
    search = Search(SPACE, settings(budget=None))
    asked = through(search)
    assert 0 < len({ask.point for ask in asked if ask.stage == "refine"}) <= refine.MOST + refine.AGAIN


def test_what_failed_by_itself_in_the_models_own_build_is_in_no_further_one() -> None:
    desk = Search(PLAIN, settings(budget=None)).desk
    desk.book.arms = {build("b"): arm("b", 0.03, 4), build("ab"): Arm(build("ab"), failed="does not compile")}
    found: list[Point] = []
    while (want := refine.proposed(desk)) is not None:
        found.append(want.point)
        desk.book.arms[want.point] = Arm(want.point, scores=(0.03, 0.031))
    assert len(found) > 3
    assert not any("a" in point.names for point in found)
    assert [line for line in desk.path if "failed" in line] == ["a=on failed by itself, so it is left out"]


def test_what_failed_by_itself_is_not_proposed() -> None:
    search = Search(SPACE, settings(budget=3000.0))

    def fails(ask: Ask) -> Told:
        bad = "a" in dict(ask.point.settings)
        return Told(seconds=30.0, failed="does not compile") if bad else host(ask)

    asked = through(search, fails)
    screened = sum("a" in dict(ask.point.settings) for ask in asked if ask.stage == "screen")
    assert screened > 0
    assert not any("a" in dict(ask.point.settings) for ask in asked if ask.stage == "refine")
