"""Builds of a screen are not tested: only effects are read off them, and nothing wins that did not pass its tests."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_search import SPACE, host, settings, through

from burnish.search.ahead import ahead
from burnish.search.asks import Ask, Costs, Told
from burnish.search.report import outcome
from burnish.search.search import Search, replayed
from burnish.search.space import Point, Step

GATE = 40.0
TESTED = replace(
    settings(),
    costs=Costs({Step.REWRITE: 45.0, Step.RELINK: 60.0, Step.COMPILE: 140.0}, start=10.0, gate=GATE, baseline=60.0),
)


def test_only_a_screens_builds_are_untested_and_the_winner_is_tested_before_its_fresh_starts() -> None:
    search = Search(SPACE, TESTED)
    asked = through(search)
    assert {ask.tested for ask in asked if ask.stage == "screen"} == {False}
    assert all(ask.tested for ask in asked if ask.stage not in ("screen", "refine"))
    made = set[Point]()
    for ask in asked:
        if ask.stage == "refine":
            assert ask.tested == (ask.point in made), "a new build is looked at, another one may be the winner"
        made.add(ask.point)
    found = outcome(search)
    assert found.winner is not None
    assert any(ask.tested and not ask.fresh for ask in asked if ask.point == found.winner)


def test_a_build_of_a_screen_that_is_the_best_is_tested_before_it_is_announced() -> None:
    search = Search(SPACE, replace(TESTED, strategy="screen"))
    asked = through(search)
    found = outcome(search)
    screened = [ask.point for ask in asked if ask.stage == "screen"]
    assert found.winner is not None
    later = [ask for ask in asked if ask.point == found.winner and ask.tested]
    assert later[0].fresh is False
    assert found.winner not in screened or later[0].stage in ("race", "eliminate")


def test_a_build_that_fails_its_tests_does_not_win() -> None:
    """Wrong answers may be fast ones: `a` helps by its effect, and no build with it passes."""

    def wrong(ask: Ask) -> Told:
        fails = ask.tested and "a" in dict(ask.point.settings)
        return Told(seconds=GATE, failed="failed its gate: t1") if fails else host(ask)

    search = Search(SPACE, TESTED)
    asked = through(search, wrong)
    found = outcome(search)
    assert found.winner is not None
    assert "a" not in dict(found.winner.settings)
    assert any("a" in dict(ask.point.settings) for ask in asked if ask.stage == "screen")
    assert any(effect.choice == "a" and effect.effect > 0.0 for effect in found.effects)


def test_what_was_shown_to_be_faster_is_not_given_up_for_what_looks_better() -> None:
    """A build of a screen with two starts, and no time for a third: the ladder's best is measured again."""
    search = Search(SPACE, replace(TESTED, budget=3000.0))

    def lucky(ask: Ask) -> Told:
        found = host(ask)
        if ask.stage == "screen":  # each looks far better, and takes all the time
            readings = {"load": tuple(value + 0.5 for value in found.readings["load"])}
            return replace(found, readings=readings, seconds=900.0)
        return found

    asked = through(search, lucky)
    found = outcome(search)
    assert asked[-1].fresh
    assert found.winner is not None
    assert found.winner in SPACE.rungs.values()
    assert any("looks better, the budget lacks the time to tell" in line for line in found.path)


def test_tests_are_paid_for_where_they_are_run() -> None:
    search = Search(SPACE, TESTED)
    while (asks := search.ask()) and asks[0].stage == "ladder":
        for ask in asks:
            search.tell(ask.number, host(ask))
    desk, point = search.desk, asks[0].point
    whole, bare = desk.cost(point, 2), desk.cost(point, 2, tested=False)
    assert whole - bare == pytest.approx(GATE)
    for ask in asks:
        search.tell(ask.number, host(ask))
    assert desk.cost(point, 0) == GATE, "it is there, but was not tested"
    assert desk.cost(point, 0, tested=False) == 0.0
    assert min(seconds for steps in desk.making.values() for seconds in steps) >= 50.0, "as if tested"


def test_more_builds_fit_into_a_screen() -> None:
    def builds(gate: float) -> int:
        costs = replace(TESTED.costs, gate=gate)
        found = ahead(SPACE, replace(TESTED, costs=costs, budget=3000.0), {})
        return sum(stage.builds for stage in found.stages if stage.name == "screen")

    assert builds(GATE) > builds(0.0)


def test_a_killed_search_decides_the_same_again() -> None:
    asked = through(Search(SPACE, TESTED))
    for cut in range(0, len(asked), 7):
        again = replayed(SPACE, TESTED, {ask.number: host(ask) for ask in asked[:cut]})
        assert [*asked[:cut], *through(again)] == asked
