"""The store: an entry is there whole or not at all, and what a killed run left is swept."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.record.store import DESCRIPTION, KINDS, Entry, Store, folder_size


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def add(store: Store, kind: str = "builds", key: str = "k1", content: str = "program", **about: object) -> Entry:
    (store.begin(kind, key) / "server").write_text(content)
    return store.admit(kind, key, about)


def test_an_entry_appears_when_it_is_whole(store: Store) -> None:
    folder = store.begin("builds", "k1")
    assert store.find("builds", "k1") is None
    (folder / "server").write_text("program")
    assert store.find("builds", "k1") is None
    assert list(store.entries()) == []
    made = store.admit("builds", "k1", {"seconds": 1.5, "path": Path("/a")})
    result = store.find("builds", "k1")
    assert result is not None
    assert (result.kind, result.key, result.folder) == (made.kind, made.key, made.folder)
    assert result.about == {"seconds": 1.5, "path": "/a"}
    assert (result.folder / "server").read_text() == "program"
    assert not folder.exists()


def test_keys_and_kinds_are_apart(store: Store) -> None:
    add(store, "builds", "same")
    assert store.find("profiles", "same") is None
    assert store.find("builds", "sam") is None
    add(store, "gates", "same")
    assert [(entry.kind, entry.key) for entry in store.entries()] == [("builds", "same"), ("gates", "same")]


def test_begin_gives_an_empty_private_folder(store: Store) -> None:
    (store.begin("builds", "k1") / "left over").write_text("by a run that was killed")
    folder = store.begin("builds", "k1")
    assert list(folder.iterdir()) == []
    assert folder.stat().st_mode & 0o777 == 0o700


def test_admitted_again_it_is_the_new_one_alone(store: Store) -> None:
    add(store, content="old", n=1)
    (store.root / "builds/k1/more").write_text("old")
    made = add(store, content="new", n=2)
    assert (made.folder / "server").read_text() == "new"
    assert sorted(path.name for path in made.folder.iterdir()) == [DESCRIPTION, "server"]
    assert [entry.about for entry in store.entries()] == [{"n": 2}]
    assert [path.name for path in (store.root / "builds").iterdir()] == ["k1"]


def test_a_description_that_is_cut_off_is_no_entry(store: Store) -> None:
    made = add(store)
    (made.folder / DESCRIPTION).write_text('{"seconds": 1')
    assert store.find("builds", "k1") is None
    assert list(store.entries()) == []


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: list[Callable[[Path], object]] = [
    flipped,
    cut_off,
    made_a_folder,
    Path.unlink,
    lambda path: path.write_bytes(b""),
]


@pytest.mark.parametrize("name", ["server", "lib/part", DESCRIPTION])
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_has_changed_since_it_was_made_is_named_and_made_again(
    tmp_path: Path, damage: Callable[[Path], object], name: str
) -> None:
    def made(store: Store) -> Entry:
        folder = store.begin("builds", "k1")
        (folder / "lib").mkdir()
        (folder / "server").write_text("program")
        (folder / "lib" / "part").write_text("library")
        (folder / "link").symlink_to("server")
        return store.admit("builds", "k1", {"seconds": 1.5})

    entry = made(Store(tmp_path))
    said: list[str] = []
    damage(entry.folder / name)
    store = Store(tmp_path, said.append)
    assert store.find("builds", "k1") is None
    assert store.find("builds", "k1") is None
    (line,) = said
    assert line.startswith(f"{entry.folder}: {name}")
    assert line.endswith("not used")
    if damage is not flipped or name == DESCRIPTION:
        assert not store.has("builds", "k1"), "a plan sees it as well, as far as sizes tell"
        assert store.named("builds", "k1") is None
    made(store)
    again = store.find("builds", "k1")
    assert again is not None
    assert again.about == {"seconds": 1.5}
    assert (again.folder / "lib" / "part").read_text() == "library"
    assert len(said) == 1


def test_a_file_in_an_entrys_place_is_no_entry_and_in_nobodys_way(store: Store) -> None:
    (store.root / "builds").mkdir()
    (store.root / "builds/k1").write_text("?")
    assert store.find("builds", "k1") is None
    assert (add(store).folder / "server").read_text() == "program"
    assert [path.name for path in (store.root / "builds").iterdir()] == ["k1"]


def test_an_entry_of_another_store_gets_a_seal_of_its_own(store: Store, tmp_path: Path) -> None:
    (store.begin("builds", "a") / "file").write_text("content")
    there = store.admit("builds", "a", {"name": "x"}).folder
    other = Store(tmp_path / "other")
    shutil.copytree(there, other.begin("builds", "a"), dirs_exist_ok=True)
    other.admit("builds", "a", json.loads((there / DESCRIPTION).read_text()))
    entry = Store(tmp_path / "other").find("builds", "a")
    assert entry is not None
    assert entry.about == {"name": "x"}


def test_an_older_versions_entry_is_taken_as_it_is(store: Store) -> None:
    made = add(store, n=1)
    (made.folder / DESCRIPTION).write_text('{"n": 1}')
    (made.folder / "server").write_text("other")
    entry = Store(store.root).find("builds", "k1")
    assert entry is not None
    assert entry.about == {"n": 1}


KILLED = """
import os, shutil, sys
from pathlib import Path
from burnish.record.store import Store
store, moment, count = Store(Path(sys.argv[1])), int(sys.argv[2]), 0
def dying(real):
    def call(*args, **options):
        global count
        count += 1
        if count == moment:
            os.kill(os.getpid(), 9)
        return real(*args, **options)
    return call
