"""What studies tell beyond their tables, in the forecast and under a budget; pure, and from the command line."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from typer.testing import CliRunner

from burnish.cli.common import app
from burnish.record.events.bundled import SearchRound
from burnish.record.events.verdicts import Interval
from burnish.record.record import Record
from burnish.study.comparison import Comparison
from burnish.study.extras.extras import Allowance, Extra, reported, sums, within
from burnish.study.extras.search import search
from burnish.study.extras.weights import weights_after
from burnish.study.planning.costs import Forecast, UnitCost
from burnish.study.planning.plan import Plan
from burnish.study.request.selection import Selection

ROWS = Forecast(Plan("fake", "", ()), (UnitCost(("", "a"), 1, 60.0, 40.0, 0.0), UnitCost(("", "b"), 1, 0, 50, 0)), {})
A, B = (Comparison(row, "", "", "w", None, "baseline", row) for row in ("a", "b"))
BOTH = Selection((A, B))
EXTRAS = (Extra("timeline", "seconds", 0.0, 30.0), Extra("search", "weights", 40.0, 20.0, 5), Extra("x", "x", 0.0, 1.0))


def names(found: tuple[Extra, ...]) -> list[str]:
    return [each.name for each in found]


def test_without_a_budget_everything_is_done() -> None:
    assert within(EXTRAS, ROWS, BOTH, None) == (EXTRAS, {})


def test_what_is_beyond_the_table_has_what_the_rows_leave() -> None:
    found, out = within(EXTRAS, ROWS, BOTH, 200.0)
    assert names(found) == ["timeline", "x"]
    assert out == {"weights": "cut by --budget: the rows leave 20 s, it needs about 1 min"}
    assert names(within(EXTRAS, ROWS, BOTH, 241.0)[0]) == ["timeline", "search", "x"]
    assert names(within(EXTRAS, ROWS, Selection((A,)), 200.0)[0]) == ["timeline", "search", "x"], "b is not run"
    found, out = within(EXTRAS, ROWS, BOTH, 140.0)
    assert (found, len(out)) == ((), 3)


def test_what_is_about_rows_goes_with_them() -> None:
    extra = Extra("timeline", "seconds", 0.0, 1.0, needs=frozenset([B.key]))
    cut = Selection((A,), {B.key: "cut by --budget: its row needs about 9 min"})
    assert within([extra], ROWS, cut, 500.0) == ((), {"seconds": "cut by --budget with its rows"})
    assert within([extra], ROWS, BOTH, 500.0) == ((extra,), {})


def test_a_sitting_says_what_there_is_no_time_for() -> None:
    assert Allowance(None, lambda: 100.0).why_not(1e9) is None
    assert Allowance(7200.0, lambda: 100.0).why_not(600.0) is None
    why = Allowance(300.0, lambda: 100.0).why_not(600.0)
    assert why is not None
    assert why.startswith("cut by --budget: 1 min 40 s of 5 min 00 s were used up before it, and it needs about 10 min")


def test_an_allowance_goes_by_the_time_that_is_used_when_it_is_asked() -> None:
    used = iter((100.0, 201.0))
    allowance = Allowance(300.0, lambda: next(used), again=False)
    assert allowance.why_not(115.0) is None
    assert allowance.why_not(115.0) == (
        "cut by --budget: 3 min 21 s of 5 min 00 s were used up before it, and it needs about 2 min"
    )


def test_a_search_says_before_which_round_it_stopped(tmp_path: Path) -> None:
    robust = SimpleNamespace(loads=("x", "y"), rounds=5)
    intervals = {"x": Interval(1.2, 1.1, 1.3, 0.95), "y": Interval(0.9, 0.8, 1.0, 0.95)}

    def done_round(number: int, weights: dict[str, float], found: dict[str, Interval]) -> SearchRound:
        return SearchRound(number, weights, found, {}, robust=False, delta=0.01, rounds=3)

    asked: list[float] = []

    def why_not(seconds: float) -> str:
        asked.append(seconds)
        return "no time"

    with closing(Record(tmp_path / "study", create=True)) as record:
        at_work = cast("Any", SimpleNamespace(record=record, session=SimpleNamespace(bench=None)))
        assert search(at_work, cast("Any", robust), why_not, 60.0) == "before round 1, no time"
        for number in (1, 2):
            record.append(done_round(number, {"x": 0.5, "y": 0.5}, intervals))
        assert search(at_work, cast("Any", robust), why_not, 60.0) == "before round 3, no time"
        assert asked == [60.0, 60.0]
        done = reported(record)
        assert (len(done.rounds), done.over, done.stopped) == (2, False, False)
        assert weights_after(cast("Any", robust), done.rounds)["y"] > 0.5
        record.append(done_round(3, {}, {}))
        assert reported(record).over
    assert weights_after(cast("Any", robust), ()) == {"x": 0.5, "y": 0.5}


def show(*words: str) -> str:
    done = CliRunner().invoke(app, ["study", "show", *words], env={"COLUMNS": "80", "TERM": "dumb"})
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def test_sums_are_of_rows_then_of_everything() -> None:
    costs = [UnitCost(("gcc", "a"), 2, 600.0, 60.0, 0.0), UnitCost(("gcc", "b"), 1, 0.0, 120.0, 0.0)]
    rows = "cells to measure, about 13 min 00 s at the least number of starts: 10 min 00 s of builds and tests, "
    assert sums(costs, (), {}) == [f"3 {rows}3 min 00 s of trials"]
    assert sums(costs[1:], (), {})[0].startswith("1 cell to measure, about 2 min 00 s")
    search = Extra("search", "search for weights", 60.0, 60.0, most=5)
    assert sums((), (search,), {"profiles": "no time"}) == [
        "no cell left to measure",
        "beyond the table: search for weights: about 2 min a round, 5 at most",
        "all together about 2 min 00 s (of a search one round)",
        "left out: profiles: no time",
    ]


def test_the_forecast_counts_what_is_beyond_the_table() -> None:
    said = " ".join(show("pgo", "--engine", "fake").split())
    assert "beyond the table: throughput by the second of 3 builds: about 1 min" in said
    assert "beyond the table: what is in the profiles" in said
    assert "all together about" in said
    found = json.loads(show("train-robust", "--engine", "fake", "--json"))
    by = {each["name"]: each for each in found["extras"]}
    assert list(by) == ["search", "profiles"]
    assert by["search"]["most"] == 5
    assert by["search"]["running_seconds"] > 0
    assert by["search"]["making_seconds"] > 0, "a merge of profiles, a build and its gate"
    assert all(row["row"] in ("only-point-select", "only-read-write", "only-analytical") for row in found["rows"])
    assert found["extras_left_out"] == {}


def test_a_budget_leaves_out_what_is_beyond_the_table_first() -> None:
    every = json.loads(show("train-robust", "--engine", "fake", "--json"))
    rows = sum(row["making_seconds"] + row["trial_seconds"] for row in every["rows"])
    budget = f"{int(rows) + 2}s"
    found = json.loads(show("train-robust", "--engine", "fake", "--json", "--budget", budget))
    assert found["cut"] == {}, "the rows fit"
    assert found["extras_left_out"]["search for weights of 3 loads"].startswith("cut by --budget: the rows leave ")
    said = " ".join(show("train-robust", "--engine", "fake", "--budget", budget).split())
    assert "left out: search for weights of 3 loads: cut by --budget" in said


def test_rows_that_are_asked_for_alone_have_no_search() -> None:
    found = json.loads(show("train-robust", "--engine", "fake", "--row", "only-analytical", "--json"))
    assert [each["name"] for each in found["extras"]] == ["profiles"]
    assert not json.loads(show("mysql-manual", "--engine", "fake", "--json"))["extras"]
