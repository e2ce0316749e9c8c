"""Where the distribution's plugins come from: apt, or the folder of a user's own file of the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.engines.testing import PlainBench
from burnish.model.engine import Packaging
from burnish.packages import comparing
from burnish.packages.differences import Weight
from burnish.source.debian import binary
from debfiles import deb


def packaging(*packages: str) -> Packaging:
    found = load.engine("mariadb").packaging
    assert found is not None
    return replace(found, plugin_packages=packages, plugin_folder="usr/sbin")


def nothing_listed(name: str, version: str, **_: object) -> binary.BinaryPackage:
    raise UserError(f"{name} {version}: apt does not list this version")


def test_plugins_beside_a_users_own_file_are_taken_and_the_others_are_a_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(binary, "obtain", nothing_listed)

    def no_libraries(words: Sequence[str], *_: object) -> list[tuple[str, str]]:
        asked.append(tuple(words))
        return []

    monkeypatch.setattr(binary, "libraries_for", no_libraries)
    (tmp_path / "program").mkdir()
    (tmp_path / "program/handler.so").write_text("plugin")
    base, beside = (
        deb(tmp_path, tmp_path / "program/handler.so", name=name, version="1:1.0-1") for name in ("core", "plugin-one")
    )
    beside = beside.rename(tmp_path / "plugin-one_1.0-1_amd64.deb")
    (tmp_path / "scratch").mkdir()
    found = comparing._plugins(
        packaging("plugin-one", "plugin-two"), binary.read(base), tmp_path / "cache", tmp_path / "scratch",
        PlainBench(tmp_path / "logs"),
    )  # fmt: skip
    assert [file.name for file in found.files] == ["handler.so"]
    (lost,) = found.missing
    assert (lost.name, lost.weight) == ("plugins", Weight.LOSS)
    assert lost.what.startswith("plugin-two 1:1.0-1 is neither beside ")
    assert asked == [(str(beside),)]


def test_without_such_a_file_a_package_that_apt_lacks_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binary, "obtain", nothing_listed)
    base = binary.BinaryPackage(tmp_path / "b.deb", "core", "1-1", "amd64", ("s", "1-1"), "", checked="apt's")
    with pytest.raises(UserError, match="plugin-one 1-1: apt does not list this version"):
        comparing._plugins(packaging("plugin-one"), base, tmp_path, tmp_path, PlainBench(tmp_path / "logs"))
