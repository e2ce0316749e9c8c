"""Several cells as one: what their intervals hold, by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from burnish.statistics.intervals import Interval, fixed_interval
from burnish.statistics.means import geometric_mean, quotient

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
    for found in (quotient(told, untold), geometric_mean([told, untold])):
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
