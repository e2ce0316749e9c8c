"""What a search is expected to do before it begins, and where an interrupted one goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.base.errors import UserError
from burnish.search.ahead import ahead
from burnish.search.asks import Costs, Objective, Settings, Told
from burnish.search.search import Search
from burnish.search.space import Choice, Forbidden, Point, Space, Step

COSTS = Costs(
    {Step.REWRITE: 5.0, Step.RELINK: 20.0, Step.OPTIMISE: 60.0, Step.TRAIN: 80.0, Step.COMPILE: 100.0},
    start=10.0,
    baseline=60.0,
    confirmation=12.0,
)
SPACE = Space(
    (
        Choice("profile", ("no", "yes"), expected=0.15),
        Choice("training", ("usual", "mine", "tests"), Step.TRAIN),
        Choice("inlining", ("usual", "more"), Step.OPTIMISE),
        Choice("bolt", ("no", "yes"), Step.RELINK, expected=0.03),
        Choice("order", ("old", "new"), Step.REWRITE),
    ),
    (
        Forbidden({"order": ("new",), "bolt": ("no",)}),
        Forbidden({"training": ("mine", "tests"), "profile": ("no",)}),
    ),
    {"pgo": Point((("profile", "yes"),)), "pgo-bolt": Point((("profile", "yes"), ("bolt", "yes")))},
)
SETTINGS = Settings("default", 9000.0, 7, COSTS, Objective({"load": 1.0}))


def test_stages_come_in_order_with_what_they_cost() -> None:
    found = ahead(SPACE, SETTINGS, {})
    names = [stage.name for stage in found.stages]
    assert names[0] == "ladder"
    assert names[-1] == "confirm"
    assert "screen" in names
    ladder, confirm = found.stages[0], found.stages[-1]
    assert ladder.builds == 2
    # One build is compiled; the other differs from it by what is linked again, though both are asked for at once.
    assert ladder.seconds == pytest.approx(100.0 + 20.0 + 10.0 * ladder.starts)
    assert (confirm.builds, confirm.starts) == (0, 8)
    assert confirm.seconds == pytest.approx(8 * 12.0)
    assert found.seconds == pytest.approx(60.0 + sum(stage.seconds for stage in found.stages))
    assert found.seconds <= 9000.0
    assert found.as_dict()["seconds"] == found.seconds
    assert found == ahead(SPACE, SETTINGS, {}), "it depends on the seed alone"


def test_the_smallest_budget_is_enough_and_no_smaller_one_is() -> None:
    least = ahead(SPACE, SETTINGS, {}).least
    assert Search(SPACE, replace(SETTINGS, budget=least + 1.0)).ask()
    with pytest.raises(UserError, match="too small"):
        Search(SPACE, replace(SETTINGS, budget=least - 1.0))


def test_time_is_kept_for_what_comes_after_it() -> None:
    later = replace(SETTINGS, costs=replace(COSTS, after=400.0, later=200.0))
    plain, found = ahead(SPACE, SETTINGS, {}), ahead(SPACE, later, {})
    assert found.least == pytest.approx(plain.least + 600.0 / 0.98)
    assert found.seconds == pytest.approx(found.baseline + 600.0 + sum(stage.seconds for stage in found.stages))
    assert Search(SPACE, later).desk.left == pytest.approx(Search(SPACE, SETTINGS).desk.left - 600.0)


def test_an_interrupted_search_goes_on_without_what_it_was_told() -> None:
    search = Search(SPACE, SETTINGS)
    told = {ask.number: Told({"load": (0.15, 0.16, 0.14)}, 90.0, 120.0, ask.point.words) for ask in search.ask()}
    found = ahead(SPACE, SETTINGS, told)
    assert found.told == len(told) == 2
    assert found.seconds == pytest.approx(sum(stage.seconds for stage in found.stages)), "the baseline is there"
    assert sum(stage.builds for stage in found.stages if stage.name == "ladder") == 0


def test_a_training_costs_less_than_an_instrumented_build_and_more_than_a_compile_with_its_profile() -> None:
    desk = Search(SPACE, SETTINGS).desk
    pgo = SPACE.rungs["pgo"]
    costs = [
        desk.cost(SPACE.changed(pgo, change), 0, [pgo])
        for change in ({"bolt": "yes"}, {"inlining": "more"}, {"training": "mine"})
    ]
    assert costs == [20.0, 60.0, 80.0]
    assert desk.cost(pgo, 0) == 100.0
    both = SPACE.changed(pgo, {"training": "mine", "bolt": "yes"})
    assert desk.cost(both, 0, [pgo]) == 80.0
