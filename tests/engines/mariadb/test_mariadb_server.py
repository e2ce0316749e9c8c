from __future__ import annotations

import os
import socket
import statistics
import time
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import InfrastructureError, UserError
from burnish.engines.contract import MARKER, Side, SideSpec, Tick
from burnish.engines.mariadb.product import PRODUCT
from burnish.engines.mysql_family import data as family_data
from burnish.engines.mysql_family.server import Launch, Server, setting_options
from burnish.engines.mysql_family.side import FamilySide
from burnish.engines.shared.sysbench import LATENCY_EVERY, TICK_S
from burnish.model.condition import Condition, Transport
from burnish.model.workload import Workload
from burnish.program.built import Built
from burnish.study.request import workloads
from mariadb_support import PlainBench, engine, real_server, small

DEFAULTS = PRODUCT.habits.defaults


def data_folder(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    (data / MARKER).write_text("ours\n")
    return data


def launch(program: Path, data: Path, folder: Path, transport: Transport = "unix") -> Launch:
    return Launch(program, data, folder, habits=PRODUCT.habits, transport=transport)


def script(tmp_path: Path, text: str) -> Path:
    """A stand-in for a server."""
    path = tmp_path / "mariadbd"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_condition_replaces_a_default_however_it_is_spelled() -> None:
    given = [("innodb-buffer-pool-size", "2G"), ("performance_schema", "ON"), ("binlog", "x")]
    options = setting_options(given, DEFAULTS)
    assert "--innodb_buffer_pool_size=2G" in options
    assert "--performance_schema=ON" in options
    assert "--binlog=x" in options
    assert not any("512M" in word or word == "--loose_performance_schema=OFF" for word in options)
    assert "--loose_performance_schema=OFF" in setting_options([], DEFAULTS)


def test_a_data_folder_that_is_not_ours_is_not_touched(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "ibdata1").write_text("somebody's")
    server = Server(launch(script(tmp_path, "touch started"), data, tmp_path / "side"))
    with pytest.raises(UserError, match="not ours"):
        server.boot()
    assert sorted(path.name for path in data.iterdir()) == ["ibdata1"]
    assert not (tmp_path / "side").exists()


def test_a_socket_in_use_is_named(tmp_path: Path) -> None:
    server = Server(launch(script(tmp_path, "exit 0"), data_folder(tmp_path), tmp_path / "side"))
    (tmp_path / "side").mkdir()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(server.socket))
        other.listen()
        with pytest.raises(UserError, match=r"mariadbd\.sock: the socket is in use"):
            server.boot()
        assert server.socket.exists()


def test_a_server_that_dies_at_its_start_shows_its_log(tmp_path: Path) -> None:
    program = script(tmp_path, "echo '[ERROR] no such option' >&2; exit 7")
    server = Server(launch(program, data_folder(tmp_path), tmp_path / "side"))
    with pytest.raises(InfrastructureError, match="exit code 7 while starting") as caught:
        server.boot()
    assert "[ERROR] no such option" in caught.value.explain()


def test_a_server_that_hangs_at_its_start_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.engines.shared.server_process.BOOT_S", 0.5)
    server = Server(launch(script(tmp_path, "exec sleep 600"), data_folder(tmp_path), tmp_path / "side"))
    with pytest.raises(InfrastructureError, match="did not answer"):
        server.boot()
    assert not server.alive
    assert not Path(f"/proc/{server.pid}").exists()


def test_a_port_that_was_taken_in_the_meantime_is_given_up(tmp_path: Path) -> None:
    text = """echo "$@" >> asked
echo "[ERROR] Can't start server: Bind on TCP/IP port. Got error: 98: Address already in use" >&2
exit 1"""
    over_tcp = launch(script(tmp_path, text), data_folder(tmp_path), tmp_path / "side", transport="tcp")
    with pytest.raises(InfrastructureError, match="exit code 1 while starting"):
        Server(over_tcp).boot()
    asked = (tmp_path / "side" / "asked").read_text()
    assert asked.count("--port=") == 3, "three ports were tried"
    # What ends for another reason is not started again, though its log has that line of an earlier start.
    (tmp_path / "mariadbd").write_text("#!/bin/sh\necho again >> asked\nexit 1\n")
    with pytest.raises(InfrastructureError):
        Server(over_tcp).boot()
    assert (tmp_path / "side" / "asked").read_text().count("again") == 1


