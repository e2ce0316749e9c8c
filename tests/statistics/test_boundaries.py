"""The constants that pay for repeated looks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from burnish.statistics import boundaries
from burnish.statistics.sequential import usual_looks

CAP_12 = (3, 4, 5, 6, 8, 10, 12)


def studies(looks: tuple[int, ...], repetitions: int = 40_000, seed: int = 7) -> np.ndarray:
    """p-values of plain t tests at the looks, for fresh studies without an effect."""
    readings = np.random.default_rng(seed).standard_normal((repetitions, looks[-1]))
    return np.column_stack([stats.ttest_1samp(readings[:, :look], 0.0, axis=1).pvalue for look in looks])


@pytest.mark.parametrize(("cap", "expected"), [(12, 0.0119), (30, 0.0079)])
def test_superiority_level_is_the_one_found_by_other_simulations(cap: int, expected: float) -> None:
    assert boundaries.superiority_level(usual_looks(cap), 0.05) == pytest.approx(expected, rel=0.05)


def test_superiority_level_keeps_alpha_on_fresh_studies_and_spends_nearly_all_of_it() -> None:
    level = boundaries.superiority_level(CAP_12, 0.05)
    called = (studies(CAP_12) <= level).any(axis=1).mean()
    assert 0.045 < called < 0.0525  # three Monte Carlo standard errors are 0.0033


def test_equivalence_level_keeps_alpha_on_one_side() -> None:
    looks = (4, 6, 8, 10, 12)
    readings = np.random.default_rng(3).standard_normal((40_000, 12))
    p = np.column_stack(
        [stats.ttest_1samp(readings[:, :look], 0.0, axis=1, alternative="less").pvalue for look in looks]
    )
    called = (p <= boundaries.equivalence_level(looks, 0.05)).any(axis=1).mean()
    assert 0.045 < called < 0.0535


def test_a_single_look_pays_nothing_and_more_looks_pay_more() -> None:
    assert boundaries.superiority_level((12,), 0.05) == 0.05
    levels = [boundaries.superiority_level(looks, 0.05) for looks in ((6, 12), CAP_12, usual_looks(30))]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] < 0.05


def test_a_level_far_out_falls_back_to_the_bound_over_looks() -> None:
    assert boundaries.superiority_level(CAP_12, 1e-5) == pytest.approx(1e-5 / 7)


def test_overall_p_undoes_the_level_and_never_exceeds_the_bound_over_looks() -> None:
    level = boundaries.superiority_level(CAP_12, 0.05)
    assert boundaries.overall_p(CAP_12, level) == pytest.approx(0.049, abs=0.0005)
    assert boundaries.overall_p(CAP_12, 1e-9) == pytest.approx(7e-9)
    assert boundaries.overall_p(CAP_12, 1.0) == 1.0
    assert boundaries.overall_p((8,), 0.03) == 0.03


@pytest.mark.parametrize("misfit", [1.0, boundaries.TOLERATED_MISFIT])
def test_the_fast_lane_keeps_its_share_up_to_the_tolerated_misfit(misfit: float) -> None:
    rng = np.random.default_rng(11)
    calibrated = rng.chisquare(11, 100_000) / 11
    readings = misfit * rng.standard_normal((100_000, 3))
    called = np.zeros(100_000, dtype=bool)
    factor = boundaries.fast_factor(12, 0.01)
    for starts in boundaries.FAST_LOOKS:
        used = readings[:, :starts]
        variance = boundaries.shrunk_variance(used.var(axis=1, ddof=1), starts, calibrated, 12)
        called |= np.abs(used.mean(axis=1)) > factor * np.sqrt(variance / starts)
    assert called.mean() < 0.0105
    if misfit == boundaries.TOLERATED_MISFIT:
        assert called.mean() > 0.008


def test_a_longer_calibration_makes_the_fast_lane_faster() -> None:
    assert boundaries.fast_factor(30, 0.01) < boundaries.fast_factor(12, 0.01)
    assert boundaries.fast_factor(12, 0.0001) > boundaries.fast_factor(12, 0.01)


def test_fast_p_undoes_the_factor_and_its_bound_takes_over_smoothly() -> None:
    assert boundaries.fast_p(12, boundaries.fast_factor(12, 0.01)) == pytest.approx(0.0095, abs=0.0006)
    steps = [boundaries.fast_p(12, largest) for largest in np.linspace(0.5, 40.0, 80)]
    assert all(later <= earlier for earlier, later in pairwise(steps))
    assert steps[-1] < 1e-8


def test_shrunk_variance_weighs_by_degrees_of_freedom() -> None:
    own, calibrated = np.array([4.0]), np.array([1.0])
    expected = (11 * 1.5**2 * 1.0 + 2 * 4.0) / 13
    assert boundaries.shrunk_variance(own, 3, calibrated, 12)[0] == pytest.approx(expected)


def test_width_level_is_stricter_the_more_ends_there_are() -> None:
    levels = [boundaries.width_level(8, cap, 0.05) for cap in (8, 10, 15, 30)]
    assert levels[0] == 0.05
    assert levels == sorted(levels, reverse=True)
    assert boundaries.width_level(3, 30, 0.05) < boundaries.width_level(8, 30, 0.05)


def test_width_p_is_alpha_at_the_width_level() -> None:
    level = boundaries.width_level(8, 30, 0.05)
    assert boundaries.width_p(8, 30, 0.05, level) == pytest.approx(0.05, abs=0.001)
    assert boundaries.width_p(8, 30, 0.05, 1.0) == 1.0
    assert boundaries.width_p(8, 8, 0.05, 0.02) == 0.02
