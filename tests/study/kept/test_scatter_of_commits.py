"""What a quarter of an hour of starts gives on a load that commits: by this host's own starts, else by shipped ones."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from burnish.base.paths import Home
from burnish.bench.host import HostFacts, read_host
from burnish.catalogue import committing, load
from burnish.model.cell import CellId, Role
from burnish.model.condition import Condition
from burnish.model.scatter import Scatter
from burnish.model.workload import Design, Workload
from burnish.record.events.study import SessionBegun, StudyBegun
from burnish.record.events.trials import StartBegun, StartDone, StoppingRule, TrialsPlanned
from burnish.record.record import Record
from burnish.statistics.verdicts import Rule
from burnish.study.kept import scatter
from burnish.study.kept.scatter import scatter_of, sentence

HOST = read_host(programs=False)
LOAD = "oltp_update_index"
LARGE = (("innodb_log_file_size", "512M"),)
RULE = StoppingRule(**asdict(Rule()))
RESULTS = Path(__file__).parents[3] / "docs" / "results"


def run(home: Home, name: str, spread: float, host: HostFacts = HOST, **differently: Any) -> None:
    """A run of a claim and a canary, six starts each, whose log-ratios alternate about 0.3 and 0 by `spread`."""
    chosen: dict[str, Any] = {
        "engine": "mariadb",
        "design": "interleaved",
        "storage": None,
        "load": LOAD,
        "settings": LARGE,
        "condition": None,
        **differently,
    }
    with closing(Record(home.studies / name, create=True)) as record:
        record.append(StudyBegun(name, {"verb": "tune", "engine": chosen["engine"]}))
        record.append(SessionBegun(host.as_record()))
        own = Workload(chosen["load"], "mariadb", "for this test", "p", settings=chosen["settings"])
        record.append(TrialsPlanned((), RULE, (), workloads={own.name: own}, condition=chosen["condition"]))
        for cell, mean in ((CellId("v", chosen["load"]), 0.3), (CellId("A/A", chosen["load"], role=Role.CANARY), 0.0)):
            for start in range(1, 7):
                off = spread * (-1) ** start
                begun = StartBegun(cell, start, design=chosen["design"], builds={}, storage=chosen["storage"])
                read = {"throughput": mean + off, "capacity": mean + off / 2}
                record.append(begun)
                record.append(StartDone(cell, start, None, True, 30.0, "data", readings=read))
            record.append(StartBegun(cell, 7, design=chosen["design"], builds={}))
            record.append(StartDone(cell, 7, "a side hung", True, 90.0, "data", readings={}))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.studies.mkdir(parents=True)
    return home


def known(home: Home, load: str = LOAD, design: Design = Design.INTERLEAVED, place: str = "disk") -> Scatter | None:
    asked = (load, design, place, LARGE)
    return scatter_of(home, "mariadb", HOST, [asked]).get(asked)


def test_a_hosts_own_starts_are_relied_on_each_about_its_cells_mean(home: Home) -> None:
    run(home, "one", 0.05)
    found = known(home)
    assert found is not None
    assert found.throughput == pytest.approx(0.05 * (6 / 5) ** 0.5)
    assert found.capacity == pytest.approx(found.throughput / 2)
    assert (found.df, found.seconds, found.source) == (10, 30.0, "12 starts of this host"), "invalid starts don't count"


def test_a_setting_is_the_same_whether_the_load_or_its_condition_has_it(home: Home) -> None:
    run(home, "one", 0.05, settings=(), condition=Condition(settings=LARGE))
    found = known(home)
    assert found is not None
    assert found.df == 10


@pytest.mark.parametrize(
    "differently",
    [
        {"host": replace(HOST, machine="another")},
        {"engine": "mysql"},
        {"design": "solo"},
        {"storage": {"baseline": "memory", "v": "memory"}},
        {"load": "oltp_write_only"},
        {"settings": ()},
        {"condition": Condition(settings=(("innodb_log_file_size", "96M"),))},
    ],
    ids=lambda differently: next(iter(differently)),
)
def test_starts_of_another_kind_tell_nothing(home: Home, differently: dict[str, Any]) -> None:
    run(home, "one", 0.05, **differently)
    assert known(home) == committing.shipped("mariadb", LOAD)


def test_data_in_memory_have_starts_of_their_own(home: Home) -> None:
    assert known(home, place="memory") is None, "the shipped ones are of disks"
    assert known(home, design=Design.SOLO) is None, "and interleaved"
    run(home, "one", 0.05, storage={"baseline": "memory", "v": "memory"})
    found = known(home, place="memory")
    assert found is not None
    assert found.df == 10


def test_of_unknown_loads_nothing_is_said(home: Home) -> None:
    assert known(home, "mine") is None
    assert not scatter_of(home, "sqlite", HOST, [(LOAD, Design.INTERLEAVED, "disk", LARGE)])


def test_the_line_has_what_a_quarter_of_an_hour_gives() -> None:
    assert sentence("quiet", Scatter(0.01, 0.008, 40, 18.0, "50 starts of this host")) == (
        "quiet: 15 minutes of starts (50 of 18 s) give ±0.3 % in throughput and ±0.2 % in capacity within this "
        "sitting; a start scatters by 1.0 and 0.8 % (50 starts of this host)"
    )
    loud = sentence("loud", Scatter(0.0805, 0.0645, 106, 17.8, "records"))
    assert "give ±2.3 % in throughput and ±1.8 % in capacity" in loud
    assert loud.endswith("; ±2 % in throughput takes some 19 minutes")
    assert "(2 of 600 s)" in sentence("slow", Scatter(0.01, 0.01, 10, 600.0, "records"))


def test_shipped_figures_are_those_of_their_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """benchmarks/committing.py makes them; here the load with the fewest records, read anew."""
    from burnish.record.by_type import ByType
    from burnish.record.exchange import read_events

    entries = committing.entries()
    for name, entry in entries.items():
        assert load.workload(load.engine(entry.engine), name).writes
        assert all((RESULTS / f"{record}.jsonl.xz").is_file() for record in entry.records)
    entry, groups = entries["oltp_update_non_index"], []
    for record in entry.records:
        by = ByType(read_events(RESULTS / f"{record}.jsonl.xz", turns=False))
        groups += scatter.groups_of(by.of(StartBegun), by.of(StartDone), "oltp_update_non_index", Design.INTERLEAVED)
    found = scatter.pooled(groups)
    assert found is not None
    assert (found.throughput, found.capacity) == pytest.approx((entry.throughput, entry.capacity), abs=5e-5)
    assert (found.df, round(found.seconds, 1)) == (entry.df, entry.seconds)
    assert re.fullmatch(r"\d+ degrees of freedom in \d records of docs/results", entry.scatter.source)
