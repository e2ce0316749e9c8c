"""benchmarks/host_state.py: what is within sittings counts, what is between them does not; p is corrected by Holm."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmark_scripts import benchmark_script
from burnish.model.sittings import Moment
from burnish.record.events.trials import HostState, PagesUsed

ROOT = Path(__file__).parents[2]


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return benchmark_script("host_state")


def found(benchmark: ModuleType, slope: Callable[[int], float], *, confounded: float = 0.0) -> Any:
    """Of six sittings of three comparisons with ten starts each: readings go by `slope` of the sitting."""
    chance = random.Random(3)
    groups: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for sitting in range(6):
        hour = chance.gauss(0, 1)
        for comparison in range(3):
            for _ in range(10):
                x = chance.gauss(0, 1)
                y = 0.1 * comparison + slope(sitting) * x + chance.gauss(0, 0.01) + confounded * hour
                groups.setdefault((sitting, comparison), []).append((x + 5 * hour, y))
    return benchmark.examine(groups)


def test_what_moves_within_sittings_is_found(benchmark: ModuleType) -> None:
    """As large as the rest: r squared is a half, and 29 % of the standard deviation go."""
    told = found(benchmark, lambda _: 0.01)
    assert told.starts == 180
    assert told.r == pytest.approx(0.5**0.5, abs=0.1)
    assert told.slope == pytest.approx(0.01, rel=0.15)
    assert told.p < 0.001
    assert told.signs == (6, 6)
    assert told.removed == pytest.approx(1 - (1 - told.r**2) ** 0.5)
    assert told.foretold == pytest.approx(told.removed, abs=0.02)


def test_what_moves_between_sittings_is_not_taken_for_it(benchmark: ModuleType) -> None:
    told = found(benchmark, lambda _: 0.0, confounded=0.1)
    assert abs(told.r) < 0.2
    assert told.p > 0.05
    assert told.removed < 0.02
    assert told.between > 0.9
    assert told.df == 4, "six sittings, one mean, one slope: eighteen groups are no more observations"


def test_an_effect_of_another_sign_in_each_sitting_removes_nothing(benchmark: ModuleType) -> None:
    told = found(benchmark, lambda sitting: 0.02 if sitting < 3 else -0.015)
    assert told.signs[0] < told.signs[1]
    assert told.removed > 0
    assert told.foretold < 0, "other sittings foretell the wrong thing"


def test_p_values_are_corrected_for_their_number(benchmark: ModuleType) -> None:
    assert benchmark.holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert benchmark.holm([]) == []


def test_cache_capacity_as_a_probe_saw_it(benchmark: ModuleType) -> None:
    state = HostState(0, 1.0, 1.0, 0.1, latency_ns={256: 4.0, 2048: 4.0, 8192: 100.0, 32768: 100.0})
    assert benchmark.cache_kib(state) == pytest.approx(4096)
    assert benchmark.cache_kib(replace(state, latency_ns={})) is None


def test_pages_cache_and_steal_are_held_against_readings(benchmark: ModuleType) -> None:
    """The side that is scattered more loses 1.74 % for each 0.1; what nobody recorded is named, not dropped."""
    chance = random.Random(1)
    starts = []
    for number in range(40):
        one, two = chance.uniform(0.13, 0.5), chance.uniform(0.13, 0.5)
        pages = tuple(PagesUsed(0, 0, 0, scatter_heap=value) for value in (one, two))
        state = (HostState(0, 1.0 + chance.random(), 1.0, 0.1, steal=chance.random() / 100),)
        reading = -0.174 * (two - one) + chance.gauss(0, 0.001)
        starts.append(benchmark.Start(("a", "b"), "shared", number % 2, reading, state, 0.0, pages, (0.0, 0.0)))
    rows = benchmark.table(starts)
    (row,) = (row for row in rows if row.startswith("| scatter of own memory"))
    assert "| -1.0" in row
    assert "| -1.7" in row
    assert "2 of 2" in row
    assert any(row.startswith("| steal while probed") for row in rows)
    assert "scatter of code" in rows[-1], "the rest is said to be not recorded, or the same in all starts"
    assert "share of the program cached" in rows[-1]
    assert "steal during pairs" in rows[-1]


def test_invalid_starts_and_those_of_a_build_with_itself_are_left_out(benchmark: ModuleType) -> None:
    """Of the record's sixteen starts two are invalid and two are canaries."""
    starts = list(benchmark.starts_of(ROOT / "docs" / "results" / "mariadb-tune-bolt-rich.jsonl.xz"))
    assert len(starts) == 12
    assert len({start.sitting for start in starts}) == 1
    groups = benchmark.groups_of(starts, benchmark.Quantity("", lambda _: 0.0))
    differences = [reading - sum(r for _, r in group) / len(group) for group in groups.values() for _, reading in group]
    assert benchmark.spread(groups) == pytest.approx((sum(d * d for d in differences) / (12 - len(groups))) ** 0.5)
    assert all(start.steal is not None and start.cached is None for start in starts)
    assert all(start.pages and start.pages[0].scatter_heap is None for start in starts), "older than that figure"


def test_what_the_base_cost_in_the_starts_beside_one_has_nothing_of_its_own(benchmark: ModuleType) -> None:
    """Above its load's mean; a start at the same moment shares the base's, and one of long ago is not beside."""
    moments = [Moment(t - 20, t, "") for t in (30.0, 60.0, 60.0, 90.0, 500.0)]
    kinds = ["point", "range", "range", "point", "point"]
    costs = [1.0, 5.0, 5.5, 3.0, 2.0]
    beside = benchmark.costs_beside(moments, kinds, costs)
    assert beside == [pytest.approx(-0.25), pytest.approx(-1.0), pytest.approx(1.0), pytest.approx(0.25), None]
    assert benchmark.costs_beside(moments[:2], kinds[:2], [None, 5.0]) == [0.0, None]
