"""What a host takes from the shared artefacts, and what it gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.hosts.shelf import Shelf, ShelfFailed
from burnish.record.store import Store


def store_with(place: Path, text: str) -> Store:
    store = Store(place)
    (store.begin("builds", "key") / "server").write_text(text)
    store.admit("builds", "key", {"made": text})
    store.begin("gates", "gate")
    store.admit("gates", "gate", {"build": "key"})
    return store


def server(store: Store) -> str:
    entry = store.find("builds", "key")
    assert entry is not None
    return (entry.folder / "server").read_text() + str(entry.about["made"])


def test_the_first_host_decides_and_the_others_take_its_bytes(tmp_path: Path) -> None:
    """Trainings differ, so two hosts may make different programs under one name: all must measure the same one."""
    shelf = Shelf.open(str(tmp_path / "shared"), None)
    first, second, third = (store_with(tmp_path / text, text) for text in ("one", "two", "three"))
    shelf.push(first, "builds", "key")
    shelf.push(second, "builds", "key")
    assert shelf.fetch(third, "builds", "key")
    assert server(first) == server(second) == server(third) == "oneone"
    assert first.find("gates", "gate") is not None
    assert second.find("gates", "gate") is None, "its gate has tested other bytes"


def test_what_is_there_is_not_fetched_again_and_what_nobody_has_is_missing(tmp_path: Path) -> None:
    shelf = Shelf.open(str(tmp_path / "shared"), None)
    store = Store(tmp_path / "store")
    assert not shelf.fetch(store, "builds", "key")
    shelf.push(store_with(tmp_path / "one", "one"), "builds", "key")
    assert shelf.fetch(store, "builds", "key")
    entry = store.find("builds", "key")
    assert entry is not None
    before = entry.folder.stat().st_ino
    assert shelf.fetch(store, "builds", "key")
    assert entry.folder.stat().st_ino == before


def test_a_store_that_fails_is_said_to_be_worth_another_try(tmp_path: Path) -> None:
    (tmp_path / "shared").write_text("a file")
    with pytest.raises(ShelfFailed, match="sharing builds key"):
        Shelf.open(str(tmp_path / "shared"), None).push(store_with(tmp_path / "one", "one"), "builds", "key")
