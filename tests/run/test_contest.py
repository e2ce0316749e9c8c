"""The contest's own bookkeeping: data places, and intervals that can be recorded."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from burnish.engines.base import MARKER
from burnish.record.store import Entry, Store
from burnish.run.contest import Contest, plain_interval, spread_about_zero
from burnish.statistics.verdicts import Interval
from burnish.study.model import Workload
from conftest import FakeBench


def dataset(store: Store, key: str) -> Entry:
    folder = store.begin("datasets", key) / "data"
    folder.mkdir()
    (folder / MARKER).touch()
    (folder / "what").write_text(key)
    return store.admit("datasets", key, {})


def test_each_workload_finds_its_own_clean_data(tmp_path: Path, bench: FakeBench) -> None:
    store = Store(tmp_path / "store")
    reads = Workload("reads", "fake", "reads its data only", "p", dataset="a")
    writes = Workload("writes", "fake", "changes its data", "p", dataset="b", writes=True)
    without = Workload("without", "fake", "has no data of its own", "p")
    values: dict[str, Any] = dict.fromkeys(("engine", "record", "baseline", "rule", "times"))
    contest = Contest(
        **values,
        bench=bench,  # type: ignore[arg-type]
        candidates={},
        cells=[],
        core_sets=[frozenset({0}), frozenset({1})],
        data={"reads": dataset(store, "aaaa"), "writes": dataset(store, "bbbb")},
        scratch=tmp_path / "scratch",
        seed=1,
    )
    for _ in range(2):
        for workload, what in ((reads, "aaaa"), (without, None), (writes, "bbbb")):
            contest._data(workload, 2)
            for side in range(2):
                place = contest._place(workload, side)
                if what is None:
                    assert list(place.iterdir()) == []
                else:
                    assert (place / "what").read_text() == what
                    if workload.writes:
                        (place / "what").write_text("changed by the load")
    copies = sum(what == "copy data" for what, _ in bench.commands)
    assert copies == 2 + 2 * 2, "once for each side where nothing writes, before each start where something does"


def test_an_interval_without_bounds_is_none() -> None:
    assert plain_interval(Interval(1.1, 0.0, math.inf, 0.95)) is None
    assert plain_interval(Interval(1.1, 1.0, 1.2, 0.95)) == {"ratio": 1.1, "low": 1.0, "high": 1.2, "level": 0.95}


def test_the_spread_of_canaries_is_about_what_they_should_be() -> None:
    assert spread_about_zero([0.3]) is None
    assert spread_about_zero([0.03, 0.04]) == pytest.approx(math.sqrt(0.00125)), "their mean is known: 0"
