"""The grid of 64 builds as a truth: what its record gives back of what was planted, and searches that ask it."""

from __future__ import annotations

import statistics
from datetime import UTC, datetime, timedelta
from itertools import product
from random import Random
from types import ModuleType

import pytest

from benchmark_scripts import benchmark_script
from burnish.model.cell import BuildId, CellId
from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import BuildMade, GateFindings, GateRun, StageDone
from burnish.record.events.study import SessionBegun
from burnish.record.events.trials import StartDone
from burnish.search.space import Point

WORTH = (0.15, -0.02, 0.01, 0.0, 0.005, -0.01)
TOGETHER = -0.03
"""What the first two choices lose together."""
NOISE = 0.02
STARTS = 4


@pytest.fixture
def script() -> ModuleType:
    return benchmark_script("grid_tuners")


def planted(name: str) -> float:
    digits = [int(digit) for digit in name.removeprefix("grid-")]
    together = TOGETHER if digits[0] and digits[1] else 0.0
    return sum(worth * digit for worth, digit in zip(WORTH, digits, strict=True)) + together


def record() -> list[Recorded[Event]]:
    """A grid in which a build takes 60 s, its tests 20 s and a start 10 s; one build was in the store already."""
    random, events = Random(1), list[Recorded[Event]]()
    now = datetime(2026, 1, 1, tzinfo=UTC)

    def note(event: Event, seconds: float = 0.0) -> None:
        nonlocal now
        now += timedelta(seconds=seconds)
        events.append(Recorded(len(events) + 1, now.isoformat(), event))

    note(SessionBegun({}))
    names = ["grid-" + "".join(digits) for digits in product("01", repeat=6)]
    for name in names:
        build = BuildId("baseline" if name == names[0] else name)
        known = name == names[-1]
        if not known:
            note(StageDone("compile", "compile", build, name, 60.0), 60.0)
        note(BuildMade(build, name, {"seconds": 60.0}))
        note(GateRun(build, name, cached=known, report=GateFindings(True, 5, 0, seconds=20.0)), 0.0 if known else 20.0)
    for name in names[1:]:
        for start in range(1, STARTS + 1):
            value = random.gauss(planted(name), NOISE)
            note(StartDone(CellId(name, "speedtest1"), start, None, True, 10.0, "", {"capacity": value}), 10.0)
    return events


def test_the_record_gives_back_what_was_planted(script: ModuleType) -> None:
    grid = script.grid_of(record(), fit=True)
    # 21 figures from 252 starts: a build's worth is known to about 2 % * sqrt(21 / 252).
    misses = [grid.worth[name] - planted(name) for name in grid.worth]
    assert statistics.pstdev(misses) < 2 * NOISE * (21 / 252) ** 0.5
    assert grid.worth["grid-000000"] == 0.0
    assert grid.best == max(grid.worth.values())
    assert 0.8 * NOISE < statistics.pstdev(grid.deviations) < 1.2 * NOISE
    assert set(grid.costs.steps.values()) == {80.0}
    assert grid.costs.start == 10.0
    assert script.cost_of(ByType(record())).total == 64 * 80.0 + 63 * STARTS * 10.0
    assert grid.truth(Point()) == 0.0
    assert grid.truth(grid.space.point({"profile": "trained"})) == grid.worth["grid-100000"]


def test_what_is_a_builds_own_is_separated_from_noise(script: ModuleType) -> None:
    random = Random(3)
    names = ["grid-" + "".join(digits) for digits in product("01", repeat=6)][1:]
    parts = []
    for own in (0.0, 0.03):
        truth = {name: planted(name) + random.gauss(0.0, own) for name in names}
        starts = {name: [random.gauss(truth[name], NOISE) for _ in range(STARTS)] for name in names}
        worth, part = script.shrunk(starts)
        parts.append(part)
        misses = [worth[name] - truth[name] for name in names]
    assert parts[0] < 0.35
    assert parts[1] == pytest.approx(0.03**2 / (0.03**2 + NOISE**2 / STARTS), abs=0.1)
    assert statistics.pstdev(misses) < NOISE / STARTS**0.5


def test_a_search_asks_it(script: ModuleType) -> None:
    grid, search = script.grid_of(record()), benchmark_script("search")
    budget = 0.25 * script.cost_of(ByType(record())).total
    found = search.run(grid, "default", 1, budget)
    assert found.winner is not None
    assert search.gap(grid, found) < 0.03
    assert found.spent <= 1.05 * budget
