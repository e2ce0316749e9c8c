"""What a host takes from the shared artefacts, and what it gives."""

from __future__ import annotations

import io
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from burnish.artefacts import far
from burnish.artefacts.packing import DamagedError
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.builds.evidence import facts_key
from burnish.hosts import shelf as shelves
from burnish.hosts.carried import Carried
from burnish.hosts.dispatch import Work
from burnish.hosts.jobs import Job
from burnish.hosts.part import Part, levels_known, take_made
from burnish.hosts.shelf import Shelf, ShelfFailed, share_folder, share_older
from burnish.hosts.units import Unit
from burnish.record.store import Store
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked
from burnish.study.study import Study


def shelf_at(tmp_path: Path, name: str) -> Shelf:
    return Shelf.open(tmp_path / name, str(tmp_path / "shared"), None)


def shelf_with(tmp_path: Path, text: str) -> Shelf:
    shelf = shelf_at(tmp_path, text)
    (shelf.begin("builds", "key") / "server").write_text(text)
    shelf.admit("builds", "key", {"made": text})
    shelf.begin("gates", "gate")
    shelf.admit("gates", "gate", {"build": "key"})
    return shelf


def server(store: Store) -> str:
    entry = store.find("builds", "key")
    assert entry is not None
    return (entry.folder / "server").read_text() + str(entry.about["made"])


def damage(tmp_path: Path) -> None:
    """Changes a bit of the one entry that is shared."""
    (blob,) = (path for path in (tmp_path / "shared" / "blobs").rglob("*") if path.is_file())
    data = bytearray(blob.read_bytes())
    data[len(data) // 2] ^= 1
    blob.write_bytes(data)


def test_the_first_host_decides_and_the_others_take_its_bytes(tmp_path: Path) -> None:
    """Trainings differ, so two hosts may make different programs under one name: all must measure the same one."""
    first, second, third = (shelf_with(tmp_path, text) for text in ("one", "two", "three"))
    assert not first.shared("builds", "key")
    first.push("builds", "key")
    assert second.shared("builds", "key")
    second.push("builds", "key")
    assert third.fetch("builds", "key")
    assert server(first) == server(second) == server(third) == "oneone"
    assert first.find("gates", "gate") is not None
    assert second.find("gates", "gate") is None, "its gate has tested other bytes"


def test_what_is_there_is_not_fetched_again_and_what_nobody_has_is_missing(tmp_path: Path) -> None:
    shelf = shelf_at(tmp_path, "store")
    assert not shelf.fetch("builds", "key")
    shelf_with(tmp_path, "one").push("builds", "key")
    assert shelf.fetch("builds", "key")
    entry = shelf.find("builds", "key")
    assert entry is not None
    before = entry.folder.stat().st_ino
    assert shelf.fetch("builds", "key")
    assert entry.folder.stat().st_ino == before


def test_a_store_that_fails_is_said_to_be_worth_another_try(tmp_path: Path) -> None:
    (tmp_path / "shared").write_text("a file")
    with pytest.raises(ShelfFailed, match="sharing builds key"):
        shelf_with(tmp_path, "one").push("builds", "key")


def test_a_folder_that_is_not_the_shared_one_is_refused(tmp_path: Path) -> None:
    """Where it is not mounted, a host would make one of its own and share into that."""
    url = str(tmp_path / "mounted" / "shared")
    job = Job("key", Work.BUILD, "build of x", Carried(("tune", "fake"), {}), store=url)
    part = Part(Home(tmp_path), cast(Study, None), Options(), Asked(), job, Console(file=io.StringIO()))
    with pytest.raises(ShelfFailed, match=r"shared: the shared folder is not mounted here .*--artefacts PLACE$"):
        part._shelf()
    assert not Path(url).exists()
    share_folder(url, None)
    shelf = part._shelf()
    assert shelf is not None
    assert not shelf.shared("builds", "key")
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"^--artefacts .*file: cannot be written to \(.+\); name a folder"):
        share_folder(str(tmp_path / "file"), None)


def test_who_cannot_open_the_store_only_asks_for_a_study(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: object) -> None:
        raise UserError("s3://bucket: Install s3fs to access S3")

    monkeypatch.setattr(shelves, "open_artefacts", lacking)
    share_older("s3://bucket", None)


def test_a_folder_of_before_is_marked_where_hosts_have_shared_something(tmp_path: Path) -> None:
    older, empty = tmp_path / "shared", tmp_path / "mounted"
    empty.mkdir()
    shelf_with(tmp_path, "one").push("builds", "key")
    share_older(str(older), None)
    share_older(str(empty), None)
    share_older(str(tmp_path / "none"), None)
    shelf_at(tmp_path, "two").check_mounted()
    assert not list(empty.iterdir()), "it may be where the shared one is not mounted"
    assert not (tmp_path / "none").exists()


