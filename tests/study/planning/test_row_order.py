"""In which order a bundled study's rows are run: what was published first, for the least time."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from burnish.base.paths import home
from burnish.catalogue.bundled.published import SAMPLES, Figure
from burnish.report.sections.bundled.plan import document
from burnish.study import runner
from burnish.study.bundled.patches import IDENTICAL
from burnish.study.comparison import Comparison
from burnish.study.constructors.bundled import bundled_study
from burnish.study.planning.costs import Forecast, Need, UnitCost
from burnish.study.planning.order import changes_of, order_of, telling_first
from burnish.study.planning.plan import Plan
from burnish.study.planning.study_plan import plan_of
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked, by_name
from drawn import drawn

CHANGE = Figure(4.0, 4.0)


def comparison(row: str, load: str = "", published: Figure | None = None) -> Comparison:
    return Comparison(row, "", "", load, None, "baseline", row, published=published)


def forecast(**rows: tuple[Need, ...]) -> Forecast:
    costs = tuple(UnitCost(("", row), 1, 0.0, 0.0, 0.0, needs) for row, needs in rows.items())
    return Forecast(Plan("fake", "", ()), costs, {})


BASE = Need("baseline", 2000.0)
ROWS = forecast(
    dear=(BASE, Need("profile", 4000.0), Need("cell dear", 0.0, 200.0)),
    quiet=(BASE, Need("cell quiet", 0.0, 100.0)),
    cheap=(BASE, Need("cell cheap", 0.0, 200.0)),
    table=(BASE, Need("patched", 2000.0), Need("cell table", 0.0, 300.0)),
)
COMPARISONS = [
    comparison("dear", published=CHANGE),
    comparison("quiet"),
    comparison("cheap", published=CHANGE),
    *(comparison("table", load, CHANGE) for load in ("one", "two", "three")),
]


def test_the_most_published_changes_for_the_time_that_is_still_needed_come_first() -> None:
    found = telling_first(ROWS, changes_of(COMPARISONS))
    assert [cost.unit[1] for cost in found.costs] == ["table", "cheap", "dear", "quiet"]
    assert [cost.seconds for cost in found.costs] == [4300, 200, 4200, 100], "the first of them pays for the baseline"
    assert sum(cost.seconds for cost in found.costs) == found.seconds == 8800


def test_rows_of_which_nothing_was_published_stay_in_order() -> None:
    assert telling_first(ROWS, {}).costs == ROWS.of([cost.unit for cost in ROWS.costs]).costs
    assert order_of(ROWS, [comparison(row) for row in ("dear", "quiet", "cheap", "table")]) is None


def test_the_order_is_told_with_the_time_until_half_of_the_changes_are_known() -> None:
    order = order_of(telling_first(ROWS, changes_of(COMPARISONS)), COMPARISONS)
    assert order is not None
    assert [unit[1] for unit in order.units] == ["table", "cheap", "dear"]
    assert (order.changes, order.half) == (5, 4300)
    assert order_of(ROWS, COMPARISONS) is None, "the file's own order needs no word"


@pytest.mark.parametrize(
    "other",
    [
        comparison("row"),
        comparison("row", published=Figure(None, None)),
        comparison("row", published=Figure(200.0, 200.0, "MB")),
        comparison("row", published=Figure(3.2, 0.4, SAMPLES)),
        replace(comparison("row", published=CHANGE), control=True),
        replace(comparison("row", published=CHANGE), reason="no equivalent today"),
        replace(comparison("row", published=CHANGE), shows=IDENTICAL),
    ],
)
def test_what_answers_no_published_change_does_not_count(other: Comparison) -> None:
    assert not changes_of([other])


def test_the_tests_of_a_suite_answer_one_change() -> None:
    suite = [replace(comparison("row", "suite", CHANGE), test=test) for test in ("a", "b")]
    assert changes_of([*suite, comparison("row", "other", CHANGE)]) == {("", "row"): 2}


def test_a_study_measures_its_rows_in_the_plans_order(burnish_home: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """The article's five loads, last in its file, are what it has published changes of."""
    measured: list[str] = []
    monkeypatch.setattr(runner, "run_group", lambda _, group: measured.append(group[0].row))
    asked = Asked(rows=("rw-lock-word", "all-read-only"))
    study = bundled_study("arm-2020", "fake", asked, Options())
    listed = list(dict.fromkeys(one.row for one in study.comparisons if one.row in asked.rows))
    assert listed == ["rw-lock-word", "all-read-only"]
    runner.run(home(), study, Options(), Console(file=io.StringIO()), None, asked)
    assert measured == ["all-read-only", "rw-lock-word"]


def test_a_plan_tells_the_order_where_it_is_not_the_files(burnish_home: object) -> None:
    asked = Asked(rows=("rw-lock-word", "all-read-only", "all-read-write"))
    study = bundled_study("arm-2020", "fake", asked, Options())
    plan = plan_of(home(), study, by_name(study, asked), Options())
    assert [row["row"] for row in plan.as_dict()["rows"]] == ["all-read-only", "all-read-write", "rw-lock-word"]
    shown = " ".join(drawn(document(study, plan)).split())
    assert "order: all-read-only, all-read-write, then rows without a published change: most changes" in shown
    assert "; 1 of the 2 after about " in shown
    alone = Asked(rows=("all-read-only",))
    study = bundled_study("arm-2020", "fake", alone, Options())
    assert plan_of(home(), study, by_name(study, alone), Options()).order is None


def test_nothing_is_said_of_rows_that_are_not_asked_for_but_that(burnish_home: object) -> None:
    def shown(*series: str) -> str:
        asked = Asked(rows=("fbo",), series=series)
        study = bundled_study("sun-2008", "fake", asked, Options())
        return " ".join(drawn(document(study, plan_of(home(), study, by_name(study, asked), Options()))).split())

    assert "not as published in fbo: each server has half of the cores" in shown("gcc")
    whole = shown("gcc-whole")
    assert "each server has half of the cores" not in whole
    assert "not as published in fbo: " in whole
    assert "fast-math" not in whole
    assert "restrict: no equivalent today" not in whole
    assert "rows: left out by --row" in whole
