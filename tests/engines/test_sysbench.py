from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from burnish.base.errors import InfrastructureError
from burnish.engines.shared import sysbench, sysbench_parameters
from burnish.engines.shared.sysbench import Address, SysbenchLoad
from burnish.engines.testing import PlainBench
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


@pytest.mark.skipif(shutil.which("sysbench") is None, reason="sysbench is not installed")
def test_a_users_script_finds_what_it_requires_whatever_is_asked_of_it(tmp_path: Path) -> None:
    folder, bench = tmp_path / "theirs", PlainBench(tmp_path)
    folder.mkdir()
    (folder / "beside.lua").write_text('return { made = function() print("made by what is beside it") end }\n')
    (folder / "own.lua").write_text(
        'local beside = require("beside")\n'
        "sysbench.cmdline.options = { rows = { 'Number of rows', 10 } }\n"
        "sysbench.cmdline.commands = { prepare = { beside.made } }\nfunction event() end\n"
    )
    program = str(folder / "own.lua")
    workload = Workload("own.lua", "mariadb", "for tests", program, file=program, content="x", dataset="own")
    assert "rows" in sysbench_parameters.known(workload, bench)
    sysbench.prepare(workload, Address(tmp_path / "s.sock"), bench=bench)
    (said,) = [done.log.read_text() for what, done in bench.commands if what.startswith("prepare") and done.log]
    assert "made by what is beside it" in said


def cpu_of(pid: int) -> float:
    """CPU seconds of a process, by the kernel's clock of it (clock_getcpuclockid(3))."""
    return time.clock_gettime(~pid << 3 | 2)


SCRIPT = 'local ffi = require("ffi")\nffi.cdef("int usleep(unsigned);")\nfunction event() ffi.C.usleep(2000) end\n'
"""The hook alone, without a database: a script whose event sleeps 2 ms."""

Ticks = Callable[[], list[dict[str, Any]]]


@contextmanager
def loaded(folder: Path, server: int, tick_s: float, every: int) -> Iterator[tuple[subprocess.Popen[bytes], Ticks]]:
    """A load of two threads until it is left, and what reads its ticks so far."""
    script, ticks = folder / "script.lua", folder / "ticks.jsonl"
    script.write_text(SCRIPT)
    words = ["sysbench", str(sysbench.HOOK), "--threads=2", "--time=0", "--report-interval=1", "run"]
    env = {
        "PATH": "/usr/bin:/bin",
        "BURNISH_SCRIPT": str(script),
        "BURNISH_TICKS": str(ticks),
        "BURNISH_TICK_S": str(tick_s),
        "BURNISH_LATENCY_EVERY": str(every),
        "BURNISH_SERVER_PID": str(server),
    }

    def read() -> list[dict[str, Any]]:
        text = ticks.read_text() if ticks.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    with subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL) as load:
        try:
            yield load, read
        finally:
            load.kill()


