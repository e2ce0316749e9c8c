"""Loads and conditions on a real server: own statements over a dump and over a copied folder, mixes, TLS."""

from __future__ import annotations

import os
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pymysql
import pytest

from burnish.base import netns, process, warden
from burnish.base.errors import UserError
from burnish.bench.datasets import dataset_key
from burnish.engines.contract import OwnData, SideSpec, Tick
from burnish.engines.mariadb.product import PRODUCT
from burnish.engines.mysql_family.loads import ServerLoads
from burnish.engines.mysql_family.server import Launch, Server
from burnish.engines.shared import digest_table
from burnish.engines.shared.rehearsal import unusual
from burnish.model.condition import Condition
from burnish.model.workload import Workload
from burnish.program.built import Built
from burnish.study.request import workloads
from burnish.workload.conditions import condition_of
from burnish.workload.sql import digests, statements
from mariadb_support import PlainBench, engine, real_server, small

pytestmark = pytest.mark.real

SPEC = engine().spec
DUMP = """\
CREATE DATABASE `my-shop`; USE `my-shop`;
CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(40), price INT) ENGINE=InnoDB;
INSERT INTO items VALUES (1, 'one; of', 10), (2, 'two', 20), (3, 'three', 30);
"""
STATEMENTS = """\
-- weight: 5
SELECT name FROM items WHERE id = {1..3};
BEGIN; UPDATE items SET price = price + 1 WHERE id = {1..3}; COMMIT;
"""


@pytest.fixture(scope="module")
def built() -> Built:
    return real_server()


