"""The shipped Lua scripts, without a server: a driver that records what they send."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.catalogue import load
from burnish.engines.contract import OwnData
from burnish.engines.mysql_family.loads import ServerLoads
from burnish.engines.shared import sql_bench, sysbench
from burnish.engines.shared.sysbench_parameters import of_help
from burnish.model.workload import Workload
from burnish.study.request import workloads
from burnish.workload.loads import Parameter

pytestmark = pytest.mark.skipif(shutil.which("sysbench") is None, reason="sysbench is not installed")

SPEC = load.engine("mariadb")
RECORDER = Path(__file__).with_name("recorder.lua")


def play(
    workload: Workload, folder: Path, *, events: int, threads: int = 1, command: str = "run", **parameters: int
) -> list[list[str]]:
    """What each thread of a load sent, line by line."""
    words = [
        "sysbench",
        str(RECORDER),
        *(f"--{name.replace('_', '-')}={value}" for name, value in (*workload.parameters, *parameters.items())),
        f"--threads={threads}",
        f"--events={events}",
        "--time=0",  # as long as the events take here
        "--rand-type=uniform",
        "--rand-seed=7",
        command,
    ]
    environment = {
        "PATH": os.environ["PATH"],
        "RECORD": str(folder / "sent"),
        "PLAYED": sysbench.script(workload.program),
        "LUA_PATH": f"{sysbench.HOOK.parent}/?.lua;;",
        **sysbench.environment(workload, folder),
    }
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [path.read_text().splitlines() for path in sorted(folder.glob("sent.*"))]


def test_orders_are_short_transactions_in_the_mix_that_was_asked_for(tmp_path: Path) -> None:
    (sent,) = play(load.workload(SPEC, "igen_like"), tmp_path, events=400)
    text = "\n".join(sent)
    transactions = [part.split("\n") for part in text.removeprefix("BEGIN\n").split("\nBEGIN\n")]
    assert len(transactions) == 400
    assert all(each[-1] == "COMMIT" for each in transactions)
    kinds = Counter(
        "order" if "INTO orders" in str(each) else "payment" if "INTO payments" in str(each) else "status"
        for each in transactions
    )
    assert kinds["order"] / 400 == pytest.approx(0.45, abs=0.07)
    assert kinds["payment"] / 400 == pytest.approx(0.43, abs=0.07)
    assert kinds["status"] / 400 == pytest.approx(0.12, abs=0.05)
    for each in transactions:
        items = [int(found[1]) for line in each if (found := re.match(r"UPDATE items .*\[\d+,(\d+)\]", line))]
        assert items == sorted(set(items)), "rows are locked in one order"


def test_the_order_system_fills_its_tables(tmp_path: Path) -> None:
    (sent,) = play(load.workload(SPEC, "igen_like"), tmp_path, events=0, command="prepare", customers=5, orders=3)
    assert sum(line.startswith("CREATE TABLE") for line in sent) == 5
    start = sent.index("INSERT INTO order_lines VALUES")
    keys = [re.match(r"\((\d+), (\d+),", line) for line in sent[start + 1 :]]
    assert [(found[1], found[2]) for found in keys if found] == [
        ("1", "2"), ("1", "1"), ("2", "2"), ("2", "1"), ("3", "2"), ("3", "1"),
    ]  # fmt: skip


def test_an_analysts_questions_come_equally_often(tmp_path: Path) -> None:
    (sent,) = play(load.workload(SPEC, "analytical"), tmp_path, events=25)
    kinds = Counter(line[:24] for line in sent)
    assert len(sent) == 25
    assert set(kinds.values()) == {5}
    assert all(int(b) - int(a) == 1999 for a, b in re.findall(r"BETWEEN (\d+) AND (\d+)", "\n".join(sent)))


def test_checksums_go_through_the_tables_in_turn(tmp_path: Path) -> None:
    (sent,) = play(load.workload(SPEC, "checksum"), tmp_path, events=8)
    assert Counter(sent) == {f"CHECKSUM TABLE sbtest{number} EXTENDED": 2 for number in range(1, 5)}


def mix(text: str) -> Workload:
    (found,) = workloads.choose(SPEC, [text])
    return found


def test_a_mix_in_turn_gives_each_thread_every_part_by_its_weight(tmp_path: Path) -> None:
    (sent,) = play(mix("in_turn:oltp_update_index=3,checksum=1,igen_like=1,table-size=50"), tmp_path, events=50)
    assert sum(line.startswith("UPDATE sbtest") for line in sent) == 30
    assert sum(line.startswith("CHECKSUM") for line in sent) == 10
    assert sum(line == "COMMIT" for line in sent) == 10


def test_a_mix_together_gives_each_part_threads_by_its_weight(tmp_path: Path) -> None:
    found = play(mix("together:oltp_update_index=3,checksum=1,table-size=50"), tmp_path, events=4000, threads=8)
    kinds = [{line.split()[0] for line in sent} for sent in found]
    assert all(len(kind) == 1 for kind in kinds)
    assert sum(kind == {"CHECKSUM"} for kind in kinds) <= 2
    # Threads share the events: on a busy host the first ones may have taken them all.
    assert {"UPDATE"} in kinds or len(kinds) <= 2


def test_parts_keep_their_own_parameters(tmp_path: Path) -> None:
    base = mix("in_turn:checksum=1,oltp_point_select=1,table-size=50")
    parts = tuple(
        (replace(part, parameters=(("tables", "1"), ("table_size", "7"))), weight)
        if part.name == "oltp_point_select"
        else (part, weight)
        for part, weight in base.parts
    )
    (sent,) = play(replace(base, parts=parts), tmp_path, events=80)
    assert {line.split()[2] for line in sent if line.startswith("CHECKSUM")} == {f"sbtest{n}" for n in range(1, 5)}
    keys = [re.search(r"FROM (\w+) WHERE id=\? \[(\d+)\]", line) for line in sent if line.startswith("SELECT")]
    assert len(keys) == 40, "one look-up a transaction, as the script itself decides"
    assert {found[1] for found in keys if found} == {"sbtest1"}
    assert max(int(found[2]) for found in keys if found) <= 7


def test_a_mix_runs_scripts_and_statements_of_ones_own(tmp_path: Path) -> None:
    """Each finds what it requires beside itself, and its own statements."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "helper.lua").write_text(f"return {{text = 'HELPED {name}'}}\n")
        (tmp_path / name / "mine.lua").write_text(
            "local helper = require('helper')\nsysbench.cmdline.options = {rows = {'rows', 3}}\n"
            "function thread_init() con = sysbench.sql.driver():connect() end\n"
            "function event() con:query(helper.text .. ' ' .. sysbench.opt.rows) end\n"
        )
        (tmp_path / f"{name}.sql").write_text(f"SELECT '{name}';\n")
    files = ",".join(f"{tmp_path}/{file}={weight}" for file, weight in (("one/mine.lua", 2), ("other/mine.lua", 1)))
    files += "," + ",".join(f"{tmp_path}/{file}=1" for file in ("one.sql", "other.sql"))
    (found,) = workloads.choose(SPEC, [f"in_turn:{files},checksum=1,table-size=9"], data=OwnData(tmp_path / "one.sql"))
    (sent,) = play(found, tmp_path, events=60)
    assert Counter(line for line in sent if not line.startswith("CHECKSUM")) == {
        "HELPED one 3": 20,
        "HELPED other 3": 10,
        "SELECT 'one'": 10,
        "SELECT 'other'": 10,
    }
    assert len(sent) == 60


