"""A start is corrected for what the baseline's transactions cost then, so that builds are compared on one host."""

from __future__ import annotations

import math
import random
import statistics

import pytest

from burnish.search.asks import Ask, Objective, Told
from burnish.search.book import Book
from burnish.search.host_cost import HostCost
from burnish.search.space import Point
from burnish.statistics.sequential import Rule


def starts(
    chance: random.Random, number: int, gain: float = 0.3, slope: float = 0.15, dear: float = 0.0
) -> list[tuple[float, float]]:
    """Costs differ by 10 % from start to start; ratios go with them by `slope` and scatter by 0.5 % besides."""
    costs = [-8 + dear + chance.gauss(0, 0.1) for _ in range(number)]
    return [(cost, gain + slope * (cost + 8) + chance.gauss(0, 0.005)) for cost in costs]


def test_the_slope_is_found_and_what_it_moves_removed() -> None:
    chance = random.Random(1)
    groups = {load: [starts(chance, 4, gain) for gain in (0.1, 0.2, 0.3)] for load in ("one", "two")}
    found = HostCost.of(groups)
    assert found.slope == pytest.approx(0.15, abs=0.02)
    assert found.removed > 0.5
    corrected = found.corrected("one", groups["one"][0])
    assert statistics.stdev(corrected) < 0.4 * statistics.stdev(reading for _, reading in groups["one"][0])
    change = f"{100 * math.expm1(found.slope * math.log(1.1)):+.1f} %"
    assert found.words.startswith("corrected for the host: where the baseline's transactions cost 10 % more")
    assert f"ratios are {change}; " in found.words


@pytest.mark.parametrize(
    ("builds", "number", "slope"),
    [(3, 8, 0.0), (2, 3, 0.15)],
    ids=["ratios do not go with the cost", "too few starts to be certain"],
)
def test_without_a_certain_slope_nothing_is_changed(builds: int, number: int, slope: float) -> None:
    chance = random.Random(2)
    some = [starts(chance, number, slope=slope) for _ in range(builds)]
    found = HostCost.of({"one": some})
    assert (found.slope, found.words) == (0.0, "")
    assert found.corrected("one", some[0]) == tuple(reading for _, reading in some[0])


def test_a_builds_own_gain_is_not_in_the_slope() -> None:
    """The faster build was measured in the dearer hours."""
    chance = random.Random(3)
    found = HostCost.of({"one": [starts(chance, 8, 0.1, 0.0), starts(chance, 8, 0.3, 0.0, dear=0.3)]})
    assert found.slope == 0.0


def entered(known: bool) -> Book:
    """Of two builds the slower one had its starts in the dearer hour."""
    chance, book = random.Random(4), Book(Objective({"one": 1.0}), Rule())
    for number, (gain, dear) in enumerate([(0.30, 0.0), (0.28, 0.3)]):
        made = starts(chance, 8, gain, dear=dear)
        costs = {"one": tuple(cost for cost, _ in made)} if known else {}
        told = Told({"one": tuple(reading for _, reading in made)}, costs=costs)
        book.enter(Ask(number + 1, Point((("flag", str(number)),)), 8, "race", ""), told)
    return book


def test_builds_are_compared_as_on_one_host() -> None:
    best = entered(known=False).allowed[0]
    assert best is not None
    assert dict(best.point.settings) == {"flag": "1"}, "the hour, not the build"
    book = entered(known=True)
    best = book.allowed[0]
    assert best is not None
    assert dict(best.point.settings) == {"flag": "0"}
    one, other = book.measured
    assert one.mean - other.mean == pytest.approx(0.02, abs=0.006)


def test_readings_are_kept_as_they_were_and_a_confirmation_is_not_corrected() -> None:
    book = entered(known=True)
    raw = entered(known=False)
    assert [arm.readings for arm in book.arms.values()] == [arm.readings for arm in raw.arms.values()]
    point = next(iter(book.arms))
    before = [arm.scores for arm in book.arms.values()]
    book.enter(Ask(9, point, 2, "confirm", "", fresh=True), Told({"one": (0.5, 0.6)}, costs={"one": (-7.0, -7.0)}))
    assert book.arms[point].fresh == (0.5, 0.6)
    assert [arm.scores for arm in book.arms.values()] == before


def test_starts_of_unknown_cost_are_not_corrected() -> None:
    book = entered(known=True)
    book.enter(Ask(9, Point((("flag", "2"),)), 2, "race", ""), Told({"one": (0.2, 0.4)}))
    assert book.arms[Point((("flag", "2"),))].scores == (0.2, 0.4)
    assert book.host.slope > 0.1
