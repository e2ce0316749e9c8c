"""A store that is shared: what one host made is another's, beside what it was made from, where it fits."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from burnish.artefacts import Artefacts, far, open_artefacts, shared
from burnish.artefacts.far import UnreachableError
from burnish.artefacts.shared import Host, SharedStore, ingredients, note_of
from burnish.base.errors import UserError
from burnish.cli.common import app
from burnish.record.store import Entry, Store
from burnish.study.kept import sharing

pytest.importorskip("fsspec", reason="fsspec is not installed")
from fsspec.implementations.local import LocalFileSystem

HOST = Host("x86_64", "debian 12", ("Zen 5", "avx2"), "/root/burnish")


class Hosts:
    """Several hosts with one far side; what they said."""

    def __init__(self, place: Path) -> None:
        self.place, self.said = place, dict[str, list[str]]()

    def __call__(self, name: str, host: Host = HOST, unfit: str | None = None) -> SharedStore:
        said = self.said.setdefault(name, [])
        artefacts = open_artefacts(str(self.place / "far"))
        return SharedStore(self.place / name, artefacts, host, said.append, lambda _: unfit)


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosts]:
    monkeypatch.setattr(far, "PAUSES_S", (0.0, 0.0))
    return Hosts(tmp_path)


def add(store: Store, kind: str, key: str, content: str = "program", **about: object) -> Entry:
    (store.begin(kind, key) / "server").write_text(content)
    return store.admit(kind, key, about)


def content(store: Store, kind: str, key: str) -> str | None:
    entry = store.find(kind, key)
    return None if entry is None else (entry.folder / "server").read_text()


def test_what_one_host_made_another_has(hosts: Hosts) -> None:
    one, other = hosts("one"), hosts("other")
    add(one, "builds", "k1", engine="mariadb", toolchain="clang-19", bolt="clang-19")
    add(one, "probes", "c1")
    assert not Store.has(other, "builds", "k1")
    assert other.has("builds", "k1")
    assert not Store.has(other, "builds", "k1"), "asking fetches nothing"
    entry = other.find("builds", "k1")
    assert entry is not None
    assert entry.about["engine"] == "mariadb"
    assert entry.about["made_on"] == {"processor": "Zen 5", "system": "debian 12"}
    assert content(Store(hosts.place / "other"), "builds", "k1") == "program"
    assert other.find("probes", "c1") is None, "of one host only"
    assert hosts.said["one"] == []
    (line,) = hosts.said["other"]
    assert line.startswith("fetched builds k1: 0 MB in ")
    (held,) = one.far.held()
    assert held.note == "mariadb clang-19 BOLT (x86_64, debian 12)"


def test_a_plan_asks_and_fetches_nothing(hosts: Hosts) -> None:
    add(hosts("one"), "builds", "k1")
    other = hosts("other")
    other.fetches = False
    assert other.has("builds", "k1")
    assert other.find("builds", "k1") is None


def test_where_an_entry_may_be_used(hosts: Hosts) -> None:
    """Builds on the same architecture and distribution, anywhere; what has a path compiled in only in the same place;
    what is for a processor, and a gate's result, only on processors alike."""
    one = hosts("one")
    add(one, "builds", "plain", flags={"c": ["-O2", "-march=znver5"]})
    add(one, "builds", "counting", instrumented=True)
    add(one, "builds", "native", flags={"c": ["-O3"], "cxx": ["-march=native"]})
    add(one, "profiles", "profile")
    add(one, "datasets", "data")
    add(one, "gates", "gate")
    every = [("builds", "plain"), ("builds", "counting"), ("builds", "native"), ("profiles", "profile"),
             ("datasets", "data"), ("gates", "gate")]  # fmt: skip

    def usable(**different: object) -> set[str]:
        store = hosts("look", replace(HOST, **different))
        return {key for kind, key in every if store.has(kind, key)}

    assert usable() == {key for _, key in every}
    assert usable(architecture="aarch64") == usable(system="debian 13") == set()
    assert usable(place="/home/u/burnish") == {"plain", "data", "gate"}
    assert usable(processor=("Zen 5",)) == {"plain", "counting", "profile", "data"}


