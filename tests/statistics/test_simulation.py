"""Verdicts and intervals hold under noise of every kind (benchmarks/statistics_validation.py has the table)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from burnish.statistics import noise, simulation
from burnish.statistics.noise import Slots
from burnish.statistics.sequential import Rule
from burnish.statistics.simulation import Calibration

STUDIES = 8000
SLACK = 3.5 * math.sqrt(0.05 * 0.95 / STUDIES)  # 3.5 Monte Carlo standard errors of a share of 5 %


def drawn(kind: noise.Noise, effect: float = 0.0, starts: int = 12, slots: Slots = Slots.BALANCED) -> np.ndarray:
    return noise.readings(
        np.random.default_rng(20),
        kind,
        studies=STUDIES,
        starts=starts,
        pairs=3,
        effect=effect,
        sd_start=0.006,
        sd_pair=0.007,
        slots=slots,
    )


@pytest.mark.parametrize("kind", noise.NOISES, ids=lambda kind: kind.name)
@pytest.mark.parametrize("slots", [Slots.RANDOM, Slots.BALANCED])
def test_coverage_and_false_positives(kind: noise.Noise, slots: Slots) -> None:
    readings = drawn(kind, slots=slots)
    for starts in (4, 8, 12):
        fixed = simulation.rates(readings[:, :starts], 0.0, Rule.fixed(starts, delta=1e-9))
        assert fixed.covered >= 0.945 - SLACK
    sequential = simulation.rates(readings, 0.0, Rule(cap=12))
    assert sequential.covered >= 0.945 - SLACK
    assert sequential.different <= 0.05 + SLACK


def test_normal_noise_is_covered_as_often_as_it_says_and_no_more() -> None:
    readings = drawn(noise.NOISES[0], slots=Slots.RANDOM)
    for starts in (3, 6, 12):
        fixed = simulation.rates(readings[:, :starts], 0.0, Rule.fixed(starts, delta=1e-9))
        assert fixed.covered == pytest.approx(0.95, abs=SLACK)


@pytest.mark.parametrize("sd", [0.004, 0.0076])
def test_sides_that_differ_by_delta_are_seldom_called_equivalent(sd: float) -> None:
    readings = np.random.default_rng(1).normal(math.log(1.01), sd, (STUDIES, 12))
    assert simulation.rates(readings, math.log(1.01), Rule(cap=12)).equivalent <= 0.05 + SLACK


def test_fixed_slots_let_autocorrelated_noise_through_and_random_ones_do_not() -> None:
    kind = next(kind for kind in noise.NOISES if kind.name.startswith("autocorrelated"))
    alone = Rule(cap=12, delta=1e-9)
    assert simulation.rates(drawn(kind, slots=Slots.FIXED), 0.0, alone).different > 0.10
    assert simulation.rates(drawn(kind, slots=Slots.RANDOM), 0.0, alone).different <= 0.05 + SLACK


def test_a_slot_far_better_than_the_other_needs_balanced_slots() -> None:
    random = simulation.rates(drawn(noise.STRONG_OFFSET, slots=Slots.RANDOM), 0.0, Rule(cap=12))
    balanced = simulation.rates(drawn(noise.STRONG_OFFSET, slots=Slots.BALANCED), 0.0, Rule(cap=12))
    assert balanced.different <= 0.05 < random.different


def test_naive_looks_err_far_more_often() -> None:
    readings = drawn(noise.NOISES[0])
    assert simulation.naive_rates(readings, Rule(cap=12).looks) > 0.14
    assert simulation.naive_rates(readings, (12,)) == pytest.approx(0.05, abs=SLACK)


def test_five_per_cent_is_decided_within_three_starts_on_a_calibrated_host() -> None:
    readings = drawn(noise.NOISES[0], effect=math.log(1.05))
    sd = float(readings.std())
    host = Calibration(starts=12, sd=sd, canaries=4, sd_today=sd)
    prior = host.draw(np.random.default_rng(2), STUDIES)
    calibrated = simulation.rates(readings, math.log(1.05), Rule(cap=12), prior, host.starts)
    assert calibrated.within_three >= 0.95
    assert calibrated.faster > 0.999
    assert simulation.rates(readings, math.log(1.05), Rule(cap=12)).within_three < calibrated.within_three


@pytest.mark.parametrize(("misfit", "canaries"), [(0.7, 0), (1.0, 0), (2.0, 0), (3.0, 4)])
def test_the_fast_lane_keeps_false_positives_on_a_host_noisier_than_calibrated(misfit: float, canaries: int) -> None:
    readings = drawn(noise.NOISES[0])
    sd = float(readings.std())
    host = Calibration(starts=12, sd=sd / misfit, canaries=canaries, sd_today=sd)
    prior = host.draw(np.random.default_rng(3), STUDIES)
    alone = simulation.rates(readings, 0.0, Rule(cap=12, delta=1e-9), prior, host.starts)
    assert alone.different <= 0.05 + SLACK


def test_canaries_switch_the_lane_off_on_a_noisy_day() -> None:
    quiet = Calibration(starts=12, sd=0.01, canaries=4, sd_today=0.01)
    noisy = Calibration(starts=12, sd=0.01, canaries=4, sd_today=0.04)
    on = [simulation.fast_lane_share(host.draw(np.random.default_rng(4), 4000)) for host in (quiet, noisy)]
    assert on[0] > 0.95
    assert on[1] < 0.2


@pytest.mark.parametrize("precision", [0.0015, 0.002])
def test_so_they_do_where_a_side_is_several_times_slower(precision: float) -> None:
    """What is narrow enough then depends on the ratio that was read, which must not favour any."""
    effect = math.log(0.3)
    readings = drawn(noise.NOISES[0], effect=effect, starts=30, slots=Slots.RANDOM)
    result = simulation.rates(readings, effect, Rule(cap=30, precision=precision))
    assert result.covered >= 0.95 - SLACK
    assert 8 < result.mean_starts < 30, "it was the width that stopped them"


@pytest.mark.parametrize("precision", [0.005, 0.006])
def test_intervals_read_once_narrow_enough_cover_as_they_say(precision: float) -> None:
    readings = drawn(noise.NOISES[0], effect=0.03, starts=30, slots=Slots.RANDOM)
    corrected = simulation.rates(readings, 0.03, Rule(cap=30, precision=precision))
    plain, plain_starts = simulation.uncorrected_width_coverage(readings, 0.03, math.log1p(precision), 8)
    eager, _ = simulation.uncorrected_width_coverage(readings, 0.03, math.log1p(precision), 3)
    assert corrected.covered >= 0.95 - SLACK
    assert eager < plain < corrected.covered
    assert plain_starts < corrected.mean_starts < plain_starts * 1.4
