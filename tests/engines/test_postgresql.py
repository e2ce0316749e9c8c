"""The PostgreSQL engine's own parts, without a server: loads, the gate's tests and results."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from burnish.base.errors import InfrastructureError, UserError
from burnish.catalogue import load
from burnish.engines.contract import CLEAN_END_S, OwnData
from burnish.engines.postgresql import gate
from burnish.engines.postgresql.build import REGRESS
from burnish.engines.postgresql.engine import PostgreSQL
from burnish.engines.postgresql.loads import PostgreSQLLoads
from burnish.engines.postgresql.server import Server, settings_of
from burnish.engines.postgresql.side import pgbench_words
from burnish.engines.shared.server_process import Launch
from burnish.engines.testing import PlainBench
from burnish.model.condition import Condition
from burnish.program.built import Built
from burnish.workload import loads

LOADS = PostgreSQLLoads(load.engine("postgresql"))


def test_a_users_script_has_its_unset_variables_as_parameters(tmp_path: Path) -> None:
    script = tmp_path / "mine.sql"
    script.write_text("\\set aid random(1, 100000 * :scale)\nSELECT :aid::int, :depth, ':x'::text FROM t;\n")
    (workload,) = LOADS.resolve(loads.asked(f"{script}:depth=3,scale=2"))
    assert workload.writes
    assert workload.dataset == "pgbench"
    known = LOADS.parameters(workload, PlainBench(tmp_path))
    assert "depth" in known
    assert "aid" not in known
    words = pgbench_words(workload)
    assert words[:4] == ["-f", str(script), "-s", "2"], "else :scale is 1, whatever the data"
    assert "-Ddepth=3" in words
    script.write_text("SELECT 1;\n")
    with pytest.raises(UserError, match="changed while the study ran"):
        pgbench_words(workload)


def test_data_of_a_users_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="leave it out"):
        LOADS.resolve(loads.asked("select_only"), OwnData(tmp_path))


def test_a_rate_and_a_protocol_reach_pgbench() -> None:
    (workload,) = LOADS.resolve(loads.asked("select_prepared:rate=500,scale=3"))
    words = pgbench_words(workload)
    assert words == ["-b", "select-only", "-M", "prepared", "-j", "1", "-R", "500"]


def test_reserved_pages_are_used_where_they_are_asked_for(tmp_path: Path) -> None:
    """A server that only tries gets them or not, by which one was launched first."""
    (workload,) = LOADS.resolve(loads.asked("select_only"))

    def told(condition: Condition) -> list[str]:
        server = Server(Launch(tmp_path / "postgres", tmp_path, tmp_path, settings_of(workload, condition)))
        return [str(word) for word in server.words() if "huge_pages" in str(word)]

    assert told(Condition()) == ["huge_pages=off"]
    assert told(Condition((("huge_pages", "on"),))) == ["huge_pages=on"]


@pytest.mark.parametrize(
    ("version", "parameters", "words"),
    [
        ("17.6", "", ()),
        ("17.6", ":checksums=on", ("--data-checksums",)),
        ("18.1 (Debian 18.1-1)", "", ("--no-data-checksums",)),
        ("19devel", ":checksums=off", ("--no-data-checksums",)),
        ("18beta1", ":checksums=on", ("--data-checksums",)),
    ],
)
def test_data_have_checksums_where_they_are_asked_for(
    version: str, parameters: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From 18 on initdb has them unless it is asked for none."""
    (workload,) = LOADS.resolve(loads.asked(f"select_only{parameters}"))
    (tmp_path / "pgbench").touch()
    given: list[str] = []

    def initdb(_folder: Path, _cluster: Path, _bench: object, *asked: str) -> None:
        given.extend(asked)
        raise InfrastructureError("enough")

    engine, tools = PostgreSQL(load.engine("postgresql")), Built("tools", tmp_path, tmp_path / "postgres", "key")
    monkeypatch.setattr(gate, "initdb", initdb)
    monkeypatch.setattr(engine, "_said", lambda *_: [f"postgres (PostgreSQL) {version}"])
    data = tmp_path / "data"
    data.mkdir()
    with pytest.raises(InfrastructureError, match="enough"):
        engine.create_dataset(tools, tools, workload, data, PlainBench(tmp_path))
    assert tuple(given) == words


SCHEDULE = "# comment\ntest: test_setup\n\ntest: boolean char name\ntest: stats\n"


def test_the_gate_keeps_order_and_groups() -> None:
    assert gate.groups(SCHEDULE, ["name", "test_setup", "boolean", "none"]) == [["test_setup"], ["boolean", "name"]]


