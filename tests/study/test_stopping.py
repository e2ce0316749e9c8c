"""How a study ends when its host lets it down: what the line says, and that it is no finding."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import HostError, UserError
from burnish.base.paths import Home
from burnish.model.cell import BuildId, CellId
from burnish.record.costs import Figure
from burnish.record.events.builds import BuildsPlanned, GateFindings, GateRun, PlannedStep, PlanTotals, StageDone
from burnish.record.events.trials import StartDone
from burnish.record.record import FILE, Record
from burnish.study.builds.recorded import unsaid
from burnish.study.constructors.tune import tune_study
from burnish.study.kept import runs as studies
from burnish.study.kept.stopping import reporting_what_is_kept
from burnish.study.request.definition import Definition
from burnish.study.request.options import Options


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def definition() -> Definition:
    return tune_study("fake", Options()).definition


def ended(home: Home, definition: Definition, error: Exception) -> HostError:
    with pytest.raises(HostError) as caught, reporting_what_is_kept(home, definition):
        raise error
    return caught.value


ERRORS = [
    (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/home/x"), "/home/x: No space left on device"),
    (OSError(errno.EROFS, os.strerror(errno.EROFS), "/home/x"), "/home/x: Read-only file system"),
    (HostError("baseline: compile: /home: No space left on device"), "baseline: compile: /home: No space left"),
    (sqlite3.OperationalError("database or disk is full"), "database or disk is full"),
]


@pytest.mark.parametrize(("error", "said"), ERRORS)
def test_it_says_what_failed_and_what_is_kept(home: Home, definition: Definition, error: Exception, said: str) -> None:
    stopped = ended(home, definition, error)
    assert stopped.exit_code == 1
    assert said in str(stopped)
    assert stopped.explain().endswith("kept: nothing was begun yet; once that is put right, the same command goes on")
    record, _ = studies.begin_or_resume(home, definition, fresh=False)
    with closing(record):
        for key in ("a", "a", "b"):
            record.append(GateRun(BuildId(key), key, False, GateFindings(passed=True, tests=1, skipped=0)))
        record.append(StartDone(CellId("o3", "mix"), 1, None, settled=True, seconds=1.0, fingerprint=""))
        said = ended(home, definition, error).explain()
        assert f"kept: 2 test runs, 1 start of {record.folder.name}; " in said
    (record.folder / FILE).write_bytes(b"?")
    assert "kept: nothing was begun yet" in ended(home, definition, error).explain()


def test_what_is_no_fault_of_the_host_is_left_as_it_is(home: Home, definition: Definition) -> None:
    for error in (OSError(errno.ENOENT, "none"), UserError("no")):
        with pytest.raises(type(error)), reporting_what_is_kept(home, definition):
            raise error


def test_a_damaged_record_keeps_no_other_run_from_beginning(home: Home, definition: Definition) -> None:
    other = home.studies / "fake-tune-1"
    other.mkdir(parents=True)
    (other / FILE).write_bytes(b"no record")
    said: list[str] = []
    studies.repair(home, definition, said.append)
    record, resumed = studies.begin_or_resume(home, definition, fresh=False)
    record.close()
    assert not resumed
    (line,) = said
    assert f"left out: {other / FILE}: not a study's record, or a damaged one" in line
    assert studies.finished(home, definition) is None
    assert studies.unfinished(home, "boot") == []
    assert not studies.is_finished(other)
    assert studies.find(home, None).name != other.name


def test_a_step_that_the_run_planned_and_finds_done_was_its_own(tmp_path: Path) -> None:
    """Killed between the store's entry and the event that says so, the event is made up for."""
    nothing = Figure(0.0)
    steps = [
        PlannedStep("compile", "compile", ("o3",), key, cached, nothing, nothing)
        for key, cached in (("planned", False), ("cached", True), ("said", False))
    ]
    totals = PlanTotals(1, 1, nothing, nothing, nothing)
    with closing(Record(tmp_path, create=True)) as record:
        record.append(BuildsPlanned("fake", "", tuple(steps), (), (), totals))
        record.append(StageDone("compile", "compile", BuildId("o3"), "said", 1.0))
        record.append(BuildsPlanned("fake", "", tuple(replace(step, cached=True) for step in steps), (), (), totals))
        assert [step.key for step in steps if unsaid(record, step.key)] == ["planned"]
