"""A bound on a loss: who is at the bound is failed or passed by chance in at most one of 20 checks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from burnish.statistics.bounds import ALPHA, Side, against, needed

STARTS, CHECKS, SD = 8, 4000, 0.01


def drawn(mean: float, loads: int = 1) -> np.ndarray:
    """Readings of many checks: starts of each load around a true log-ratio."""
    return np.random.default_rng(7).normal(mean, SD, (CHECKS, loads, STARTS))


def sides(mean: float, slower: float, loads: int = 1) -> list[list[Side]]:
    return [[against(list(load), slower, loads).side for load in check] for check in drawn(mean, loads)]


@pytest.mark.parametrize("loads", [1, 4])
def test_a_pair_at_the_bound_fails_by_chance_in_one_of_twenty_however_many_loads(loads: int) -> None:
    failed = sum(Side.BEYOND in check for check in sides(math.log(0.99), 0.01, loads)) / CHECKS
    assert failed <= ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / CHECKS)
    if loads == 1:
        assert failed >= ALPHA - 3 * math.sqrt(ALPHA * (1 - ALPHA) / CHECKS), "the test has its level"


def test_a_pair_at_the_bound_passes_by_chance_in_one_of_twenty() -> None:
    passed = sum(set(check) == {Side.WITHIN} for check in sides(math.log(0.99), 0.01)) / CHECKS
    assert abs(passed - ALPHA) <= 3 * math.sqrt(ALPHA * (1 - ALPHA) / CHECKS)


def test_what_is_clear_is_said() -> None:
    assert sum(check == [Side.WITHIN] for check in sides(0.01, 0.01)) / CHECKS > 0.95
    assert sum(check == [Side.BEYOND] for check in sides(math.log(0.96), 0.01)) / CHECKS > 0.95
    found = against([math.log(0.95) + step / 1000 for step in range(-4, 4)], 0.01)
    assert found.side is Side.BEYOND
    assert found.interval is not None
    assert found.interval.high < 0.99


def test_too_few_starts_say_nothing() -> None:
    assert against([-0.5, -0.5], 0.01).side is Side.UNDECIDED
    assert against([], 0.01).interval is None


def test_how_many_starts_would_tell() -> None:
    near = [math.log(0.985) + step / 100 for step in (-1, 1, -1, 1)]
    far = [math.log(0.95) + step / 100 for step in (-1, 1, -1, 1)]
    few, many = needed(far, 0.01), needed(near, 0.01)
    assert few is not None
    assert many is not None
    assert few < many
    assert needed([math.log(0.99)] * 2, 0.01) is None
