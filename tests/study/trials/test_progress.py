"""How far trials have come, as a person reads it."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.statistics.sequential import Rule, decide
from burnish.study.trials.progress import Progress, least_starts, probable_starts

WIDE = (0.03, -0.04, 0.02, -0.01, 0.05, -0.03, 0.01, -0.02)
"""Readings of which some forty give ±1 %."""


@pytest.mark.parametrize("rule", [Rule(), Rule(precision=0.01), Rule.fixed(30), Rule(cap=2, precision=0.01)])
def test_a_cell_without_readings_takes_the_least_number(rule: Rule) -> None:
    assert probable_starts((), rule) == least_starts(rule)
    assert probable_starts((0.5, -0.5, 0.1), Rule(cap=40, precision=0.01)) == 8, "three say too little of the scatter"


@pytest.mark.parametrize("rule", [Rule(cap=12), Rule(cap=12, precision=0.01), Rule.fixed(12)])
def test_a_cell_that_scatters_too_much_goes_on_to_the_cap(rule: Rule) -> None:
    assert probable_starts(WIDE, rule) == 12, "not to one more than it has"
    assert probable_starts(WIDE[:4], rule) == 12


def test_a_difference_that_a_look_will_show_ends_there() -> None:
    rule = Rule(cap=30)
    assert probable_starts([0.2 + one for one in WIDE[:4]], rule) == 5, "large"
    assert 8 < probable_starts([0.03 + one for one in WIDE], rule) < 30, "small"


def test_a_cell_has_at_least_one_more() -> None:
    assert probable_starts([0.2, 0.2, 0.2, 0.2, 0.2], Rule()) == 6


def test_it_is_about_as_many_as_cells_have_in_the_end() -> None:
    """Of simulated cells that want ±1 % of starts that scatter by 1.5 %, after eight of them."""
    rule = Rule(cap=60, precision=0.01)
    readings = 0.1 + 0.015 * np.random.default_rng(1).standard_normal((400, rule.cap))
    ended = decide(readings, rule).starts
    later = ended > 8
    probable = np.array([probable_starts(row[:8], rule) for row in readings[later]])
    assert np.median(probable) == pytest.approx(np.median(ended[later]), rel=0.15)
    assert np.median(np.abs(np.log(probable / ended[later]))) < 0.25, "half of them within a quarter"


def test_the_least_number_of_starts_is_when_a_cell_can_end() -> None:
    assert least_starts(Rule()) == 3, "the first look decides"
    assert least_starts(Rule(precision=0.01)) == 8
    assert least_starts(Rule(cap=5, precision=0.01)) == 5
    assert least_starts(Rule.fixed(30)) == 30


def test_minutes_left_are_of_the_starts_that_were_taken() -> None:
    progress = Progress()
    assert progress.words(6, 10.0) == "start 1/6, about 1 min 00 s left"
    progress.note(20.0)
    progress.note(40.0)
    assert progress.words(4, 10.0) == "start 3/6, about 2 min 00 s left"
