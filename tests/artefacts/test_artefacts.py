"""Artefacts at a URL: there whole or not at all, whatever the far side does; the first of two writers wins."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.artefacts import Artefacts, bounding, far, open_artefacts
from burnish.artefacts.artefacts import TakenError
from burnish.artefacts.bounding import SAFE_S, Held, choose
from burnish.artefacts.far import Far, Object, UnreachableError
from burnish.artefacts.packing import DamagedError
from burnish.base.errors import UserError

pytest.importorskip("fsspec", reason="fsspec is not installed")
from fsspec.implementations.memory import MemoryFileSystem


class Broken(io.BytesIO):
    """A file that takes some bytes and then no more."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > 5000:
            raise self.error
        return super().write(data)


class Faulty(MemoryFileSystem):  # type: ignore[misc]
    """A store in memory that fails as it is told: one fault for each file of bytes that is opened."""

    cachable = False

    def __init__(self, *faults: str) -> None:
        super().__init__()
        self.store: dict[str, Any] = {}
        self.pseudo_dirs = [""]
        self.faults = list(faults)
        self.opened = 0

    def _open(self, path: str, mode: str = "rb", **more: Any) -> Any:
        bytes_of_entry = "/blobs/" in path if mode == "rb" else "/incoming/" in path
        fault = self.faults.pop(0) if bytes_of_entry and self.faults else ""
        self.opened += bytes_of_entry
        if mode != "rb" and fault:
            return Broken(
                OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) if fault == "full" else ConnectionError(fault)
            )
        file = super()._open(path, mode=mode, **more)
        if not fault:
            return file
        if fault == "gone":
            raise FileNotFoundError(path)
        if fault == "reset":
            raise RuntimeError("connection reset")
        content = file.read()
        return io.BytesIO(content[:-700] if fault == "short" else content.replace(b"program", b"PROGRAM", 1))


def made(*faults: str, limit: int | None = None) -> tuple[Artefacts, Faulty]:
    fs = Faulty(*faults)
    return Artefacts(Far("memory://store", fs, "/store"), limit), fs


def entry(place: Path, content: str = "program", name: str = "entry") -> Path:
    folder = place / name
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    (folder / "bin/server").write_text(content * 3000)
    (folder / "burnish.json").write_text("{}")
    return folder


def content(folder: Path) -> str:
    return (folder / "bin/server").read_text()[:7]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(far, "PAUSES_S", (0.0, 0.0))


@pytest.fixture(params=["folder", "memory"])
def artefacts(request: pytest.FixtureRequest, tmp_path: Path) -> Artefacts:
    return open_artefacts(str(tmp_path / "far")) if request.param == "folder" else made()[0]


def test_there_and_back(artefacts: Artefacts, tmp_path: Path) -> None:
    folder, into = entry(tmp_path), tmp_path / "store/builds/k1"
    assert not artefacts.has("builds", "k1")
    assert not artefacts.fetch("builds", "k1", into)
    digest = artefacts.push("builds", "k1", folder, note="for people")
    assert artefacts.push("builds", "k1", folder) == digest == artefacts.digest("builds", "k1")
    assert artefacts.has("builds", "k1")
    assert not artefacts.has("profiles", "k1")
    assert artefacts.fetch("builds", "k1", into)
    assert content(into) == "program"
    (into / "more").touch()
    assert artefacts.fetch("builds", "k1", into)
    assert sorted(path.name for path in into.iterdir()) == ["bin", "burnish.json"], "it is replaced"
    assert [path.name for path in into.parent.iterdir()] == ["k1"], "nothing else stays"
    (held,) = artefacts.held()
    assert (held.name, held.digest, held.note) == ("builds/k1", digest, "for people")
    assert abs(held.used - time.time()) < 100
    assert [wrong for _, wrong in artefacts.check()] == [""]
    artefacts.discard(held.kind, held.key)
    assert not artefacts.has("builds", "k1")
    for kind, key in (("builds", "../k1"), ("..", "k1"), ("builds", ""), ("builds", ".x")):
        with pytest.raises(UserError, match="letters, digits"):
            artefacts.push(kind, key, folder)


@pytest.mark.parametrize("fault", ["short", "other", "reset"])
def test_what_can_t_be_read_whole_is_not_taken(tmp_path: Path, fault: str) -> None:
    artefacts, fs = made()
    artefacts.push("builds", "k1", entry(tmp_path))
    into = entry(tmp_path, "earlier", "store/k1")
    fs.faults = [fault, fault]
    assert artefacts.fetch("builds", "k1", into), "the third try succeeds"
    assert content(into) == "program"
    shutil.rmtree(into)
    entry(tmp_path, "earlier", "store/k1")
    fs.faults, fs.opened = [fault] * 9, 0
    with pytest.raises(UnreachableError if fault == "reset" else DamagedError, match=r"^memory://store: .*builds.* k1"):
        artefacts.fetch("builds", "k1", into)
    assert fs.opened == far.TRIES
    assert content(into) == "earlier", "what was there stays"
    assert [path.name for path in into.parent.iterdir()] == ["k1"]


