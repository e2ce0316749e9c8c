"""The file in which a later study finds what A/A starts said of this host."""

from __future__ import annotations

from dataclasses import replace

from burnish.base.paths import home
from burnish.bench.host import read_host
from burnish.model.workload import Design
from burnish.statistics.calibration import Calibration, Quantity
from burnish.study import calibration

HOST = read_host(programs=False)
QUANTITY = Quantity(ratio=1.0, low=0.99, high=1.01, sd_pair=0.01, sd_start=0.005, sd_reading=0.008)
FOUND = Calibration(
    engine="fake",
    workload="w",
    design=Design.DUET,
    headline="capacity",
    host=calibration.host_digest(HOST),
    at="2026-01-02T03:04:05Z",
    timing={"settle": 0.05, "window": 0.25, "warmup": 2.0, "pairs": 3, "turns": 8},
    starts=12,
    capacity=QUANTITY,
    throughput=QUANTITY,
    start_seconds=5.2,
    pair_seconds=2.4,
    best_pairs=3,
    delta=0.01,
    differences=((1, 1.03), (5, 1.01)),
)


def test_it_is_kept_for_this_host_only() -> None:
    place = home()
    assert calibration.find(place, "fake", "w", Design.DUET, HOST) is None
    path = calibration.save(place, FOUND)
    assert calibration.find(place, "fake", "w", Design.DUET, HOST) == FOUND
    assert calibration.find(place, "fake", "w", Design.SOLO, HOST) is None
    assert calibration.find(place, "fake", "w", Design.DUET, replace(HOST, cpu_model="another")) is None
    path.write_text(path.read_text()[:100])
    assert calibration.find(place, "fake", "w", Design.DUET, HOST) is None, "half a file is none"
