"""Starts of several hosts together: each host counts once, and the interval covers whatever their noise."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy

from burnish.statistics import multiplicity
from burnish.statistics.boundaries import Floats
from burnish.statistics.hosts import HostCell, half_width, tails
from burnish.statistics.intervals import fixed_interval
from burnish.statistics.sequential import Rule, decide
from burnish.statistics.verdicts import Kind

FIXED = Rule.fixed(12)
STUDIES = 4000
SLACK = 3.5 * math.sqrt(0.05 * 0.95 / STUDIES)


def moments(groups: list[Floats]) -> tuple[Floats, Floats, Floats]:
    """Means, variances and counts of groups of readings, each of shape (studies, starts)."""
    return (
        np.stack([group.mean(axis=1) for group in groups], axis=1),
        np.stack([group.var(axis=1, ddof=1) for group in groups], axis=1),
        np.stack([np.full(len(group), float(group.shape[1])) for group in groups], axis=1),
    )


def coverage(groups: list[Floats], truth: float, tail: float = 0.025) -> float:
    means, variances, counts = moments(groups)
    half = half_width(means, variances, counts, tail)
    return float((np.abs(means.mean(axis=1) - truth) <= half).mean())


@pytest.mark.parametrize("sds", [(0.01, 0.01), (0.002, 0.05), (0.05, 0.002)])
@pytest.mark.parametrize("counts", [(2, 20), (4, 4), (8, 12)])
def test_two_hosts_of_different_noise_are_covered(sds: tuple[float, float], counts: tuple[int, int]) -> None:
    rng = np.random.default_rng(11)
    truths = (0.14, 0.35)
    groups = [rng.normal(m, sd, (STUDIES, n)) for m, sd, n in zip(truths, sds, counts, strict=True)]
    assert coverage(groups, sum(truths) / 2) >= 0.95 - SLACK


def test_a_pooled_spread_would_not_cover() -> None:
    """Why hosts have a standard deviation each: the textbook's common one lets the quiet host speak for the noisy."""
    rng = np.random.default_rng(12)
    noisy, quiet = rng.normal(0, 0.05, (STUDIES, 3)), rng.normal(0, 0.002, (STUDIES, 20))
    means, variances, counts = moments([noisy, quiet])
    pooled = (variances * (counts - 1)).sum(axis=1) / (counts.sum(axis=1) - 2)
    half = -scipy.special.stdtrit(21, 0.025) * np.sqrt(pooled * (1 / counts).sum(axis=1)) / 2
    assert (np.abs(means.mean(axis=1)) <= half).mean() < 0.7
    assert coverage([noisy, quiet], 0.0) >= 0.95 - SLACK


def test_hosts_that_stand_for_others_are_covered_and_those_alone_would_not_be() -> None:
    rng = np.random.default_rng(13)
    between = rng.normal(0.1, 0.05, (STUDIES, 4))
    sds = (0.002, 0.01, 0.03, 0.005)
    groups = [rng.normal(between[:, [h]], sds[h], (STUDIES, 6)) for h in range(4)]
    assert coverage(groups, 0.1) >= 0.95 - SLACK
    means, variances, _ = moments(groups)
    alone = -scipy.special.stdtrit(5, 0.025) * np.sqrt((variances / 6).sum(axis=1)) / 4
    assert (np.abs(means.mean(axis=1) - 0.1) <= alone).mean() < 0.6


@pytest.mark.parametrize("hosts", [1, 2, 3])
def test_pieces_that_stopped_when_they_saw_something_are_covered(hosts: int) -> None:
    """Each piece is a sequential study of its own; they are looked at together at the level of their looks."""
    rule = Rule(cap=12)
    rng = np.random.default_rng(14)
    tail, _ = tails(rule)
    for truth in (0.0, 0.003, 0.006):
        means, variances, counts = [], [], []
        for sd in (0.004, 0.012, 0.007)[:hosts]:
            readings = rng.normal(truth, sd, (STUDIES, 12))
            taken = np.maximum(decide(readings, rule).starts, 2)
            kept = np.arange(12) < taken[:, None]
            mean = np.where(kept, readings, 0).sum(axis=1) / taken
            squares = np.where(kept, (readings - mean[:, None]) ** 2, 0).sum(axis=1)
            means.append(mean)
            variances.append(squares / (taken - 1))
            counts.append(taken.astype(float))
        mean, variance, count = (np.stack(item, axis=1) for item in (means, variances, counts))
        half = half_width(mean, variance, count, tail)
        assert (np.abs(mean.mean(axis=1) - truth) <= half).mean() >= 0.95 - SLACK