def awaited(read: Ticks, enough: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """The ticks as soon as they are enough; as they are after a minute and a half."""
    deadline = time.monotonic() + 90
    while not enough(ticks := read()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return ticks


def close(ticks: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Neighbours whose numbers follow each other for sure, however late each came: closer than two intervals."""
    return [pair for pair in pairwise(ticks) if pair[1]["at"] - pair[0]["at"] < 0.5]


@pytest.mark.skipif(shutil.which("sysbench") is None, reason="sysbench is not installed")
def test_the_hook_counts_events_and_reads_the_cpu_clock_of_the_named_process(tmp_path: Path) -> None:
    def enough(ticks: list[dict[str, Any]]) -> bool:
        alternating = sum(bool(one["latency"]) != bool(other["latency"]) for one, other in close(ticks))
        return alternating >= 3 and ticks[-1]["done"] > ticks[0]["done"] and read(ticks)[-1] > read(ticks)[0]

    def read(ticks: list[dict[str, Any]]) -> list[float]:
        return [tick["server_cpu"] for tick in ticks]

    busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        while (before := cpu_of(busy.pid)) < 1.0:
            time.sleep(0.02)
        with loaded(tmp_path, busy.pid, 0.25, 2) as (_, ticks):
            every = awaited(ticks, enough)
        after = cpu_of(busy.pid)
    finally:
        busy.kill()
        busy.wait()
    assert enough(every), every
    assert not any(one["latency"] and other["latency"] for one, other in close(every)), "every second one"
    # The first may have come two intervals late.
    assert every[-1]["at"] - every[0]["at"] >= 0.25 * (len(every) - 3), "a quarter of a second apart"
    assert all(later["done"] >= earlier["done"] >= 0 for earlier, later in pairwise(every))
    assert [before, *read(every), after] == sorted([before, *read(every), after])
    for latency in (tick["latency"] for tick in every if tick["latency"]):
        assert 0.002 <= latency["mean"] <= latency["max"]
        assert 0.002 <= latency["p50"] <= latency["p95"] <= latency["max"]
    assert every[-1]["client_cpu"] < before, "its own clock, not the busy process's"


@pytest.mark.skipif(shutil.which("sysbench") is None, reason="sysbench is not installed")
def test_a_stopped_load_ticks_on_and_leaves_out_what_was_under_way(tmp_path: Path) -> None:
    """How soon and how much, `clock.lua` tells; here signals are real, and so is sysbench's clock."""
    with loaded(tmp_path, os.getpid(), 0.05, 5) as (load, read):
        assert awaited(read, lambda ticks: any(tick["done"] > 0 for tick in ticks))
        left = 0.0
        deadline = time.monotonic() + 90
        while left == 0.0 and time.monotonic() < deadline:  # a tick that comes late has no latencies at all
            load.send_signal(signal.SIGSTOP)
            time.sleep(0.4)
            before = len(read())
            load.send_signal(signal.SIGCONT)
            ticks = awaited(read, lambda ticks, before=before: any(tick["latency"] for tick in ticks[before:]))
            latency = next(tick["latency"] for tick in ticks[before:] if tick["latency"])
            left = latency["left_out"]
    assert left > 0.0


STOPS = tuple((begin, begin + 0.4) for begin in (3.457, 5.728, 8.213, 11.031))
"""In different parts of sysbench's seconds, which begin at .31 here, and while the hook ticks."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Ticks of a load that was stopped four times for 0.4 s, by a clock that is given."""
    if shutil.which("sysbench") is None:
        pytest.skip("sysbench is not installed")
    folder = tmp_path_factory.mktemp("played")
    script, ticks = folder / "script.lua", folder / "ticks.jsonl"
    script.write_text("function event() end\n")
    done = subprocess.run(
        ["sysbench", Path(__file__).with_name("clock.lua"), "--threads=2", "play"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={
            "PATH": "/usr/bin:/bin",
            "HOOK": str(sysbench.HOOK),
            "STOPS": " ".join(f"{begin}:{end}" for begin, end in STOPS),
            "SECONDS": "12",
            "BURNISH_SCRIPT": str(script),
            "BURNISH_TICKS": str(ticks),
            "BURNISH_TICK_S": "0.05",
            "BURNISH_LATENCY_EVERY": "5",
            "BURNISH_SERVER_PID": "1",
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in ticks.read_text().splitlines()]


def test_a_load_that_was_stopped_ticks_on_at_once(played: list[dict[str, Any]]) -> None:
    """An interleaved side is stopped and let go again and again: it must not wait for sysbench's next whole second."""
    for _, end in STOPS:
        after = [end, *(tick["at"] for tick in played if end < tick["at"] < end + 0.9)]
        assert len(after) == 1 + 18
        assert max(later - earlier for earlier, later in pairwise(after)) < 0.051


def test_response_times_are_without_the_waits_of_a_stopped_load(played: list[dict[str, Any]]) -> None:
    """Each thread's event was under way at each stop: it would look as if it had taken 0.4 s."""
    latencies = [tick["latency"] for tick in played if tick["latency"]]
    assert all(latency["max"] == pytest.approx(0.002, rel=0.02) for latency in latencies)
    left = [latency["left_out"] for latency in latencies if latency["left_out"] > 0]
    assert len(left) == len(STOPS)
    assert all(0.001 < share < 0.2 for share in left), "two events of a hundred and more"


def test_requests_are_counted_in_buckets(played: list[dict[str, Any]]) -> None:
    """So that a percentile is of all requests of a window and not of a quarter of a second."""
    having = [tick for tick in (parse_tick(json.dumps(line).encode()) for line in played) if tick and tick.latency]
    for tick in having:
        assert tick.times.width == pytest.approx(0.018, rel=0.02)
        assert tick.times.percentiles()["p99"] == pytest.approx(tick.latency["p99"], rel=0.02)
    counted = sum(tick.times.requests for tick in having)
    left_out = sum(tick.times.requests * tick.latency["left_out"] / (1 - tick.latency["left_out"]) for tick in having)
    assert counted + left_out == pytest.approx(having[-1].done, rel=0.001), "each request once"
