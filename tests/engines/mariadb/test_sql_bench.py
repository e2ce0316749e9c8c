"""sql-bench as a load: its tests, its command lines, its place in a dataset, and the loop that runs them."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.bench.readings import passes, steady
from burnish.catalogue import load
from burnish.engines.contract import Tick
from burnish.engines.shared import sql_bench
from burnish.engines.shared.sql_bench import SqlBenchLoad
from burnish.engines.shared.sysbench import Address
from burnish.model.workload import Workload
from burnish.study.request import workloads
from burnish.study.request.workloads import choose
from burnish.workload import loads

SPEC = load.engine("mariadb")
HERE = Address(Path("/run/s.sock"))


def one(text: str) -> Workload:
    (found,) = choose(SPEC, [text])
    return found


def soon(what: Callable[[], bool], seconds: float = 120.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return what()


def test_each_test_is_a_load_of_its_own_over_one_dataset() -> None:
    every = choose(SPEC, ["sql_bench"])
    assert [each.parameter("tests") for each in every] == list(sql_bench.TESTS)
    found = choose(SPEC, ["sql_bench:tests=select+ATIS,loop-count=50"])
    assert [each.name for each in found] == [f"sql_bench:loop-count=50,tests={name}" for name in ("select", "ATIS")]
    placed = workloads.located(SPEC, [*every, *found], Path("/src"))
    assert {each.parameter("tree") for each in placed} == {"/src/sql-bench"}
    assert len({each.data_parameters() for each in placed}) == 1
    assert sql_bench.located(one("sql_bench:tests=ATIS,tree=/x"), Path("/src")).parameter("tree") == "/x"
    for each in placed:
        assert loads.check(each, sql_bench.PARAMETERS) == each


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sql_bench:tests=atis", "unknown test of sql-bench 'atis'"),
        ("sql_bench:tests=ATIS+ATIS", "sql_bench: tests=ATIS+ATIS: ATIS is named twice"),
        ("sql_bench:loops=ATIS", "sql_bench: loops=ATIS: 'ATIS': give TEST=NUMBER"),
        ("sql_bench:tests=+", "sql_bench: tests=+: name tests with a + between them"),
        ("sql_bench:threads=4", "sql_bench: 4 client threads: its tests have one client each"),
        ("together:sql_bench=1,checksum=1", "together: sql_bench has a client program of its own; run it separately"),
    ],
)
def test_what_it_has_not_is_told(text: str, says: str) -> None:
    with pytest.raises(UserError) as caught:
        choose(SPEC, [text])
    assert str(caught.value).startswith(says)
    with pytest.raises(UserError, match="one client each"):
        choose(SPEC, ["sql_bench:tests=ATIS"], ladder=(1, 4))


def test_command_lines() -> None:
    workload = one("sql_bench:tests=ATIS,loop-count=50,engine=Aria")
    socket = sql_bench.command(workload, "ATIS", HERE)
    assert socket[:2] == ["perl", "./test-ATIS"]
    assert socket[-4:] == ["--socket=/run/s.sock", "--small-test", "--loop-count=50", "--create-options=ENGINE=Aria"]
    whole = replace(workload, parameters=(("tests", "ATIS"), ("small_test", "off")))
    secured = Address(Path("/s"), 3307, tls=True)
    assert sql_bench.command(whole, "ATIS", secured)[-3:] == [
        "--host=127.0.0.1",
        "--tcpip",
        "--connect-options=port=3307;mariadb_ssl=1;mariadb_ssl_optional=1;mariadb_ssl_verify_server_cert=0",
    ]
    far = Address(Path("/s"), 3306, host="10.0.0.1", within=("ip", "netns", "exec", "c"))
    assert "--host=10.0.0.1" in sql_bench.command(whole, "ATIS", far)
    usual = sql_bench.command(one("sql_bench:tests=ATIS,loops=ATIS=7+select=9"), "ATIS", HERE)
    assert "--loop-count=7" in usual
    assert workloads.groups(SPEC, ["sql_bench:tests=ATIS", "checksum"]) == ["sql-bench"]
    assert workloads.groups(SPEC, ["checksum"]) == []


def tree(folder: Path, *, test: str = "") -> Path:
    """A folder like sql-bench's, with one test."""
    (folder / "Data" / "ATIS").mkdir(parents=True)
    (folder / "Data" / "ATIS" / "city.txt").write_text("1\n")
    for name in ("bench-init.pl.sh", "server-cfg.sh", "crash-me.sh", "README"):
        (folder / name).write_text(f"# {name}\n")
    (folder / "test-ATIS.sh").write_text(test)
    return folder