def test_what_is_made_from_something_else_is_not_mixed(hosts: Hosts) -> None:
    """Two hosts trained by themselves: a build belongs to the profile that it was compiled with."""
    one, other, third = hosts("one"), hosts("other"), hosts("third")
    add(Store(hosts.place / "other"), "profiles", "p1", "b")
    add(one, "profiles", "p1", "a")
    add(one, "builds", "k1", "with a", profile="p1")
    assert content(other, "builds", "k1") is None, "its profile is another"
    assert "builds k1 of another host is not used: it was made from another profile or build" in hosts.said["other"][0]
    add(other, "builds", "k1", "with b", profile="p1")
    assert content(other, "builds", "k1") == "with b"
    add(other, "builds", "k2", "with b", profile="p1")
    assert not third.has("builds", "k2"), "what was made from it is not given away either"
    assert content(third, "builds", "k1") == "with a"
    assert content(third, "profiles", "p1") == "a"


def test_the_second_takes_what_the_first_made(hosts: Hosts) -> None:
    one, other = hosts("one"), hosts("other")
    assert other.find("builds", "k1") is None
    add(one, "builds", "k1", "first", seconds=1)
    entry = add(other, "builds", "k1", "second", seconds=2)
    assert (entry.about["seconds"], content(other, "builds", "k1")) == (1, "first")
    assert "builds k1: another host was first; its result is used" in hosts.said["other"]
    add(other, "evidence", "e1", "the same", build="k1")
    add(one, "evidence", "e1", "the same", build="k1")
    assert hosts.said["one"] == [], "equal results are no matter"


def test_what_was_there_before_is_given_with_what_is_made_of_it(hosts: Hosts) -> None:
    add(Store(hosts.place / "one"), "builds", "base")
    add(hosts("one"), "builds", "k1", base="base")
    assert {held.key.partition("-")[0] for held in hosts("other").far.held()} == {"base", "k1"}


