"""The ladder's order: what is dear and tells only what a part is worth comes last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest

from burnish.base.errors import UserError
from burnish.search.ahead import rungs_ahead
from burnish.search.asks import Ask, Costs, Objective, Settings, Told
from burnish.search.search import Search, replayed
from burnish.search.space import Choice, Point, Space, Step

PGO = Point((("profile", "yes"),))
BOLTED = Point((("profile", "yes"), ("bolt", "yes")))
SPACE = Space(
    (
        Choice("profile", ("no", "yes"), expected=0.15),
        Choice("lto", ("none", "thin")),
        Choice("bolt", ("no", "yes"), Step.RELINK),
        *(Choice(name, ("off", "on"), Step.REWRITE) for name in "abc"),
    ),
    rungs={"pgo": PGO, "lto": Point((("profile", "yes"), ("lto", "thin"))), "bolt": BOLTED},
)
DEAR = Costs({Step.REWRITE: 5.0, Step.RELINK: 20.0, Step.COMPILE: 1800.0}, start=10.0, kept={BOLTED: 0.0})
SETTINGS = Settings("default", 9000.0, 7, DEAR, Objective({"load": 1.0}))


def told(search: Search, ask: Ask, failed: Mapping[Point, str]) -> Told:
    random = Random(f"{ask.number} {ask.point}")
    readings = tuple(random.gauss(0.1 * len(ask.point.settings), 0.01) for _ in range(ask.starts))
    making = search.desk.seconds_for(ask.point)
    return Told({"load": readings}, making, making + 10.0 * ask.starts, ask.point.words, failed.get(ask.point, ""))


def through(settings: Settings, space: Space = SPACE, **failed: str) -> tuple[Search, list[tuple[str, Point]]]:
    """A search at its end, and what it asked: stage and build, each once."""
    search, asked = Search(space, settings), list[tuple[str, Point]]()
    while asks := search.ask():
        asked += [(ask.stage, ask.point) for ask in asks]
        for ask in asks:
            search.tell(ask.number, told(search, ask, {space.rungs[name]: why for name, why in failed.items()}))
    return search, list(dict.fromkeys(asked))


def test_a_dear_part_of_a_better_build_is_left_for_the_end() -> None:
    """Where the whole has made it cheap it is no longer dear; here they have other objects."""
    space = replace(SPACE, rungs={"pgo": PGO, "whole": Point((("profile", "yes"), ("lto", "thin")))})
    kept = {space.rungs["whole"]: 0.0}
    search, asked = through(replace(SETTINGS, costs=replace(DEAR, kept=kept)), space)
    assert asked[0] == ("ladder", space.rungs["whole"])
    assert asked.index(("ladder", PGO)) > max(at for at, (stage, _) in enumerate(asked) if stage == "screen")
    assert "ladder: profile=yes is left for the end, as profile=yes, lto=thin has all of it" in search.desk.path
    rungs = rungs_ahead(space, replace(SETTINGS, costs=replace(DEAR, kept=kept)), {})
    assert (rungs.fitting, rungs.late, rungs.deferred) == (("whole",), (), ("pgo",))


def test_where_it_is_cheap_or_nothing_bounds_the_time_the_simplest_comes_first() -> None:
    cheap = replace(DEAR, steps={**DEAR.steps, Step.COMPILE: 100.0}, kept={})
    for settings in (replace(SETTINGS, costs=cheap), replace(SETTINGS, budget=None)):
        search, asked = through(settings)
        assert [point for stage, point in asked if stage == "ladder"] == list(SPACE.rungs.values())
        assert not search.desk.deferred


@pytest.mark.parametrize("failed", [{}, {"bolt": "refused"}])
def test_a_part_comes_at_once_where_its_whole_made_it_cheap_or_failed(failed: Mapping[str, str]) -> None:
    space = replace(SPACE, rungs={"pgo": PGO, "bolt": BOLTED})
    search, asked = through(SETTINGS, space, **failed)
    assert asked[:2] == [("ladder", BOLTED), ("ladder", PGO)]
    assert not search.desk.deferred


def test_a_search_of_another_version_is_not_taken_up() -> None:
    search = Search(SPACE, replace(SETTINGS, strategy="screen"))
    known = {ask.number: replace(told(search, ask, {}), settings=dict(ask.point.settings)) for ask in search.ask()}
    replayed(SPACE, replace(SETTINGS, strategy="screen"), known)
    known[1] = replace(known[1], settings={"a": "on"})
    what = r"step 1 of this search was a=on, and would be profile=yes, bolt=yes now: another version"
    with pytest.raises(UserError, match=what):
        replayed(SPACE, replace(SETTINGS, strategy="screen"), known)
