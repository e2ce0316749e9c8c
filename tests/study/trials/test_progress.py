"""How far trials have come, as a person reads it."""

from __future__ import annotations

from burnish.study.trials.progress import Progress, least_left


def test_what_is_left_is_what_open_cells_lack_of_the_minimum_and_one_more_beyond_it() -> None:
    assert least_left([0, 2], 3) == 4
    assert least_left([3, 5], 3) == 2, "both go on, nobody knows how long: one more each"
    assert least_left([], 3) == 0


def test_minutes_left_are_of_the_starts_that_were_taken() -> None:
    progress = Progress()
    assert progress.words(6, 10.0) == "start 1/6, about 1 min 00 s left"
    progress.note(20.0)
    progress.note(40.0)
    assert progress.words(4, 10.0) == "start 3/6, about 2 min 00 s left"
