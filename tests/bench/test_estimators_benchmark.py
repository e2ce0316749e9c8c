"""benchmarks/estimators.py: the figures of docs/BIAS.md on what scatters index updates, from the committed records."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from benchmark_scripts import benchmark_script
from burnish.bench.quantities import faster_half
from burnish.bench.readings import Reading, pair_ratio

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture
def benchmark() -> ModuleType:
    return benchmark_script("estimators")


def test_its_ways_are_those_of_verdicts_and_reports(benchmark: ModuleType) -> None:
    rows = {
        name: [(100.0 + place * step, 1.0, 0.5 + place / 9) for place in range(8)]
        for name, step in (("a", 7), ("b", -3))
    }
    one, other = (
        [Reading(seconds=spent, done=work, errors=0, server_cpu=cpu, client_cpu=0.0) for work, spent, cpu in rows[name]]
        for name in "ab"
    )
    logs = [
        benchmark.rates(np.array([turn.done for turn in side]), np.array([turn.server_cpu for turn in side]))
        for side in (one, other)
    ]
    assert benchmark.by_middle(*logs) == pytest.approx(pair_ratio(other, one, 1).capacity)
    assert benchmark.by_faster_half(*logs) == pytest.approx(faster_half(other, one, 1)["capacity"])


def test_the_faster_half_of_index_updates_scatters_less(
    benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [str(RESULTS / f"mariadb-{name}.jsonl.xz") for name in ("deploy", "five")]
    monkeypatch.setattr(sys, "argv", ["estimators.py", *records, "--workload", "oltp_update_index"])
    benchmark.main()
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in capsys.readouterr().out.splitlines()[2:]]
    spreads = {way: [float(cell.rstrip("%")) for cell in cells[:2]] for _, way, *cells in lines}
    assert set(spreads) == {"middle", "median", "faster half", "totals"}
    assert all(math.isfinite(value) for values in spreads.values() for value in values)
    assert all(narrow < 0.75 * wide for narrow, wide in zip(spreads["faster half"], spreads["middle"], strict=True)), (
        spreads
    )
