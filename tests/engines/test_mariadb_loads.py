"""Loads and conditions on a real server: own statements over a dump and over a copied folder, mixes, TLS."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from mariadb_support import PlainBench, engine, real_server, small

from burnish.bench.datasets import dataset_key
from burnish.engines.base import Built
from burnish.errors import UserError
from burnish.run import workloads
from burnish.run.workloads import OwnData
from burnish.study.conditions import condition_of
from burnish.study.model import Condition, Workload

pytestmark = pytest.mark.real

SPEC = engine().spec
DUMP = """\
CREATE DATABASE shop; USE `shop`;
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
    workload = workloads.own(SPEC, path, OwnData(dump))
    engine().create_dataset(built, built, workload, tmp_path / "data", bench)
    assert examine(built, workload, Condition(), tmp_path / "data", tmp_path)[1] == "mine.sql: runs, transport unix"

    theirs = tmp_path / "data"
    before = {item: item.stat().st_mtime_ns for item in theirs.rglob("*")}
    copied = workloads.own(SPEC, path, OwnData(theirs))
    assert copied.database == "shop"
    engine().create_dataset(built, built, copied, tmp_path / "copy", bench)
    assert {item: item.stat().st_mtime_ns for item in theirs.rglob("*")} == before
    assert "runs" in examine(built, copied, Condition(), tmp_path / "copy", tmp_path)[1]

    path.write_text("SELECT 1;\n\nSELECT name FROM itmes;\n")
    wrong = workloads.own(SPEC, path, OwnData(theirs))
    with pytest.raises(UserError, match=r"mine\.sql:3: Table 'shop\.itmes' doesn't exist"):
        examine(built, wrong, Condition(), tmp_path / "copy", tmp_path)


def test_over_tls_the_loads_own_cipher_is_told(built: Built, dataset: Path, tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    workload = small("oltp_read_only")
    _, said = examine(built, workload, condition_of(["transport=tls"]), dataset, tmp_path)
    assert "transport tls, cipher TLS" in said
    _, said = examine(built, workload, condition_of(["transport=tcp"]), dataset, tmp_path)
    assert said.endswith("transport tcp")


def test_settings_are_checked_by_the_server_itself(built: Built, dataset: Path, tmp_path: Path) -> None:
    workload = replace(small("oltp_read_write"), in_memory=True)
    found, _ = examine(built, workload, condition_of(["slow_query_log=ON"]), dataset, tmp_path)
    assert found == ["slow_query_log is on: each statement is written to a file"]
    with pytest.raises(UserError, match=r"unknown server variable 'slow_query_lgo' \(did you mean 'slow_query_log'"):
        examine(built, workload, condition_of(["slow_query_lgo=ON"]), dataset, tmp_path)
    many = replace(workload, threads=2048)
    with pytest.raises(UserError, match="max_connections is 2048, but oltp_read_write has 2048 client threads"):
        examine(built, many, Condition(), dataset, tmp_path)
    with pytest.raises(UserError, match="the server does not start under this condition"):
        examine(built, workload, condition_of(["innodb_page_size=4k"]), dataset, tmp_path)


def test_a_mix_runs_and_its_dataset_is_its_parts(built: Built, dataset: Path, tmp_path: Path) -> None:
    parts = tuple((small(name), weight) for name, weight in (("oltp_read_only", 3), ("oltp_update_index", 1)))
    (mix,) = workloads.choose(SPEC, ["together:oltp_read_only=3,oltp_update_index=1,threads=4"])
    mix = replace(mix, parts=parts)
    assert dataset_key("mariadb", "v", mix) == dataset_key("mariadb", "v", small("oltp_read_only"))
    assert "runs" in examine(built, mix, Condition(), dataset, tmp_path)[1]


def test_a_script_that_fails_is_told_before_the_trial(built: Built, dataset: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.lua"
    path.write_text(
        "function thread_init() con = sysbench.sql.driver():connect() end\n"
        "function event() con:query('SELECT x FROM not_there') end\n"
    )
    workload = workloads.own(SPEC, path)
    with pytest.raises(UserError, match=r"mine\.lua: .*Table 'sbtest\.not_there' doesn't exist"):
        examine(built, workload, Condition(), dataset, tmp_path)
