"""Transactions that a program logs are counted, and the time of all of a server's processes is read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from burnish.engines.contract import SideSpec, Tick
from burnish.engines.shared.logged_load import SOURCE, LoggedLoad, make_counter
from burnish.engines.ticks import TickFile
from burnish.model.condition import Condition
from burnish.model.histogram import together
from burnish.model.workload import Workload
from burnish.program.built import Built

PARENT = """
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
#include <poll.h>
#include <stdio.h>
int main(void)
{
	FILE *log = fopen("some-log.1", "w");
	struct pollfd asked = { 0, POLLIN, 0 };
	long logged = 0;
	do /* the same mix whenever a tick cuts it, until a byte comes */
		for (int at = 1; at <= 1000; at++, logged++)
			fprintf(log, "0 %d %d 0 1764122000 1\n", at, at % 10 ? 1000 : 64000);
	while (poll(&asked, 1, 20) == 0);
	fprintf(log, "1 7 skipped 0 1764122000 1\n1 8 failed 0 1764122000 1\n");
	getchar();
	printf("%ld\n", logged);
	fflush(stdout);
	getchar();
	return 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no gcc on this machine")
def test_a_load_is_counted_in_a_folder_of_any_name(tmp_path: Path) -> None:
    """The dynamic linker separates what is preloaded at spaces and colons, and says so of what it does not find."""
    folder = tmp_path / "a home: of mine"
    folder.mkdir()
    make_counter(folder)
    workload, built = Workload("w", "fake", "", ""), Built("b", folder, folder, "key")
    spec = SideSpec(
        "a", built, Condition(), workload, tmp_path, folder, seed=1, cores=frozenset(os.sched_getaffinity(0))
    )
    load = LoggedLoad(["true"], spec, transactions="log", field=3, server_pid=os.getpid(), environment={})
    load.start()
    try:
        assert load._process is not None
        load._process.wait(60)
        assert load.log.read_text() == ""
    finally:
        load.stop()


@pytest.mark.skipif(shutil.which("cc") is None, reason="no gcc on this machine")
def test_transactions_are_counted_and_no_process_time_is_lost(tmp_path: Path) -> None:
    (tmp_path / "client.c").write_text(CLIENT)
    subprocess.run(
        ["cc", "-O1", "client.c", SOURCE, "-pthread", "-o", "client", "-lm", "-ldl"], cwd=tmp_path, check=True
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", PARENT], **pipes) as server:  # type: ignore[call-overload]
        variables = {
            "BURNISH_LOG": "some-log",
            "BURNISH_LOG_FIELD": "3",
            "BURNISH_TICKS": str(tmp_path / "ticks"),
            "BURNISH_TICK_S": "0.05",
            "BURNISH_SERVER_PID": str(server.pid),
        }
        with subprocess.Popen([tmp_path / "client"], cwd=tmp_path, env=os.environ | variables, **pipes) as client:  # type: ignore[call-overload]
            file, ticks = TickFile(tmp_path / "ticks"), list[Tick]()

            def until(enough: Callable[[], bool]) -> None:
                while not enough():
                    time.sleep(0.01)
                    ticks.extend(file.ticks())
                    assert client.poll() is None

            until(lambda: latency_of(ticks) is not None)
            client.stdin.write("\n")
            client.stdin.flush()
            logged = int(client.stdout.readline())
            after = time.monotonic()  # an earlier tick may not have all of the log
            used = float(server.stdout.readline())
            until(lambda: ticks[-1].at >= after and ticks[-1].server_cpu >= used - 0.03)
            client.stdin.close()
        server.stdin.close()
    assert (ticks[-1].done, ticks[-1].errors) == (logged, 1)
    assert not list(tmp_path.glob("some-log*")), "the log is counted, not written"
    latency = latency_of(ticks)
    assert latency is not None
    assert latency["p50"] == pytest.approx(0.001, rel=0.03)
    assert latency["p95"] == pytest.approx(0.064, rel=0.03)
    times = together(tick.times for tick in ticks if tick.latency.get("left_out") == 0)
    assert 1000 <= times.requests <= ticks[-1].done, "each transaction once"
    assert times.percentiles() == pytest.approx({"p50": 0.001, "p95": 0.064, "p99": 0.064}, rel=0.03)
    assert used - 0.03 <= ticks[-1].server_cpu <= used + 0.02
    assert all(later.server_cpu >= earlier.server_cpu for earlier, later in pairwise(ticks))


def latency_of(ticks: Sequence[Tick]) -> Mapping[str, float] | None:
    """The latencies of a tick behind which at least a thousand lines lie, and that did not come late."""
    whole = (
        later.latency
        for earlier, later in pairwise(ticks)
        if later.latency.get("left_out") == 0 and later.done >= earlier.done + 1000
    )
    return next(whole, None)
