"""The probe of the host's state: what it reads is plausible, and what is missing is left out."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from burnish.bench import probe
from burnish.bench.counters import huge_memory, memory_by_node
from burnish.bench.probe import Probe, worth_probing
from burnish.engines.testing import PlainBench
from burnish.model.workload import Timing
from burnish.record.store import Store

CORE = min(os.sched_getaffinity(0))
SIZES = [256, 2048, 8192, 32768, 131072]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_compiled_probe(store: Store, tmp_path: Path) -> None:
    made = probe.make(store, PlainBench(tmp_path))
    assert made.program is not None
    (state,) = made.states([frozenset({CORE})])
    assert (state.core, sorted(state.latency_ns)) == (CORE, SIZES)
    others = (state.page_ns, state.read_bytes_s, state.copy_bytes_s, state.switch_ns)
    assert all(value is not None and value > 0 for value in (state.spin_ns, state.call_ns, state.seconds, *others))
    assert state.latency_ns[131072] > state.latency_ns[256], "main memory is farther away than a cache"
    assert 0.0 <= state.steal <= 1.0
    before = made.program.stat().st_mtime_ns
    assert probe.make(store, PlainBench(tmp_path)) == made
    assert made.program.stat().st_mtime_ns == before, "it is compiled once"


def test_without_a_compiler_python_does_what_it_can(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = os.sched_getaffinity(0)
    monkeypatch.setenv("PATH", str(tmp_path))
    bench = PlainBench(tmp_path)
    made = probe.make(store, bench)
    assert made == Probe()
    (state,) = made.states([frozenset({CORE})])
    assert min(state.spin_ns, state.call_ns, state.copy_bytes_s or 0.0) > 0
    assert (state.latency_ns, state.page_ns, state.switch_ns) == ({}, None, None)
    assert os.sched_getaffinity(0) == allowed, "the cores that this process may use are as before"


@pytest.mark.parametrize("program", [True, False])
def test_a_core_that_may_not_be_used_has_no_state(store: Store, tmp_path: Path, *, program: bool) -> None:
    made = probe.make(store, PlainBench(tmp_path)) if program else Probe()
    assert [state.core for state in made.states([frozenset({4000}), frozenset(), frozenset({CORE})])] == [CORE]


def test_a_broken_compiler_is_told_once_and_stops_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(compiler))
    assert probe.make(store, PlainBench(tmp_path)) == Probe()
    assert list(store.entries("probes")) == []


def test_short_starts_are_not_probed() -> None:
    assert not worth_probing(Timing(settle=0.05, window=0.2, warmup=0.2, pairs=2, turns=2))
    assert worth_probing(Timing(settle=0.5, window=1.0, warmup=1.0, pairs=3, turns=4))


def test_pages_of_a_process(tmp_path: Path) -> None:
    folder = tmp_path / "7"
    folder.mkdir()
    assert (huge_memory(7, tmp_path), memory_by_node(7, tmp_path)) == ((0, 0), {})
    (folder / "smaps_rollup").write_text(
        "55d0-7ffd ---p 00000000 00:00 0 [rollup]\nRss: 900 kB\nAnonHugePages: 4096 kB\nFilePmdMapped: 2048 kB\n"
    )
    assert huge_memory(7, tmp_path) == (4 << 20, 2 << 20)
    numa = folder / "numa_maps"
    numa.write_text(
        "1000 default anon=3 dirty=3 N0=1 N1=2 kernelpagesize_kB=4\n2000 default N1=1 kernelpagesize_kB=2048\n"
    )
    assert memory_by_node(7, tmp_path) == {0: 4096, 1: 2 * 4096 + (2 << 20)}
    numa.write_text("1000 default anon=3 dirty=3 N0=3 kernelpagesize_kB=4\n")
    assert memory_by_node(7, tmp_path) == {}, "with a single node there is nothing to tell"
