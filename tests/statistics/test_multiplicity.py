"""Families of verdicts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from burnish.statistics.multiplicity import (
    Cell,
    benjamini_hochberg,
    claims,
    difference_p,
    equivalence_p,
    exploration,
    holm,
    winner_overstatement,
)
from burnish.statistics.sequential import HostPrior, Rule
from burnish.statistics.verdicts import Kind, judge

RULE = Rule(cap=12)


def sampled(rng: np.random.Generator, effect: float, rule: Rule, sd: float = 0.007) -> Cell:
    readings = list(rng.normal(effect, sd, rule.cap))
    used = next(n for n in range(1, rule.cap + 1) if judge(readings[:n], rule).finished)
    return Cell(f"{effect}", tuple(readings[:used]))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_benjamini_hochberg_by_hand() -> None:
    assert benjamini_hochberg([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.04, 0.04])
    assert benjamini_hochberg([]) == []


def test_p_agrees_with_the_verdict_of_a_cell_alone() -> None:
    rng = np.random.default_rng(1)
    for effect in (0.0, 0.005, 0.01, 0.02):
        for _ in range(8):
            cell = sampled(rng, effect, RULE)
            kind = judge(cell.readings, RULE).kind
            # The boundary is two Monte Carlo standard errors stricter than the p-value.
            if kind in (Kind.FASTER, Kind.SLOWER):
                assert difference_p(cell, RULE) <= 0.05
            elif difference_p(cell, RULE) <= 0.048:
                pytest.fail(f"{cell} is {kind} with p {difference_p(cell, RULE)}")
            if kind is Kind.EQUIVALENT:
                assert equivalence_p(cell, RULE) <= 0.05


def test_p_under_the_null_is_never_too_small() -> None:
    rng = np.random.default_rng(2)
    p = [difference_p(Cell("", tuple(rng.normal(0.0, 1.0, 12))), RULE) for _ in range(2000)]
    for level in (0.05, 0.2, 0.5):
        share = float(np.mean(np.asarray(p) <= level))
        assert share <= level + 3.5 * math.sqrt(level * (1 - level) / 2000)
        assert share >= level - 4.0 * math.sqrt(level * (1 - level) / 2000)


def test_p_with_a_fast_lane_shares_alpha_and_reaches_far_out() -> None:
    prior = HostPrior(0.007, 12)
    lane = Cell("", (0.30, 0.31), prior)
    assert difference_p(lane, RULE) < 1e-6
    assert difference_p(Cell("", (0.30, 0.31)), RULE) == 1.0
    assert difference_p(Cell("", (0.30, 0.31), prior, canary_sd=0.1), RULE) == 1.0
    slow = tuple(np.random.default_rng(3).normal(0.004, 0.007, 12))
    assert difference_p(Cell("", slow, prior), RULE) == pytest.approx(
        min(1.0, difference_p(Cell("", slow), RULE) / 0.8)
    )


@pytest.mark.parametrize("centre", [0.004, 0.0])
def test_p_of_a_precision_study_counts_the_stopping(centre: float) -> None:
    rule = Rule(cap=20, precision=0.006)
    rng = np.random.default_rng(8)
    for _ in range(10):
        cell = sampled(rng, centre, rule)
        judgement = judge(cell.readings, rule)
        called = judgement.kind in (Kind.FASTER, Kind.SLOWER)
        assert called == (difference_p(cell, rule) <= 0.05)
        if judgement.kind is Kind.EQUIVALENT:
            assert equivalence_p(cell, rule) <= 0.0505
    assert difference_p(Cell("", (0.1, 0.2)), rule) == 1.0
    assert equivalence_p(Cell("", (0.1, 0.2)), rule) == 1.0


def test_claims_keep_strong_cells_and_take_weak_ones_back() -> None:
    rng = np.random.default_rng(4)
    rule = RULE.for_family(8)
    cells = [sampled(rng, effect, rule) for effect in (0.3, 0.1, 0.05, 0.0, 0.0, 0.0, -0.2, 0.005)]
    family = claims(cells, rule)
    assert [c.kind for c in family[:3]] == [Kind.FASTER] * 3
    assert family[6].kind is Kind.SLOWER
    assert all(c.kind not in (Kind.FASTER, Kind.SLOWER) for c in family[3:6])
    assert all(c.adjusted_p >= c.p for c in family)
    assert family[0].interval is not None
    assert family[0].interval.level == pytest.approx(1 - 0.05 / 8)
    assert "one of 8 (Holm)" in family[0].label


def test_a_claim_beside_an_interval_that_includes_one_says_so() -> None:
    rule = Rule.fixed(10)
    scatter = np.array([0.3, -0.9, 0.5, -0.2, 1.1, -0.8, 0.1, 0.7, -1.0, 0.2])
    strong, weak = tuple(0.2 + 0.01 * scatter), tuple(0.0052 + 0.01 * scatter * 0.95)
    family = claims([Cell("strong", strong), Cell("weak", weak)], rule)
    assert family[1].kind is Kind.FASTER
    assert family[1].interval is not None
    assert not family[1].interval.excludes_one
    assert "still includes 1" in family[1].label
    assert "still includes 1" not in family[0].label


def test_a_lone_cell_on_the_edge_is_called_what_its_interval_says() -> None:
    """Its p-value is estimated, its boundary two standard errors of that stricter: between them it is undecided."""
    scatter = np.random.default_rng(11).normal(0.0, 0.01, 12)
    low, high = 0.0, 0.05
    for _ in range(40):
        shift = 0.5 * (low + high)
        proved = difference_p(Cell("", tuple(scatter - scatter.mean() + shift)), RULE) <= RULE.alpha
        low, high = (low, shift) if proved else (shift, high)
    cell = Cell("one", tuple(scatter - scatter.mean() + high))
    assert difference_p(cell, RULE) <= RULE.alpha
    (claimed,), (explored,) = claims([cell], RULE), exploration([cell], RULE)
    assert claimed.alone.kind is Kind.UNDECIDED, "or this test shows nothing"
    assert claimed.kind is explored.kind is Kind.UNDECIDED
    assert claimed.interval is not None
    assert not claimed.interval.excludes_one


def test_holm_is_no_stricter_for_a_declared_family() -> None:
    """A rule for a family judges each cell at alpha over their number; Holm asks for that of the first one only."""
    rule = Rule.fixed(10).for_family(2)
    scatter = np.array([0.3, -0.9, 0.5, -0.2, 1.1, -0.8, 0.1, 0.7, -1.0, 0.2])
    strong, weak = tuple(0.2 + 0.01 * scatter), tuple(0.0052 + 0.01 * scatter * 0.95)
    family = claims([Cell("strong", strong), Cell("weak", weak)], rule)
    assert family[1].alone.kind is Kind.UNDECIDED
    assert family[1].kind is Kind.FASTER


def test_equivalence_is_a_family_of_its_own() -> None:
    quiet = tuple(0.0005 * np.array([1, -1, 1, -1, 1, -1, 1, -1]))
    family = claims([Cell(str(i), quiet) for i in range(5)], Rule.fixed(8))
    assert all(c.kind is Kind.EQUIVALENT for c in family)
    family = claims([Cell("broken", (0.1, math.nan)), Cell("quiet", quiet)], Rule.fixed(8))
    assert [c.kind for c in family] == [Kind.INVALID, Kind.EQUIVALENT]


def test_a_family_of_equal_cells_is_seldom_called_different_anywhere() -> None:
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(100):
        cells = [Cell(str(i), tuple(rng.normal(0, 0.01, 6))) for i in range(10)]
        wrong += any(c.kind in (Kind.FASTER, Kind.SLOWER) for c in claims(cells, Rule.fixed(6)))
    assert wrong <= 12  # 5 % of 100, and 3.5 standard errors


def test_exploration_is_labelled_and_finds_agree_with_their_intervals() -> None:
    rng = np.random.default_rng(6)
    cells = [Cell(str(i), tuple(rng.normal(0.004 * (i % 3), 0.007, 10))) for i in range(30)]
    finds = exploration(cells, Rule.fixed(10))
    assert any(c.kind is Kind.FASTER for c in finds)
    for result in finds:
        assert "exploration" in result.label
        assert result.interval is not None
        assert (result.kind in (Kind.FASTER, Kind.SLOWER)) == result.interval.excludes_one


def test_what_an_exploration_calls_equivalent_seldom_differs_by_delta() -> None:
    """Of 20 cells 10 are equal and 10 differ by just delta, which is not equivalent: 5 % of those named may be."""
    rng = np.random.default_rng(7)
    rule = Rule.fixed(12)
    edge = math.log1p(rule.delta)
    named, wrong = 0, []
    for _ in range(60):
        cells = [Cell(str(i), tuple(rng.normal(edge * (i % 2), 0.004, 12))) for i in range(20)]
        result = [int(item.name) % 2 for item in exploration(cells, rule) if item.kind is Kind.EQUIVALENT]
        named += len(result)
        wrong.append(sum(result) / max(len(result), 1))
    assert named > 60 * 10 * 0.9, "those that are equal are named"
    assert float(np.mean(wrong)) < 0.05 + 3.5 * float(np.std(wrong)) / math.sqrt(60)


def test_the_best_of_64_overstates_itself() -> None:
    assert winner_overstatement(64, 0.0025) == pytest.approx(0.006, rel=0.03)
    assert winner_overstatement(1, 0.0025) == pytest.approx(0.0, abs=1e-9)
