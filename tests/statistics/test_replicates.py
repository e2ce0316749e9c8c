"""Claims about a flag are judged by replicate."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.statistics.replicates import (
    judge_replicates,
    layout_alone,
    layout_caveat,
    replicate_readings,
)
from burnish.statistics.sequential import Rule
from burnish.statistics.verdicts import Kind, judge


def test_many_starts_of_few_layouts_do_not_count_as_many() -> None:
    rng = np.random.default_rng(1)
    layouts = rng.normal(0.003, 0.004, 4)
    starts = [list(rng.normal(layout, 0.001, 30)) for layout in layouts]
    pooled = judge([x for group in starts for x in group], Rule.fixed(120, delta=0.001))
    by_layout = judge_replicates(starts, Rule.fixed(4, delta=0.001))
    assert pooled.kind is Kind.FASTER
    assert by_layout.kind is Kind.UNDECIDED
    assert by_layout.starts == 4
    assert "after 4 replicates" in by_layout.reason


def test_equal_replicates_are_still_equivalent_false_positives_stay_at_alpha() -> None:
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(400):
        layouts = rng.normal(0.0, 0.005, 6)
        judgement = judge_replicates([list(rng.normal(m, 0.002, 3)) for m in layouts], Rule.fixed(6))
        wrong += judgement.kind in (Kind.FASTER, Kind.SLOWER)
    assert wrong <= 35  # 5 % of 400, and 3.5 standard errors


def test_readings_of_replicates() -> None:
    assert replicate_readings([[1.0, 3.0], [5.0]]) == [2.0, 5.0]
    with pytest.raises(ValueError, match="without a start"):
        replicate_readings([[1.0], []])


def test_a_difference_within_the_layouts_spread_is_said_to_be_so() -> None:
    caveat = layout_caveat(1.008)
    assert caveat is not None
    assert "within the ±3 % that other layouts of the same code may make or take" in caveat
    assert layout_caveat(1 / 1.028) is not None
    assert layout_caveat(1.031) is None
    assert layout_alone(1.008, 0.005)
    assert not layout_alone(1.008, 0.002)
    assert not layout_alone(1.02, 0.005), "within the bound of the caveat, but no tie"
