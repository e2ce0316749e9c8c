"""CPU clocks of processes, times of cores, swap counters."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from burnish import process
from burnish.bench import counters
from burnish.bench.counters import CpuTimes, SwapCounters, difference, read_cpu_times, read_swap


def test_the_cpu_clock_is_finer_than_a_tick_and_counts_all_threads() -> None:
    child = process.start(["sh", "-c", "while :; do :; done"])
    try:
        readings: list[int] = []
        deadline = time.monotonic() + 20
        while len(set(readings)) < 5 and time.monotonic() < deadline:
            readings.append(counters.cpu_clock_ns(child.pid))
            time.sleep(0.002)
        assert readings == sorted(readings)
        assert any(reading % 10_000_000 for reading in readings)
        while sum(counters.user_system_seconds(child.pid)) < 0.05 and time.monotonic() < deadline:
            time.sleep(0.01)
        # both count the same time; the ticks are sampled, so only the order of magnitude is certain
        assert counters.cpu_clock_ns(child.pid) > 0.01e9
    finally:
        process.stop(child)


def test_a_process_that_is_gone() -> None:
    child = process.start(["true"])
    child.communicate()
    with pytest.raises(ProcessLookupError):
        counters.cpu_clock_ns(child.pid)
    with pytest.raises(ProcessLookupError):
        counters.user_system_seconds(child.pid)


def test_user_and_system_behind_a_name_with_brackets(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7/stat").write_text("7 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 150 250 0 0 20\n")
    ticks = os.sysconf("SC_CLK_TCK")
    assert counters.user_system_seconds(7, tmp_path) == (150 / ticks, 250 / ticks)


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
