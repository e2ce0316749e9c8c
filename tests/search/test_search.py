"""Asking and telling: the same decisions whatever the order, after a kill as well; budgets, failures, twins, guards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from burnish.base.errors import UserError
from burnish.search.asks import STRATEGIES, Ask, Costs, Objective, Settings, Told
from burnish.search.report import outcome
from burnish.search.search import Search, replayed
from burnish.search.space import Choice, Forbidden, Point, Space, Step
from burnish.search.strategies.race import confirm
from burnish.search.strategies.screen import sentence

WORTH = {"profile": 0.2, "a": 0.04, "b": 0.04, "c": -0.05, "order": 0.03}
SPACE = Space(
    (
        Choice("profile", ("no", "yes"), expected=0.15),
        Choice("bolt", ("no", "yes"), Step.RELINK),
        Choice("order", ("old", "new"), Step.REWRITE),
        *(Choice(name, ("off", "on")) for name in "abcdef"),
    ),
    (Forbidden({"order": ("new",), "bolt": ("no",)}),),
    {"pgo": Point((("profile", "yes"),)), "pgo-bolt": Point((("profile", "yes"), ("bolt", "yes")))},
)
COSTS = Costs({Step.REWRITE: 5.0, Step.RELINK: 20.0, Step.COMPILE: 100.0}, start=10.0, baseline=60.0)
Host = Callable[[Ask], Told]


BEST = 0.2 + 0.04 + 0.04 + 0.03


def worth(point: Point) -> float:
    """The planted log-ratio of a build."""
    return sum(WORTH.get(name, 0.0) for name, _ in point.settings)


def settings(strategy: str = "default", budget: float | None = 9000.0, objective: Objective | None = None) -> Settings:
    return Settings(strategy, budget, 7, COSTS, objective or Objective({"load": 1.0}))


def host(ask: Ask) -> Told:
    """What is told depends on the ask alone, as in a record that is read again."""
    random = Random(f"{ask.number} {ask.point}")
    truth = worth(ask.point)
    readings = tuple(random.gauss(truth, 0.01) for _ in range(ask.starts))
    return Told({"load": readings}, 50.0, 50.0 + 10.0 * ask.starts, digest=ask.point.words)


def through(search: Search, tell: Host = host, *, backwards: bool = False) -> list[Ask]:
    asked: list[Ask] = []
    while asks := search.ask():
        for ask in reversed(asks) if backwards else asks:
            search.tell(ask.number, tell(ask))
        asked += asks
    return asked


def test_the_planted_build_is_found_and_confirmed_on_starts_of_its_own() -> None:
    search = Search(SPACE, settings())
    asked = through(search)
    found = outcome(search)
    assert found.winner is not None
    assert worth(found.winner) == pytest.approx(BEST)
    assert asked[-1].fresh
    assert asked[-1].starts == 8
    assert sum(ask.fresh for ask in asked) == 1
    assert [ask.stage for ask in asked[:2]] == ["ladder", "ladder"]
    assert found.effects[0].choice in WORTH
    assert not found.untried
    assert found.spent + COSTS.baseline <= 9000.0 * 1.05


def test_what_failed_by_itself_is_in_no_screen() -> None:
    """A compile of minutes for what is known; what failed with one compiler alone may do with another."""

    def broken(ask: Ask) -> Told:
        names = dict(ask.point.settings)
        fails = "a" in names or ("b" in names and "profile" not in names)
        return Told(seconds=30.0, failed="does not compile") if fails else host(ask)

    rungs = {**SPACE.rungs, "a": Point((("a", "on"),)), "b": Point((("b", "on"),))}
    search = Search(replace(SPACE, rungs={**rungs, "b-pgo": Point((("profile", "yes"), ("b", "on")))}), settings())
    asked = through(search, broken)
    assert {ask.point.words for ask in asked if "a" in dict(ask.point.settings)} == {"a=on"}
    assert any("screen" in ask.stage and "b" in dict(ask.point.settings) for ask in asked)
    assert any("a=on failed by itself, so it is left out" in line for line in outcome(search).path)
    search = Search(replace(SPACE, rungs={**SPACE.rungs, "a": Point((("a", "on"),))}), settings("eliminate"))
    asked = through(search, broken)
    assert {ask.point.words for ask in asked if "a" in dict(ask.point.settings)} == {"a=on"}
    assert any(ask.stage == "eliminate" and "c" in dict(ask.point.settings) for ask in asked)


@pytest.mark.parametrize("disturbed", [False, True])
def test_what_the_host_disturbed_bars_no_choice(disturbed: bool) -> None:
    """No start of a build with `a` alone, or of any in a screen with it, was undisturbed: that is the host's fault."""

    def noisy(ask: Ask) -> Told:
        fails = ask.stage in ("ladder", "screen") and "a" in dict(ask.point.settings)
        return Told(seconds=30.0, failed="the hypervisor took 20%", disturbed=disturbed) if fails else host(ask)

    for rungs in ({**SPACE.rungs, "a": Point((("a", "on"),))}, SPACE.rungs):
        search = Search(replace(SPACE, rungs=rungs), settings())
        through(search, noisy)
        left_out = [line for line in outcome(search).path if "a=on" in line and "left out" in line]
        assert bool(left_out) is not disturbed
        assert ("a", "on") not in search.desk.untried or not disturbed


