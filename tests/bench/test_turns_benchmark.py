"""benchmarks/turns.py keeps its starts in a file, from which its table can be computed again."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchmark_scripts import benchmark_script
from burnish.bench.host import read_host
from burnish.bench.topology import duet_core_sets
from burnish.catalogue import load
from conftest import BuildFake


@pytest.fixture
def benchmark() -> ModuleType:
    return benchmark_script("turns")


def table(benchmark: ModuleType, capsys: pytest.CaptureFixture[str], *words: str | Path) -> list[list[str]]:
    """What a call prints, by row and cell, without the titles; `sys.argv` is to be restored by the test."""
    sys.argv = ["turns.py", *map(str, words)]
    assert benchmark.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split(" | ")[:4] == ["| way", "starts", "a start", "spread"]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_starts_go_to_a_file_that_gives_the_table_again(
    benchmark: ModuleType,
    build_fake: BuildFake,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if duet_core_sets(read_host()) is None:
        pytest.skip("a duet needs two cores")
    built = build_fake()
    monkeypatch.setenv("BURNISH_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", [])
    kept = tmp_path / "starts.csv"
    ways = "interleaved:2x0.1+still,interleaved:2x0.1"
    words = ("--engine", "fake", "--workload", "fake_mix", "--ways", ways, "--starts", "2", "--pairs", "1")
    words = (*words, "--set", "work_percent=50")
    measured = table(benchmark, capsys, built.server, *words, "--out", kept)
    starts = benchmark.read(kept)
    assert sorted((start.round, start.way) for start in starts) == sorted(
        (number, way) for number in (1, 2) for way in ways.split(",")
    )
    assert all(abs(start.capacity) < 1 and start.cost > 0 and 0 <= start.wait <= 1 for start in starts)
    assert table(benchmark, capsys, "--read", kept) == measured
    assert {row[0] for row in measured} == set(ways.split(","))
    assert {row[1] for row in measured} == {"2"}


def test_a_start_is_read_as_it_was(benchmark: ModuleType, tmp_path: Path) -> None:
    start = benchmark.Start(1, "duet", capacity=1 / 3, throughput=-2 / 3, seconds=10 / 3, cost=2161.45e-6, wait=1 / 7)
    kept = tmp_path / "starts.csv"
    kept.write_text(f"{','.join(vars(start))}\n{','.join(benchmark.written(start))}\n")
    assert benchmark.read(kept) == [start], "a rounded figure could print another table"


def test_the_table_is_of_each_ways_own_starts(
    benchmark: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [])
    kept = tmp_path / "starts.csv"
    kept.write_text(
        "round,way,capacity,throughput,seconds,cost,wait\n"
        "1,duet,0.01,0.02,10,6e-05,0\n1,interleaved,0.05,0.1,20,6e-05,0.5\n2,duet,0.03,0.06,12,5e-05,0.02\n"
    )
    duet, alone = table(benchmark, capsys, "--read", kept)
    assert duet == [
        *("duet", "2", "11.0 s", "1.41%", "+2.00% ± 12.71%", "2.83%", "55.0 us", "2", "+4.00%", "1%"),
    ]
    assert alone == ["interleaved", "1", *["-"] * 8], "one start has no spread"


def test_what_to_measure_must_be_said(benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["turns.py"])
    with pytest.raises(SystemExit):
        benchmark.main()


def test_a_word_that_is_no_setting_is_refused(benchmark: ModuleType) -> None:
    times = dict(load.engine("fake").times)
    way = benchmark.read_way("duet:4x0.5+still+work_percent=50", times, 1)
    assert (way.still, way.settings, way.timing.turns) == (True, (("work_percent", "50"),), 4)
    with pytest.raises(SystemExit, match="'stil': a setting is NAME=VALUE"):
        benchmark.read_way("duet+stil", times, 1)
