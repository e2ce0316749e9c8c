from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from burnish.base.errors import InfrastructureError
from burnish.engines.shared import sysbench
from burnish.engines.shared.sysbench import Address, SysbenchLoad
from burnish.engines.ticks import parse_tick
from burnish.model.workload import Workload

WORKLOAD = Workload(
    name="oltp_read_only",
    engine="mariadb",
    reason="for tests",
    program="oltp_read_only",
    parameters=(("tables", "4"), ("table_size", "100000")),
)
LINE = (
    b'{"at":1545.131520428,"done":38150,"steps":38156,"errors":2,"reconnects":1,"server_cpu":23.042379176,'
    b'"client_cpu":0.560357843,"latency":{"p50":0.000373960,"p95":0.000782439,"max":0.013459603}}'
)


def load(folder: Path) -> SysbenchLoad:
    return SysbenchLoad(
        WORKLOAD, Address(folder / "s.sock"), server_pid=4711, threads=8, seed=99, folder=folder, cores=frozenset({0})
    )


def test_a_tick_holds_what_the_hook_wrote() -> None:
    tick = parse_tick(LINE)
    assert tick is not None
    assert (tick.at, tick.done, tick.server_cpu) == (1545.131520428, 38150.0, 23.042379176)
    assert tick.errors == 3, "reconnects are errors too"
    assert tick.client_cpu == 0.560357843
    assert tick.steps == 38156
    assert tick.latency == {"p50": 0.00037396, "p95": 0.000782439, "max": 0.013459603}


def test_a_tick_without_the_servers_clock_is_no_reading() -> None:
    assert parse_tick(LINE.replace(b"23.042379176", b"null")) is None


@pytest.mark.parametrize("line", [b"Threads started!", b"{}", b'{"at": "x"}', b"[]"])
def test_a_foreign_line_is_an_error(line: bytes) -> None:
    with pytest.raises(InfrastructureError, match="tick that can't be read"):
        parse_tick(line)


def test_ticks_come_once_each_and_half_a_line_waits(tmp_path: Path) -> None:
    side, file = load(tmp_path), tmp_path / "ticks.jsonl"
    assert side.ticks() == []
    file.write_bytes(LINE + b"\n" + LINE[:40])
    assert len(side.ticks()) == 1
    assert side.ticks() == []
    with file.open("ab") as out:
        out.write(LINE[40:] + b"\n" + LINE + b"\n")
    assert len(side.ticks()) == 2
    assert side.ticks() == []


def test_the_load_is_uniform_seeded_endless_and_ignores_no_error(tmp_path: Path) -> None:
    argv = load(tmp_path).argv
    for word in (
        "--rand-type=uniform",
        "--rand-seed=99",
        "--mysql-ignore-errors=",
        "--time=0",
        "--threads=8",
        "--table-size=100000",
        f"--mysql-socket={tmp_path / 's.sock'}",
    ):
        assert word in argv, word


def test_error_lines_are_told_from_the_rest(tmp_path: Path) -> None:
    text = (
        "WARNING: Both event and time limits are disabled, running an endless test\nThreads started!\n\n"
        "FATAL: mysql_stmt_execute() returned error 1062 (Duplicate entry) for query 'x'\n"
        "FATAL: `thread_run' function failed: oltp_common.lua:432\n"
    )
    side = load(tmp_path)
    side.log.write_text(text)
    found = side.complaints()
    assert len(found) == 2
    assert found[0].startswith("FATAL: mysql_stmt_execute()")


@pytest.mark.skipif(shutil.which("sysbench") is None, reason="sysbench is not installed")
def test_without_a_server_the_load_is_in_trouble(tmp_path: Path) -> None:
    side = load(tmp_path)
    side.start()
    try:
        assert side._process is not None
        side._process.wait(120)
        said = side.trouble()
        assert said is not None
        assert "ended by itself with exit code 1" in said
        assert "FATAL" in said
        assert side.pids() == []
    finally:
        side.stop()


def cpu_of(pid: int) -> float:
    """CPU seconds of a process, by the kernel's clock of it (clock_getcpuclockid(3))."""
    return time.clock_gettime(~pid << 3 | 2)


