"""Means that a publication states: beside their cells, and beside what was measured of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from test_study_table import decided, shipped

from burnish.record.events.bundled import StatedMean, TablePlanned
from burnish.report.fold import fold
from burnish.report.result import Result
from burnish.report.values import runs as values
from drawn import printed
from reported import Events, comparison

MEAN = StatedMean("6.5 %, the second text", "All cells count the same.", 6.5, 6.46, 6.36, 24, -3.06, 14.3, ("a", "b"))
OTHER = replace(MEAN, title="10.7 %, the first text", stated=10.7, arithmetic=11.1, geometric=10.75, rows=())


def claim(row: str, low: float, **more: Any) -> dict[str, Any]:
    figure = {"low": low, "high": low, "unit": "%", "note": ""}
    return comparison(row, published=figure, published_words=f"{low:+.1f}", **more)


def of_series(series: str) -> dict[str, Any]:
    build = f"{series}.a"
    return claim("a", -3.1, series=series, candidate=build, cell=f"baseline: {build} / w")


def events(*means: StatedMean, lines: tuple[dict[str, Any], ...] = ()) -> Events:
    """These lines; without any, two rows that are compared with the mean's cells, and one that is not."""
    made = shipped(*(lines or (claim("a", -3.1), claim("b", 14.3), comparison("beside"))))
    for number, recorded in enumerate(made.made):
        if isinstance(recorded.event, TablePlanned):
            own = tuple(replace(each, likeness="stand-in", unlike=("its size",)) for each in recorded.event.comparisons)
            made.made[number] = replace(recorded, event=replace(recorded.event, comparisons=own, means=means))
    return made


def said(result: Result) -> str:
    return " ".join(printed(result).split())


def test_what_was_printed_stands_beside_what_its_cells_give() -> None:
    told = said(fold(events(MEAN, OTHER).made))
    assert "The published means, computed again" in told
    assert "6.5 %, the second text +6.5 +6.5" in told
    assert "10.7 %, the first text +10.7 +11.1" in told
    assert "6.5 %, the second text: All cells count the same." in told
    assert "here:" not in told, "nothing is measured yet"


def test_the_mean_here_is_of_the_cells_compared_with_it_and_the_worst_is_named() -> None:
    made = events(MEAN, OTHER)
    decided(made, "a", "faster", 1.10)
    decided(made, "beside", "faster", 3.0)
    told = said(fold(made.made))
    assert "here: A study: +10.0 [+8.9, +11.1] %, the geometric mean of the 1 cell measured of 2" in told
    assert "its worst published cell (-3.1 %: a): +10.0 [+8.9, +11.1] %, faster; holds? reversed" in told
    assert told.count("geometric mean of the") == 1, "none for a mean against which no row is held"


def test_each_series_has_a_mean_of_its_own() -> None:
    made = events(MEAN, lines=(of_series("gcc"), of_series("clang"), of_series("third")))
    decided(made, "gcc.a", "faster", 1.10)
    decided(made, "clang.a", "faster", 1.20)
    told = said(fold(made.made))
    assert "here: gcc: A study: +10.0 [+8.9, +11.1] %, the geometric mean of the 1 cell measured of 1" in told
    assert "here: clang: A study: +20.0" in told
    assert "here: third" not in told, "nothing of it is measured"


def test_a_mean_is_of_one_quantity_where_rows_are_compared_by_several() -> None:
    made = events(MEAN, lines=(claim("a", -3.1, quantity="throughput"), claim("b", 14.3)))
    decided(made, "a", "faster", 1.10, throughput=1.05)
    decided(made, "b", "faster", 1.40, throughput=1.25)
    told = said(fold(made.made))
    assert "here: A study: +14.6 [" in told, "of 1.05 and 1.25, not of 1.05 and 1.40"
    assert "the geometric mean of the 2 cells measured of 2, all in throughput" in told


def test_the_worst_cell_may_be_open() -> None:
    made = events(MEAN)
    decided(made, "b", "faster", 1.14)
    assert "its worst published cell (-3.1 %: a): not measured yet" in said(fold(made.made))


def test_a_study_without_such_means_says_nothing_of_them() -> None:
    result = fold(events().made)
    assert "published means" not in said(result)
    assert "means" not in values.run(result)["shipped"], "its summary is as it was"
    (mean,) = values.run(fold(events(MEAN).made))["shipped"]["means"]
    assert mean["rows"] == ("a", "b")
