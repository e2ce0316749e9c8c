"""A probe of flushes says before a study whether its disk is even; the kernel tells what waited for a device."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.bench import counters, device, flushing
from burnish.bench.counters import CpuTimes
from burnish.bench.device import DeviceWait

EVEN = [0.0002] * 100
ERRATIC = [0.0002] * 97 + [0.004] * 3


def test_a_probe_writes_and_leaves_nothing(tmp_path: Path) -> None:
    probed = flushing.probe(tmp_path, "disk", "ext4")
    assert 20 <= probed.flushes <= flushing.FLUSHES
    assert 0 < probed.median_s <= probed.p99_s <= probed.longest_s
    assert (probed.storage, probed.filesystem) == ("disk", "ext4")
    assert list(tmp_path.iterdir()) == []


def test_an_uneven_disk_is_told_in_one_line_with_the_way_out() -> None:
    said = flushing.warning(flushing.summary(ERRATIC, "disk", "ext4"))
    assert said is not None
    assert "0.20 ms" in said
    assert "4.0 ms" in said
    assert "expect throughput to scatter" in said
    assert "±2 %" not in said, "how much the starts tell, not the flushes"
    for way in ("without the device's time", "--starts", "--sittings 3"):
        assert way in said
    assert "--set storage=memory" not in said, "no way out: starts scattered as much there (docs/BIAS.md)"
    assert "\n" not in said


@pytest.mark.parametrize("seconds", [EVEN, [each / 100 for each in ERRATIC]])
def test_an_even_disk_and_memory_are_fine(seconds: list[float]) -> None:
    assert flushing.warning(flushing.summary(seconds, "disk", "ext4")) is None


def times(busy: int, idle: int, iowait: int) -> CpuTimes:
    return CpuTimes(busy, 0, 0, idle, iowait, 0, 0, 0, 0, 0)


def test_waiting_is_the_share_of_idle_time_with_input_or_output(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {0: times(10, 10, 10), 1: times(0, 0, 0)}
    monkeypatch.setattr(counters, "read_cpu_times", lambda: {0: times(40, 20, 70), 1: times(100, 0, 0)})
    assert device.DeviceWait(before).share([0]) == pytest.approx(0.6)
    assert DeviceWait(before).share([0, 1]) == pytest.approx(0.3), "the mean of the cores"
    assert DeviceWait(before).share([7]) == 0.0
    assert DeviceWait({}).share([0]) == 0.0
