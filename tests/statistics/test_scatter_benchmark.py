"""benchmarks/scatter.py takes a start's spread apart, and finds a slot that is worth something."""

from __future__ import annotations

import random
from types import ModuleType

import pytest

from benchmark_scripts import benchmark_script


@pytest.fixture
def benchmark() -> ModuleType:
    return benchmark_script("scatter")


def test_slots_pairs_and_the_rest_are_told_apart(benchmark: ModuleType) -> None:
    """Two cells of other means; being launched first is worth -2 %, a start 1 % (spread), a pair 0.5 %."""
    chance = random.Random(1)
    starts = []
    for number in range(400):
        had = tuple(chance.choice((1.0, -1.0)) for _ in range(3))
        mean = 0.3 * (number % 2) - 0.02 * had[0] + chance.gauss(0, 0.01)
        pairs = tuple(mean + chance.gauss(0, 0.005) for _ in range(2))
        starts.append(benchmark.Start(f"cell {number % 2}", sum(pairs) / 2, pairs, had, dropped=True))
    found = benchmark.scatter(starts)
    assert found.starts == 400
    assert found.pair == pytest.approx(0.005, rel=0.15)
    assert found.between == pytest.approx((0.01**2 + 0.02**2) ** 0.5, rel=0.15)
    assert found.left == pytest.approx((0.01**2 + 0.005**2 / 2) ** 0.5, rel=0.15)
    (launch, error), (cores, _), (data, _) = found.slots
    assert launch == pytest.approx(-0.02, abs=4 * error)
    assert abs(cores) < 4 * error
    assert abs(data) < 4 * error
    assert error == pytest.approx(found.left / 20, rel=0.1)


def test_too_few_starts_tell_nothing(benchmark: ModuleType) -> None:
    one = benchmark.Start("cell", 0.0, (), (1.0, -1.0, 1.0), dropped=False)
    assert benchmark.scatter([one] * 5) is None