def test_what_is_removed_while_it_is_read_is_absent(tmp_path: Path) -> None:
    artefacts, fs = made()
    artefacts.push("builds", "k1", entry(tmp_path))
    fs.faults = ["gone"]
    assert not artefacts.fetch("builds", "k1", tmp_path / "into")


def test_an_upload_that_fails_half_way_leaves_nothing_that_counts(tmp_path: Path) -> None:
    artefacts, fs = made("reset by peer", "reset by peer")
    folder = entry(tmp_path)
    artefacts.push("builds", "k1", folder)
    assert fs.opened == far.TRIES
    artefacts, fs = made(*["reset by peer"] * 3)
    with pytest.raises(UnreachableError, match=r"^memory://store: writing blobs/.*: reset by peer$"):
        artefacts.push("builds", "k1", folder)
    assert not artefacts.has("builds", "k1")
    assert [name for name in fs.store if "incoming" not in name] == []
    artefacts.push("builds", "k1", folder)
    assert artefacts.fetch("builds", "k1", tmp_path / "into")


def test_a_full_store_is_not_tried_again(tmp_path: Path) -> None:
    artefacts, fs = made("full", "full")
    with pytest.raises(UnreachableError, match="No space left on device"):
        artefacts.push("builds", "k1", entry(tmp_path))
    assert fs.opened == 1


