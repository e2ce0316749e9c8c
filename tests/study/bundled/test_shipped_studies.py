"""Studies that ship, run on the fake engine from the command line: published beside measured, sittings, bad input."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import shipping
from burnish.base import paths
from burnish.base.errors import UserError
from burnish.builds.builder import APART
from burnish.catalogue import load
from burnish.catalogue.bundled import files as studies
from burnish.cli import app
from burnish.engines.fake.engine import FakeEngine
from burnish.model.condition import Condition
from burnish.record.events.builds import BuildMade, TuningExamined
from burnish.record.events.bundled import ConfirmationBegun, FigureMeasured
from burnish.record.events.study import StudyFinished
from burnish.record.events.trials import StartBegun
from burnish.record.events.verdicts import FamilyJudged
from burnish.record.record import Record
from burnish.report.bundled.table import Line, StudyTable
from burnish.study.bundled.expansion import expand
from burnish.study.constructors import bundled
from burnish.toolchain import compile_costs
from shipping import quick, shown
from studying import burnish, text

QUICK = ["--engine", "fake", "--starts", "2", "--pairs", "1"]


def by_row(found: StudyTable) -> dict[str, Line]:
    return {line.row: line for line in found.lines}


def starts(folder: Path) -> int:
    with closing(Record(folder)) as record:
        return sum(1 for _ in record.events(StartBegun))


@pytest.mark.measures
def test_the_manual_in_several_sittings(monkeypatch: pytest.MonkeyPatch) -> None:
    run = quick(monkeypatch)
    found, folder = run("mysql-manual", "dynamic-link", "tcp-remote", "charsets", "compile-memory")
    first = by_row(found)
    assert first["dynamic-link"].verdict in ("slower", "undecided")
    assert first["dynamic-link"].published == "-13"
    value = first["dynamic-link"].interval
    assert value is not None
    assert value.low < value.ratio < value.high
    assert 0.6 < value.ratio < 1.1
    assert "transport" in first["tcp-remote"].reason
    assert "WITH_EXTRA_CHARSETS" in first["charsets"].reason, "an option that the engine has not is a reason"
    assert first["compile-memory"].verdict == "measured" or "no figure for" in first["compile-memory"].reason
    with closing(Record(folder)) as record:
        built = {each.event.build.name for each in record.events(BuildMade)}
    assert "baseline" in built
    assert "inline-generously" not in built, "its objects alone are compiled"
    assert not list(paths.home().work("fake").glob(f"compile-costs-*-{APART}")), "what was noted is in the record"
    assert first["tls"].reason == "left out by --row"
    assert all(line.verdict or line.reason for line in first.values())
    before = starts(folder)
    again, same = run("mysql-manual", "dynamic-link")
    assert (same, starts(folder)) == (folder, before), "what has its verdict is not measured again"
    assert by_row(again)["dynamic-link"].interval == value
    more, same = run("mysql-manual", "tls")
    assert same == folder
    assert starts(folder) > before
    tls = by_row(more)["tls"]
    assert tls.quantity == "throughput"
    assert tls.interval is not None
    assert tls.interval.ratio < 0.9, "a condition that takes more than twice the work"
    assert by_row(more)["dynamic-link"].verdict, "earlier sittings stay in the table"
    said = shown(folder)
    assert "published %" in said
    assert max(map(len, said.splitlines())) <= 80


def test_memory_of_a_compile_that_a_finished_build_does_not_name_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large server has hundreds of objects, of which a build's description has the heaviest."""
    run, usual = quick(monkeypatch), compile_costs.summary

    def few(*facts: Any) -> dict[str, Any]:
        return {**usual(*facts), "heaviest": [["geometry.c.o", 2_000_000_000, 40.0]]}

    with monkeypatch.context() as finished:
        finished.setattr(compile_costs, "summary", few)
        run("mysql-manual", "dynamic-link")
    found, folder = run("mysql-manual", "compile-memory")
    line = by_row(found)["compile-memory"]
    assert line.verdict == ("measured" if shutil.which("time") else ""), line.reason
    with closing(Record(folder)) as record:
        assert all(each.event.base < 1000 for each in record.events(FigureMeasured))


def test_only_what_a_row_runs_under_is_reported_as_untuned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row gives a load the memory that it needs; without that setting nothing is measured."""

    def examine(*facts: object) -> list[str]:
        (condition,) = (each for each in facts if isinstance(each, Condition))
        return [] if condition.settings else ["its memory is too small"]

    monkeypatch.setattr(FakeEngine, "examine", examine)
    run = quick(monkeypatch)
    expansion = expand(studies.study("mysql-manual"), load.engine("fake"))
    own = tuple(replace(each, given=("work_percent=101",)) for each in expansion.comparisons)
    monkeypatch.setattr(bundled, "expand", lambda *_, **__: replace(expansion, comparisons=own))
    found, folder = run("mysql-manual", "dynamic-link")
    assert by_row(found)["dynamic-link"].verdict
    with closing(Record(folder)) as record:
        assert {each.event.found for each in record.events(TuningExamined)} == {()}


def test_starts_of_another_version_are_not_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have other times, or other parameters of a load, under one name, or another design for conditions."""
    run = quick(monkeypatch)
    _, folder = run("mysql-manual", "dynamic-link")
    before = starts(folder)
    with monkeypatch.context() as other:
        other.setattr(shipping, "SHORT", replace(shipping.SHORT, window=0.25))
        with pytest.raises(UserError, match=r"duet\.window was 0\.1 when .* and is 0\.25 now; --fresh begins"):
            run("mysql-manual", "pgcc-O6")
    assert starts(folder) == before
    table = expand(studies.study("mysql-manual"), load.engine("fake"))
    (tls,) = (each.cell_id for each in table.comparisons if each.row == "tls")
    assert tls is not None
    with closing(Record(folder)) as record:
        record.append(StartBegun(tls, start=1, design="solo"))
    with pytest.raises(UserError, match=r"the design of .* was solo when .* and is interleaved now; --fresh begins"):
        run("mysql-manual", "tls")