for name in ("unlink", "rmdir", "rename", "mkdir", "fsync"):
    setattr(os, name, dying(getattr(os, name)))
folder = store.begin("builds", "k1")
for name in ("server", "load", "share"):
    (folder / name).write_text("new")
store.admit("builds", "k1", {"version": "new"})
entry = store.find("builds", "k1")
if sys.argv[3] == "remove":
    store.remove(entry)
print(count)
"""


@pytest.mark.parametrize("then", ["keep", "remove"])
def test_killed_at_any_moment_it_is_whole_or_not_there(tmp_path: Path, then: str) -> None:
    """kill -9 before each call that changes the file system, with an older entry of that key in place."""
    older = Store(tmp_path / "older")
    folder = older.begin("builds", "k1")
    for name in ("server", "load", "share"):
        (folder / name).write_text("old")
    older.admit("builds", "k1", {"version": "old"})
    seen = set()
    for moment in range(1, 100):
        store = Store(tmp_path / "store")
        shutil.copytree(older.root, store.root, dirs_exist_ok=True)
        argv = [sys.executable, "-c", KILLED, str(store.root), str(moment), then]
        done = subprocess.run(argv, check=False, capture_output=True)
        store.sweep()
        entry = store.find("builds", "k1")
        if entry is not None:
            version = entry.about["version"]
            assert {path.name for path in entry.folder.iterdir()} == {"server", "load", "share", DESCRIPTION}
            assert {(entry.folder / name).read_text() for name in ("server", "load", "share")} == {version}
        seen.add(None if entry is None else entry.about["version"])
        left = [path.name for path in (store.root / "builds").iterdir()]
        assert left == ([] if entry is None else ["k1"]), "nothing half-made is left after a sweep"
        shutil.rmtree(store.root)
        if done.returncode == 0:
            break
        assert done.returncode == -9, done.stderr.decode()
    assert moment > 5, "there were moments to be killed at"
    assert {"old", "new"} <= seen


def test_sweep_takes_the_half_made_and_nothing_else(store: Store) -> None:
    kept = add(store)
    for kind in KINDS:
        (store.begin(kind, "half") / "file").write_text("x")
    store.sweep()
    assert [entry.key for entry in store.entries()] == ["k1"]
    assert not list(store.root.glob("*/.*"))
    assert (kept.folder / "server").is_file()


def test_remove(store: Store) -> None:
    one, two = add(store, key="k1"), add(store, key="k2")
    store.remove(one)
    assert [entry.key for entry in store.entries()] == ["k2"]
    assert not one.folder.exists()
    assert two.folder.exists()


def test_finding_is_using(store: Store) -> None:
    made = add(store)
    os.utime(made.folder / DESCRIPTION, (1000, 1000))
    (listed,) = store.entries()
    assert listed.used == 1000, "listing is not"
    store.find("builds", "k1")
    (listed,) = store.entries()
    assert listed.used > 1000


def test_costs_are_the_latest_of_a_step(store: Store) -> None:
    assert store.cost("fake", "compile", "baseline") is None
    store.note_cost("fake", "compile", "baseline", 10.0, 1 << 20)
    store.note_cost("fake", "compile", "gcc-o3", 20.0)
    store.note_cost("fake", "gate", "baseline", 3.0)
    assert store.cost("fake", "compile", "baseline") == 10.0
    assert store.cost("fake", "compile", "gcc-o3") == 20.0
    assert store.cost("fake", "compile", "new") == 20.0, "of another name when this one is new"
    assert store.cost("sqlite", "compile", "baseline") is None
    store.note_cost("fake", "compile", "baseline", 12.0)
    assert store.cost("fake", "compile", "baseline") == 12.0
    assert Store(store.root).cost("fake", "gate", "any") == 3.0, "it outlives the run"


def test_size_counts_hard_links_once(store: Store) -> None:
    made = add(store, content="x" * 100_000)
    alone = made.size()
    assert 100_000 <= alone < 130_000
    os.link(made.folder / "server", made.folder / "again")
    assert made.size() == alone
    assert folder_size(store.root / "nowhere") == 0
