"""Data of a study are where the user asked for, which is recorded, kept to on resuming, and removed."""

from __future__ import annotations

import itertools
import time
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest

from burnish.base import warden
from burnish.bench.host import read_host
from burnish.catalogue import load
from burnish.model.cell import CellId
from burnish.model.condition import Condition
from burnish.record.events.study import SessionBegun, StudyBegun
from burnish.record.events.trials import FlushesProbed, PairRead, StartBegun, StartDone, StoppingRule, TrialsPlanned
from burnish.record.record import Record
from burnish.statistics.verdicts import Rule
from conftest import BuildFake
from studying import OWN, QUICK, burnish, events, killed_at, text

WORDS = ["tune", "fake", "--recipes", "own.toml", "--variant", "speed130", "--starts", "2", *QUICK]
WRITES = [*WORDS, "--workload", "fake_update"]


@pytest.fixture
def home(burnish_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own.toml").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return burnish_home


def ownerless() -> list[str]:
    """Data in memory whose run is gone; those of runs of the tests beside these come and go."""
    found = warden.stores(warden.STORES)
    return [path for path in found if not Path(f"/proc/{warden.owner_of(Path(path).name)}").exists()]


def test_data_in_memory_are_recorded_and_go(home: Path) -> None:
    child = burnish(*WRITES, "--set", "storage=memory")
    out, err = text(child)
    assert child.returncode == 0, (out, err)
    said = " ".join(text(burnish("show", "--full"))[0].split())
    assert "data in memory: no disk in the figures (fake_update)" in said
    begun = events(home, StartBegun)
    assert all(set((start.storage or {}).values()) == {"memory"} for start in begun)
    assert {label for start in begun for label in start.storage or {}} == {"baseline", "speed130", "A/A"}
    (probed,) = events(home, FlushesProbed)
    assert (probed.storage, probed.filesystem) == ("memory", "tmpfs")
    planned = events(home, TrialsPlanned)[-1]
    assert planned.storages == {"fake_update": "memory"}
    assert planned.condition == Condition(storage="memory")
    assert warden.stores(warden.STORES, f"{child.pid}-") == []
    for read in events(home, PairRead):
        assert read.device is not None
        assert {label: len(waits) for label, waits in read.device.items()} == {
            label: len(turns) for label, turns in read.turns.items()
        }


def test_data_of_one_side_can_be_elsewhere(home: Path, build_fake: BuildFake, tmp_path: Path) -> None:
    place = tmp_path / "device"
    place.mkdir()
    program = build_fake().server
    asked = ["compare", program, program, "--engine", "fake", "--workload", "fake_update", "--starts", "2", *QUICK]
    child = burnish(*asked, "--versus", f"storage={place}")
    assert child.returncode == 0, text(child)
    assert list(place.iterdir()) == []
    (run,) = (home / "studies").glob("*compare*")
    with closing(Record(run)) as record:
        begun = [each.event for each in record.events(StartBegun)]
    assert begun
    for start in begun:
        assert start.storage is not None
        other = "disk" if "A/A" in start.storage else str(place)
        assert list(start.storage.values()) == ["disk", other]


def earlier_run(home: Path) -> None:
    """Ten starts of each load on this host, which scatter by some 5 %."""
    with closing(Record(home / "studies" / "earlier", create=True)) as record:
        record.append(StudyBegun("earlier", {"verb": "tune", "engine": "fake"}))
        record.append(SessionBegun(read_host(home=home, programs=False).as_record()))
        loads = {name: load.workload(load.engine("fake"), name) for name in ("fake_update", "fake_mix")}
        record.append(TrialsPlanned((), StoppingRule(**asdict(Rule())), (), workloads=loads))
        for name, start in itertools.product(loads, range(1, 11)):
            cell, off = CellId("v", name), 0.05 * (-1) ** start
            record.append(StartBegun(cell, start, design="duet", builds={}, storage={"v": "disk", "baseline": "disk"}))
            readings = {"throughput": off, "capacity": off}
            record.append(StartDone(cell, start, None, True, 30.0, "data", readings=readings))


def test_on_the_disk_what_a_quarter_of_an_hour_gives_is_said_before_anything_is_built(home: Path) -> None:
    """Data are there unless they are asked for elsewhere."""
    earlier_run(home)
    child = burnish(*WORDS, "--workload", "fake_update,fake_mix")
    assert child.returncode == 0, text(child)
    (run,) = (home / "studies").glob("fake-tune-*")
    with closing(Record(run)) as record:
        begun = [each.event for each in record.events(StartBegun)]
        (probed,) = (each.event for each in record.events(FlushesProbed))
    assert {word for start in begun for word in (start.storage or {}).values()} == {"disk"}
    assert probed.storage == "disk"
    said = " ".join("".join(text(child)).split())
    forecast = "fake_update: 15 minutes of starts (30 of 30 s) give ±2.0 % in throughput and ±2.0 % in capacity"
    assert said.count("15 minutes of starts") == 1, "reads are not forecast"
    assert 0 <= said.find(forecast) < said.find("compile")


def test_a_killed_study_leaves_nothing_in_memory(home: Path) -> None:
    killed_at(PairRead, [*WRITES, "--set", "storage=memory"])
    until = time.monotonic() + 60
    while ownerless() and time.monotonic() < until:
        time.sleep(0.1)
    assert ownerless() == []
    child = burnish(*WRITES, "--set", "storage=memory")
    assert child.returncode == 0, text(child)
    assert {word for start in events(home, StartBegun) for word in (start.storage or {}).values()} == {"memory"}


def test_a_place_that_is_none_is_refused_before_anything_is_built(home: Path) -> None:
    child = burnish(*WRITES, "--set", "storage=/no/such/folder")
    assert child.returncode == 2
    assert "storage=/no/such/folder: there is no such folder" in text(child)[1]
    assert not list((home / "studies").glob("*"))