@pytest.mark.measures
def test_sun_on_a_short_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    found, folder = quick(monkeypatch)("sun-2008", "baseline", "unroll", "restrict", threads=(1,))
    mine = {(line.row, line.reading): line for line in found.lines if line.series == "gcc" and line.threads == 1}
    assert mine["baseline", "options"].control
    for row in ("baseline", "unroll"):
        each = mine[row, "options"]
        assert each.verdict
        assert each.interval is not None
        assert 0.6 < each.interval.ratio < 1.6
    assert "univ" in mine["unroll", "source"].reason, "a patch that does not fit this source is a reason"
    assert "points-to" in mine["restrict", "feedback"].reason
    assert found.advice
    with closing(Record(folder)) as record:
        assert record.last(StudyFinished) is None, "the rest of the file is still open"
        assert record.last(FamilyJudged) is not None


@pytest.mark.measures
def test_the_best_of_two_rows_is_measured_again_whatever_reading_it_is_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are made faster, as a profile makes nothing of the fake engine; of one row alone none is picked."""
    for row in studies.study("sun-2008").rows:
        if row.name in ("fbo", "fbo+unroll"):
            monkeypatch.setitem(row.recipe, "c", [f"-DFAKE_SPEED={130 if row.name == 'fbo' else 160}"])
    run = quick(monkeypatch)
    _, folder = run("sun-2008", "fbo", threads=(1,), starts=3)
    with closing(Record(folder)) as record:
        assert record.last(ConfirmationBegun) is None
    found, same = run("sun-2008", "fbo+unroll", threads=(1,), starts=3)
    assert same == folder
    with closing(Record(folder)) as record:
        picked = [each.event.comparison.key for each in record.events(ConfirmationBegun)]
    assert len(picked) == 1, shown(folder)
    (best,) = (line for line in found.lines if line.key in picked)
    assert (best.row, best.reading) == ("fbo+unroll", "feedback")
    (said,) = (each for each in found.advice if "build with" in each)
    assert said.startswith("gcc: build with fbo+unroll: ")
    assert "the best of 2, so measured again on fresh starts" in said


def test_a_sitting_says_first_what_all_of_it_takes(burnish_home: Path) -> None:
    words = ["study", "run", "mysql-manual", *QUICK, "--row", "dynamic-link,strip", "--budget", "10m"]
    _, err = text(burnish(*words))
    before, _ = err.split("row 1 of 2", 1)
    assert "2 full compiles" in before, "the baseline's and a row's"
    assert err.count("compile: done") == 2
    assert "2 cells to measure, about" in before


def test_what_a_budget_cuts_is_not_told_as_ahead(burnish_home: Path) -> None:
    def needs(*words: str) -> list[float]:
        costs = json.loads(text(burnish("study", "show", "mysql-manual", *QUICK, *words, "--json"))[0])["rows"]
        return [cost["making_seconds"] + cost["trial_seconds"] for cost in costs]

    rows = ["--row", "compiler-and-options,tcp-local"]
    first, second = needs(*rows)
    (alone,) = needs("--row", "tcp-local")
    budget = int(first) + 1
    assert alone == first <= budget < first + second, "the cheaper row comes first, and has the baseline to build too"
    shown, _ = text(burnish("study", "show", "mysql-manual", *QUICK, *rows, "--budget", f"{budget}s"))
    assert "1 cell to measure, about" in shown
    _, err = text(burnish("study", "run", "mysql-manual", *QUICK, *rows, "--budget", f"{budget}s"))
    before, _ = err.split("row 1 of 1: tcp-local", 1)
    assert "1 full compile," in before, "the baseline's"
    assert "1 cell to measure, about" in before


def test_before_running(burnish_home: Path) -> None:
    listed, _ = text(burnish("study", "list"))
    assert "sun-2008" in listed
    assert "mysql-manual" in listed
    assert "19 rows, mariadb, with --engine also mysql, " in " ".join(listed.split())
    as_json, _ = text(burnish("study", "list", "--json"))
    engines = {one["study"]: one["engines"] for one in json.loads(as_json)["studies"]}
    assert engines["mysql-manual"][:2] == ["mariadb", "mysql"]
    child = burnish("study", "show", "mysql-manual", "--engine", "fake")
    out, err = text(child)
    assert child.returncode == 0, err
    assert "cells to measure" in out
    assert "encrypted" in out
    assert not list(burnish_home.glob("studies/*"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "sun-2009"], "unknown bundled study 'sun-2009' (did you mean 'sun-2008'?)"),
        (["run", "mysql-manual", "--row", "tsl"], "unknown row of mysql-manual 'tsl' (did you mean 'tls'?)"),
        (["run", "mysql-manual", "--engine", "mariabd"], "unknown engine 'mariabd' (did you mean 'mariadb'?)"),
        (["run", "mysql-manual", *QUICK, "--row", "tls", "--budget", "2s"], "tls needs about 1 min"),
        (["run", "sun-2008", *QUICK, "--row", "baseline", "--threads", "1000"], "max_connections is 256"),
        (["show", "mysql-manual", "--budget", "soon"], "--budget soon: give hours and minutes"),
    ],
)
def test_bad_input_is_one_line(burnish_home: Path, words: list[str], says: str) -> None:
    with pytest.raises(UserError) as raised:
        app(["study", *words], standalone_mode=False)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)
