"""The drift within starts: found where there is one, silent where there is none, and rarely found by chance."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.statistics.drift import Drift, drift

Numbered = list[list[tuple[int, float]]]


def starts(rng: np.random.Generator, step: float, count: int = 8, pairs: int = 3) -> Numbered:
    """Starts that differ by 0.6 % each, with pairs that scatter by 0.1 % and drift by `step` from one to the next."""
    levels = rng.normal(0.1, 0.006, count)
    return [[(n, level + step * n + rng.normal(0, 0.001)) for n in range(1, pairs + 1)] for level in levels]


def found(made: Numbered) -> Drift:
    result = drift(made)
    assert result is not None
    return result


def test_a_drift_is_found_whatever_starts_differ_by() -> None:
    down = found(starts(np.random.default_rng(3), -0.004))
    assert down.change == pytest.approx(-0.008, abs=0.001), "over the two steps of a start"
    assert down.p < 1e-4
    assert (down.starts, down.matters) == (8, True)


def test_no_drift_is_called_one_by_no_more_than_chance() -> None:
    rng = np.random.default_rng(5)
    called = sum(found(starts(rng, 0.0)).p < 0.01 for _ in range(1000))
    assert called <= 22, "1 % of 1000, and four standard deviations"


def test_a_small_drift_does_not_matter_however_sure_it_is() -> None:
    sure = found(starts(np.random.default_rng(7), 0.0005, count=200))
    assert sure.p < 0.01
    assert not sure.matters


def test_excluded_pairs_leave_a_gap() -> None:
    """The second of three is excluded: the slope is by the pairs' numbers, not by their places."""
    gaps = [[(1, level), (3, level - 0.01)] for level in (0.1, 0.11, 0.12)]
    assert found(gaps).change == pytest.approx(-0.01)
    assert found(gaps).p < 1e-9


def test_too_few_starts_of_several_pairs_tell_nothing() -> None:
    assert drift([[(1, 0.1)]] * 8) is None
    assert drift([[(1, 0.1), (2, 0.2)]] * 2) is None
    assert drift([]) is None
    assert found([[(1, 0.1), (2, 0.1)]] * 3).p == 1.0
