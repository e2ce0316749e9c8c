"""How many times a candidate is another that was measured beside the same baseline, in the same sittings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from burnish.model.sittings import Spread
from burnish.statistics.intervals import Interval
from burnish.statistics.means import quotient
from burnish.statistics.rivals import quotient_beside, rival
from burnish.statistics.sequential import Rule
from burnish.statistics.sittings import SittingCell

STARTS = 6
RULE = Rule.fixed(STARTS, delta=0.005)
EACH = 0.0118
"""How far each candidate's ratio to the baseline moves between sittings."""


def cells(truth: float, sittings: int, pair: float, random: np.random.Generator) -> tuple[SittingCell, SittingCell]:
    """Two candidates whose ratio is exp(`truth`) and moves by `pair` between sittings."""
    shared = random.normal(0.0, math.sqrt(EACH**2 - pair**2 / 2.0), sittings)
    means = [shared + random.normal(shift, pair / math.sqrt(2.0), sittings) for shift in (truth + 0.2, 0.2)]
    read = [random.normal(mean[:, None], 0.01, (sittings, STARTS)) for mean in means]
    one, other = (
        SittingCell(name, tuple(map(tuple, starts.tolist())), Spread(EACH, 15.0, ""))
        for name, starts in zip(("one", "other"), read, strict=True)
    )
    return one, other


def judged(cell: SittingCell) -> Interval:
    found = cell.judge(RULE).difference
    assert found is not None
    return found


@pytest.mark.parametrize("sittings", [1, 2, 3, 5])
@pytest.mark.parametrize("pair", [0.0, 0.005, 0.0113])
def test_its_interval_holds_as_often_as_it_says(sittings: int, pair: float) -> None:
    random = np.random.default_rng(sittings)
    truth, sets = 0.03, 1500
    between = Spread(0.0113, math.inf, "")
    held = 0
    for _ in range(sets):
        found = quotient_beside(*cells(truth, sittings, pair, random), between, RULE)
        held += found.low <= math.exp(truth) <= found.high
    assert held / sets > 0.95 - 3.0 * math.sqrt(0.05 * 0.95 / sets)


@pytest.mark.parametrize("sittings", [1, 2, 4])
def test_what_both_share_of_a_sitting_is_not_counted_twice(sittings: int) -> None:
    random = np.random.default_rng(7)
    narrower = 0
    for _ in range(50):
        one, other = cells(0.03, sittings, 0.005, random)
        beside = quotient_beside(one, other, Spread(0.0113, 15.0, ""), RULE)
        alone = quotient(judged(one), judged(other))
        assert beside.ratio == pytest.approx(alone.ratio)
        narrower += beside.half_width < alone.half_width
    assert narrower > 40


def test_of_two_sittings_that_contradict_one_another_it_has_both() -> None:
    between, spread = Spread(0.0035, 5.0, ""), Spread(EACH, 15.0, "")
    near = (-0.001, 0.0, 0.001)
    means = ((0.42, 0.30), (0.30, 0.30))
    one, other = (
        SittingCell(name, tuple(tuple(mean + value for value in near) for mean in both), spread)
        for name, both in zip(("one", "other"), means, strict=True)
    )
    found = quotient_beside(one, other, between, RULE)
    assert found.low < 1.0 < math.exp(0.12) < found.high
    assert quotient_beside(other, other, between, RULE).half_width < 0.02


def test_a_rival_is_judged_by_it() -> None:
    one, other = (
        SittingCell(name, ((mean - 0.001, mean, mean + 0.001),), Spread(EACH, 15.0, ""))
        for name, mean in (("one", 0.33), ("other", 0.30))
    )
    best, its = ({"load": judged(cell)} for cell in (one, other))
    assert rival("other", best, its, once=True).tie == "noise"
    beside = {"load": quotient_beside(one, other, Spread(0.0113, 15.0, ""), RULE)}
    assert rival("other", best, its, once=True, beside=beside).tie == ""


def test_different_numbers_of_sittings_are_no_pair() -> None:
    one, other = (SittingCell("", ((0.1, 0.2),) * count, Spread(0.0, math.inf, "")) for count in (1, 2))
    with pytest.raises(ValueError, match="zip"):
        quotient_beside(one, other, Spread(0.01, 15.0, ""), RULE)