@pytest.mark.skipif(shutil.which("sysbench") is None, reason="sysbench is not installed")
def test_the_hook_counts_events_and_reads_the_cpu_clock_of_the_named_process(tmp_path: Path) -> None:
    """The hook alone, without a database: a script whose event sleeps 2 ms."""
    script, ticks = tmp_path / "script.lua", tmp_path / "ticks.jsonl"
    script.write_text(
        'local ffi = require("ffi")\nffi.cdef("int usleep(unsigned);")\nfunction event() ffi.C.usleep(2000) end\n'
    )
    busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        while (before := cpu_of(busy.pid)) < 1.0:
            time.sleep(0.02)
        subprocess.run(
            ["sysbench", sysbench.HOOK, "--threads=2", "--time=3", "--report-interval=1", "run"],
            check=True,
            capture_output=True,
            timeout=60,
            env={
                "PATH": "/usr/bin:/bin",
                "BURNISH_SCRIPT": str(script),
                "BURNISH_TICKS": str(ticks),
                "BURNISH_TICK_S": "0.25",
                "BURNISH_LATENCY_EVERY": "2",
                "BURNISH_SERVER_PID": str(busy.pid),
            },
        )
        after = cpu_of(busy.pid)
    finally:
        busy.kill()
        busy.wait()
    every = [json.loads(line) for line in ticks.read_text().splitlines()]
    assert len(every) >= 4
    first, last = every[0], every[3]
    seconds = last["at"] - first["at"]
    assert 0.5 < seconds < 5, "four ticks a quarter of a second apart"
    assert last["done"] > first["done"] > 0
    read = [tick["server_cpu"] for tick in every]
    assert [before, *read, after] == sorted([before, *read, after])
    assert read[-1] > read[0]
    # Ticks are numbered by the clock: which of two neighbours has latencies is the clock's matter.
    assert bool(first["latency"]) != bool(every[1]["latency"]), "every second one"
    latency = first["latency"] or every[1]["latency"]
    assert 0.002 <= latency["mean"] <= latency["max"]
    assert 0.002 <= latency["p50"] <= latency["p95"] <= latency["max"]
    assert last["client_cpu"] < before, "its own clock, not the busy process's"


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], list[float]]:
    """Ticks of a load that was stopped four times for 0.4 s, and how long it took to tick again each time."""
    if shutil.which("sysbench") is None:
        pytest.skip("sysbench is not installed")
    folder = tmp_path_factory.mktemp("stopped")
    script, ticks = folder / "script.lua", folder / "ticks.jsonl"
    script.write_text(
        'local ffi = require("ffi")\nffi.cdef("int usleep(unsigned);")\nfunction event() ffi.C.usleep(2000) end\n'
    )
    words = ["sysbench", str(sysbench.HOOK), "--threads=2", "--time=20", "--report-interval=1", "run"]
    env = {
        "PATH": "/usr/bin:/bin",
        "BURNISH_SCRIPT": str(script),
        "BURNISH_TICKS": str(ticks),
        "BURNISH_TICK_S": "0.05",
        "BURNISH_LATENCY_EVERY": "5",
        "BURNISH_SERVER_PID": str(os.getpid()),
    }
    waits = []
    with subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL) as load:
        try:
            time.sleep(1.5)
            for _ in range(4):
                load.send_signal(signal.SIGSTOP)
                time.sleep(0.4)
                load.send_signal(signal.SIGCONT)
                gone_on = time.monotonic()
                time.sleep(0.9)
                times = [json.loads(line)["at"] for line in ticks.read_text().splitlines()]
                waits.append(min((at for at in times if at > gone_on + 0.1), default=math.inf) - gone_on)
        finally:
            load.kill()
    return [json.loads(line) for line in ticks.read_text().splitlines()], waits


def test_a_load_that_was_stopped_ticks_on_at_once(stopped: tuple[list[dict[str, Any]], list[float]]) -> None:
    """An interleaved side is stopped and let go again and again: it must not wait for sysbench's next whole second."""
    _, waits = stopped
    # Without the signal it is each time another part of a second. One of the four may have had to wait for a core.
    assert sorted(waits)[-2] < 0.35, waits


def test_response_times_are_without_the_waits_of_a_stopped_load(
    stopped: tuple[list[dict[str, Any]], list[float]],
) -> None:
    """Each thread's event was under way at each stop: it would look as if it had taken 0.4 s."""
    ticks, _ = stopped
    latencies = [tick["latency"] for tick in ticks if tick["latency"]]
    # Were they counted, four ticks would have them. One event may have waited as long for a core.
    assert sum(latency["max"] >= 0.4 for latency in latencies) <= 1, latencies
    shares = sorted(latency["left_out"] for latency in latencies)
    assert sum(share > 0 for share in shares) >= 3
    assert shares[-2] < 0.2, "two events of a hundred and more, unless a tick came soon after the load had gone on"
