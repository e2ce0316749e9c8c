"""benchmarks/phases.py: samples are counted by tick and by function, and its table comes from the file it wrote."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from benchmark_scripts import benchmark_script

RESULTS = Path(__file__).parents[2] / "docs" / "results"

SCRIPT = """\
 5647 100.010000:
\t          d6cd2d page_cur_insert_rec_low
\t          dcd1c9 row_upd_step

 5663 100.020000:
\t          d493a1 row_purge_step
\t          d13e42 worker main(int)

 5663 100.060000:
\t          d493a1 row_purge_step
"""


@pytest.fixture
def benchmark() -> ModuleType:
    return benchmark_script("phases")


def test_stacks_are_read_with_their_times(benchmark: ModuleType) -> None:
    assert list(benchmark.stacks(SCRIPT.splitlines())) == [
        (100.01, {"page_cur_insert_rec_low", "row_upd_step"}),
        (100.02, {"row_purge_step", "worker main(int)"}),
        (100.06, {"row_purge_step"}),
    ]


def test_samples_belong_to_the_tick_in_which_they_were_taken(benchmark: ModuleType) -> None:
    samples = [(100.0, {"a"}), (100.06, {"a", "b"}), (100.09, set()), (100.11, {"b"}), (100.2, set())]
    ticks = np.array([[99.95, 5.0, 1.0], [100.0, 10.0, 1.01], [100.1, 30.0, 1.09], [100.15, 45.0, 1.12]])
    lines = np.array(benchmark.table(ticks, samples, ["a", "b"]))
    expected = [[0.1, 20.0, 0.08, 3, 2, 1], [0.15, 15.0, 0.03, 1, 0, 1]]
    np.testing.assert_allclose(lines, expected, atol=1e-9)


def test_a_cycle_is_found(benchmark: ModuleType) -> None:
    at = np.arange(300) * 0.05
    done = 200.0 - 90.0 * (np.arange(300) % 20 < 5)  # a quarter of each second is slow
    lag, alike = benchmark.period(np.column_stack([at, done]))
    assert lag == pytest.approx(1.0) or lag == pytest.approx(2.0)
    assert alike == pytest.approx(1.0)


def test_a_purge_takes_index_updates_by_the_second(
    benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The figures of docs/BIAS.md: dear slices purge, cheap ones do not, and where no index changes there is none."""
    spreads = {}
    for load in ("update_index", "update_non_index"):
        monkeypatch.setattr(sys, "argv", ["phases.py", "--read", str(RESULTS / f"phases-{load}.csv")])
        assert benchmark.main() == 0
        out = capsys.readouterr().out
        rows = {cells[1].strip(): cells[2:4] for line in out.splitlines() if len(cells := line.split("|")) > 3}
        purge = [float(cell.split()[0]) for cell in rows["row_purge_step"]]
        assert (purge[0] > 50.0 and purge[1] < 1.0) == (load == "update_index"), rows
        spreads[load] = float(out.rpartition("deviation of ")[2].partition(";")[0])
    assert spreads["update_index"] > 2 * spreads["update_non_index"]
