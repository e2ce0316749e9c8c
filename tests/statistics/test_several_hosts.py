"""Starts of several hosts: never pooled without the spread between hosts in the interval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from burnish.model.sittings import Spread
from burnish.statistics.intervals import fixed_interval
from burnish.statistics.sequential import Rule
from burnish.statistics.several_hosts import HostsCell
from burnish.statistics.sittings import SittingCell
from burnish.statistics.verdicts import Kind

SPREAD = Spread(0.009, 18.0, "somewhere")
STARTS = (-0.002, 0.001, 0.002, -0.001, 0.0, 0.001, -0.001, 0.0)


def hosts(*means: float) -> HostsCell:
    cells = {
        label: SittingCell("cell", (tuple(mean + value for value in STARTS),), SPREAD)
        for label, mean in zip("ABCDEF", means, strict=False)
    }
    return HostsCell("cell", cells)


def test_two_hosts_that_differ_have_an_interval_that_holds_both() -> None:
    """The figure of the first table: +5.7 % on one host and +19.0 % on another were once +12.2 [11.2, 13.2] %."""
    judged = hosts(math.log(1.057), math.log(1.19)).judge(Rule())
    assert judged.difference is not None
    assert judged.difference.low < 1.057
    assert judged.difference.high > 1.19
    assert judged.kind is Kind.FASTER
    assert "on each of these hosts" in judged.reason


def test_two_hosts_that_contradict_each_other_are_undecided() -> None:
    cell = hosts(0.1, -0.1)
    assert cell.judge(Rule()).kind is Kind.UNDECIDED
    assert cell.difference_p(Rule()) == 1.0


def test_faster_on_one_host_only_is_not_faster() -> None:
    assert hosts(0.1, 0.0).judge(Rule()).kind is Kind.UNDECIDED
    assert hosts(0.1, 0.0).difference_p(Rule()) > 0.05


def test_three_hosts_are_a_sample_of_hosts() -> None:
    means = (0.10, 0.14, 0.12)
    cell = hosts(*means)
    judged, plain = cell.judge(Rule()).difference, fixed_interval(means)
    assert judged is not None
    assert (judged.low, judged.high) == pytest.approx((plain.low, plain.high), rel=1e-3)
    another = cell.heterogeneity(Rule()).another
    assert another is not None
    assert another.half_width == pytest.approx(plain.half_width * math.sqrt(4), rel=1e-3)


def test_a_sample_of_hosts_has_the_level_of_the_family() -> None:
    means = (0.10, 0.14, 0.12)
    judged = hosts(*means).judge(Rule().for_family(5))
    plain, tost = fixed_interval(means, 0.99), fixed_interval(means, 0.98)
    for interval, level, expected in ((judged.difference, 0.99, plain), (judged.equivalence, 0.98, tost)):
        assert interval is not None
        assert interval.level == pytest.approx(level)
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), rel=1e-3)


def test_heterogeneity_is_told_from_noise() -> None:
    assert hosts(0.1, 0.1).heterogeneity(Rule()).share == 0.0
    assert hosts(0.1, 0.1).heterogeneity(Rule()).p > 0.9
    apart = hosts(0.05, 0.2).heterogeneity(Rule())
    assert apart.p < 0.001
    assert apart.share > 0.8
    assert apart.another is None, "two hosts tell nothing about a third"


def test_equal_hosts_are_seldom_called_different() -> None:
    rng = np.random.default_rng(23)
    wrong = 0
    for _ in range(400):
        cells = {
            label: SittingCell("cell", (tuple(rng.normal(0, 0.009) + rng.normal(0, 0.005, 6)),), SPREAD)
            for label in "AB"
        }
        wrong += HostsCell("cell", cells).judge(Rule.fixed(6)).kind in (Kind.FASTER, Kind.SLOWER)
    assert wrong <= 400 * 0.05
