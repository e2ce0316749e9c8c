"""Several cells as one: what their intervals hold, by simulation."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest

from burnish.statistics.intervals import fixed_interval
from burnish.statistics.means import geometric_mean, quotient

STUDIES = 2000


def test_a_quotient_has_both_spreads_in_it() -> None:
    one = {"ratio": 1.10, "low": 1.10 / 1.03, "high": 1.10 * 1.03, "level": 0.95}
    other = {"ratio": 1.20, "low": 1.20 / 1.04, "high": 1.20 * 1.04, "level": 0.95}
    result = quotient(one, other)
    assert result["ratio"] == pytest.approx(1.10 / 1.20)
    half = math.hypot(math.log(1.03), math.log(1.04))
    assert result["high"] == pytest.approx(1.10 / 1.20 * math.exp(half))
    assert result["low"] == pytest.approx(1.10 / 1.20 / math.exp(half))
    back = quotient(other, one)
    assert back["high"] == pytest.approx(1 / result["low"])


def test_what_too_few_starts_do_not_tell_is_open_at_both_ends() -> None:
    bounded = {"ratio": 1.1, "low": 1.0, "high": 1.2, "level": 0.95}
    unbounded = {"ratio": 1.2, "low": 0.0, "high": math.inf, "level": 0.95}
    for result in (quotient(bounded, unbounded), geometric_mean([bounded, unbounded])):
        assert result is not None
        assert (result["low"], result["high"]) == (0.0, math.inf)


@pytest.mark.parametrize("starts", [4, 12])
def test_quotient_and_mean_hold_the_truth_as_often_as_they_say(starts: int) -> None:
    """Two cells of unlike spread; few starts err on the wide side, since theirs are Student's intervals."""
    random = np.random.default_rng(11)
    truths, spreads = (math.log(1.05), math.log(1.20)), (0.01, 0.03)
    held = {"quotient": 0, "mean": 0}
    for _ in range(STUDIES):
        one, other = (
            asdict(fixed_interval(random.normal(truth, spread, starts).tolist()))
            for truth, spread in zip(truths, spreads, strict=True)
        )
        mean = geometric_mean([one, other])
        assert mean is not None
        for name, result, truth in (
            ("quotient", quotient(one, other), truths[0] - truths[1]),
            ("mean", mean, sum(truths) / 2),
        ):
            held[name] += result["low"] <= math.exp(truth) <= result["high"]
    for name, times in held.items():
        assert 0.94 <= times / STUDIES <= 0.985, (name, times / STUDIES)
