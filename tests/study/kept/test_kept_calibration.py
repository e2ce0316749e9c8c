"""The file in which a later study finds what A/A starts said of this host."""

from __future__ import annotations

from dataclasses import replace

from burnish.base.paths import home
from burnish.bench.host import read_host
from burnish.hosts import about
from burnish.model.workload import Design, Placement, Timing
from burnish.statistics.calibration import Calibration, Quantity, from_dict
from burnish.study import calibration
from burnish.study.trials.timing import priors_of

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


def test_a_host_lists_its_own() -> None:
    place = home()
    assert about.calibrated(place, HOST) == ""
    calibration.save(place, FOUND)
    calibration.save(place, replace(FOUND, design=Design.SOLO))
    calibration.save(place, replace(FOUND, workload="read-only"))
    calibration.save(place, replace(FOUND, workload="elsewhere", host="another"))
    (place.root / "calibration/half.json").write_text("{")
    assert about.calibrated(place, HOST) == "fake read-only, fake w"


def test_it_counts_in_its_placement_only() -> None:
    place = home()
    whole = replace(FOUND, design=Design.INTERLEAVED, placed=Placement.WHOLE)
    calibration.save(place, whole)
    assert calibration.find(place, "fake", "w", Design.INTERLEAVED, HOST, Placement.WHOLE) == whole
    assert calibration.find(place, "fake", "w", Design.INTERLEAVED, HOST) is None
    apart = replace(FOUND, design=Design.INTERLEAVED)
    calibration.save(place, apart)
    found = [
        calibration.find(place, "fake", "w", Design.INTERLEAVED, HOST, each)
        for each in (Placement.APART, Placement.WHOLE)
    ]
    assert found == [apart, whole], "in files of their own"
    assert whole.name == "fake, w, interleaved, whole"
    assert apart.name == "fake, w, interleaved"
    times = {Design.INTERLEAVED: Timing(0.05, 0.25, 2.0, 3, 8)}
    assert set(priors_of([apart, whole], times)) == {
        ("w", Design.INTERLEAVED, Placement.APART),
        ("w", Design.INTERLEAVED, Placement.WHOLE),
    }


def test_an_older_file_is_of_its_designs_usual_placement() -> None:
    values = FOUND.as_dict()
    del values["placed"]
    older = from_dict(values)
    assert older.placement is Placement.SHARED
    assert older == FOUND