@pytest.mark.parametrize("strategy", ["default", "random"])
def test_decisions_are_the_same_in_any_order_and_after_a_kill_anywhere(strategy: str) -> None:
    whole = Search(SPACE, settings(strategy, 4000.0))
    asked = through(whole)
    assert through(Search(SPACE, settings(strategy, 4000.0)), backwards=True) == asked
    for cut in range(0, len(asked), 9):
        again = replayed(SPACE, settings(strategy, 4000.0), {ask.number: host(ask) for ask in asked[:cut]})
        assert [*asked[:cut], *through(again)] == asked
    assert outcome(again) == outcome(whole)


def test_what_was_told_of_a_later_ask_waits_for_the_earlier_one() -> None:
    search = Search(SPACE, settings())
    first, second = search.ask()
    search.tell(second.number, host(second))
    assert search.ask() == (first,)
    known = replayed(SPACE, settings(), {second.number: host(second)})
    assert known.ask() == (first,)
    with pytest.raises(ValueError, match="not open"):
        search.tell(second.number, host(second))


def test_code_that_was_told_of_is_known_even_of_what_was_asked_together() -> None:
    search = Search(SPACE, settings())
    first, second = search.ask()
    assert not search.knows("same", second.point)
    search.tell(first.number, replace(host(first), digest="same"))
    assert search.knows("same", second.point), "it is not measured a second time"
    assert not search.knows("same", first.point), "more starts of the build itself are"
    assert not search.knows("other", second.point)
    assert not search.knows("", second.point), "code that is not known may be any"
    search.tell(second.number, Told({}, 50.0, 50.0, digest="same"))
    assert search.desk.book.starts(second.point) == first.starts, "the starts of the other count for it"
    assert search.knows("same", Point((("a", "on"),)))


def test_a_budget_too_small_says_what_is_needed() -> None:
    with pytest.raises(
        UserError, match=r"--budget 3 min 20 s: too small: the baseline takes about 1 min .*at least 5m"
    ):
        Search(SPACE, settings(budget=200.0))
    assert Search(SPACE, settings(budget=300.0)).ask()


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "bayes"])
def test_a_search_whose_baseline_took_all_of_its_budget_ends_by_itself(strategy: str) -> None:
    late = replace(settings(strategy, budget=300.0), costs=replace(COSTS, baseline=290.0))
    with pytest.raises(UserError, match="too small"):
        replayed(SPACE, late, {})
    search = replayed(SPACE, late, {}, begun=True)
    assert search.ask() == ()
    found = outcome(search)
    assert (found.winner, found.finalist, found.arms) == (None, None, ())


def test_an_empty_space_is_refused() -> None:
    with pytest.raises(UserError, match="the space is empty"):
        Search(Space(()), settings())


def test_where_every_build_fails_the_common_cause_is_named() -> None:
    search = Search(SPACE, settings())
    through(search, lambda ask: Told(seconds=30.0, failed=f"clang is not installed (log: logs/build-{ask.number}.log)"))
    found = outcome(search)
    assert found.winner is None
    assert found.common_failure == "clang is not installed", "whatever each build's log is called"


def test_a_build_that_fails_is_not_asked_for_again() -> None:
    def broken(ask: Ask) -> Told:
        return Told(seconds=30.0, failed="miscompiled") if "a=on" in ask.point.words else host(ask)

    search = Search(SPACE, settings())
    asked = [ask.point for ask in through(search, broken) if "a=on" in ask.point.words]
    assert len(asked) == len(set(asked)) > 0
    winner = outcome(search).winner
    assert winner is not None
    assert worth(winner) == pytest.approx(BEST - WORTH["a"])
    assert any("a=on is in every build that failed" in line for line in outcome(search).path)
    assert outcome(search).common_failure == ""


