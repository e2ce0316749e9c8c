"""What was found, as it is recorded."""

from __future__ import annotations

import math

from burnish.record.events import verdicts as recorded
from burnish.statistics.verdicts import Interval
from burnish.study.trials.findings import interval_of, other_methods


def test_an_interval_without_bounds_is_none() -> None:
    assert interval_of(Interval(1.1, 0.0, math.inf, 0.95)) is None
    assert interval_of(Interval(1.1, 1.0, 1.2, 0.95)) == recorded.Interval(1.1, 1.0, 1.2, 0.95)


def test_other_methods_are_recorded_beside_a_verdict() -> None:
    trimmed, ranks = other_methods([0.01, 0.02, 0.03, 0.02, 0.01, 0.03, 0.02, 0.01])
    assert (trimmed.name, ranks.name) == ("trimmed mean (20 % off each end)", "Hodges-Lehmann")
    for each in (trimmed, ranks):
        assert each.interval is not None
        assert each.interval.low < each.interval.ratio < each.interval.high
        assert 1.01 <= each.interval.ratio <= 1.03
        assert each.interval.level == 0.95
    assert other_methods([0.01]) == (), "one start says nothing of single starts"