def test_wrong_bytes_are_removed_and_whoever_made_them_shares_them_again(tmp_path: Path) -> None:
    one, two = shelf_with(tmp_path, "one"), shelf_at(tmp_path, "two")
    one.push("builds", "key")
    damage(tmp_path)
    with pytest.raises(DamagedError, match="it was removed there, and the same command has it shared again"):
        two.fetch("builds", "key")
    assert not two.shared("builds", "key")
    one.push("builds", "key")
    assert two.fetch("builds", "key")
    assert server(two) == "oneone"


def test_who_meets_wrong_bytes_of_the_first_host_shares_its_own(tmp_path: Path) -> None:
    shelf_with(tmp_path, "one").push("builds", "key")
    damage(tmp_path)
    two = shelf_with(tmp_path, "two")
    with pytest.raises(ShelfFailed, match="its digest is"):
        two.push("builds", "key")
    two.push("builds", "key")
    three = shelf_at(tmp_path, "three")
    assert three.fetch("builds", "key")
    assert server(three) == "twotwo"


def test_a_host_that_finds_a_build_made_already_can_say_what_it_needs(tmp_path: Path) -> None:
    """Without it, a host of a lower level would measure it and see its server killed."""
    maker = shelf_with(tmp_path, "one")
    unit = Unit("unit", "v4", (("profiles", "p"), ("builds", "key")), (), (), 1.0)
    maker.push("builds", "key")
    other = shelf_at(tmp_path, "two")
    assert levels_known(other, unit) == {}, "made by whoever shares no facts"
    maker.begin("evidence", facts_key("key"))
    maker.admit("evidence", facts_key("key"), {"build": "key", "program": {}, "needs": {"level": "x86-64-v4"}})
    maker.push("evidence", facts_key("key"))
    assert levels_known(other, unit) == {"key": "x86-64-v4"}


UNIT = Unit("unit", "pgo", (("profiles", "p"), ("builds", "key")), (), (), 1.0)


def trained(tmp_path: Path, text: str) -> Shelf:
    """The shelf of a host that has trained by itself, and compiled with its profile."""
    shelf = shelf_with(tmp_path, text)
    (shelf.begin("profiles", "p") / "data").write_text(text)
    shelf.admit("profiles", "p", {"made": text})
    (shelf.begin("builds", "key") / "server").write_text(text)
    shelf.admit("builds", "key", {"made": text, "profile": "p"})
    (shelf.begin("builds", "bolt") / "server").write_text(text)
    shelf.admit("builds", "bolt", {"made": text, "base": "key"})
    return shelf


def profile(store: Store) -> str:
    entry = store.find("profiles", "p")
    assert entry is not None
    return (entry.folder / "data").read_text()


def test_a_build_goes_on_from_what_a_lost_host_had_shared_of_it(tmp_path: Path) -> None:
    """Else a build with this host's profile would be shared beside the other host's profile."""
    trained(tmp_path, "one").push("profiles", "p")
    two = trained(tmp_path, "two")
    take_made(two, UNIT)
    assert profile(two) == "one"
    assert two.find("builds", "key") is None, "its own was compiled with its own profile"
    assert two.find("builds", "bolt") is None
    assert two.find("gates", "gate") is None


def test_what_a_lost_host_had_shared_and_is_damaged_is_made_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(far, "PAUSES_S", (0.0, 0.0))
    trained(tmp_path, "one").push("profiles", "p")
    damage(tmp_path)
    two = trained(tmp_path, "two")
    take_made(two, UNIT)
    two.push("profiles", "p")
    two.push("builds", "key")
    assert (profile(two), server(two)) == ("two", "twotwo")


def test_who_is_second_with_a_profile_makes_its_build_again_from_the_first_ones(tmp_path: Path) -> None:
    two = trained(tmp_path, "two")
    trained(tmp_path, "one").push("profiles", "p")
    with pytest.raises(ShelfFailed, match="profiles p: another host was first; builds key, builds bolt: to be made"):
        two.push("profiles", "p")
    assert profile(two) == "one"
    assert not two.has("builds", "key")
    two.push("profiles", "p")


def test_what_is_shared_already_stays_when_its_profile_is_fetched(tmp_path: Path) -> None:
    one = trained(tmp_path, "one")
    one.push("profiles", "p")
    one.push("builds", "key")
    two = trained(tmp_path, "two")
    assert two.fetch("builds", "key")
    assert two.fetch("profiles", "p")
    assert (server(two), profile(two)) == ("oneone", "one")


def test_an_entry_that_was_made_again_since_is_not_taken_for_the_shared_one(tmp_path: Path) -> None:
    """As after `clean` and a run without hosts: this host would measure another program than the others."""
    shelf_with(tmp_path, "one").push("builds", "key")
    two = shelf_at(tmp_path, "two")
    assert two.fetch("builds", "key")
    again = shelf_with(tmp_path, "two")
    assert server(again) == "twotwo"
    assert again.fetch("builds", "key")
    assert server(again) == "oneone"
