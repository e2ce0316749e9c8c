"""What A/A starts say of a host: spreads, minutes, δ."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from burnish.model.workload import Design, Timing
from burnish.statistics import calibration
from burnish.statistics.calibration import Calibration

TIMING = Timing(settle=0.05, window=0.25, warmup=2.0, pairs=3, turns=8)


@dataclass(frozen=True)
class Read:
    """Simulated A/A starts."""

    readings: dict[str, list[float]]
    pair_ratios: list[list[tuple[float, float]]]
    seconds: list[float]


def starts(sd_start: float, sd_pair: float, count: int = 400, shift: float = 0.0, seconds: float = 12.4) -> Read:
    chance = np.random.default_rng(7)
    luck = chance.normal(shift, sd_start, (count, 1, 1))
    pairs = luck + chance.normal(0.0, sd_pair, (count, 3, 2)) * [1.0, 2.0]
    read = np.median(pairs, axis=1)
    readings = {"capacity": read[:, 0].tolist(), "throughput": read[:, 1].tolist()}
    return Read(readings, pairs.tolist(), [seconds] * count)


def calibrated(read: Read, design: Design = Design.DUET, headline: str = "capacity") -> Calibration:
    return calibration.calibrate(
        read.readings,
        read.pair_ratios,
        read.seconds,
        engine="fake",
        workload="w",
        design=design,
        headline=headline,
        host="a host",
        timing=TIMING,
        at="2026-01-02T03:04:05Z",
    )


def test_both_components_are_found_for_both_quantities() -> None:
    result = calibrated(starts(0.006, 0.007))
    assert result.capacity.sd_start == pytest.approx(0.006, rel=0.15)
    assert result.capacity.sd_pair == pytest.approx(0.007, rel=0.1)
    assert result.throughput.sd_pair == pytest.approx(0.014, rel=0.1)
    assert result.capacity.sd_reading == pytest.approx(math.hypot(0.006, 0.007 * 0.67), rel=0.1)
    assert result.passes
    assert result.pair_seconds == pytest.approx(2.4)
    assert result.start_seconds == pytest.approx(12.4 - 3 * 2.4)


def test_where_a_pair_is_all_that_a_start_has_the_spread_is_the_starts() -> None:
    read = starts(0.006, 0.007)
    result = calibrated(Read(read.readings, [pairs[:1] for pairs in read.pair_ratios], read.seconds))
    assert result.capacity.sd_pair == 0.0
    assert result.capacity.sd_start == result.capacity.sd_reading == pytest.approx(0.0076, rel=0.1)
    assert result.best_pairs == 1


def test_more_pairs_where_they_scatter_more_than_starts() -> None:
    assert calibrated(starts(0.02, 0.002)).best_pairs == 1
    assert calibrated(starts(0.0, 0.02)).best_pairs == 4


def test_a_host_that_sees_a_difference_where_there_is_none_fails() -> None:
    assert not calibrated(starts(0.005, 0.005, count=12, shift=0.02)).passes
    assert calibrated(starts(0.005, 0.005, count=12)).passes


def test_what_it_promises_is_what_so_many_starts_find() -> None:
    """±x in so many minutes: as many starts as fit there give that half-width."""
    result = calibrated(starts(0.006, 0.007))
    minutes = calibration.minutes_for(result, 0.005)
    cost = result.start_seconds + result.best_pairs * result.pair_seconds
    sd = result.prior(result.best_pairs).sd
    count = minutes * 60 / cost
    assert 2.0 * sd / math.sqrt(count) == pytest.approx(0.005, rel=0.15)
    ratios = dict(result.differences)
    assert ratios[1] > ratios[5] > ratios[20] > 1.0


def test_where_the_host_stood_still_no_time_is_enough() -> None:
    assert calibration.minutes_for(calibrated(starts(40.0, 40.0)), 0.005) == math.inf


@pytest.mark.parametrize(("sd", "delta"), [(0.0005, 0.0025), (0.012, 0.005), (0.025, 0.01), (0.5, 0.05)])
def test_the_delta_within_reach_grows_with_the_noise(sd: float, delta: float) -> None:
    assert calibration.recommended_delta(sd, 13.0) == delta


def test_a_prior_for_another_number_of_pairs() -> None:
    result = calibrated(starts(0.0, 0.01))
    assert result.prior(3).sd == result.capacity.sd_reading
    assert result.prior(1).sd == pytest.approx(0.01, rel=0.1)
    assert result.prior(3).starts == 400
    assert result.fits(replace(TIMING, pairs=1))
    assert not result.fits(replace(TIMING, window=0.5))


def test_the_quieter_design_is_recommended_unless_it_fails() -> None:
    quiet, loud = calibrated(starts(0.003, 0.003)), calibrated(starts(0.03, 0.03), Design.SOLO, "throughput")
    assert calibration.recommended([loud, quiet]) is quiet
    loud = replace(loud, throughput=replace(loud.throughput, low=0.9, high=1.1))
    failing = replace(quiet, capacity=replace(quiet.capacity, low=1.01))
    assert calibration.recommended([loud, failing]) is loud


def test_no_more_pairs_than_a_precision_needs() -> None:
    result = calibrated(starts(0.001, 0.0114))
    assert result.best_pairs == 4
    assert calibration.pairs_for(result, None, 8) == 4
    assert calibration.pairs_for(result, 0.0001, 8) == 4, "out of reach: the best number"
    few = calibration.pairs_for(result, 0.01, 8)
    assert 1 < few < 4
    assert calibration.pairs_for(result, 0.05, 8) == 1
    assert 2.36 * result.prior(few).sd / math.sqrt(8) < 0.01 / 1.4, "with room for a noisier hour"


def test_it_survives_being_written_down() -> None:
    result = calibrated(starts(0.006, 0.007))
    assert calibration.from_dict(json.loads(json.dumps(result.as_dict()))) == result