def test_a_long_path_gets_a_socket_folder_that_stop_removes(tmp_path: Path) -> None:
    server = Server(launch(Path("x"), tmp_path, tmp_path / ("long" * 30)))
    place = server.socket
    assert len(str(place)) <= 100
    assert place.parent.is_dir()
    assert place.parent.stat().st_mode & 0o777 == 0o700
    server.stop()
    assert not place.parent.exists()


def test_an_installation_is_found_around_its_program(tmp_path: Path) -> None:
    for layout, program in (("sql/share", "sql/mariadbd"), ("share/mysql", "sbin/mariadbd")):
        root = tmp_path / layout.replace("/", "-")
        (root / layout / "english").mkdir(parents=True)
        (root / layout / "english/errmsg.sys").touch()
        assert family_data.installation(root / program) == (root, root / layout)


def test_missing_scripts_are_a_users_error(tmp_path: Path) -> None:
    built = Built(name="a", folder=tmp_path, server=tmp_path / "sbin/mariadbd", key="k")
    with pytest.raises(UserError, match=r"no mysql_system_tables\.sql beside the server"):
        engine().create_dataset(built, built, small("oltp_read_only"), tmp_path / "d", PlainBench(tmp_path))
    assert not (tmp_path / "d").exists()


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> tuple[Built, Path]:
    built = real_server()
    folder = tmp_path_factory.mktemp("dataset")
    engine().create_dataset(built, built, small("oltp_read_only"), folder / "data", PlainBench(folder))
    return built, folder / "data"


def side_of(built: Built, data: Path, folder: Path, label: str, load: str | Workload = "oltp_read_only") -> FamilySide:
    from shutil import copytree

    copytree(data, folder / label / "data")
    side = engine().side(
        SideSpec(
            label=label,
            built=built,
            condition=Condition(settings=(("innodb_buffer_pool_size", "64M"),)),
            workload=small(load) if isinstance(load, str) else load,
            data=folder / label / "data",
            folder=folder / label,
            seed=7,
            cores=frozenset(os.sched_getaffinity(0)),
        )
    )
    assert isinstance(side, FamilySide)
    return side


def until(side: Side, enough: int) -> list[Tick]:
    """Its first ticks: at least so many, and until a transaction was finished between them."""
    ticks: list[Tick] = []
    for _ in range(1200):
        ticks += side.ticks()
        if len(ticks) >= enough and ticks[-1].done > ticks[0].done:
            break
        time.sleep(0.1)
    return ticks


@pytest.mark.real
@pytest.mark.measures
def test_two_sides_at_once_tick_agree_on_their_data_and_leave_nothing(
    dataset: tuple[Built, Path], tmp_path: Path
) -> None:
    built, data = dataset
    sides = [side_of(built, data, tmp_path, "a"), side_of(built, data, tmp_path, "b", "oltp_read_write")]
    pids = []
    try:
        for side in sides:
            side.boot()
        assert sides[0].fingerprint() == sides[1].fingerprint() != ""
        for side in sides:
            side.load()
        for side in sides:
            ticks = until(side, 2 * LATENCY_EVERY + 1)
            assert len(ticks) > 2 * LATENCY_EVERY, side.trouble()
            first, last = ticks[0], ticks[-1]
            assert last.done > first.done
            assert last.steps - first.steps > last.done - first.done, "a transaction has several statements"
            assert last.server_cpu > first.server_cpu
            assert last.client_cpu > first.client_cpu
            assert last.errors == 0
            latencies = [tick.latency for tick in ticks if tick.latency]
            assert latencies
            assert all(set(each) == {"mean", "left_out", "p50", "p95", "p99", "max"} for each in latencies)
            apart = [abs(tick.at / TICK_S - round(tick.at / TICK_S)) for tick in ticks]
            assert statistics.median(apart) < 0.2, "sides are read at the same instants of the shared clock"
            assert side.trouble() is None
            assert len(side.server_pids()) == len(side.client_pids()) == 1
            pids += side.server_pids() + side.client_pids()
    finally:
        for side in sides:
            side.stop()
            side.stop()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    for side in sides:
        assert side.server_pids() == side.client_pids() == []
        assert "Shutdown complete" in (side.spec.folder / "mariadbd.log").read_text()


