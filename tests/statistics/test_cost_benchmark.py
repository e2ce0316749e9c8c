"""`benchmarks/sittings.py`: what transactions cost in a start explains its ratio, and corrects it out of sample."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

import pytest

from benchmark_scripts import benchmark_script
from burnish.model.sittings import Moment


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return benchmark_script("sittings")


def drawn(script: ModuleType, slope: float, seed: int = 1) -> list[Any]:
    """Eight comparisons of other builds, each in four sittings of ten starts: hosts are dearer by 10 % from sitting to
    sitting and by 5 % from start to start, ratios go with that by `slope`, and scatter by 1 % besides."""
    chance, found = random.Random(seed), []
    for number in range(8):
        sittings = []
        for hour in range(4):
            sitting, starts = chance.gauss(0, 0.1), []
            for _ in range(10):
                cost = -8 + sitting + chance.gauss(0, 0.05)
                reading = 0.2 + slope * cost + chance.gauss(0, 0.01)
                starts.append(script.Start(Moment(hour, hour + 1, ""), reading, 1.0, True, None, cost))
            sittings.append(script.Sitting(starts))
        found.append(script.Comparison(str(number), (f"base{number}", f"one{number}", "w"), True, None, sittings))
    return found


def test_what_a_transaction_costs_explains_ratios_and_what_is_between_sittings(script: ModuleType) -> None:
    every = drawn(script, 0.15)
    found = script.within(every)
    assert found.count == 320
    assert found.slope == pytest.approx(0.15, abs=3 * found.error)
    assert found.error < 0.02
    before, left = script.spread(every), script.spread(script.at_mean_cost(every))
    assert before.sd == pytest.approx(0.015, abs=0.005)
    assert left.sd < before.sd / 3


def test_where_ratios_do_not_go_with_costs_nothing_is_removed(script: ModuleType) -> None:
    every = drawn(script, 0.0)
    found = script.within(every)
    assert abs(found.slope) < 3 * found.error
    assert found.removed < 0.02
    assert script.spread(script.at_mean_cost(every)).sd == pytest.approx(script.spread(every).sd, abs=0.002)


def test_a_comparison_is_corrected_by_the_starts_of_other_builds_alone(script: ModuleType) -> None:
    one, *others = drawn(script, 0.0)
    steep = drawn(script, 0.5)[0]
    corrected = script.at_mean_cost([steep, *others])[0]
    assert script.spread([corrected]).sd == pytest.approx(script.spread([steep]).sd, rel=0.1), "theirs have no slope"
    assert script.at_mean_cost([one])[0] is one, "no others"


def test_costs_that_never_differ_tell_nothing(script: ModuleType) -> None:
    start = script.Start(Moment(0, 1, ""), 0.1, 1.0, True, None, -8.0)
    same = script.Comparison("", ("a", "b", "w"), True, None, [script.Sitting([start] * 8)] * 2)
    assert script.within([same]) is None
    assert script.within([]) is None


@pytest.mark.parametrize(("common", "low", "high"), [(True, 0.0, 0.35), (False, 1.2, 1.6)])
def test_what_loads_share_of_a_sitting_is_seen_in_their_difference(
    script: ModuleType, common: bool, low: float, high: float
) -> None:
    """Two loads that move by 2 % from sitting to sitting, together or each by itself."""
    chance, starts = random.Random(2), {}
    for number in range(10):
        readings: dict[str, list[Any]] = {"a": [], "b": []}
        for hour in range(4):
            both = chance.gauss(0, 0.02)
            for some in readings.values():
                moved = both if common else chance.gauss(0, 0.02)
                moments = [Moment(36000 * hour + second, 36000 * hour + second + 1, "") for second in range(8)]
                some += [script.Start(each, 0.2 + moved + chance.gauss(0, 0.003), 1.0, True, None) for each in moments]
        starts |= {(f"base{number}", "one", load, "duet", "cpu"): (load, some) for load, some in readings.items()}
    apart, each = script.of_loads(starts, "duet")
    assert (apart.comparisons, apart.sittings) == (10, 40)
    assert low <= apart.sd / each.sd <= high
    assert script.of_loads(starts, "interleaved") is None