def test_no_room_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    artefacts, fs = made()
    artefacts.push("builds", "k1", entry(tmp_path))
    fs.opened = 0
    monkeypatch.setattr("shutil.disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 20_000))
    with pytest.raises(UnreachableError, match=r"builds k1 takes 0\.00 GB, and .* has 0\.00 GB left"):
        artefacts.fetch("builds", "k1", tmp_path / "into")
    assert fs.opened == 0


def test_the_first_of_two_writers_wins(artefacts: Artefacts, tmp_path: Path) -> None:
    first, second = entry(tmp_path), entry(tmp_path, "another", "other")
    digest = artefacts.push("builds", "k1", first)
    with pytest.raises(TakenError, match="builds k1: another host was first with other bytes; these stay"):
        artefacts.push("builds", "k1", second)
    assert artefacts.digest("builds", "k1") == digest
    assert artefacts.push("builds", "k1", second, replace=True) == artefacts.digest("builds", "k1") != digest


def test_a_folder_without_hard_links_takes_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("os.link", refused)
    artefacts = open_artefacts(str(tmp_path / "far"))
    digest = artefacts.push("builds", "k1", entry(tmp_path))
    with pytest.raises(TakenError, match="another host was first"):
        artefacts.push("builds", "k1", entry(tmp_path, "another", "other"))
    assert artefacts.digest("builds", "k1") == digest
    assert artefacts.fetch("builds", "k1", tmp_path / "into")


def test_many_writers_at_once(artefacts: Artefacts, tmp_path: Path) -> None:
    folders = [entry(tmp_path, f"writer{number}", f"of-{number}") for number in range(6)]
    results: dict[int, str] = {}
    barrier = threading.Barrier(len(folders))

    def write(number: int) -> None:
        barrier.wait()
        try:
            results[number] = artefacts.push("builds", "k1", folders[number])
        except TakenError:
            results[number] = ""

    threads = [threading.Thread(target=write, args=(number,)) for number in range(len(folders))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == len(folders)
    (winner,) = [number for number, digest in results.items() if digest]
    assert artefacts.fetch("builds", "k1", tmp_path / "into")
    assert (tmp_path / "into/bin/server").read_text().startswith(f"writer{winner}")


@pytest.mark.parametrize("damage", ["no bytes", "short", "no index", "not JSON", "a digest that leads outside"])
def test_what_is_half_there_counts_as_absent_and_is_repaired(tmp_path: Path, damage: str) -> None:
    artefacts = open_artefacts(str(tmp_path / "far"))
    folder = entry(tmp_path)
    digest = artefacts.push("builds", "k1", folder)
    blob, index = tmp_path / f"far/blobs/{digest[:2]}/{digest}", tmp_path / "far/index/builds/k1"
    if damage == "no bytes":
        blob.unlink()
    elif damage == "short":
        os.truncate(blob, 5000)
    elif damage == "no index":
        index.unlink()
    elif damage == "not JSON":
        index.write_text("{")
    else:
        index.write_text(json.dumps({**json.loads(index.read_text()), "digest": "../../k1"}))
    assert not artefacts.has("builds", "k1")
    assert not artefacts.fetch("builds", "k1", tmp_path / "into")
    assert artefacts.push("builds", "k1", folder) == digest
    assert artefacts.fetch("builds", "k1", tmp_path / "into")


def test_check_names_what_is_damaged(tmp_path: Path) -> None:
    artefacts = open_artefacts(str(tmp_path / "far"))
    digest = artefacts.push("builds", "k1", entry(tmp_path))
    blob = tmp_path / f"far/blobs/{digest[:2]}/{digest}"
    blob.write_bytes(blob.read_bytes().replace(b"program", b"PROGRAM", 1))
    ((held, wrong),) = artefacts.check()
    assert (held.key, "another digest" in wrong) == ("k1", True)


BLOBS = st.lists(st.tuples(st.integers(1, 50), st.integers(0, 20), st.integers(0, 20), st.booleans()), max_size=8)


@settings(max_examples=50, deadline=None)
@given(blobs=BLOBS, limit=st.integers(0, 200))
def test_the_least_recently_used_go_first(blobs: list[tuple[int, int, int, bool]], limit: int) -> None:
    """Times in half hours: what is younger than one hour, or named by an index as young, stays whatever the limit."""
    now = 20 * SAFE_S / 2
    there, held = {}, []
    for number, (size, written, used, named) in enumerate(blobs):
        digest = f"{number:064x}"
        there[digest] = Object(f"blobs/00/{digest}", size, written * SAFE_S / 2)
        if named:
            last = max(written, used) * SAFE_S / 2
            held.append(Held("builds", f"k{number}", digest, size, written * SAFE_S / 2, last))
    gone = choose(held, there, limit, now)
    last = dict.fromkeys(there, 0.0) | {item.digest: item.used for item in held}
    may = [digest for digest in there if now - there[digest].written >= SAFE_S]
    assert set(gone) <= set(may)
    kept = sum(blob.size for digest, blob in there.items() if digest not in gone)
    assert kept <= limit or set(gone) == set(may)
    assert not gone or kept + there[gone[-1]].size > limit, "no more than needed"
    assert all(last[one] <= last[other] for one in gone for other in set(may) - set(gone))


def test_room_is_made_in_the_order_of_use(tmp_path: Path) -> None:
    place = tmp_path / "far"
    artefacts = open_artefacts(str(place), limit=100_000)
    for number in range(3):
        artefacts.push("builds", f"k{number}", entry(tmp_path, f"entry-{number}", f"e{number}"))
    long_ago = time.time() - 2 * SAFE_S
    for number, path in enumerate(sorted(path for path in place.rglob("*") if path.is_file())):
        os.utime(path, (long_ago + number, long_ago + number))
    abandoned = place / "incoming/dead"
    abandoned.write_text("half an upload")
    os.utime(abandoned, (1, 1))
    assert artefacts.fetch("builds", "k0", tmp_path / "into"), "and so k0 was used last"
    artefacts.push("builds", "k3", entry(tmp_path, "entry-3", "e3"))
    assert [held.key for held in artefacts.held()] == ["k0", "k2", "k3"]
    assert sum(path.stat().st_size for path in place.glob("blobs/*/*")) <= 100_000
    assert not abandoned.exists()
    small = open_artefacts(str(place), limit=1000)
    with pytest.raises(UserError, match=r"the store may hold 0\.00; allow it more with --artefacts-gb"):
        small.push("builds", "k4", entry(tmp_path, "entry-4", "e4"))


@pytest.mark.parametrize("limit", [None, 10**9])
def test_an_abandoned_upload_goes_though_there_is_room(tmp_path: Path, limit: int | None) -> None:
    place = tmp_path / "far"
    artefacts = open_artefacts(str(place), limit=limit)
    artefacts.push("builds", "k0", entry(tmp_path))
    abandoned, under_way = place / "incoming/dead", place / "incoming/alive"
    for path in (abandoned, under_way):
        path.write_text("half an upload")
    os.utime(abandoned, (1, 1))
    artefacts.push("builds", "k0", entry(tmp_path))
    assert (abandoned.exists(), under_way.exists()) == (False, True)


def test_eviction_by_several_at_once(tmp_path: Path) -> None:
    """Each sees the same and removes the same; what another has removed already is no error."""
    place = tmp_path / "far"
    artefacts = open_artefacts(str(place))
    for number in range(6):
        artefacts.push("builds", f"k{number}", entry(tmp_path, f"entry-{number}", f"e{number}"))
    long_ago = time.time() - 2 * SAFE_S
    for number, path in enumerate(sorted(path for path in place.rglob("*") if path.is_file())):
        os.utime(path, (long_ago + number, long_ago + number))
    artefacts.push("builds", "new", entry(tmp_path, "new-one", "e-new"))
    errors: list[BaseException] = []

    def make_room() -> None:
        try:
            bounding.make_room(artefacts.far, 100_000, artefacts.held)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=make_room) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert "new" in [held.key for held in artefacts.held()]
    assert all(artefacts.fetch("builds", held.key, tmp_path / "into") for held in artefacts.held())


def test_what_a_url_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"^s3://…: this URL has a password") as raised:
        open_artefacts("s3://name:secret@bucket/x")
    assert "secret" not in str(raised.value)
    with pytest.raises(UserError, match="name a folder, or s3://BUCKET/FOLDER"):
        open_artefacts("gopher://x/y")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(UserError, match=r"^/srv/x: needs the package fsspec, .*pip install 'burnish\[artefacts\]'"):
        open_artefacts("/srv/x")