def test_its_files_are_put_in_the_dataset_as_they_are(tmp_path: Path) -> None:
    workload = one(f"sql_bench:tests=ATIS,tree={tree(tmp_path / 'sql-bench')}")
    data = tmp_path / "data"
    data.mkdir()
    sql_bench.put(workload, data)
    place = data / sql_bench.PLACE
    assert sorted(path.name for path in place.iterdir()) == ["Data", "bench-init.pl", "server-cfg", "test-ATIS"]
    assert (place / "server-cfg").read_text() == "# server-cfg.sh\n"
    assert (place / "Data/ATIS/city.txt").read_text() == "1\n"
    with pytest.raises(UserError, match=r"sql_bench: /nowhere: no bench-init.pl, server-cfg in it; name the folder"):
        sql_bench.put(one("sql_bench:tests=ATIS,tree=/nowhere"), data)


def running(tmp_path: Path, test: str) -> SqlBenchLoad:
    """The load with a test of this text, in Perl."""
    workload = one(f"sql_bench:tests=ATIS,tree={tree(tmp_path / 'sql-bench', test=test)}")
    data, folder = tmp_path / "data", tmp_path / "side"
    data.mkdir()
    folder.mkdir()
    sql_bench.put(workload, data)
    return SqlBenchLoad(workload, HERE, data=data, server_pid=os.getpid(), folder=folder, cores=None)


def read(side: SqlBenchLoad, ticks: list[Tick]) -> list[Tick]:
    ticks += side.ticks()
    return ticks


ONE_RUN = """
print "Testing server '10.11.18 MariaDB/TLSv1.3' at 2026\\n\\n";
my $sum = 0; $sum += $_ for 1..200000;
select(undef, undef, undef, 0.02);
"""


def test_a_pass_is_a_unit_with_its_time_and_both_sides_cpu(tmp_path: Path) -> None:
    side = running(tmp_path, ONE_RUN)
    assert side.silence() > 600, "how long the first pass takes is not known"
    side.start()
    ticks: list[Tick] = []
    try:
        assert soon(lambda: passes(read(side, ticks)) >= 3)
        assert side.trouble() is None
        assert side.cipher() == "TLSv1.3"
        assert soon(lambda: len(side.pids()) == 2), "the loop and the test that it runs"
        assert 0 < side.silence() < 600
    finally:
        side.stop()
    assert ticks[0].done == 0
    assert ticks[0].latency == {}
    assert [tick.done for tick in ticks] == list(range(len(ticks)))
    for before, after in itertools.pairwise(ticks):
        assert after.latency["mean"] == pytest.approx(after.at - before.at)
        assert after.client_cpu > before.client_cpu
        assert after.server_cpu >= before.server_cpu
    assert side.pids() == []


def test_a_test_that_fails_ends_the_load_in_its_own_words(tmp_path: Path) -> None:
    side = running(tmp_path, '$| = 1; print "Testing\\n"; die "Can\'t connect\\nCompilation failed\\n";')
    side.start()
    try:
        assert soon(lambda: side.trouble() is not None)
        assert side.trouble() == "sql-bench ended with exit code 255: Can't connect"
    finally:
        side.stop()
    assert side.trouble() is None, "after its end nothing is amiss"
    assert side.cipher() is None


def at(seconds: float, done: float) -> Tick:
    return Tick(at=seconds, done=done, errors=0, server_cpu=0.0, client_cpu=0.0)


def test_passes_that_are_far_apart_are_steady_when_the_last_two_took_as_long() -> None:
    assert steady([at(0, 0), at(3.0, 1), at(6.02, 2)], span=0.75)
    assert not steady([at(0, 0), at(3.0, 1), at(7.0, 2)], span=0.75)
    assert not steady([at(0, 0), at(3.0, 1)], span=0.75)
