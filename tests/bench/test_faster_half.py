"""The faster half of each side's turns: a ratio that bursts of a server's own work can't move."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import replace

import pytest

from burnish.bench.quantities import FEWEST_TURNS, faster_half
from burnish.bench.readings import Reading, pair_ratio


def turn(done: float, cpu: float = 1.0) -> Reading:
    return Reading(seconds=1.0, done=done, errors=0, server_cpu=cpu, client_cpu=0.1)


def bursts(chance: random.Random, pace: float, turns: int = 40) -> list[Reading]:
    """Turns of a server that does something else in a quarter of them, and then finishes a third of its requests."""
    return [
        turn(pace * math.exp(chance.gauss(0.0, 0.1)) * (1 / 3 if chance.random() < 0.25 else 1.0)) for _ in range(turns)
    ]


def test_bursts_scatter_the_middle_and_not_the_faster_half() -> None:
    chance = random.Random(7)
    middle, faster = [], []
    for _ in range(400):
        baseline, candidate = bursts(chance, 1000.0), bursts(chance, 1200.0)
        middle.append(pair_ratio(baseline, candidate, 1).capacity)
        faster.append(faster_half(baseline, candidate, 1)["capacity"])
    spread = statistics.stdev(faster)
    assert statistics.fmean(faster) == pytest.approx(math.log(1.2), abs=4 * spread / 20), "and has no bias"
    assert spread < 0.5 * statistics.stdev(middle)


@pytest.mark.parametrize("shuffled", [False, True])
def test_each_side_has_a_faster_half_of_its_own(shuffled: bool) -> None:
    baseline = [turn(done, cpu) for done, cpu in ((100, 1.0), (50, 1.0), (100, 0.5), (100, 4.0)) * 2]
    candidate = [replace(item, done=2 * item.done, seconds=4.0) for item in (baseline[::-1] if shuffled else baseline)]
    found = faster_half(baseline, candidate, 1)
    assert found["capacity"] == pytest.approx(math.log(2))
    assert found["throughput"] == pytest.approx(math.log(0.5))


def test_statements_are_compared_where_both_sides_count_them() -> None:
    waves = [replace(turn(done), steps=500.0) for done in (0, 160, 1, 90) * 2]
    even = [replace(item, steps=550.0) for item in waves]
    assert faster_half(waves, even, 1)["throughput"] == pytest.approx(math.log(1.1))


@pytest.mark.parametrize(
    ("baseline", "places"),
    [
        ([turn(100)] * (FEWEST_TURNS - 1), 1),
        ([turn(100)] * FEWEST_TURNS, 2),
        ([turn(0)] * FEWEST_TURNS, 1),
    ],
)
def test_with_few_turns_or_in_a_duet_there_is_none(baseline: Sequence[Reading], places: int) -> None:
    assert faster_half(baseline, baseline, places) == {}


def test_a_turn_in_which_nothing_was_finished_is_the_slowest() -> None:
    turns = [turn(done) for done in (90, 0, 110, 100, 0, 120, 95, 130)]
    found = faster_half(turns, [replace(item, done=1.5 * item.done) for item in turns[::-1]], 1)
    assert found == pytest.approx({"capacity": math.log(1.5), "throughput": math.log(1.5)})
