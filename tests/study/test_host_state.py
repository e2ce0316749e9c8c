"""Each start that is long enough records what its host could do before and after, and where its servers' memory was."""

from __future__ import annotations

import io
import re
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

from burnish.base import paths
from burnish.bench import probe
from burnish.record.events.trials import FlushesProbed, StartBegun, StartDone
from burnish.record.exchange import compact
from burnish.record.record import Record
from burnish.record.store import Store
from burnish.study import runner
from burnish.study.constructors.tune import tune_study
from burnish.study.request.options import Options
from studying import OWN, burnish, events, study, text

WORDS = ("tune", "fake", "--recipes", "own.toml", "--variant", "speed130", "--starts", "2")


@pytest.fixture
def home(burnish_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own.toml").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return burnish_home


def frames_are_told() -> bool:
    """Whether this process has CAP_SYS_ADMIN, without which the kernel gives no frame numbers."""
    found = re.search(r"^CapEff:\s+(\w+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return found is not None and bool(int(found[1], 16) >> 21 & 1)


def test_long_starts_are_probed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PROBED_FROM_S", 0.2)  # test_probe.py has which are long
    options = Options(recipes=Path("own.toml"), variants=("speed130",), starts=2, pairs=1, design="duet", yes=True)
    runner.run(paths.home(), tune_study("fake", options), options, Console(file=io.StringIO()), None)
    begun, done = events(home, StartBegun), events(home, StartDone)
    assert len(done) >= 2
    for found in (*(start.state for start in begun), *(start.state for start in done)):
        assert found
        assert all(state.spin_ns > 0 and len(state.latency_ns) == 5 for state in found)
        assert len({state.core for state in found}) == len(found)
    for start in begun:
        assert start.cached is not None, "the programs were dropped from the page cache"
        assert set(start.cached) == set(start.builds)
    for ended in done:
        assert ended.pages
        assert set(ended.pages) == set(ended.slots)
        assert all(pages.huge_text >= 0 for pages in ended.pages.values())
        for pages in ended.pages.values():
            parts = (pages.scatter_text, pages.scatter_heap, pages.scatter_files)
            if frames_are_told():
                assert all(part is not None and 0.125 <= part <= 1 for part in parts)
            else:
                assert parts == (None, None, None)
    with closing(Record(study(home))) as record:
        kept = [each.event for each in compact(record.every()) if isinstance(each.event, StartBegun | StartDone)]
    assert all(start.state for start in kept), "a compact record has every start's"
    assert [start.pages for start in kept if isinstance(start, StartDone)] == [ended.pages for ended in done]


def test_short_starts_are_not_nor_flushes_for_a_load_that_only_reads(home: Path) -> None:
    child = burnish(*WORDS, "--design", "duet", "--pairs", "1")
    assert child.returncode == 0, text(child)
    assert [start.state for start in events(home, StartBegun)] == [None] * len(events(home, StartBegun))
    assert all(start.state is None and start.pages for start in events(home, StartDone))
    assert list(Store(home / "store").entries("probes")) == [], "nor is the probe compiled"
    assert events(home, FlushesProbed) == []
