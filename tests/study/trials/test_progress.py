"""How far trials have come, as a person reads it."""

from __future__ import annotations

from burnish.statistics.sequential import Rule
from burnish.study.trials.progress import Progress, least_left, least_starts


def test_what_is_left_is_what_open_cells_lack_of_the_minimum_and_one_more_beyond_it() -> None:
    assert least_left([0, 2], 3) == 4
    assert least_left([3, 5], 3) == 2, "both go on, nobody knows how long: one more each"
    assert least_left([], 3) == 0


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
