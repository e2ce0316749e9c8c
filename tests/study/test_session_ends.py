"""What a session does that resumes after its trials, and what it begins when its budget ends."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from burnish.base import paths
from burnish.base.errors import InfrastructureError, UserError
from burnish.bench.host import read_host
from burnish.model.cell import CellId, Role
from burnish.model.workload import Design
from burnish.record.events.bundled import ConfirmationBegun
from burnish.record.events.patches import BuildExplained
from burnish.record.events.study import SessionBegun
from burnish.record.events.trials import StartBegun
from burnish.record.events.verdicts import FamilyJudged, VerdictReached
from burnish.record.record import Record
from burnish.study import judging, runner
from burnish.study import session as sessions
from burnish.study.comparison import Comparison
from burnish.study.constructors.tune import tune_study
from burnish.study.extras import samples
from burnish.study.request.options import Options
from burnish.study.request.selection import Selection
from burnish.study.workshop.relinking import Judged
from studying import aged


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    with closing(Record(tmp_path / "run", create=True)) as record:
        yield record


def test_builds_are_sampled_by_a_session_that_made_none_of_them(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tune_study("fake", Options(variants=("gcc-o3", "strip-all"), why=True))
    first, second = study.comparisons
    workload = first.workload
    assert workload is not None
    record.append(BuildExplained("other", workload.name, failure="no perf"))
    made: dict[str, Any] = {study.base: SimpleNamespace(built="program", same=False)}
    asked: list[Sequence[str]] = []

    def make(names: Sequence[str]) -> None:
        asked.append(names)
        made.update((name, SimpleNamespace(built=f"program of {name}", same=False)) for name in names)

    def explain(*_: object) -> Path:
        raise InfrastructureError("perf died")

    monkeypatch.setattr(samples.sampling, "explain", explain)
    workshop = SimpleNamespace(
        session=SimpleNamespace(
            spec=SimpleNamespace(name="fake"), home=None, options=None, ask=None,
            bench=SimpleNamespace(say=lambda _: None, console=None),
        ),
        record=record, study=study, made=made, make=make, load=lambda one: one,
        selection=Selection(study.comparisons, {second.key: "cut by --budget"}),
    )  # fmt: skip
    samples.record_samples(cast("Any", workshop), study.comparisons)
    assert asked == [[study.base, first.candidate]]
    _, explained = (recorded.event for recorded in record.events(BuildExplained))
    assert (explained.variant, explained.failure) == (first.candidate, "perf died")


def verdict(cell: CellId) -> VerdictReached:
    return VerdictReached(cell, "duet", "capacity", "unit", "faster", "", {}, 3)


def test_a_family_without_a_claims_last_verdict_is_stale(record: Record) -> None:
    one, other = (CellId("fast", load) for load in ("mine", "also"))
    judged = [cast("Judged", SimpleNamespace(cell=SimpleNamespace(id=cell))) for cell in (one, other)]
    record.append(verdict(one))
    assert judging._is_stale(record, judged), "there is none"
    record.append(FamilyJudged(explore=False, cells=()))
    assert not judging._is_stale(record, judged)
    record.append(verdict(CellId("fast", "mine", Role.CONFIRMATION)))
    assert not judging._is_stale(record, judged), "a confirmation is no claim"
    record.append(verdict(other))
    assert judging._is_stale(record, judged), "killed before the family was judged again"


@pytest.mark.parametrize(
    ("budget", "search", "begun"), [(100.0, None, False), (120.0, None, True), (100.0, "a search", True)]
)
def test_fresh_starts_of_several_loads_are_begun_where_all_of_them_fit(
    record: Record, monkeypatch: pytest.MonkeyPatch, budget: float, search: str | None, begun: bool
) -> None:
    """40 s each; figures of some loads alone are not quoted. A search has kept its time."""
    cells = [CellId("fast", load, Role.CONFIRMATION) for load in ("a", "b", "c")]
    measured: list[CellId] = []

    def trial(cell: CellId) -> Any:
        comparison = Comparison("fast", "", "", cell.workload, None, "baseline", "fast")
        return SimpleNamespace(comparison=comparison, cell=SimpleNamespace(id=cell, design=Design.DUET, name=cell.name))

    trials = {cell.workload: trial(cell) for cell in cells}
    for name, value in {
        "timings": lambda _: {Design.DUET: None},
        "start_seconds": lambda _: 10.0,
        "needed": lambda *_: [],
        "trial_of": lambda _, comparison: trials[comparison.load],
        "_fresh": lambda trial, _: trial,
        "note_times": lambda *_: None,
        "measure": lambda _, group, *__, **___: measured.extend(one.cell.id for one in group),
    }.items():
        monkeypatch.setattr(judging, name, value)
    workshop = SimpleNamespace(
        session=SimpleNamespace(
            options=SimpleNamespace(budget=budget), bench=SimpleNamespace(say=lambda _: None),
            host=SimpleNamespace(boot="this boot"),
        ),
        study=SimpleNamespace(fresh_starts=4, in_turn=True, rule=SimpleNamespace(delta=0.01), search=search),
        record=record, spent=0.0, make_baseline=lambda: None, make=lambda _: None,
    )  # fmt: skip
    judging.measure_again(cast("Any", workshop), [trial.comparison for trial in trials.values()])
    assert [recorded.event.cell for recorded in record.events(ConfirmationBegun)] == (cells if begun else [])
    assert measured == (cells if begun else [])


def test_a_session_began_when_its_record_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own clock stands still while the machine sleeps, and would have it begin later by that."""
    asked: list[object] = []
    cell = CellId("fast", "mine", Role.CONFIRMATION)
    monkeypatch.setattr(runner, "disturbed_cells", lambda _: [cell])
    monkeypatch.setattr(runner, "is_open", lambda _record, _cell, _boot, began: asked.append(began))
    with closing(Record(tmp_path / "slept", create=True)) as record:
        record.append(SessionBegun({}))
    aged(tmp_path / "slept", 3600.0)
    session = SimpleNamespace(host=SimpleNamespace(boot="boot"), began=time.monotonic())
    with closing(Record(tmp_path / "slept")) as record:
        runner._disturbed(cast("Any", SimpleNamespace(session=session, record=record)))
        begun = record.last(SessionBegun)
    assert begun is not None
    assert asked == [datetime.fromisoformat(begun.at).timestamp()]


def test_another_machine_does_not_resume_what_this_one_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    home, options = paths.home(), Options(variants=("gcc-o3",))
    study = tune_study("fake", options)
    here = read_host(programs=False)

    def begin(machine: str) -> sessions.Session:
        monkeypatch.setattr(sessions, "read_host", lambda *_, **__: replace(here, machine=machine))
        return sessions.begin(home, study.engine, study.definition, options, Console(quiet=True), (), None)

    first = begin("one")
    folder = sessions.leave(first)
    assert sessions.leave(begin("other")) == folder, "nothing was measured"
    one = begin("one")
    one.record.append(StartBegun(CellId("gcc-o3", "fake_mix"), 1))
    sessions.leave(one)
    with pytest.raises(UserError, match=f"^{folder.name}: its earlier starts were taken on another machine"):
        begin("other")
    assert sessions.leave(begin("one")) == folder, "the record is as it was"
    with closing(Record(folder)) as record:
        assert [event.event.host["machine"] for event in record.events(SessionBegun)] == ["one", "other", "one", "one"]
