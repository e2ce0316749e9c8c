"""benchmarks/simulated_caches.py: its table comes from the file it wrote, and what docs say of MySQL is in that."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchmark_scripts import benchmark_script

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture
def benchmark() -> ModuleType:
    return benchmark_script("simulated_caches")


def test_what_was_written_is_read(benchmark: ModuleType, tmp_path: Path) -> None:
    events = {name: 1000 * at for at, name in enumerate(benchmark.SECOND_LEVEL)}
    rows = [benchmark.Row("debian", "0.5 MB", 500.0, events), benchmark.Row("burnish", "2 MB", 250.5, events)]
    benchmark.write(rows, tmp_path / "misses.csv")
    assert benchmark.read(tmp_path / "misses.csv") == rows
    lines = benchmark.table(rows)
    assert lines[0] == "| of a transaction | debian, 0.5 MB | burnish, 2 MB |"
    assert lines[3] == "| first-level instruction cache misses | 2 | 4 |"


@pytest.mark.parametrize("load", ["point_select", "read_only"])
def test_mysqls_code_fits_into_2_mb_and_not_into_a_quarter_of_it(
    benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], load: str
) -> None:
    """The claim of docs/results/studies/mysql.md: with 0.5 MB the profile saves misses that with 2 MB nobody has."""
    monkeypatch.setattr(sys, "argv", ["simulated_caches.py", "--read", str(RESULTS / f"simulated-caches-{load}.csv")])
    assert benchmark.main() == 0
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines()[2:]]
    found = {cells[0].strip(): [int(cell.replace(",", "")) for cell in cells[1:]] for cells in rows}
    debian_small, debian_large, burnish_small, burnish_large = found["second-level instruction cache misses"]
    assert debian_small > 2 * burnish_small
    assert debian_small > 20 * max(1, debian_large)
    assert burnish_large <= burnish_small


def test_a_profile_saves_code_misses_that_a_larger_cache_does_not_have(benchmark: ModuleType) -> None:
    """The claim of docs/results/studies/pgo.md, of MySQL by clang with a profile of point queries and without one."""
    rows = {(row.program, row.second): row for row in benchmark.read(RESULTS / "simulated-caches-pgo.csv")}
    misses = {at: row.per_transaction("ILmr") for at, row in rows.items()}
    assert misses["baseline", "0.5 MB"] > 4 * misses["pgo", "0.5 MB"] > 20 * misses["baseline", "2 MB"]
    saved = [
        1 - rows["pgo", "0.5 MB"].per_transaction(name) / rows["baseline", "0.5 MB"].per_transaction(name)
        for name in ("Ir", "Bcm")
    ]
    assert saved == pytest.approx([0.19, 0.31], abs=0.01)


def test_a_second_level_of_1_mb_has_room_for_mysqls_code(benchmark: ModuleType) -> None:
    """The claim of docs/results/studies/pgo.md, "The same server on a Zen 5"."""
    rows = {(row.program, row.second): row for row in benchmark.read(RESULTS / "simulated-caches-pgo-zen5.csv")}
    misses = {at: row.per_transaction("ILmr") for at, row in rows.items()}
    assert misses["baseline", "0.5 MB"] > 40 * misses["baseline", "1 MB"]
    assert misses["baseline", "0.5 MB"] - misses["pgo", "0.5 MB"] > 300
    assert misses["baseline", "1 MB"] - misses["pgo", "1 MB"] < 3
    saved = [
        1 - rows["pgo", "0.5 MB"].per_transaction(name) / rows["baseline", "0.5 MB"].per_transaction(name)
        for name in ("Ir", "Bcm")
    ]
    assert saved == pytest.approx([0.16, 0.24], abs=0.01)
