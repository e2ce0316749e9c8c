"""Several cells as one: what their intervals hold, by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from burnish.statistics.intervals import Interval, fixed_interval
from burnish.statistics.means import geometric_mean, mean_over_loads, quotient

STUDIES = 2000


def test_a_quotient_has_both_spreads_in_it() -> None:
    one = Interval(1.10, 1.10 / 1.03, 1.10 * 1.03, 0.95)
    other = Interval(1.20, 1.20 / 1.04, 1.20 * 1.04, 0.95)
    found = quotient(one, other)
    assert found.ratio == pytest.approx(1.10 / 1.20)
    half = math.hypot(math.log(1.03), math.log(1.04))
    assert found.high == pytest.approx(1.10 / 1.20 * math.exp(half))
    assert found.low == pytest.approx(1.10 / 1.20 / math.exp(half))
    back = quotient(other, one)
    assert back.high == pytest.approx(1 / found.low)


def test_what_too_few_starts_do_not_tell_is_open_at_both_ends() -> None:
    told = Interval(1.1, 1.0, 1.2, 0.95)
    untold = Interval(1.2, 0.0, math.inf, 0.95)
    for found in (
        quotient(told, untold),
        geometric_mean([told, untold]),
        mean_over_loads([(told, told), (untold, untold)]),
    ):
        assert found is not None
        assert (found.low, found.high) == (0.0, math.inf)


@pytest.mark.parametrize("starts", [4, 12])
def test_quotient_and_mean_hold_the_truth_as_often_as_they_say(starts: int) -> None:
    """Two cells of unlike spread; few starts err on the wide side, since theirs are Student's intervals."""
    random = np.random.default_rng(11)
    truths, spreads = (math.log(1.05), math.log(1.20)), (0.01, 0.03)
    held = {"quotient": 0, "mean": 0}
    for _ in range(STUDIES):
        one, other = (
            fixed_interval(random.normal(truth, spread, starts).tolist())
            for truth, spread in zip(truths, spreads, strict=True)
        )
        mean = geometric_mean([one, other])
        assert mean is not None
        for name, found, truth in (
            ("quotient", quotient(one, other), truths[0] - truths[1]),
            ("mean", mean, sum(truths) / 2),
        ):
            held[name] += found.low <= math.exp(truth) <= found.high
    for name, times in held.items():
        assert 0.94 <= times / STUDIES <= 0.985, (name, times / STUDIES)


def test_what_a_sitting_changes_does_not_average_out_over_loads() -> None:
    """Five loads by eight starts each, in a sitting that moves all of them alike by 1.5 %."""
    random = np.random.default_rng(12)
    truths, own, between, starts = np.log(np.linspace(1.1, 1.5, 5)), 0.01, 0.015, 8
    held = {"over loads": 0, "as if independent": 0, "nothing but repeated": 0}
    for _ in range(STUDIES):
        moved = random.normal(0.0, between)
        alone = [fixed_interval(random.normal(truth + moved, own, starts).tolist()) for truth in truths]
        repeated = [
            Interval.from_log(
                math.log(cell.ratio), math.hypot(math.log(cell.high / cell.ratio), 1.959964 * between), cell.level
            )
            for cell in alone
        ]
        found = {
            "over loads": mean_over_loads(list(zip(repeated, alone, strict=True))),
            "as if independent": geometric_mean(repeated),
            "nothing but repeated": mean_over_loads([(cell, None) for cell in repeated]),
        }
        for name, interval in found.items():
            assert interval is not None
            held[name] += interval.low <= math.exp(truths.mean()) <= interval.high
    assert 0.94 <= held["over loads"] / STUDIES <= 0.975, held
    assert held["as if independent"] / STUDIES < 0.8, held
    assert held["nothing but repeated"] >= held["over loads"], held
    assert mean_over_loads([]) is None
