"""What was found, as plain values that can be recorded."""

from __future__ import annotations

import math

from burnish.statistics.verdicts import Interval
from burnish.study.trials.findings import plain_interval, sensitivity_values


def test_an_interval_without_bounds_is_none() -> None:
    assert plain_interval(Interval(1.1, 0.0, math.inf, 0.95)) is None
    assert plain_interval(Interval(1.1, 1.0, 1.2, 0.95)) == {"ratio": 1.1, "low": 1.0, "high": 1.2, "level": 0.95}


def test_the_lines_beside_a_verdict_are_plain_values() -> None:
    trimmed, ranks = sensitivity_values([0.01, 0.02, 0.03, 0.02, 0.01, 0.03, 0.02, 0.01])
    assert (trimmed["name"], ranks["name"]) == ("trimmed mean (20 % off each end)", "Hodges-Lehmann")
    for each in (trimmed, ranks):
        assert each["low"] < each["ratio"] < each["high"]
        assert 1.01 <= each["ratio"] <= 1.03
        assert each["level"] == 0.95
    assert sensitivity_values([0.01]) == [], "one start says nothing of single starts"