def test_what_does_not_run_here_is_made_here(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    add(hosts("one"), "builds", "k1")
    other = hosts("other", unfit="this host lacks libssl.so.3")
    monkeypatch.setattr(shared, "AGAIN_S", -1.0)
    assert other.find("builds", "k1") is None
    assert other.find("builds", "k1") is None, "it is not fetched again"
    assert not other.has("builds", "k1")
    assert hosts.said["other"] == ["builds k1 of another host is not used: this host lacks libssl.so.3"]
    assert list((hosts.place / "other/builds").iterdir()) == []


def test_damaged_bytes_are_replaced(hosts: Hosts) -> None:
    add(hosts("one"), "builds", "k1", "program")
    (blob,) = (hosts.place / "far").glob("blobs/*/*")
    good = blob.read_bytes()
    blob.write_bytes(good.replace(b"program", b"PROGRAM", 1))
    other = hosts("other")
    assert other.find("builds", "k1") is None
    assert hosts.said["other"][0].endswith("; it is made here instead")
    add(other, "builds", "k1", "program")
    assert blob.read_bytes() == good
    assert content(hosts("third"), "builds", "k1") == "program"


def test_what_has_changed_since_it_was_made_is_not_taken_from_another_host(hosts: Hosts) -> None:
    """The far side has the bytes that it was given: only the entry's own seal says that these are no longer it."""
    entry = add(Store(hosts.place / "one"), "builds", "k1")
    (entry.folder / "server").write_text("PROGRAM")
    one, other = hosts("one"), hosts("other")
    one.far.push("builds", HOST.name(entry), entry.folder)
    assert content(other, "builds", "k1") is None
    assert hosts.said["other"][0].endswith("server has changed since it was made; it is made here instead")
    add(other, "builds", "k1")
    assert content(hosts("third"), "builds", "k1") == "program", "what is made here takes its place"


def test_what_has_changed_since_it_was_made_is_not_given(hosts: Hosts) -> None:
    one = hosts("one")
    entry = add(Store(hosts.place / "one"), "builds", "base")
    (entry.folder / "server").write_text("PROGRAM")
    add(one, "builds", "k1", base="base")
    assert list(sharing.push(one, ["base"])) == []
    assert {held.local for held in one.far.held()} == {"k1"}
    assert hosts.said["one"] == [f"{entry.folder}: server has changed since it was made; not used"]


def by_key(store: SharedStore, *entries: Entry) -> None:
    """Shares entries as hosts of a study do."""
    for entry in entries:
        store.far.push(entry.kind, entry.key, entry.folder)


def test_what_hosts_share_by_key_is_fetched_beside_its_own_profile_only(hosts: Hosts) -> None:
    one, other, third = hosts("one"), hosts("other"), hosts("third")
    plain = Store(hosts.place / "one")
    by_key(one, add(plain, "profiles", "p1", "a"), add(plain, "builds", "k1", "with a", profile="p1"))
    add(Store(hosts.place / "other"), "profiles", "p1", "b")
    there = [held.name for held in one.far.held()]
    assert [fetched for _, fetched in sharing.pull(other, ["k1"])] == [False]
    assert "it was made from another profile or build than the one here" in hosts.said["other"][0]
    assert [fetched for _, fetched in sharing.pull(third, ["p1"])] == [True]
    assert [fetched for _, fetched in sharing.pull(third, ["k1"])] == [True]
    assert content(third, "builds", "k1") == "with a"
    assert [held.name for held in one.far.held()] == there, "who fetches gives nothing"


def test_who_fetches_gives_nothing_of_what_is_here(hosts: Hosts) -> None:
    one, other = hosts("one"), hosts("other")
    add(one, "builds", "base")
    add(one, "builds", "k1", base="base")
    (base,) = (held for held in one.far.held() if held.local == "base")
    one.far.discard(base.kind, base.key)
    add(Store(hosts.place / "other"), "builds", "base")
    assert [fetched for held, fetched in sharing.pull(other, ["k1"]) if held.local == "k1"] == [False]
    assert {held.local for held in one.far.held()} == {"k1"}


def test_work_goes_on_without_the_far_side(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    one = hosts("one")
    asked = []

    def fails(self: Artefacts, *words: object, **more: object) -> bool:
        asked.append(words)
        raise UnreachableError("s3://bucket: connection refused")

    with monkeypatch.context() as broken:
        for name in ("push", "fetch", "has"):
            broken.setattr(Artefacts, name, fails)
        assert one.find("builds", "k1") is None
        assert add(one, "builds", "k1").key == "k1"
        assert not one.has("builds", "k3")
        assert hosts.said["one"] == ["s3://bucket: connection refused; continuing without it for 5 min"]
        assert len(asked) == 1, "it is left alone for a while"
    monkeypatch.setattr(shared, "PAUSE_S", 0.0)
    add(one, "builds", "k2", base="k1")
    assert content(hosts("other"), "builds", "k1") == "program", "and gets what it missed"


def test_a_host_that_may_only_read(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    one, reader = hosts("one"), hosts("reader")
    add(one, "builds", "base")
    add(one, "builds", "k1", "made", base="base")
    add(one, "builds", "k2", "made", base="mine")
    add(Store(hosts.place / "reader"), "builds", "mine")

    def forbidden(*_: object, **__: object) -> None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(LocalFileSystem, "makedirs", forbidden)
    add(reader, "builds", "k3")
    add(reader, "builds", "k4")
    (line,) = hosts.said["reader"]
    assert line.endswith(": Permission denied; this host gives nothing to others")
    assert content(reader, "builds", "k1") == "made"
    assert content(reader, "builds", "k2") is None, "whether its base is the same can't be known"
    with pytest.raises(UserError, match="this host may not write there"):
        reader.push(add(Store(hosts.place / "reader"), "gates", "g1"))


def test_a_user_s_own_data_stay_here(hosts: Hosts) -> None:
    add(hosts("one"), "datasets", "d1", own=True)
    assert not hosts("other").has("datasets", "d1")


def test_what_was_not_there_is_asked_for_again_later(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    other = hosts("other")
    assert other.find("builds", "k1") is None
    add(hosts("one"), "builds", "k1")
    assert other.find("builds", "k1") is None, "just asked"
    monkeypatch.setattr(shared, "AGAIN_S", -1.0)
    assert other.find("builds", "k1") is not None


def test_what_an_entry_was_made_from() -> None:
    about = {"profile": "p1", "base": "b1", "build": None, "merged": [["m1", 1.0], ["m2", 2.0]]}
    assert set(ingredients(about)) == {("profiles", "p1"), ("builds", "b1"), ("profiles", "m1"), ("profiles", "m2")}


@pytest.mark.parametrize(
    ("kind", "about", "words"),
    [
        ("builds", {"engine": "fake", "toolchain": "gcc-12", "instrumented": True}, "fake gcc-12 instrumented"),
        ("builds", {"engine": "fake", "toolchain": "gcc-12", "profile": "0a"}, "fake gcc-12 with a profile"),
        ("evidence", {"build": "0a", "what": "program"}, "program of 0a"),
        ("gates", {"build": "0a"}, "gate of 0a"),
    ],
)
def test_what_an_entry_is_in_words(tmp_path: Path, kind: str, about: dict[str, object], words: str) -> None:
    assert note_of(add(Store(tmp_path), kind, "key", **about), HOST) == f"{words} (x86_64, debian 12)"


def test_a_bound_of_what_is_shared_is_taken_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("plan", "fake", "--variant", "gcc-o3", "--artefacts-gb", "5", "--artefacts", str(tmp_path))
    assert CliRunner().invoke(app, [*words]).exit_code == 0
