"""benchmarks/estimators.py: the figures of docs/BIAS.md on what scatters index updates, from the committed records."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchmark_scripts import benchmark_script
from burnish.bench.quantities import faster_half
from burnish.bench.readings import Reading, pair_ratio

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture
def benchmark() -> ModuleType:
    return benchmark_script("estimators")


def test_its_ways_are_those_of_verdicts_and_reports(benchmark: ModuleType) -> None:
    one, other = (
        [
            Reading(seconds=1.0, done=100.0 + place * step, errors=0, server_cpu=0.5 + place / 9, client_cpu=0.0)
            for place in range(8)
        ]
        for step in (7, -3)
    )
    assert benchmark.by_middle(one, other)[0] == pytest.approx(pair_ratio(one, other, 1).capacity)
    assert benchmark.by_faster_half(one, other)[0] == pytest.approx(faster_half(one, other, 1)["capacity"])


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
