"""The verbs about what hosts share, as a person and as a machine call them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from burnish.base.errors import UserError
from burnish.cli import app
from burnish.hosts.shelf import Shelf
from burnish.record.store import Store

pytest.importorskip("fsspec", reason="fsspec is not installed")


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["store", *map(str, words)], env={"COLUMNS": "80", "TERM": "dumb"})


@pytest.mark.parametrize("verb", ["list", "check", "pull"])
def test_a_place_that_is_not_there_does_not_pass_for_an_empty_one(
    burnish_home: Path, tmp_path: Path, verb: str
) -> None:
    (tmp_path / "file").touch()
    for place, says in (("nowhere", "nowhere: there is no such folder"), ("file", "file: is a file; name a folder")):
        done = call(verb, "--artefacts", tmp_path / place)
        assert isinstance(done.exception, UserError)
        assert says in str(done.exception)


def add(home: Path, kind: str, key: str, **about: object) -> None:
    store = Store(home / "store")
    (store.begin(kind, key) / "data").write_text(key)
    store.admit(kind, key, about)


def test_push_list_pull_and_check(burnish_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNISH_ARTEFACTS", str(tmp_path / "far"))
    add(burnish_home, "profiles", "0a1b", engine="mariadb", toolchain="clang-19")
    add(burnish_home, "gates", "77ff", build="0000")
    add(burnish_home, "datasets", "d0d0", own=True)
    add(burnish_home, "probes", "cccc")
    assert call("push", "0a").stdout.splitlines() == ["profiles 0a1b: there"]
    assert sorted(call("push").stdout.splitlines()) == ["gates 77ff: there", "profiles 0a1b: there"]
    listed = call("list").stdout
    assert "mariadb clang-19" in listed
    assert f"2 entries, 0 MB in {tmp_path / 'far'}" in listed.replace("\n", " ")
    values = json.loads(call("list", "--json").stdout)["store"]
    assert [(item["kind"], item["key"][:4], item["usable"]) for item in values] == [
        ("gates", "77ff", True),
        ("profiles", "0a1b", True),
    ]
    other = tmp_path / "other"
    monkeypatch.setenv("BURNISH_HOME", str(other))
    assert call("pull").exit_code == 0
    here = [entry.key for entry in Store(other / "store").entries()]
    assert here == ["77ff"], "a profile belongs to the path where it was made"
    assert isinstance(call("pull", "0a1b").exception, UserError)
    assert call("check").exit_code == 0
    for blob in (tmp_path / "far").glob("blobs/*/*"):
        blob.write_bytes(blob.read_bytes().replace(b"77ff", b"77fe", 1))
    checked = call("check")
    assert (checked.exit_code, checked.stdout.startswith("gates 77ff-")) == (1, True)
    assert call("check", "--remove").exit_code == 0
    assert len(json.loads(call("list", "--json").stdout)["store"]) == 1
    Shelf.open(burnish_home / "store", str(tmp_path / "far"), None).push("profiles", "0a1b")
    assert call("pull").exit_code == 0
    assert not Store(other / "store").has("profiles", "0a1b"), "hosts of a study share it for that study"
    listed = [re.sub(r" {2,}", "|", line.strip()) for line in call("list").stdout.splitlines()]
    assert any(re.fullmatch(r"profiles\|0a1b\|mariadb clang-19 \(.+\)\|0\.0\|[-\d]+\|by key", line) for line in listed)
    assert call("pull", "0a1b").exit_code == 0
    assert Store(other / "store").has("profiles", "0a1b"), "unless it is asked for"
    monkeypatch.setenv("BURNISH_ARTEFACTS", "none")
    wrong = call("list").exception
    assert str(wrong).startswith("no artefacts are named; ")
