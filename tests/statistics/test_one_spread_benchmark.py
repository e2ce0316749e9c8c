"""`benchmarks/sittings.py --one-spread`: whether recorded sittings could have a given spread between them."""

from __future__ import annotations

import math
import statistics
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from benchmark_scripts import benchmark_script
from burnish.model.sittings import Moment, Spread, SpreadKind

SCATTER = (-0.001, 0.0, 0.001)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return benchmark_script("sittings")


def comparison(script: ModuleType, name: str, *means: float) -> Any:
    def sitting(mean: float) -> Any:
        readings = (mean + scatter for scatter in SCATTER)
        starts = [script.Start(Moment(0.0, 1.0, ""), value, 1.0, True, SpreadKind.PROFILED) for value in readings]
        return script.Sitting(starts)

    return script.Comparison(name, ("base", name, "load"), True, SpreadKind.PROFILED, [sitting(mean) for mean in means])


def test_squares_are_those_of_the_q_statistic(script: ModuleType) -> None:
    some = [comparison(script, "one", 0.02, 0.04), comparison(script, "two", 0.1, 0.1, 0.1)]
    q, df = script.squares(some, 0.01)
    assert (q, df) == (pytest.approx(2 * 0.01**2 / (0.01**2 + 0.001**2 / 3)), 3)


def test_drawn_sittings_have_the_spread_and_the_noise_of_their_starts(script: ModuleType) -> None:
    one = comparison(script, "one", *[0.05] * 2000)
    (made,) = script.drawn([one], 0.01, np.random.default_rng(1))
    assert statistics.stdev(sitting.known.mean for sitting in made.sittings) == pytest.approx(0.01, rel=0.05)
    variances = [sitting.known.variance for sitting in made.sittings]
    assert math.sqrt(statistics.fmean(variances) * len(SCATTER)) == pytest.approx(0.001, rel=0.05)


def test_intervals_hold_the_mean_of_the_others(script: ModuleType) -> None:
    spread = Spread(0.01, 1000.0, "")
    assert script._held(comparison(script, "one", 0.0, 0.001), spread) == [0, 1]
    assert script._held(comparison(script, "one", 0.0, 0.05), spread) == []
    assert script._held(comparison(script, "one", 0.0, 0.0, 0.05), spread) == [], "of three, two agree and one is far"
    few = [comparison(script, "one", 0.0, 0.001), comparison(script, "two", 0.0, 0.1)]
    assert script.holding(few) == 2, "with too few others by the spread that reports assume"
