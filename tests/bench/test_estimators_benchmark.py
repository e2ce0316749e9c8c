"""benchmarks/estimators.py: the figures of docs/BIAS.md on what scatters index updates, from the committed records."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from benchmark_scripts import benchmark_script
from burnish.bench.quantities import faster_half
from burnish.bench.readings import Reading, pair_ratio
from burnish.model.cell import CellId
from burnish.record.events.trials import PairRead

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
    ways, logs = capsys.readouterr().out.split("\n\n")
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in ways.splitlines()[2:]]
    spreads = {way: [float(cell.rstrip("%")) for cell in cells[:2]] for _, way, *cells in lines}
    assert set(spreads) == {"middle", "median", "faster half", "totals"}
    assert all(math.isfinite(value) for values in spreads.values() for value in values)
    assert all(narrow < 0.75 * wide for narrow, wide in zip(spreads["faster half"], spreads["middle"], strict=True)), (
        spreads
    )
    for line in logs.splitlines()[2:]:
        _, _, slope, spread, left, *_ = (cell.strip().rstrip("%") for cell in line.strip("|").split("|"))
        assert -0.8 < float(slope) < -0.3
        assert float(left) < 0.8 * float(spread)


def pair_with(writes: Mapping[str, Mapping[str, int]] | None) -> PairRead:
    turns = {"new": ((1.0, 300.0, 0.5, 0.0, 300.0),), "base": ((1.0, 100.0, 0.5, 0.0, 100.0),)}
    return PairRead(CellId("new", "load"), 1, 1, {}, turns, 1, writes=writes)


def test_the_log_of_a_transaction_is_the_candidates_over_the_bases(benchmark: ModuleType) -> None:
    written = {"base": {"log_bytes": 1000}, "new": {"log_bytes": 1500}}
    assert benchmark.log_ratio(pair_with(written)) == pytest.approx(math.log(0.5))
    assert benchmark.log_ratio(pair_with(None)) is None
    assert benchmark.log_ratio(pair_with({"base": {"log_bytes": 0}, "new": {}})) is None