def test_a_trees_tests_may_be_older_than_the_systems_time_zones(tmp_path: Path) -> None:
    """Manila's day of 1846 has moved in them since; nothing else may differ."""
    result, expected = tmp_path / "timestamptz.out", tmp_path / "expected" / "timestamptz.out"
    expected.parent.mkdir()
    expected.write_text("1\n Wed Dec 09 15:56:00 1846\n2\n")
    result.write_text("1\n Wed Dec 09 15:56:08 1846\n2\n")
    assert gate._difference(result, [expected.parent]) == ""
    result.write_text("1\n Wed Dec 09 15:56:08 1846\n3\n")
    assert gate._difference(result, [expected.parent]) == "line 2 is 'Wed Dec 09 15:56:08 1846'"
    result.write_text(expected.read_text())
    assert gate._difference(result, [expected.parent]) == "ends too early", "it failed all the same"


def test_the_tests_find_the_folder_that_their_makefile_made_until_14(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests, place = tmp_path / "tools" / REGRESS, tmp_path / "gate"
    tests.mkdir(parents=True)
    place.mkdir()
    (tests / "parallel_schedule").write_text(SCHEDULE)

    def begun(*_: object) -> None:
        raise InfrastructureError("it begins")

    monkeypatch.setattr(gate, "initdb", begun)
    built = Built("tools", tmp_path / "tools", tmp_path / "tools/bin/postgres", "key")
    with pytest.raises(InfrastructureError, match="it begins"):
        gate.gate(["boolean"], built, built, place, PlainBench(tmp_path))
    assert (place / "output/testtablespace").is_dir()


def test_a_failed_test_says_where_it_differs(tmp_path: Path) -> None:
    """Until 14 some expected files are made as the tests begin; where there is none it has failed all the same."""
    made, kept = tmp_path / "made", tmp_path / "kept"
    for folder, text in ((made, "1\n2\n"), (kept, "1\n3\n"), (tmp_path / "results", "1\n4\n")):
        folder.mkdir()
        (folder / "copy.out").write_text(text)
    result = tmp_path / "results" / "copy.out"
    assert gate._difference(result, (made, kept)) == "line 2 is '4'"
    (made / "copy.out").unlink()
    assert gate._difference(result, (made, kept)) == "line 2 is '4'"
    (kept / "copy.out").unlink()
    assert gate._difference(result, (made, kept)) == "failed, and its expected output is not kept"
    result.unlink()
    assert gate._difference(result, (made, kept)) == "did not run"


def test_data_of_a_server_that_did_not_end_cleanly_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workload,) = LOADS.resolve(loads.asked("select_only"))
    (tmp_path / "pgbench").touch()
    (tmp_path / "data").mkdir()
    ends: list[float] = []

    def stop(_server: Server, patience: float = 1.0) -> int:
        ends.append(patience)
        return -9

    bench = PlainBench(tmp_path)
    engine, tools = PostgreSQL(load.engine("postgresql")), Built("tools", tmp_path, tmp_path / "postgres", "key")
    monkeypatch.setattr(gate, "initdb", lambda *_: None)
    monkeypatch.setattr(engine, "_said", lambda *_: ["postgres (PostgreSQL) 15.18"])
    monkeypatch.setattr(bench, "run", lambda *_, **__: SimpleNamespace(check=lambda _: None))
    for name, does in {
        "boot": lambda _: None,
        "query": lambda *_: [],
        "stop": stop,
        "ending": lambda _: "killed",
    }.items():
        monkeypatch.setattr(Server, name, does)
    with pytest.raises(InfrastructureError, match="preparing the data of select_only: killed"):
        engine.create_dataset(tools, tools, workload, tmp_path / "data", bench)
    assert ends[0] == CLEAN_END_S


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("test test_setup                   ... ok          240 ms", {"test_setup": True}),
        ("     boolean                      ... FAILED       61 ms", {"boolean": False}),
        ("     name                         ... FAILED (test process exited with exit code 2)  9 ms", {"name": False}),
        ("     collate.icu.utf8             ... ok           61 ms", {"collate.icu.utf8": True}),
        ("ok 1         - test_setup                                  240 ms", {"test_setup": True}),
        ("not ok 2     + boolean                                      61 ms", {"boolean": False}),
        ("# parallel group (2 tests):  boolean char", {}),
        ("All 3 tests passed.", {}),
    ],
)
def test_results_are_read_from_all_versions(line: str, result: dict[str, bool]) -> None:
    assert gate.results([line]) == result
