"""The spread between sittings that a study assumes: this host's own where its runs know it, else the shipped one."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from burnish.base.paths import Home
from burnish.bench.host import HostFacts, read_host
from burnish.catalogue import between
from burnish.model.cell import BuildId, CellId
from burnish.model.workload import Workload
from burnish.record.events.builds import BuildMade
from burnish.record.events.study import RecordsMerged, SessionBegun, StudyBegun
from burnish.record.events.trials import StartBegun, StartDone, StoppingRule, TrialsPlanned
from burnish.record.record import Record
from burnish.study.kept.history import spreads_of
from studying import aged

HOST = read_host(programs=False)
APART = (0.100, 0.120, 0.090, 0.110)


def run(
    home: Home,
    name: str,
    mean: float,
    host: HostFacts = HOST,
    engine: str = "mariadb",
    hours: float = 0,
    profile: str | None = "p",
    known: bool = True,
    commits: bool = False,
    merged: bool = False,
    before: HostFacts | None = None,
) -> None:
    """A run of ten comparisons, four starts each, that was made so many hours ago, of builds with such a profile."""
    folder = home.studies / name
    with closing(Record(folder, create=True)) as record:
        definition: dict[str, Any] = {"verb": "tune", "engine": engine}
        record.append(StudyBegun(name, definition))
        if before is not None:
            record.append(SessionBegun(before.as_record()))
        record.append(SessionBegun(host.as_record()))
        for variant, key, used in [("baseline", "b", None), *((f"v{n}", f"k{n}", profile) for n in range(10))]:
            if known:
                record.append(BuildMade(BuildId(variant), key, {"profile": used}))
        load = Workload("load", engine, "a reason", "program", writes=commits)
        record.append(TrialsPlanned((), StoppingRule(12), (), workloads={"load": load}))
        for number in range(10):
            cell = CellId(f"v{number}", "load")
            for start in range(1, 5):
                design = "interleaved" if commits else "duet"
                record.append(
                    StartBegun(cell, start, design=design, builds={"baseline": "b", cell.candidate: f"k{number}"})
                )
                reading = mean + 0.002 * (start - 2.5) + 0.01 * number
                record.append(StartDone(cell, start, None, True, 1.0, "data", readings={"capacity": reading}))
        if merged:
            record.append(RecordsMerged((), ()))
    aged(folder, hours * 3600)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.studies.mkdir(parents=True)
    return home


def test_without_a_history_the_shipped_figure_holds(home: Home) -> None:
    assert spreads_of(home, "mariadb", HOST) == between.shipped("mariadb")
    run(home, "one", 0.1)
    assert spreads_of(home, "mariadb", HOST) == between.shipped("mariadb"), "one sitting tells nothing"


def test_a_hosts_own_sittings_are_relied_on(home: Home) -> None:
    for hour, mean in enumerate(APART):
        run(home, f"run{hour}", mean, hours=3 * hour)
    found = spreads_of(home, "mariadb", HOST).profiled
    assert found.source == "40 sittings of this host of builds with a profile"
    assert 0.010 < found.sd < 0.016
    assert found.df > 20
    assert spreads_of(home, "sqlite", HOST) == between.shipped("sqlite"), "another engine's runs tell nothing"
    other = replace(HOST, machine="another")
    assert spreads_of(home, "mariadb", other) == between.shipped("mariadb"), "nor do those of another machine"


def test_starts_of_a_run_that_another_machine_resumed_are_not_this_hosts(home: Home) -> None:
    for hour, mean in enumerate(APART):
        run(home, f"run{hour}", mean, hours=3 * hour, before=HOST, host=replace(HOST, machine="another"))
    assert spreads_of(home, "mariadb", HOST) == between.shipped("mariadb")


def test_a_merged_record_is_no_history_of_this_host(home: Home) -> None:
    """Its sessions stand before all starts, so that the last one seems to have taken those of every host."""
    for hour, mean in enumerate(APART):
        run(home, f"run{hour}", mean, hours=3 * hour, merged=True)
    assert spreads_of(home, "mariadb", HOST) == between.shipped("mariadb")


@pytest.mark.parametrize("profile", ["p", None])
def test_a_history_is_of_one_kind_of_comparison(home: Home, profile: str | None) -> None:
    for hour, mean in enumerate(APART):
        run(home, f"run{hour}", mean, hours=3 * hour, profile=profile)
    found, shipped = spreads_of(home, "mariadb", HOST), between.shipped("mariadb")
    own, other = (found.profiled, found.alike) if profile else (found.alike, found.profiled)
    assert own.source == f"40 sittings of this host of builds {'with' if profile else 'without'} a profile"
    assert other == (shipped.alike if profile else shipped.profiled)


def test_loads_that_commit_are_a_kind_of_their_own(home: Home) -> None:
    for hour, mean in enumerate(APART):
        run(home, f"run{hour}", mean, hours=3 * hour, profile=None, commits=True)
    found, shipped = spreads_of(home, "mariadb", HOST), between.shipped("mariadb")
    assert found.committing.source == "40 sittings of this host of loads that commit"
    assert (found.profiled, found.alike) == (shipped.profiled, shipped.alike)


def test_builds_of_which_nothing_is_known_tell_of_no_kind(home: Home) -> None:
    for hour, mean in enumerate(APART):
        run(home, f"run{hour}", mean, hours=3 * hour, known=False)
    assert spreads_of(home, "mariadb", HOST) == between.shipped("mariadb")


def test_runs_of_one_hour_are_one_sitting(home: Home) -> None:
    for number, mean in enumerate(APART):
        run(home, f"run{number}", mean, hours=0.01 * number)
    assert spreads_of(home, "mariadb", HOST) == between.shipped("mariadb")


def test_the_shipped_figures_have_their_source() -> None:
    general = between.shipped("no engine")
    assert general.profiled.source
    assert general.alike.source
    assert general.committing.source
    assert 0.0 < general.alike.sd < 0.005 < general.profiled.sd < 0.02 < general.committing.sd < 0.03
    own = between.shipped("fake")
    assert own.profiled == own.alike == own.committing
    assert own.alike.sd == 0.0
