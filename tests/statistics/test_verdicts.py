"""Verdicts: what they are, that they agree with their interval, and what the reader is told."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.base.errors import UserError
from burnish.statistics.sequential import usual_looks
from burnish.statistics.verdicts import HostPrior, Judgement, Kind, Rule, invalid, judge, starts_needed

RULE = Rule(cap=12)
SCATTER = (0.3, -0.9, 0.5, -0.2, 1.1, -0.8, 0.1, 0.7, -1.0, 0.4, -0.3, 0.1)


def around(centre: float, spread: float, starts: int = 12) -> list[float]:
    return [centre + spread * scatter for scatter in SCATTER[:starts]]


def sample(readings: list[float], rule: Rule, prior: HostPrior | None = None) -> Judgement:
    """Sampling as a study does it: one start, one question."""
    for starts in range(len(readings) + 1):
        judgement = judge(readings[:starts], rule, prior)
        if judgement.finished:
            return judgement
    raise AssertionError("never finished")


@pytest.mark.parametrize("cap", [2, 3, 5, 9, 12, 20])
def test_a_smaller_maximum_gives_the_rule_of_that_maximum(cap: int) -> None:
    assert RULE.at_most(cap) == Rule(cap=min(cap, 12))
    precise = Rule(cap=12, precision=0.01)
    assert precise.at_most(cap) == Rule(cap=min(cap, 12), precision=0.01)
    assert Rule.fixed(3).at_most(cap) == Rule.fixed(min(cap, 3))


@pytest.mark.parametrize(
    ("centre", "spread", "kind", "starts"),
    [
        (0.30, 0.005, Kind.FASTER, 3),
        (-0.30, 0.005, Kind.SLOWER, 3),
        (0.0, 0.002, Kind.EQUIVALENT, 4),
        (0.005, 0.02, Kind.UNDECIDED, 12),
    ],
)
def test_each_kind(centre: float, spread: float, kind: Kind, starts: int) -> None:
    judgement = sample(around(centre, spread), RULE)
    assert (judgement.kind, judgement.starts) == (kind, starts)
    assert judgement.reason.startswith(kind.value)
    assert judgement.sd_between == pytest.approx(np.std(around(centre, spread, starts), ddof=1))


def test_a_stop_speaks_of_its_sitting_only() -> None:
    assert sample(around(0.3, 0.005), RULE).at_stop.startswith("ahead in this sitting, +3")
    assert sample(around(-0.3, 0.005), RULE).at_stop.startswith("behind in this sitting, -2")
    assert sample(around(0.0, 0.002), RULE).at_stop.startswith("equal in this sitting: the whole 90 % interval")
    small = judge(around(0.004, 0.0003, 8), Rule.fixed(8))
    assert small.at_stop.startswith("ahead in this sitting, +0.4 %, and within ±1 %: ")
    for unchanged in (sample(around(0.005, 0.02), RULE), invalid("no start could be read")):
        assert unchanged.at_stop == unchanged.reason


def test_swapping_the_sides_turns_the_verdict_round() -> None:
    readings = around(0.04, 0.01)
    one, other = sample(readings, RULE), sample([-x for x in readings], RULE)
    assert (one.kind, other.kind) == (Kind.FASTER, Kind.SLOWER)
    assert one.starts == other.starts
    assert one.interval is not None
    assert other.interval is not None
    assert other.interval.low == pytest.approx(1 / one.interval.high)


readings_lists = st.lists(st.floats(-0.05, 0.05).map(lambda x: round(x, 5)), min_size=1, max_size=14)
rules = st.sampled_from(
    [RULE, Rule(cap=12, delta=0.03), Rule.fixed(6), Rule(cap=12, precision=0.01), Rule(cap=5, delta=0.02)]
)
priors = st.sampled_from([None, HostPrior(0.005, 12), HostPrior(0.02, 12), HostPrior(0.005, 6)])


@settings(max_examples=200, deadline=None)
@given(readings_lists, rules, priors)
def test_verdict_and_interval_never_contradict(readings: list[float], rule: Rule, prior: HostPrior | None) -> None:
    judgement = judge(readings, rule, prior)
    interval = judgement.interval
    assert interval is not None
    if not judgement.finished:
        assert judgement.kind is Kind.UNDECIDED
        return
    assert judgement.difference is not None
    assert (judgement.kind is Kind.FASTER) == (judgement.difference.low > 1.0)
    assert (judgement.kind is Kind.SLOWER) == (judgement.difference.high < 1.0)
    if judgement.kind is Kind.EQUIVALENT:
        assert interval.within(rule.delta)
    else:
        assert interval == judgement.difference
    if judgement.kind is Kind.UNDECIDED:
        assert not judgement.within_delta


@settings(max_examples=150, deadline=None)
@given(readings_lists, rules, priors)
def test_calling_late_changes_nothing(readings: list[float], rule: Rule, prior: HostPrior | None) -> None:
    for starts in range(1, len(readings) + 1):
        early = judge(readings[:starts], rule, prior)
        if early.finished:
            assert judge(readings, rule, prior) == early
            return


def test_faster_takes_precedence_over_equivalent_and_says_so() -> None:
    judgement = judge(around(0.004, 0.0003, 8), Rule.fixed(8))
    assert judgement.kind is Kind.FASTER
    assert judgement.within_delta
    assert judgement.reason == "faster, and within ±1 %: the whole interval lies above 1 after 8 starts"


def test_reasons_are_sentences_for_a_dba() -> None:
    assert sample(around(0.3, 0.005), RULE).reason == "faster: the whole interval lies above 1 after 3 starts"
    equivalent = sample(around(0.0, 0.002), RULE)
    assert equivalent.reason == "equivalent: the whole 90 % interval lies within ±1 % after 4 starts"
    assert equivalent.interval is not None
    assert equivalent.interval.level == pytest.approx(0.90)
    undecided = sample(around(0.005, 0.02), RULE)
    more = starts_needed(undecided.sd_between, math.log(1.01) / 2)
    assert "after 12 starts the interval still includes 1 and reaches beyond ±1 %" in undecided.reason
    assert f"some {more} starts would tell ±1 % from nothing" in undecided.reason
    assert "next look is at 8 starts of at most 12" in judge(around(0.005, 0.02, 7), RULE).reason
    assert "1 start taken" in judge([0.1], RULE).reason


def test_starts_that_no_number_of_them_makes_up_for_have_a_reason_too() -> None:
    """As where a program stood still during one of them."""
    wild = judge([-4.0, 3.0], Rule.fixed(2))
    assert wild.finished
    assert wild.reason.startswith("undecided: after 2 starts the interval still includes 1 and reaches beyond ±1 %; ")
    assert "no number of starts so far apart would tell it from nothing" in wild.reason


def test_before_the_first_look_there_is_a_ratio_and_no_claim() -> None:
    nothing = judge([], RULE)
    assert (nothing.kind, nothing.interval, nothing.finished) == (Kind.UNDECIDED, None, False)
    one = judge([0.2], RULE)
    assert one.interval is not None
    assert one.interval.ratio == pytest.approx(math.exp(0.2))
    assert (one.interval.low, one.interval.high) == (0.0, math.inf)
    assert math.isnan(one.sd_between)
    assert not one.finished


def test_between_looks_the_last_look_stands() -> None:
    readings = around(0.005, 0.02)
    assert judge(readings[:7], RULE).interval == judge(readings[:6], RULE).interval
    assert judge(readings[:7], RULE).starts == 6


def test_a_reading_that_is_no_number_makes_the_cell_invalid() -> None:
    judgement = judge([0.01, math.nan, 0.02], RULE)
    assert judgement.kind is Kind.INVALID
    assert judgement.interval is None
    assert "start 2 has no finite reading (nan)" in judgement.reason
    assert judge([0.01, 0.02, math.inf], RULE).kind is Kind.INVALID
    assert invalid("the host swapped; use smaller data", 3).reason.startswith("invalid: the host swapped")


def test_readings_without_any_spread_are_decided_not_divided_by() -> None:
    assert judge([0.3] * 3, RULE).kind is Kind.FASTER
    assert judge([0.0] * 4, RULE).kind is Kind.EQUIVALENT


CALIBRATED = HostPrior(sd=0.007, starts=12)
LARGE = [0.048, 0.060, 0.033]


def test_the_fast_lane_decides_a_large_effect_after_two_starts() -> None:
    with_prior, without = sample([*LARGE, 0.05, 0.05, 0.05], RULE, CALIBRATED), judge(LARGE, RULE)
    assert (with_prior.kind, with_prior.starts, with_prior.fast) == (Kind.FASTER, 2, True)
    assert "fast lane" in with_prior.reason
    assert not without.finished


@pytest.mark.parametrize(
    ("prior", "canary_sd"),
    [(HostPrior(0.007, 11), None), (CALIBRATED, 0.0141), (HostPrior(0.0, 12), None), (None, None)],
)
def test_the_fast_lane_is_off_without_a_calibration_that_fits(prior: HostPrior | None, canary_sd: float | None) -> None:
    assert not judge(LARGE[:2], RULE, prior, canary_sd).finished


def test_canaries_up_to_twice_the_calibrated_spread_leave_it_on() -> None:
    assert judge(LARGE[:2], RULE, CALIBRATED, canary_sd=0.0139).fast


def test_the_fast_lane_is_paid_for_by_the_usual_looks() -> None:
    readings = around(0.005, 0.02, 4)
    with_prior, without = judge(readings, RULE, CALIBRATED), judge(readings, RULE)
    assert with_prior.difference is not None
    assert without.difference is not None
    assert with_prior.difference.half_width > without.difference.half_width
    # ... and stays paid for when the canaries switch it off half-way.
    assert judge(readings, RULE, CALIBRATED, canary_sd=1.0).difference == with_prior.difference


def test_precision_goes_on_until_the_interval_is_narrow_enough() -> None:
    rule = Rule(cap=30, precision=0.005)
    readings = list(np.random.default_rng(4).normal(0.3, 0.007, 30))
    judgement = sample(readings, rule)
    assert judgement.kind is Kind.FASTER
    assert 8 <= judgement.starts < 30
    assert judgement.difference is not None
    assert judgement.difference.half_width <= math.log1p(0.005)
    assert "as narrow as asked (±0.5 %)" in judgement.reason
    before = judge(readings[: judgement.starts - 1], rule)
    assert not before.finished
    assert before.kind is Kind.UNDECIDED
    assert not judge(around(0.3, 0.0001, 7), rule).finished  # never before the minimum


def test_precision_ends_at_the_cap_and_says_that_it_was_missed() -> None:
    judgement = sample(around(0.3, 0.02), Rule(cap=12, precision=0.001))
    assert (judgement.kind, judgement.starts) == (Kind.FASTER, 12)
    assert "wider than asked (±0.1 %)" in judgement.reason


def test_precision_is_of_the_faster_side() -> None:
    """±1 % of a fourth would be ±0.25 % of what it is compared with; of four times as much, ±1 % is ±4 % of that."""
    rule = Rule(cap=12, precision=0.01)
    slow, fast = (sample(around(math.log(ratio), 0.02), rule) for ratio in (0.25, 4.0))
    assert slow.starts == rule.minimum < fast.starts
    assert slow.difference is not None
    assert math.log1p(0.01) < slow.difference.half_width <= math.log1p(0.04)
    assert re.search(
        r"interval is ±[123]\.?\d? % of itself, ±0\.\d+ % of the baseline, as narrow as asked", slow.reason
    )
    assert "of itself" not in fast.reason


def test_a_family_asks_more_of_each_cell() -> None:
    readings = around(0.02, 0.01)
    alone, one_of_many = sample(readings, RULE), sample(readings, RULE.for_family(16))
    assert one_of_many.starts > alone.starts
    assert one_of_many.difference is not None
    assert one_of_many.difference.level == pytest.approx(1 - 0.05 / 16)


def test_usual_looks_are_dense_first_and_end_at_the_cap() -> None:
    assert usual_looks(12) == (3, 4, 5, 6, 8, 10, 12)
    assert usual_looks(2) == (2,)
    assert usual_looks(7) == (3, 4, 5, 6, 7)
    assert usual_looks(40)[-3:] == (30, 36, 40)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cap": 1}, "cap is 1"),
        ({"alpha": 0.0}, "alpha is 0.0"),
        ({"delta": -0.01}, "delta is -0.01"),
        ({"precision": 0.0}, "precision is 0.0"),
        ({"fast_alpha": 0.05}, "fast_alpha is 0.05"),
        ({"looks": (3, 6)}, r"looks is \[3, 6\]; it must rise from at least 2 to cap \(12\)"),
        ({"looks": (6, 3, 12)}, "must rise"),
        ({"looks": (1, 12)}, "at least 2"),
        ({"equivalence_looks": (7, 12)}, "each must be one of looks"),
        ({"minimum": 1}, "minimum is 1"),
    ],
)
def test_a_rule_that_cannot_be_kept_is_refused_in_one_line(options: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words) as raised:
        Rule(**options)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)
