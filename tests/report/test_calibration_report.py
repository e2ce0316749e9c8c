"""What a calibration's report says of the known difference."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from burnish.record.events.verdicts import Interval
from burnish.report.sections.calibration import dilution


def row(design: str, **ratios: float) -> Any:
    intervals = {name: Interval(value, value - 0.01, value + 0.01, 0.95) for name, value in ratios.items()}
    return SimpleNamespace(design=design, workload="w", of=intervals.get)


def test_a_known_difference_is_said_by_design() -> None:
    duet, solo = row("duet", capacity=0.9, throughput=0.95), row("solo", capacity=0.8, throughput=0.85)
    assert "; ".join(dilution([solo, duet])) == (
        "known difference on w: throughput 0.950 [0.940, 0.960] in the duet, 0.850 [0.840, 0.860] solo; "
        "capacity 0.900 [0.890, 0.910] in the duet, 0.800 [0.790, 0.810] solo"
    )
    assert dilution([row("duet", capacity=0.9)]) == ["known difference on w: capacity 0.900 [0.890, 0.910] in the duet"]


def test_without_a_known_difference_nothing_is_said() -> None:
    assert dilution([]) == []
    assert dilution([row("interleaved", capacity=0.9)]) == []
    assert dilution([row("solo")]) == []
