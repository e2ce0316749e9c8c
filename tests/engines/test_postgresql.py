"""The PostgreSQL engine's own parts, without a server: counted transactions, loads, configure's words, results."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.engines.contract import OwnData, Tick
from burnish.engines.postgresql import gate
from burnish.engines.postgresql.build import option_word
from burnish.engines.postgresql.loads import PostgreSQLLoads
from burnish.engines.postgresql.side import TICKS, pgbench_words
from burnish.engines.testing import PlainBench
from burnish.engines.ticks import TickFile
from burnish.workload import loads

LOADS = PostgreSQLLoads(load.engine("postgresql"))

POSTMASTER = """
import os, resource, sys, time
def work(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
for _ in range(20):  # none lives for as long as from one tick to the next
    if os.fork() == 0:
        work(0.013)
        os._exit(0)
    os.wait()
work(0.05)
used = resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrusage(resource.RUSAGE_SELF)
print(sum(usage.ru_utime + usage.ru_stime for usage in used), flush=True)
sys.stdin.read()
"""

CLIENT = r"""
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	FILE *log = fopen("some-log.1", "w");
	for (int at = 1; at <= 1000; at++)
		fprintf(log, "0 %d %d 0 1764122000 1\n", at, at <= 900 ? 1000 : 64000);
	fprintf(log, "1 7 skipped 0 1764122000 1\n1 8 failed 0 1764122000 1\n");
	puts("logged");
	fflush(stdout);
	getchar();
	return 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no gcc on this machine")
def test_transactions_are_counted_and_no_process_time_is_lost(tmp_path: Path) -> None:
    (tmp_path / "client.c").write_text(CLIENT)
    subprocess.run(
        ["cc", "-O1", "client.c", TICKS, "-pthread", "-o", "client", "-lm", "-ldl"], cwd=tmp_path, check=True
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", POSTMASTER], **pipes) as server:  # type: ignore[call-overload]
        variables = {
            "BURNISH_LOG": "some-log",
            "BURNISH_TICKS": str(tmp_path / "ticks"),
            "BURNISH_TICK_S": "0.05",
            "BURNISH_SERVER_PID": str(server.pid),
        }
        with subprocess.Popen([tmp_path / "client"], cwd=tmp_path, env=os.environ | variables, **pipes) as client:  # type: ignore[call-overload]
            client.stdout.readline()
            used = float(server.stdout.readline())
            file, ticks = TickFile(tmp_path / "ticks"), list[Tick]()
            while len(ticks) < 2 or ticks[-1].at < ticks[0].at + 0.15 or ticks[-1].server_cpu < used - 0.03:
                ticks += file.ticks()
                assert client.poll() is None
            client.stdin.close()
        server.stdin.close()
    assert (ticks[-1].done, ticks[-1].errors) == (1000, 1)
    assert not list(tmp_path.glob("some-log*")), "the log is counted, not written"
    latency = next(tick.latency for tick in ticks if tick.latency)
    assert latency["p50"] == pytest.approx(0.001, rel=0.03)
    assert latency["p95"] == pytest.approx(0.064, rel=0.03)
    assert used - 0.03 <= ticks[-1].server_cpu <= used + 0.02
    assert all(later.server_cpu >= earlier.server_cpu for earlier, later in pairwise(ticks))


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
    assert words[:2] == ["-f", str(script)]
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


def test_options_are_configures() -> None:
    found = [option_word(*item) for item in (("with-icu", "OFF"), ("with-ssl", "openssl"), ("enable-nls", "ON"))]
    assert found == ["--without-icu", "--with-ssl=openssl", "--enable-nls"]
    with pytest.raises(UserError, match="its configure"):
        option_word("WITH_ICU", "ON")


SCHEDULE = "# comment\ntest: test_setup\n\ntest: boolean char name\ntest: stats\n"


def test_the_gate_keeps_order_and_groups() -> None:
    assert gate.groups(SCHEDULE, ["name", "test_setup", "boolean", "none"]) == [["test_setup"], ["boolean", "name"]]


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
