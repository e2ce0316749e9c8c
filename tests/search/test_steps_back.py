"""What a search builds on stays: no change, design or elimination takes a known-good build's gain away."""

from __future__ import annotations

from random import Random

from burnish.catalogue import load
from burnish.catalogue.space import space_file
from burnish.search.asks import Ask, Costs, Objective, Settings, Told
from burnish.search.desk import Desk
from burnish.search.effects import Effect, points_around
from burnish.search.search import Search
from burnish.search.space import Choice, Forbidden, Point, Space, Step
from burnish.search.strategies.chain import _value
from burnish.search.strategies.eliminate import eliminate
from burnish.search.strategies.screen import combined, factors_around

COSTS = Costs(dict.fromkeys(Step, 100.0) | {Step.RELINK: 20.0, Step.REWRITE: 5.0}, start=10.0)


def desk_of(space: Space) -> Desk:
    return Search(space, Settings("default", None, 7, COSTS, Objective({"load": 1.0}))).desk


def test_no_change_of_a_known_good_build_is_a_step_back() -> None:
    for engine in ("mariadb", "mysql", "postgresql", "sqlite"):
        desk = desk_of(space_file().for_engine(load.engine(engine)))
        for rung in desk.space.rungs.values():
            factors = factors_around(desk, rung, desk.space.choices)
            assert factors
            assert not [one for one in factors if one[1] == desk.space.choice(one[0]).usual], rung.words
    best = desk.space.rungs["clang-pgo-thinlto-bolt"]
    names = {name for name, _ in factors_around(desk, best, desk.space.choices)}
    assert not {"profile", "lto", "bolt", "compiler"} & names


def test_what_the_profile_brings_is_no_promise_of_a_build_that_has_it() -> None:
    """A step whose only large choice is had already must not be taken for the most promising."""
    choices = (
        Choice("profile", ("none", "trained"), expected=0.15),
        Choice("small", ("off", "on"), expected=0.005),
        Choice("huge", ("off", "on"), Step.RELINK, expected=0.015),
    )
    desk = desk_of(Space(choices, rungs={"pgo": Point((("profile", "trained"),))}))
    best = desk.space.rungs["pgo"]
    assert _value(desk, best, Step.COMPILE) < _value(desk, best, Step.RELINK)
    assert _value(desk, Point(), Step.COMPILE) > _value(desk, Point(), Step.RELINK), "where it is still to be had"


TIED = Space(
    (
        Choice("profile", ("none", "trained"), expected=0.15),
        Choice("a", ("off", "on")),
        Choice("b", ("off", "on")),
        Choice("order", ("old", "new")),
    ),
    (Forbidden({"a": ("on",), "b": ("on",), "profile": ("trained",)}), Forbidden({"order": ("new",), "b": ("off",)})),
    {"pgo": Point((("profile", "trained"),))},
)
"""Two changes that a profile allows only one by one; the profile is the choice that could give way."""


def test_what_is_not_allowed_together_does_not_cost_the_profile() -> None:
    best = TIED.rungs["pgo"]
    for seed in range(8):
        points = points_around(TIED, best, [("a", "on"), ("b", "on")], Random(seed))
        assert all(("profile", "trained") in point.settings for point in points)
    both = [Effect(name, "on", 0.03, 0.001, 0.002, 8) for name in ("a", "b")]
    assert ("profile", "trained") in combined(desk_of(TIED), best, both).settings


def test_elimination_takes_out_no_part_of_a_known_good_build() -> None:
    """The builds of a search around a known-good one all have what it has; the ladder alone builds others."""
    for strategy in ("default", "eliminate", "screen"):
        search = Search(TIED, Settings(strategy, None, 7, COSTS, Objective({"load": 1.0})))
        asked: list[Ask] = []
        while asks := search.ask():
            for ask in asks:
                random = Random(f"{ask.number} {ask.point}")
                worth = {"profile": 0.2, "a": 0.03}
                truth = sum(worth.get(name, 0.0) for name, _ in ask.point.settings)
                readings = tuple(random.gauss(truth, 0.01) for _ in range(ask.starts))
                search.tell(ask.number, Told({"load": readings}, 50.0, 100.0, ask.point.words))
            asked += asks
        assert any(ask.stage != "ladder" for ask in asked)
        assert all(("profile", "trained") in ask.point.settings for ask in asked), strategy


NEEDING = Space(
    (Choice("profile", ("none", "trained")), Choice("x", ("off", "on")), Choice("y", ("off", "on"))),
    (Forbidden({"x": ("on",), "y": ("off",), "profile": ("trained",)}, "with a profile x needs y"),),
    {"pgo": Point((("profile", "trained"),))},
)


def test_where_a_change_needs_what_is_taken_out_it_goes_and_not_the_profile() -> None:
    desk = desk_of(NEEDING)
    base = NEEDING.rungs["pgo"]
    strategy = eliminate(desk, base, NEEDING.point({"profile": "trained", "x": "on", "y": "on"}))
    asked: list[Point] = []
    while (wants := next(strategy, None)) is not None:
        for want in wants:
            asked.append(want.point)
            truth = 0.1 if ("x", "on") in want.point.settings else 0.0
            readings = tuple(truth + 0.001 * number for number in range(want.starts))
            ask = Ask(len(asked), want.point, want.starts, want.stage, want.why)
            desk.book.enter(ask, Told({"load": readings}, 50.0, 100.0, want.point.words))
    assert base in asked, "the build without y is one without x"
    assert all(("profile", "trained") in point.settings for point in asked)