@pytest.mark.real
def test_threads_with_scripts_of_their_own_are_counted_by_transactions(
    dataset: tuple[Built, Path], tmp_path: Path
) -> None:
    """A build that is better at one part runs more of it, so that statements would compare different work."""
    built, data = dataset
    parts = tuple((small(name), 1) for name in ("oltp_read_only", "oltp_point_select"))
    (mix,) = workloads.choose(engine().spec, ["together:oltp_read_only=1,oltp_point_select=1,threads=2"])
    side = side_of(built, data, tmp_path, "a", replace(mix, parts=parts))
    try:
        side.boot()
        side.load()
        ticks = until(side, 5)
        assert ticks[-1].done > ticks[0].done, side.trouble()
        assert {tick.steps for tick in ticks} == {0.0}
    finally:
        side.stop()


@pytest.mark.real
def test_a_killed_server_is_the_sides_trouble(dataset: tuple[Built, Path], tmp_path: Path) -> None:
    built, data = dataset
    side = side_of(built, data, tmp_path, "a")
    try:
        side.boot()
        side.load()
        assert until(side, 1)
        os.kill(side.server_pids()[0], 9)
        for _ in range(600):
            if side.trouble() is not None:
                break
            time.sleep(0.1)
        assert "ended by SIGKILL" in (side.trouble() or "")
        assert side.server_pids() == []
        side.ticks()  # ticks without the server's clock must not break anything
    finally:
        side.stop()
    assert side.client_pids() == []


MARIADBS = {"Innodb_checkpoint_age": 84_000_000, "Innodb_checkpoint_max_age": 84_100_000}


@pytest.mark.parametrize(
    ("counters", "variables", "reason"),
    [
        (
            MARIADBS,
            {"innodb_log_file_size": str(96 << 20), "version": "10.11"},
            "its redo log is full (84 of 84 MB; --set innodb_log_file_size=384M may help)",
        ),
        (MARIADBS | {"Innodb_checkpoint_age": 70_000_000}, {"innodb_log_file_size": str(96 << 20)}, None),
        (
            {"Innodb_redo_log_logical_size": 99_000_000},
            {"innodb_redo_log_capacity": str(100 << 20)},
            "its redo log is full (99 of 105 MB; --set innodb_redo_log_capacity=400M may help)",
        ),
        ({"Innodb_redo_log_logical_size": 9_000_000}, {"innodb_redo_log_capacity": str(100 << 20)}, None),
        ({}, {}, None),  # a server that does not answer
    ],
)
def test_a_side_that_hangs_says_when_its_redo_log_is_full(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    counters: dict[str, int],
    variables: dict[str, str],
    reason: str | None,
) -> None:
    built = Built("a", tmp_path, Path("mariadbd"), "key")
    (tmp_path / "a/data").mkdir(parents=True)
    side = side_of(built, tmp_path / "a/data", tmp_path / "sides", "a")
    monkeypatch.setattr(Server, "statuses", lambda self, pattern, patience: counters)
    monkeypatch.setattr(Server, "variables", lambda self, patience: variables)
    assert side.waits_for() == reason


def test_a_server_that_listens_and_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a/data").mkdir(parents=True)
    side = side_of(Built("a", tmp_path, Path("mariadbd"), "key"), tmp_path / "a/data", tmp_path / "sides", "a")
    asked: list[float] = []
    query = Server.query

    def soon(self: Server, statement: str, database: str | None = None, patience: float = 600) -> object:
        asked.append(patience)
        return query(self, statement, database, patience=0.05)

    monkeypatch.setattr(Server, "query", soon)
    side.server.socket.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(side.server.socket))
        mute.listen(16)
        assert not side.server.ready()
        assert side.misses() is None
        assert side.writes().done == {}
    assert len(asked) == 3
    assert max(asked) <= 30, "between starts as patient as with a load's own statement"


@pytest.mark.real
def test_what_a_full_log_is_known_by_is_there(dataset: tuple[Built, Path], tmp_path: Path) -> None:
    built, data = dataset
    side = side_of(built, data, tmp_path, "a")
    try:
        side.boot()
        assert side.server.statuses("Innodb\\_%").keys() >= MARIADBS.keys()
        assert "innodb_log_file_size" in side.server.variables()
        assert side.waits_for() is None
    finally:
        side.stop()


