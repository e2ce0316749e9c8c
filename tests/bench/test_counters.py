"""CPU clocks of processes, times of cores, swap counters."""

from __future__ import annotations

import os
import statistics
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from burnish.base import process
from burnish.bench import counters
from burnish.bench.counters import CpuTimes, SwapCounters, Usage, difference, read_cpu_times, read_swap

BUSY = """
import threading, time
for _ in range(3):
    threading.Thread(target=time.sleep, args=(0.2,)).start()
while True:
    [0] * 1000
"""


def test_what_a_process_used_is_counted_with_its_threads() -> None:
    child = process.start([sys.executable, "-c", BUSY])
    try:
        before = counters.usage([child.pid])
        deadline = time.monotonic() + 60
        while (spent := counters.usage([child.pid]).since(before)).user < 0.1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert spent.user >= 0.1
        assert counters.usage([child.pid]).rss_bytes > 1_000_000
        assert counters.usage([child.pid]).minor_faults > 100
        assert counters.usage([child.pid, child.pid]).rss_bytes > 1.9 * spent.rss_bytes
    finally:
        process.stop(child)
    assert counters.usage([child.pid]) == Usage(), "what is gone counts for nothing"


def test_usage_as_the_kernel_writes_it(tmp_path: Path) -> None:
    (tmp_path / "7/task/7").mkdir(parents=True)
    (tmp_path / "7/task/8").mkdir()
    (tmp_path / "7/stat").write_text(f"7 (a) b (c)) S 1 2 3 4 5 6 70 8 9 10 150 250 {' '.join('0' * 8)} 5 6\n")
    (tmp_path / "7/task/7/status").write_text("voluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n")
    (tmp_path / "7/task/8/status").write_text("voluntary_ctxt_switches:\t10\nnonvoluntary_ctxt_switches:\t20\n")
    ticks = os.sysconf("SC_CLK_TCK")
    result = counters.usage([7], tmp_path)
    page = os.sysconf("SC_PAGE_SIZE")
    assert result == Usage(150 / ticks, 250 / ticks, 70, 9, waits=13, preemptions=24, rss_bytes=5 * page)
    assert result.since(Usage(waits=20, minor_faults=10, rss_bytes=99)) == replace(
        result, waits=0, minor_faults=60, rss_bytes=5 * page
    )


def test_clocks_stay_together_while_the_host_is_awake() -> None:
    every = []
    for _ in range(10):  # each clock is read by itself, and this process may have to wait in between
        every.append(counters.read_clocks())
        time.sleep(0.02)
    slept = [after.asleep - before.asleep for before, after in pairwise(every)]
    jumped = [after.wall - before.wall for before, after in pairwise(every)]
    assert statistics.median(map(abs, slept)) < 0.01
    assert statistics.median(map(abs, jumped)) < 0.5


def test_times_of_cores_and_their_difference(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  9 9 9 9\ncpu0 10 0 10 100 5 0 0 0 0 0\ncpu1 0 0 0 0\nintr 1 2\n")
    before = read_cpu_times(tmp_path)
    stat.write_text("cpu  9 9 9 9\ncpu0 40 0 20 140 4 5 5 10 0 0\ncpu2 1 1 1 1\n")
    passed = difference(before, read_cpu_times(tmp_path))
    assert passed == {0: CpuTimes(30, 0, 10, 40, 0, 5, 5, 10, 0, 0)}
    assert passed[0].total == 100
    assert passed[0].busy_share == 0.5
    assert passed[0].steal_share == 0.1
    assert before[1].steal_share == before[1].busy_share == 0.0


def test_swap_counters(tmp_path: Path) -> None:
    (tmp_path / "vmstat").write_text("nr_free 3\npswpin 10\npswpout 20\n")
    before = read_swap(tmp_path)
    (tmp_path / "vmstat").write_text("nr_free 3\npswpin 11\npswpout 25\n")
    after = read_swap(tmp_path)
    assert before is not None
    assert after is not None
    assert after - before == SwapCounters(1, 5)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    assert read_cpu_times(tmp_path) == {}
    assert read_swap(tmp_path) is None
    (tmp_path / "vmstat").write_text("nr_free 3\n")
    assert read_swap(tmp_path) is None


def test_code_on_huge_pages_is_told_from_data(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7/smaps").write_text(
        "55d169e00000-55d16a200000 r-xp 00000000 00:00 0 \nRss: 4096 kB\nAnonHugePages:      4096 kB\n"
        "FilePmdMapped:         0 kB\n"
        "7f0000000000-7f0000400000 r-xp 00000000 fe:00 99   /usr/sbin/mariadbd\nFilePmdMapped:      2048 kB\n"
        "7f8000000000-7f8000400000 rw-p 00000000 00:00 0 \nAnonHugePages:      8192 kB\n"
    )
    assert counters.code_on_huge_pages(7, tmp_path) == 6 << 20
    assert counters.code_on_huge_pages(8, tmp_path) == 0
