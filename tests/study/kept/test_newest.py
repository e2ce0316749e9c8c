"""Which run's build is meant where none is named."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.model.cell import BuildId, CellId
from burnish.record.events.builds import BuildMade
from burnish.record.events.study import StudyBegun, StudyFinished
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import FILE, Record
from burnish.study.kept.newest import with_build

RATIO = VerdictReached(CellId("one", "load"), "duet", "capacity", "unit", "faster", "", {}, 3)


@pytest.fixture
def home() -> Home:
    return paths.home()


def put(home: Home, name: str, age: float, *built: str, verdict: bool = True, finished: bool = True) -> Path:
    """A run, last written to so many seconds ago, with builds of these variants."""
    with closing(Record(home.studies / name, create=True)) as record:
        record.append(StudyBegun(name, {"verb": name, "variants": ["baseline", "quick"]}))
        for variant in built:
            record.append(BuildMade(BuildId(variant), f"key-{variant}", {}))
        if verdict:
            record.append(RATIO)
        if finished:
            record.append(StudyFinished())
    then = time.time() - age
    os.utime(home.studies / name / FILE, (then, then))
    return home.studies / name


def test_the_newest_run_with_a_build_is_taken_not_a_newer_comparison(home: Home) -> None:
    put(home, "older", 90, "baseline", "quick")
    tuned = put(home, "tune", 60, "baseline", "quick")
    put(home, "compare", 30)
    put(home, "only-its-baseline", 20, "baseline")
    put(home, "not-judged", 10, "baseline", "quick", verdict=False)
    assert with_build(home, None) == tuned


def test_it_is_one_that_built_the_variant_that_is_named(home: Home) -> None:
    slim = put(home, "slim", 90, "baseline", "slim")
    put(home, "quick", 60, "baseline", "quick")
    assert with_build(home, "slim") == slim


def test_one_that_still_runs_is_taken_only_where_none_is_finished(home: Home) -> None:
    runs = put(home, "runs", 10, "baseline", "quick", finished=False)
    assert with_build(home, None) == runs
    ended = put(home, "ended", 90, "baseline", "quick")
    assert with_build(home, None) == ended


def test_without_any_it_is_said_what_is_missing(home: Home) -> None:
    put(home, "compare", 30)
    for variant in (None, "quick"):
        with pytest.raises(UserError, match=r"no run built and measured a variant; `burnish runs` lists"):
            with_build(home, variant)
    put(home, "tune", 60, "baseline", "quick")
    with pytest.raises(UserError, match=r"unknown variant 'quik' \(did you mean 'quick'\?\)"):
        with_build(home, "quik")