@pytest.mark.real
def test_a_changed_row_changes_the_fingerprint(dataset: tuple[Built, Path], tmp_path: Path) -> None:
    built, data = dataset
    before = side_of(built, data, tmp_path, "a")
    try:
        before.boot()
        first = before.fingerprint()
        before.server.query("UPDATE sbtest1 SET k = k + 1 WHERE id = 17", "sbtest")  # type: ignore[attr-defined]
        assert before.fingerprint() != first
    finally:
        before.stop()


@pytest.mark.real
@pytest.mark.parametrize("in_memory", [True, False])
def test_data_that_should_be_in_memory_are_there_before_the_load(
    dataset: tuple[Built, Path], tmp_path: Path, in_memory: bool
) -> None:
    """A load of few long queries touches the last pages of an index so late that its readings would count them."""
    built, data = dataset
    side = side_of(built, data, tmp_path, "a", replace(small("oltp_read_only"), in_memory=in_memory))
    try:
        side.boot()
        side.fingerprint()
        read = side.misses()
        for table in (1, 2):
            side.query(f"SELECT COUNT(*) FROM sbtest{table} FORCE INDEX (k_{table})", "sbtest")
        assert (side.misses() == read) is in_memory
    finally:
        side.stop()


@pytest.mark.real
def test_a_dataset_is_whole_and_ours(dataset: tuple[Built, Path]) -> None:
    _, data = dataset
    assert (data / MARKER).is_file()
    assert not (data / ".prepare").exists()
    assert (data / "sbtest/sbtest2.ibd").is_file()


@pytest.mark.real
def test_a_server_says_who_it_is(dataset: tuple[Built, Path], tmp_path: Path) -> None:
    built, _ = dataset
    who = engine().identity(built, PlainBench(tmp_path))
    assert "MariaDB" in who.version
    features = dict(who.features)
    assert features["plugin InnoDB"] == "built in"
    assert features["library libc.so.6"] == "linked"
    assert "version_ssl_library" in features
    assert list(who.features) == sorted(who.features)
    assert len(who.build_id) == 40


def test_the_systems_messages_make_no_server_of_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where MariaDB is installed, an engine's program is looked for among all programs that are named."""
    monkeypatch.setattr(family_data, "SYSTEM", tmp_path / "usr")
    messages = tmp_path / "usr/share/mysql/english/errmsg.sys"
    messages.parent.mkdir(parents=True)
    messages.touch()
    foreign = tmp_path / "a/b/c/program"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"\x7fELF and nothing of ours")
    for installed in (True, False):
        monkeypatch.setattr(family_data, "SYSTEM", tmp_path / ("usr" if installed else "nothing"))
        with pytest.raises(UserError, match="no MariaDB server, and none of its messages beside it"):
            engine().existing(foreign)
    foreign.write_bytes(b"\x7fELF 10.11.18-MariaDB")
    with pytest.raises(UserError, match=r"no english/errmsg\.sys in .*, and a MariaDB server does not start without"):
        engine().existing(foreign)
    monkeypatch.setattr(family_data, "SYSTEM", tmp_path / "usr")
    assert engine().existing(foreign).folder == tmp_path / "usr"
    linked = tmp_path / "usr/sbin/mariadbd"  # what is linked from parts has its name in one of them
    linked.parent.mkdir()
    linked.write_bytes(b"\x7fELF main alone")
    assert engine().existing(linked).folder == tmp_path / "usr"


def test_other_programs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such program"):
        engine().existing(tmp_path / "mariadbd")
    (tmp_path / "share/english").mkdir(parents=True)
    (tmp_path / "share/english/errmsg.sys").touch()
    (tmp_path / "bin").mkdir()
    with pytest.raises(UserError, match="not a program"):
        engine().existing(script(tmp_path / "bin", "exit 0"))
    lookalike = Built(name="x", folder=tmp_path, server=script(tmp_path, "echo 'x Ver 8.0.36'"), key="k")
    with pytest.raises(UserError, match="no MariaDB server"):
        engine().identity(lookalike, PlainBench(tmp_path))
