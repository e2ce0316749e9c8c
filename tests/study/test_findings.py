"""What was found, as it is recorded."""

from __future__ import annotations

import math

from burnish.record.events import verdicts as recorded
from burnish.statistics.verdicts import Interval, Kind, Rule, invalid, judge
from burnish.study.trials.findings import interval_of, other_methods, within


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


def test_how_small_a_proved_difference_is() -> None:
    """Of one that is proved to be within ±delta: not of a larger one, nor of a cell that is only equivalent."""
    rule = Rule.fixed(6, delta=0.02)
    near = [0.0049, 0.0051, 0.0050, 0.0052, 0.0048, 0.0050]
    small, large = judge(near, rule), judge([value + 0.1 for value in near], rule)
    same = judge([value - 0.005 for value in near], rule)
    assert [each.kind for each in (small, large, same)] == [Kind.FASTER, Kind.FASTER, Kind.EQUIVALENT]
    assert [within(each, rule) for each in (small, large, same, invalid("no start"))] == [0.02, None, None, None]
