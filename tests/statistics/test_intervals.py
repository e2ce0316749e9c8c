"""Readings, fixed intervals, and the lines beside them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from burnish.statistics.intervals import Interval, fixed_interval, start_reading
from burnish.statistics.sensitivity import hodges_lehmann, sensitivity, trimmed_mean

READINGS = [0.021, 0.018, 0.026, 0.019, 0.024, 0.017, 0.022, 0.020]


def test_a_disturbed_pair_does_not_move_a_start() -> None:
    assert start_reading([0.010, 0.012, 0.900]) == 0.012
    assert start_reading([0.010, 0.020]) == pytest.approx(0.015)
    with pytest.raises(ValueError, match="without a pair"):
        start_reading([])


def test_fixed_interval_is_students() -> None:
    interval = fixed_interval(READINGS, 0.9)
    low, high = stats.t.interval(0.9, 7, np.mean(READINGS), stats.sem(READINGS))
    assert interval.ratio == pytest.approx(math.exp(np.mean(READINGS)))
    assert (interval.low, interval.high) == pytest.approx((math.exp(low), math.exp(high)))
    assert interval.half_width == pytest.approx((high - low) / 2)
    with pytest.raises(ValueError, match="at least 2 starts, there are 1"):
        fixed_interval([0.1])


def test_swapping_the_sides_inverts_the_interval() -> None:
    there, back = fixed_interval(READINGS), fixed_interval([-x for x in READINGS])
    assert back.low == pytest.approx(1 / there.high)
    assert back.ratio == pytest.approx(1 / there.ratio)


def test_what_an_interval_says() -> None:
    assert Interval(1.02, 1.01, 1.03, 0.95).excludes_one
    assert Interval(0.98, 0.97, 0.99, 0.95).excludes_one
    assert not Interval(1.0, 0.99, 1.01, 0.95).excludes_one
    assert Interval(1.0, 0.995, 1.005, 0.9).within(0.01)
    assert not Interval(1.0, 0.995, 1.0101, 0.9).within(0.01)
    unknown = Interval.from_log(0.1, math.inf, 0.95)
    assert (unknown.low, unknown.high, unknown.half_width) == (0.0, math.inf, math.inf)


def test_trimmed_mean_ignores_wild_starts_and_agrees_with_yuens_formula() -> None:
    wild = [*READINGS[:-1], 3.0]
    line = trimmed_mean(wild)
    assert line is not None
    assert line.ratio == pytest.approx(math.exp(np.mean(sorted(wild)[1:-1])))
    assert line.high < 1.1 < fixed_interval(wild).high
    clipped = np.clip(wild, sorted(wild)[1], sorted(wild)[-2])
    error = math.sqrt(7 * clipped.var(ddof=1) / (6 * 5))
    assert line.half_width == pytest.approx(stats.t.ppf(0.975, 5) * error)
    assert trimmed_mean([0.1, 0.2, 0.3]) is None


def test_hodges_lehmann_inverts_the_signed_rank_test() -> None:
    line = hodges_lehmann(READINGS)
    assert line is not None
    inside, outside = math.log(line.low) + 1e-9, math.log(line.low) - 1e-9
    assert stats.wilcoxon(np.array(READINGS) - inside, method="exact").pvalue > 0.05
    assert stats.wilcoxon(np.array(READINGS) - outside, method="exact").pvalue <= 0.05


def test_no_ranks_below_six_starts() -> None:
    assert hodges_lehmann(READINGS[:5]) is None
    assert hodges_lehmann(READINGS[:6]) is not None
    assert [name for name, _ in sensitivity(READINGS[:5])] == ["trimmed mean (20 % off each end)"]
    assert len(sensitivity(READINGS)) == 2
    assert sensitivity(READINGS[:3]) == []