def test_statements_are_drawn_by_their_weights(tmp_path: Path) -> None:
    path = tmp_path / "mine.sql"
    path.write_text(
        "-- weight: 8\nSELECT {1..3};\n-- weight: 2\nBEGIN; SELECT 'a;\nb'; COMMIT;\n",
    )
    data = tmp_path / "dump.sql"
    data.write_text("USE `shop`;\n")
    workload = ServerLoads(SPEC).own(path, OwnData(data))
    (sent,) = play(workload, tmp_path, events=500)
    drawn = Counter(line for line in sent if line.startswith("SELECT") and "a" not in line)
    assert set(drawn) == {"SELECT 1", "SELECT 2", "SELECT 3"}
    assert sum(drawn.values()) / 500 == pytest.approx(0.8, abs=0.06)
    place = sent.index("BEGIN")
    assert sent[place : place + 3] == ["BEGIN", "SELECT 'a;\\nb'", "COMMIT"]


def test_a_number_may_follow_the_one_drawn_last(tmp_path: Path) -> None:
    path, data = tmp_path / "mine.sql", tmp_path / "dump.sql"
    path.write_text("SELECT {1..1000}, {+99}, {+0}, '{\"a\": {-3..-1}}';\n")
    data.write_text("USE `shop`;\n")
    (sent,) = play(ServerLoads(SPEC).own(path, OwnData(data)), tmp_path, events=50)
    for line in sent:
        found = re.fullmatch(r"SELECT (\d+), (\d+), (\d+), '\{\"a\": -([123])\}'", line)
        assert found is not None
        assert (int(found[2]), found[3]) == (int(found[1]) + 99, found[1])


def test_a_script_tells_its_parameters() -> None:
    done = subprocess.run(["sysbench", "oltp_read_only", "help"], capture_output=True, text=True, check=True)
    found = of_help(done.stdout.splitlines())
    assert found["table_size"] == Parameter("number")
    assert found["skip_trx"] == Parameter("switch")
    assert found["mysql_storage_engine"] == Parameter("text")


@pytest.mark.parametrize(
    "name",
    [
        name
        for (owner, name), each in load.workloads().items()
        if owner == "mariadb" and each.program != sql_bench.PROGRAM
    ],
)
def test_every_load_of_the_catalogue_names_parameters_that_its_script_has(name: str) -> None:
    workload = load.workload(SPEC, name)
    done = subprocess.run(
        ["sysbench", sysbench.script(workload.program), "help"], capture_output=True, text=True, check=False
    )
    known = of_help(done.stdout.splitlines())
    assert {name for name, _ in workload.parameters} <= set(known)
    assert set(workload.shape) <= set(known)
    assert set(workload.without) <= set(known)