@pytest.fixture(scope="module")
def dataset(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sbtest")
    engine().create_dataset(built, built, small("oltp_read_only"), folder / "data", PlainBench(folder))
    return folder / "data"


def examine(built: Built, workload: Workload, condition: Condition, data: Path, place: Path) -> tuple[list[str], str]:
    """Warnings, and what was said of the rehearsal."""
    bench = PlainBench(place)
    shutil.rmtree(place / "examine", ignore_errors=True)
    (place / "examine").mkdir()
    ready = engine().ready(condition, place, bench)
    found = engine().examine(built, workload, ready, data, place / "examine", bench)
    return found, " ".join(bench.said)


def test_statements_over_a_dump_and_then_over_a_copy_of_that_folder(built: Built, tmp_path: Path) -> None:
    if shutil.which("mariadb", path=f"{built.folder / 'client'}:/usr/bin:/usr/local/bin") is None:
        pytest.skip("MariaDB's client is not installed")
    dump, path, bench = tmp_path / "dump.sql", tmp_path / "mine.sql", PlainBench(tmp_path)
    dump.write_text(DUMP)
    path.write_text(STATEMENTS)
    workload = ServerLoads(SPEC).own(path, OwnData(dump))
    engine().create_dataset(built, built, workload, tmp_path / "data", bench)
    assert examine(built, workload, Condition(), tmp_path / "data", tmp_path)[1] == "mine.sql: runs, transport unix"

    theirs = tmp_path / "data"
    before = {item: item.stat().st_mtime_ns for item in theirs.rglob("*")}
    copied = ServerLoads(SPEC).own(path, OwnData(theirs))
    assert copied.database == "my-shop"
    engine().create_dataset(built, built, copied, tmp_path / "copy", bench)
    assert {item: item.stat().st_mtime_ns for item in theirs.rglob("*")} == before
    assert "runs" in examine(built, copied, Condition(), tmp_path / "copy", tmp_path)[1]

    path.write_text("SELECT 1;\n\nSELECT name FROM itmes;\n")
    wrong = ServerLoads(SPEC).own(path, OwnData(theirs))
    with pytest.raises(UserError, match=r"mine\.sql:3: Table 'my-shop\.itmes' doesn't exist"):
        examine(built, wrong, Condition(), tmp_path / "copy", tmp_path)


def test_a_mix_of_ones_own_and_the_catalogues(built: Built, tmp_path: Path) -> None:
    """A user's data and sysbench's tables are in one database; tables that two parts would make are told."""
    if shutil.which("mariadb", path=f"{built.folder / 'client'}:/usr/bin:/usr/local/bin") is None:
        pytest.skip("MariaDB's client is not installed")
    dump, path, script, bench = (*(tmp_path / name for name in ("dump.sql", "mine.sql", "m.lua")), PlainBench(tmp_path))
    dump.write_text(DUMP)
    path.write_text(STATEMENTS)
    text = f"in_turn:{path}=2,oltp_point_select=1,tables=1,table-size=100,threads=2"
    (mix,) = workloads.choose(SPEC, [text], data=OwnData(dump))
    (mix,) = workloads.check(engine(), [mix], bench)
    engine().create_dataset(built, built, mix, tmp_path / "data", bench)
    assert examine(built, mix, Condition(), tmp_path / "data", tmp_path)[1] == f"{mix.name}: runs, transport unix"
    path.write_text("SELECT name FROM itmes;\n")
    (wrong,) = workloads.choose(SPEC, [text], data=OwnData(dump))
    with pytest.raises(UserError, match=r"mine\.sql:1: Table 'my-shop\.itmes' doesn't exist"):
        examine(built, wrong, Condition(), tmp_path / "data", tmp_path)

    script.write_text('require("oltp_common")\nfunction event() end\n')
    (mix,) = workloads.choose(SPEC, [f"in_turn:{script}=2,oltp_point_select=1,tables=1,table-size=100"])
    with pytest.raises(UserError, match=r"in_turn: m\.lua makes tables of the same names .*Table 'sbtest1' already"):
        engine().create_dataset(built, built, mix, tmp_path / "twice", bench)


def test_data_are_made_with_the_page_size_of_a_users_settings(built: Built, dataset: Path, tmp_path: Path) -> None:
    """A server whose settings name another one does not start on data made without."""
    workload = replace(small("oltp_read_only"), settings=(("innodb_page_size", "4k"),))
    engine().create_dataset(built, built, workload, tmp_path / "data", PlainBench(tmp_path))
    _, said = examine(built, workload, Condition(), tmp_path / "data", tmp_path)
    assert said == "oltp_read_only: runs, transport unix"
    with pytest.raises(UserError, match="the server does not start under this condition"):
        examine(built, workload, Condition(), dataset, tmp_path)


def test_over_tls_the_loads_own_cipher_is_told(built: Built, dataset: Path, tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    workload = small("oltp_read_only")
    _, said = examine(built, workload, condition_of(["transport=tls"]), dataset, tmp_path)
    assert "transport tls, cipher TLS" in said
    _, said = examine(built, workload, condition_of(["transport=tcp"]), dataset, tmp_path)
    assert said.endswith("transport tcp")


def test_from_another_host_too(built: Built, dataset: Path, tmp_path: Path) -> None:
    reason = netns.lacking("100mbit")
    if reason is not None:
        pytest.skip(reason)
    workload = small("oltp_read_only")
    condition = condition_of(["transport=remote,rate=100mbit"])
    _, said = examine(built, workload, condition, dataset, tmp_path)
    assert said.endswith("transport remote, rate 100mbit")
    assert not warden.namespaces(process.run_id())
    sides = [
        engine().side(
            SideSpec(
                label=label,
                built=built,
                condition=replace(condition, settings=(("innodb_buffer_pool_size", "32M"),)),
                workload=workload,
                data=Path(shutil.copytree(dataset, tmp_path / label)),
                folder=tmp_path / f"{label}-side",
                seed=1,
                cores=frozenset(os.sched_getaffinity(0)),
            )
        )
        for label in ("one", "other")
    ]
    try:
        for side in sides:
            side.spec.folder.mkdir()
            side.boot()
            side.load()
        ticks: list[list[Tick]] = [[], []]
        end = time.monotonic() + 120
        while time.monotonic() < end and not all(each and each[-1].done > 5 for each in ticks):
            time.sleep(0.1)
            for mine, side in zip(ticks, sides, strict=True):
                mine.extend(side.ticks())
                assert side.trouble() is None
        assert all(each[-1].done > 5 for each in ticks), "both have one address, each in a network of its own"
        assert len(warden.namespaces(process.run_id())) == 4
    finally:
        for side in sides:
            side.stop()
    assert not warden.namespaces(process.run_id())


def test_digests_of_a_running_server_become_statements_that_it_takes(
    built: Built, dataset: Path, tmp_path: Path
) -> None:
    data = Path(shutil.copytree(dataset, tmp_path / "data"))
    settings = (("performance_schema", "ON"), ("innodb_buffer_pool_size", "32M"))
    server = Server(
        Launch(built.server, data, tmp_path / "server", settings, habits=PRODUCT.habits, options=built.options)
    )
    try:
        server.boot()
        if not server.query("SELECT @@performance_schema")[0][0]:
            pytest.skip("this server has no performance schema")
        for number in range(1, 6):
            server.query(f"SELECT c FROM sbtest1 WHERE id = {number}", "sbtest")
            server.query(f"SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN {number} AND {number + 9}", "sbtest")
            server.query(f"SELECT DISTINCT c FROM sbtest2 AS s WHERE s.id IN (1, 2, {number}) ORDER BY c", "sbtest")
            server.query(f"UPDATE sbtest1 SET k = k + 1, c = 'x{number}' WHERE id = {number}", "sbtest")
        server.query("INSERT INTO sbtest1 (k, c, pad) VALUES (1, 'a', 'b'), (2, 'c', 'd')", "sbtest")
        server.query("SHOW TABLES", "sbtest")
        before = server.fingerprint("sbtest")
        with digest_table.connected(server.socket, "root", "") as cursor:
            found = digest_table.digests(cursor, "here")
            tables = digest_table.tables(cursor, "sbtest")
        replay = digests.turned(found, digests.database_of(found, None, "here"), tables, "here")
        assert server.fingerprint("sbtest") == before
        texts = {
            re.sub(r"\{1\.\.20\d\d\}", "{id}", unit.statements[0]).replace("`", "").lower(): unit.weight
            for unit in replay.units
        }
        assert texts.get("select c from sbtest1 where id = {id}") == 5, texts
        assert texts["select sum( k ) from sbtest1 where id between {id} and {+9}"] == 5
        for unit in replay.units:
            server.query(statements.example(unit.statements[0]), "sbtest")
        with digest_table.connected(server.socket, "root", "") as cursor, pytest.raises(pymysql.err.MySQLError):
            cursor.execute("DELETE FROM sbtest.sbtest1")
    finally:
        server.stop()


def test_sql_bench_runs_pass_after_pass(built: Built, tmp_path: Path) -> None:
    tree = os.environ.get("BURNISH_TEST_SQL_BENCH", "")
    driver = ["perl", "-MDBD::MariaDB", "-e", "1"]
    if not tree or shutil.which("perl") is None or not process.run(driver).ok:
        pytest.skip("no sql-bench; name MariaDB's sql-bench in BURNISH_TEST_SQL_BENCH, and install libdbd-mariadb-perl")
    (workload,) = workloads.choose(SPEC, [f"sql_bench:tests=create,loop-count=100,tree={tree}"])
    engine().create_dataset(built, built, workload, tmp_path / "data", PlainBench(tmp_path))
    _, said = examine(built, workload, Condition(), tmp_path / "data", tmp_path)
    assert said == f"{workload.name}: runs, transport unix"
    _, said = examine(built, workload, condition_of(["transport=tls"]), tmp_path / "data", tmp_path)
    assert "cipher TLS" in said
    with pytest.raises(UserError, match="one client each"):
        examine(built, replace(workload, threads=4), Condition(), tmp_path / "data", tmp_path)


def test_settings_are_checked_by_the_server_itself(built: Built, dataset: Path, tmp_path: Path) -> None:
    workload = replace(small("oltp_read_write"), in_memory=True)
    found, _ = examine(built, workload, condition_of(["slow_query_log=ON"]), dataset, tmp_path)
    assert found == ["slow_query_log is on: each statement is written to a file"]
    unknown = r"unknown server variable 'slow_query_lgo' \(did you mean 'slow_query_log'\?\) in "
    with pytest.raises(UserError, match=f"{unknown}--set or --versus; "):
        examine(built, workload, condition_of(["slow_query_lgo=ON"]), dataset, tmp_path)
    parts = ((replace(small("oltp_insert"), settings=(("slow_query_lgo", "ON"),)), 1), (small("oltp_delete"), 1))
    mix = replace(small("oltp_insert"), name="together:a=1,b=1", parts=parts, settings=parts[0][0].settings)
    with pytest.raises(UserError, match=f"{unknown}what together:a=1,b=1 sets by itself; "):
        examine(built, mix, Condition(), dataset, tmp_path)
    with pytest.raises(UserError, match=f"{unknown}--defaults-file; "):
        examine(built, replace(workload, settings=(("slow_query_lgo", "ON"),)), Condition(), dataset, tmp_path)
    with pytest.raises(UserError, match="the server refuses these settings: Unknown suffix 'l' used for variable"):
        examine(built, workload, condition_of(["innodb_buffer_pool_size=lots"]), dataset, tmp_path)
    many = replace(workload, threads=2048)
    with pytest.raises(UserError, match="max_connections is 2048, but oltp_read_write has 2048 client threads"):
        examine(built, many, Condition(), dataset, tmp_path)
    with pytest.raises(UserError, match="the server does not start under this condition"):
        examine(built, workload, condition_of(["innodb_page_size=4k"]), dataset, tmp_path)


def test_a_mix_runs_and_its_dataset_is_its_parts(built: Built, dataset: Path, tmp_path: Path) -> None:
    parts = tuple((small(name), weight) for name, weight in (("oltp_read_only", 3), ("oltp_update_index", 1)))
    (mix,) = workloads.choose(SPEC, ["together:oltp_read_only=3,oltp_update_index=1,threads=4"])
    mix = replace(mix, parts=parts)
    assert dataset_key(SPEC, "v", mix) == dataset_key(SPEC, "v", small("oltp_read_only"))
    assert "runs" in examine(built, mix, Condition(), dataset, tmp_path)[1]


def test_a_script_that_fails_is_told_before_the_trial(built: Built, dataset: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.lua"
    path.write_text(
        "function thread_init() con = sysbench.sql.driver():connect() end\n"
        "function event() con:query('SELECT x FROM not_there') end\n"
    )
    workload = ServerLoads(SPEC).own(path)
    with pytest.raises(UserError, match=r"mine\.lua: .*Table 'sbtest\.not_there' doesn't exist"):
        examine(built, workload, Condition(), dataset, tmp_path)
    path.write_text("function thread_init() con = sysbench.sql.driver():connect() end\n")
    with pytest.raises(UserError, match=r"mine\.lua: .*cannot find the event\(\) function in mine\.lua"):
        examine(built, ServerLoads(SPEC).own(path), Condition(), dataset, tmp_path)


def test_a_load_under_another_malloc_is_tried_beforehand() -> None:
    (usual,) = workloads.choose(SPEC, ["oltp_read_only"])
    assert not unusual(usual, Condition())
    for condition in (Condition(allocator="jemalloc"), Condition(heap_pages="huge"), Condition(transport="tcp")):
        assert unusual(usual, condition)