def test_one_host_is_students_interval() -> None:
    readings = [0.01, 0.012, 0.007, 0.02]
    judgement = HostCell("c", {"A": readings}).judge(Rule.fixed(4))
    usual = fixed_interval(readings)
    assert judgement.difference is not None
    assert (judgement.difference.low, judgement.difference.high) == pytest.approx((usual.low, usual.high))
    assert (judgement.kind, judgement.starts) == (Kind.FASTER, 4)
    assert judgement.reason == "faster: the whole interval lies above 1 after 4 starts"


def test_the_order_of_hosts_and_starts_does_not_matter() -> None:
    hosts = {"A": (0.1, 0.12, 0.11), "B": (0.2, 0.24, 0.19, 0.2), "C": (0.05, 0.06)}
    result = set()
    for names in itertools.permutations(hosts):
        cell = HostCell("c", {name: tuple(reversed(hosts[name])) for name in names})
        judgement = cell.judge(FIXED)
        assert judgement.difference is not None
        figures = (judgement.difference.ratio, judgement.difference.low, cell.difference_p(FIXED))
        result.add(tuple(round(figure, 12) for figure in figures))
    assert len(result) == 1


def test_each_host_counts_once_however_many_starts_it_had() -> None:
    few = HostCell("c", {"A": (0.1, 0.1, 0.1), "B": (0.3, 0.3)})
    many = HostCell("c", {"A": (0.1,) * 50, "B": (0.3, 0.3)})
    assert (few.mean, many.mean) == pytest.approx((0.2, 0.2))


def test_what_the_verdict_is_about_is_said() -> None:
    two = HostCell("c", {"A": (0.1, 0.11, 0.12), "B": (0.2, 0.21, 0.22)}).judge(FIXED)
    assert two.reason == (
        "faster on the mean of these hosts: the whole interval lies above 1 after 6 starts (3 on A, 3 on B)"
    )
    three = HostCell("c", dict.fromkeys("ABC", (0.1, 0.11, 0.12)))
    assert three.stands_for_others
    assert "faster on hosts like these" in three.judge(FIXED).reason
    assert not HostCell("c", {"A": (0.1, 0.1, 0.1), "B": (0.1, 0.1, 0.1), "C": (0.1, 0.1)}).stands_for_others


def test_hosts_that_contradict_each_other_are_undecided() -> None:
    readings = {"A": (0.1, 0.11, 0.105), "B": (-0.1, -0.11, -0.1), "C": (0.1, 0.1, 0.11)}
    assert HostCell("c", readings).judge(FIXED).kind is Kind.UNDECIDED
    alone = HostCell("c", readings).by_host(FIXED)
    assert alone["A"].low > 1 > alone["B"].high


def test_a_host_with_a_single_start_tells_no_spread() -> None:
    cell = HostCell("c", {"A": (0.1, 0.11, 0.1), "B": (0.1,)})
    judgement = cell.judge(FIXED)
    assert (judgement.kind, cell.difference_p(FIXED), cell.equivalence_p(FIXED)) == (Kind.UNDECIDED, 1.0, 1.0)
    assert judgement.reason.endswith("; host B has one start, two at least tell its spread")


def test_what_was_not_read_is_invalid() -> None:
    for readings in ({}, {"A": (0.1, math.nan)}):
        cell = HostCell("c", readings)
        assert cell.judge(FIXED).kind is Kind.INVALID
        assert (cell.difference_p(FIXED), cell.equivalence_p(FIXED)) == (1.0, 1.0)


@pytest.mark.parametrize("rule", [FIXED, Rule(cap=12), Rule(cap=12, precision=0.01)], ids=["fixed", "looks", "width"])
@pytest.mark.parametrize("centre", [0.0, 0.0005, 0.006, 0.02])
def test_p_values_say_what_the_intervals_say(rule: Rule, centre: float) -> None:
    rng = np.random.default_rng(5)
    for hosts in (1, 2, 3):
        cell = HostCell("c", {name: rng.normal(centre, 0.004, 8).tolist() for name in "ABC"[:hosts]})
        judgement = cell.judge(rule)
        assert judgement.difference is not None
        assert judgement.equivalence is not None
        assert (cell.difference_p(rule) <= rule.alpha) == judgement.difference.excludes_one
        assert (cell.equivalence_p(rule) <= rule.alpha) == judgement.equivalence.within(rule.delta)


def test_claims_are_corrected_together() -> None:
    rng = np.random.default_rng(6)
    cells = [HostCell(f"c{n}", {h: rng.normal(0.03 * n, 0.01, 6).tolist() for h in "AB"}) for n in range(3)]
    result = multiplicity.claims(cells, FIXED)
    assert [item.kind for item in result] == [Kind.UNDECIDED, Kind.FASTER, Kind.FASTER]
    assert all(item.adjusted_p >= item.p for item in result)
    assert result[2].interval is not None
    assert result[2].alone.difference is not None
    assert result[2].interval.low < result[2].alone.difference.low
