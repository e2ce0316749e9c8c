"""A search with a prior, simulated: the best build of before comes first, a wrong prior costs time and no verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from burnish.search.asks import Ask, Costs, Objective, Settings, Told
from burnish.search.prior import Finding, Result, applied, taken
from burnish.search.report import outcome
from burnish.search.search import Search
from burnish.search.space import Choice, Point, Space, Step

WORTH = {"profile": 0.2, "a": 0.04, "b": 0.04, "c": -0.05, "d": -0.05}
SPACE = Space(
    (Choice("profile", ("no", "yes"), expected=0.15), *(Choice(name, ("off", "on")) for name in "abcdefgh")),
    rungs={"pgo": Point((("profile", "yes"),))},
)
BEST = SPACE.point({"profile": "yes", "a": "on", "b": "on"})
COSTS = Costs(dict.fromkeys(Step, 100.0), start=10.0, baseline=60.0)
SETTINGS = Settings("default", 9000.0, 7, COSTS, Objective({"load": 1.0}))


def informed(space: Space, findings: Sequence[Finding]) -> Space:
    return applied(space, taken(space, findings))


def worth(point: Point | None) -> float:
    """The planted log-ratio of a build."""
    assert point is not None
    return sum(WORTH.get(name, 0.0) for name in point.names)


def host(ask: Ask) -> Told:
    random = Random(f"{ask.number} {ask.point}")
    readings = tuple(random.gauss(worth(ask.point), 0.01) for _ in range(ask.starts))
    return Told({"load": readings}, 100.0, 100.0 + 10.0 * ask.starts, digest=ask.point.words)


def through(space: Space, settings: Settings = SETTINGS) -> tuple[Search, list[Ask]]:
    search, asked = Search(space, settings), list[Ask]()
    while asks := search.ask():
        asked += asks
        for ask in asks:
            search.tell(ask.number, host(ask))
    return search, asked


def ladder(*builds: tuple[Sequence[str], float]) -> Finding:
    """A `tune` of builds with a profile and more, and what each of them is said to have gained."""
    settings = [{"profile": "yes", **dict.fromkeys(names, "on")} for names, _ in builds]
    results = tuple(Result(one, {}, gain, 0.003) for one, (_, gain) in zip(settings, builds, strict=True))
    top = max(results, key=lambda one: one.gain)
    return Finding("tune", (), top.build, results, "here", near=True)


def test_the_planted_best_is_tried_first_where_an_earlier_run_found_it() -> None:
    known = informed(SPACE, [ladder(((), 0.2), (("a",), 0.24), (("a", "b"), 0.28), (("c",), 0.15))])
    _, without = through(SPACE)
    search, asked = through(known)
    assert asked[0].point == BEST
    assert next(at for at, ask in enumerate(without) if ask.point == BEST) > 3
    assert worth(outcome(search).winner) == pytest.approx(worth(BEST))
    assert known.choice("c").expected < SPACE.choice("c").expected < known.choice("a").expected


@pytest.mark.parametrize("strategy", ["default", "screen"])
def test_a_wrong_prior_does_not_change_the_winner(strategy: str) -> None:
    """It says that the two best choices lose and the two worst gain."""
    wrong = ladder(((), 0.2), (("a",), 0.15), (("b",), 0.15), (("c",), 0.25), (("c", "d"), 0.3))
    known = informed(SPACE, [wrong])
    assert known.choice("c").expected > SPACE.choice("c").expected > known.choice("a").expected
    settings = replace(SETTINGS, strategy=strategy)
    search, asked = through(known, settings)
    assert asked[0].point == SPACE.point({"profile": "yes", "c": "on", "d": "on"})
    assert worth(outcome(search).winner) == pytest.approx(worth(outcome(through(SPACE, settings)[0]).winner))
    if strategy == "default":
        assert worth(outcome(search).winner) == pytest.approx(worth(BEST))
    arm = search.desk.book.arms[asked[0].point]
    assert len(arm.scores) == sum(ask.starts for ask in asked if ask.point == asked[0].point), "its own starts alone"


@pytest.mark.parametrize("strategy", ["default", "screen", "eliminate"])
def test_what_an_earlier_best_has_in_vain_is_taken_out(strategy: str) -> None:
    """It is better than what is known to be good, and would be better still without one of its choices."""
    known = informed(SPACE, [ladder((("a", "b", "c"), 0.3))])
    assert known.doubted == {("a", "on"), ("b", "on"), ("c", "on")}
    search, asked = through(known, replace(SETTINGS, strategy=strategy))
    assert asked[0].point.names == ("profile", "a", "b", "c")
    assert worth(outcome(search).winner) == pytest.approx(worth(BEST))


def test_a_build_that_takes_too_long_does_not_hide_one_that_is_in_the_store() -> None:
    space = replace(SPACE, rungs={"pgo": SPACE.rungs["pgo"], "best": BEST})
    costs = replace(COSTS, steps=dict.fromkeys(Step, 7200.0), kept={BEST: 0.0})
    search, asked = through(space, replace(SETTINGS, costs=costs, budget=900.0))
    assert asked[0].point == BEST
    assert SPACE.rungs["pgo"] not in {ask.point for ask in asked}
    assert outcome(search).winner == BEST
    assert "ladder: 1 build is left out, the budget lacks the time" in search.desk.path


def test_a_build_whose_profile_is_kept_costs_less_and_says_nothing_of_the_others() -> None:
    pgo = SPACE.rungs["pgo"]
    kept = replace(SETTINGS, costs=replace(COSTS, kept={pgo: 30.0}))
    plain, cheap = Search(SPACE, SETTINGS), Search(SPACE, kept)
    assert plain.desk.cost(pgo, 3) - cheap.desk.cost(pgo, 3) == 70.0
    for search, expected in ((plain, 20.0), (cheap, 100.0)):
        (ask,) = search.ask()
        search.tell(ask.number, replace(host(ask), making=20.0))
        assert search.desk.seconds_of(Step.COMPILE) == expected
    assert Search(SPACE, replace(kept, budget=290.0)).ask(), "the smallest budget is smaller too"
