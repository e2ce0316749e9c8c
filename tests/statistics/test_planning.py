"""Variance components and what an interval costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from burnish.statistics import planning
from burnish.statistics.planning import Components, best_pairs, variance_components


def test_components_are_recovered() -> None:
    rng = np.random.default_rng(2)
    table = rng.normal(0, 0.006, (4000, 1)) + rng.normal(0, 0.009, (4000, 3))
    result = variance_components(table.tolist())
    assert result.sd_start == pytest.approx(0.006, rel=0.05)
    assert result.sd_pair == pytest.approx(0.009, rel=0.03)
    assert (result.starts, result.pairs) == (4000, 12000)


def test_components_of_unequal_starts_by_hand() -> None:
    result = variance_components([[1.0, 3.0], [6.0, 8.0, 10.0], [2.0]])
    # Within: (2 + 8) / 3. Between: (2*9 + 3*9 + 1*9) / 2 about the grand mean of 5; n0 = (6 - 14/6) / 2.
    assert result.sd_pair**2 == pytest.approx(10 / 3)
    assert result.sd_start**2 == pytest.approx((27 - 10 / 3) / ((6 - 14 / 6) / 2))


def test_components_never_negative_and_refuse_too_little() -> None:
    assert variance_components([[0.0, 2.0], [2.0, 0.0]]).sd_start == 0.0
    for too_little in ([[1.0, 2.0]], [[1.0], [2.0]], []):
        with pytest.raises(ValueError, match="at least 2 starts"):
            variance_components(too_little)


@pytest.mark.parametrize(
    ("sd_pair", "sd_start", "cost_start", "cost_pair", "expected"),
    [(0.7, 0.6, 8, 4, 2), (1.5, 0.5, 8, 4, 4), (0.3, 0.6, 8, 4, 1), (0.7, 0.0, 8, 4, 4), (0.7, 0.6, 24, 4, 3)],
)
def test_best_pairs_follows_the_optimum(
    sd_pair: float, sd_start: float, cost_start: float, cost_pair: float, expected: int
) -> None:
    assert best_pairs(Components(sd_pair, sd_start, 12, 36), cost_start, cost_pair) == expected
    if sd_start > 0:
        optimum = math.sqrt(cost_start * sd_pair**2 / (cost_pair * sd_start**2))
        assert abs(min(max(optimum, 1.0), 4.0) - expected) < 1.0


def test_spread_of_a_reading_is_that_of_medians() -> None:
    components = Components(0.007, 0.006, 12, 36)
    rng = np.random.default_rng(9)
    simulated = rng.normal(0, 0.006, 100_000) + np.median(rng.normal(0, 0.007, (100_000, 3)), axis=1)
    assert components.sd_reading(3) == pytest.approx(simulated.std(), rel=0.01)
    assert planning.median_variance(2) == pytest.approx(0.5, rel=0.01)
    with pytest.raises(ValueError, match="at least 1 pair"):
        components.sd_reading(0)


def test_starts_needed_is_the_fewest() -> None:
    for sd, half in ((0.0076, 0.005), (0.0076, 0.0025), (0.02, 0.005), (0.001, 0.1)):
        starts = planning.starts_needed(sd, half)
        assert planning.half_width_after(sd, starts) <= half
        assert starts == 2 or planning.half_width_after(sd, starts - 1) > half
    assert planning.half_width_after(0.01, 1) == math.inf
    with pytest.raises(ValueError, match="above 0"):
        planning.starts_needed(0.01, 0.0)
    with pytest.raises(ValueError, match="more than"):
        planning.starts_needed(10.0, 1e-4)


def test_smallest_difference_is_found_with_its_power() -> None:
    difference = planning.smallest_difference(1.0, 8)
    readings = np.random.default_rng(5).normal(difference, 1.0, (40_000, 8))
    result = (stats.ttest_1samp(readings, 0.0, axis=1).pvalue <= 0.05).mean()
    assert result == pytest.approx(0.8, abs=0.01)
    assert planning.smallest_difference(1.0, 1) == math.inf


def test_equivalence_power_matches_simulation() -> None:
    power = planning.equivalence_power(0.007, 8, 0.01)
    readings = np.random.default_rng(6).normal(0.0, 0.007, (40_000, 8))
    half = stats.t.ppf(0.95, 7) * stats.sem(readings, axis=1)
    assert power == pytest.approx((np.abs(readings.mean(axis=1)) + half < 0.01).mean(), abs=0.01)
    assert planning.equivalence_power(0.0, 3, 0.01) == 1.0
    assert planning.equivalence_power(0.007, 1, 0.01) == 0.0


def test_fresh_layouts_that_a_claim_about_a_flag_needs() -> None:
    both_sides = math.sqrt(2) * 0.005  # each side is linked afresh, with a layout spread of 0.5 %
    assert planning.starts_for_equivalence(both_sides, 0.01) == 6
    assert planning.starts_for_equivalence(both_sides, 0.005) in (18, 19)
