"""The sides' copies of the loads' data."""

from __future__ import annotations

from pathlib import Path

from burnish.engines.contract import MARKER
from burnish.model.workload import Workload
from burnish.record.store import Entry, Store
from burnish.study.trials.copies import Copies
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
    data = {"reads": dataset(store, "aaaa"), "writes": dataset(store, "bbbb")}
    copies = Copies(data, tmp_path / "scratch", bench)
    for _ in range(2):
        for workload, what in ((reads, "aaaa"), (without, None), (writes, "bbbb")):
            for place in copies.clean(workload, 2):
                if what is None:
                    assert list(place.iterdir()) == []
                else:
                    assert (place / "what").read_text() == what
                    if workload.writes:
                        (place / "what").write_text("changed by the load")
    copied = sum(what == "copy data" for what, _ in bench.commands)
    assert copied == 2 + 2 * 2, "once for each side where nothing writes, before each start where something does"


def test_what_a_newer_version_may_have_upgraded_is_copied_again(tmp_path: Path, bench: FakeBench) -> None:
    """The newer of two servers upgrades data at its first start; the older one can't read them afterwards."""
    reads = Workload("reads", "fake", "reads its data only", "p", dataset="a")
    data = {"reads": dataset(Store(tmp_path / "store"), "aaaa")}
    copies = Copies(data, tmp_path / "scratch", bench, upgraded=True)
    for _ in range(2):
        for place in copies.clean(reads, 2):
            assert (place / "what").read_text() == "aaaa"
            (place / "what").write_text("upgraded")


def test_what_was_removed_to_make_room_is_copied_again(tmp_path: Path, bench: FakeBench) -> None:
    """Two loads in turn in a folder that has room for the data of one."""
    store = Store(tmp_path / "store")
    loads = [Workload(name, "fake", "reads its data only", "p", dataset=name) for name in ("first", "second")]
    copies = Copies({load.name: dataset(store, load.name * 2) for load in loads}, tmp_path / "scratch", bench)
    root = tmp_path / "memory"
    root.mkdir()
    for load in (*loads, *loads):
        (place,) = copies.clean(load, 1, [root])
        assert (place / "what").read_text() == load.name * 2
        assert [other for other in root.iterdir() if other.is_dir()] == [place]