def test_equal_code_is_measured_once() -> None:
    """A choice that changes nothing gives the same program, whose starts count for both."""

    def twin(ask: Ask) -> Told:
        told = host(ask)
        plain = SPACE.changed(ask.point, {"d": "off"}).words
        if first.setdefault(plain, ask.point) != ask.point:
            return Told({}, 50.0, 50.0, digest=plain)
        return Told(told.readings, told.making, told.seconds, digest=plain)

    first: dict[str, Point] = {}
    search = Search(SPACE, settings())
    through(search, twin)
    points = {arm.point for arm in search.desk.book.measured}
    assert len(points) == len({SPACE.changed(point, {"d": "off"}) for point in points})
    assert outcome(search).winner is not None


def test_a_guarded_load_keeps_what_slows_it_from_winning() -> None:
    def two(ask: Ask) -> Told:
        told = host(ask)
        slower = -0.1 if ("a", "on") in ask.point.settings else 0.0
        return Told(
            {**told.readings, "other": tuple(slower + 0.1 * each for each in told.readings["load"])},
            50,
            100,
            ask.point.words,
        )

    search = Search(SPACE, settings(objective=Objective({"load": 1.0}, ("other",))))
    through(search, two)
    winner = outcome(search).winner
    assert winner is not None
    assert ("a", "on") not in winner.settings
    assert ("b", "on") in winner.settings


def test_weights_make_one_score_of_several_loads() -> None:
    mix = Objective({"reads": 3.0, "writes": 1.0}, ("reads", "backup"))
    assert mix.score({"reads": 0.2, "writes": -0.2, "backup": 9.0}) == pytest.approx(0.1)
    assert mix.loads == ("reads", "writes", "backup")


def test_nothing_is_announced_where_nothing_is_faster() -> None:
    def flat(ask: Ask) -> Told:
        random = Random(f"flat {ask.number}")
        return Told({"load": tuple(random.gauss(0.0, 0.01) for _ in range(ask.starts))}, 50.0, 80.0, ask.point.words)

    search = Search(SPACE, settings())
    asked = through(search, flat)
    assert outcome(search).winner is None
    assert sum(ask.fresh for ask in asked) <= 1


def test_a_small_budget_leaves_the_rest_untried_and_says_what_an_hour_would_bring() -> None:
    made = set[Point]()

    def once(ask: Ask) -> Told:
        told = host(ask)
        if ask.point in made:  # it is there
            return replace(told, making=0.0, seconds=told.seconds - told.making)
        made.add(ask.point)
        return told

    search = Search(SPACE, settings(budget=700.0))
    through(search, once)
    found = outcome(search)
    assert found.untried
    assert found.another_hour > 0.0
    assert set(found.hour) <= {name for name, _ in found.untried}
    assert len(found.hour) == len(set(found.hour)) > 0, "what an hour has time for"
    assert found.spent + COSTS.baseline <= 700.0 * 1.05


def test_a_screen_is_told_of_in_a_sentence() -> None:
    point = Point((("a", "on"),))
    assert sentence(1, 2, point, 0) == "screen: 1 change in 2 builds around a=on: none has a clear effect"
    assert sentence(3, 1, point, 1) == "screen: 3 changes in 1 build around a=on: 1 has a clear effect"
    assert sentence(3, 4, point, 2) == "screen: 3 changes in 4 builds around a=on: 2 have a clear effect"
    search = Search(SPACE, settings())
    through(search)
    assert any(line.startswith("screen: ") and line.endswith(" a clear effect") for line in outcome(search).path)


def test_optuna_is_asked_for_only_where_it_is_used() -> None:
    pytest.importorskip("optuna")
    search = Search(SPACE, settings("bayes", 3000.0))
    asked = through(search)
    assert {"ladder", "bayes"} <= {ask.stage for ask in asked}
    assert through(Search(SPACE, settings("bayes", 3000.0))) == asked


def test_a_build_whose_starts_do_not_tell_is_not_in_the_way_of_one_that_is_faster() -> None:
    """The best mean may have had all its starts without a verdict: the next that is proved to be faster is taken."""
    desk = Search(SPACE, settings()).desk
    starts = desk.settings.rule.cap
    best = tuple(0.05 + 0.4 * (-1) ** number for number in range(starts))
    good = tuple(0.04 + 0.001 * (-1) ** number for number in range(starts))
    for number, readings in enumerate((best, good), 1):
        ask = Ask(number, Point((("ab"[number - 1], "on"),)), starts, "race", "")
        desk.book.enter(ask, Told({"load": readings}, 50.0, 100.0, ask.point.words))
    wants = [want for asked in confirm(desk) for want in asked]
    assert [(want.point.words, want.fresh) for want in wants] == [("b=on", True)]
    assert any("a=on looks better, its starts do not tell it from the baseline" in line for line in desk.path)
