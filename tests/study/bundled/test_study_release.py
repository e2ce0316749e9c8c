"""The release binary of a study: where none can be had, that is looked into once, not for each of its cells."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from burnish.base.errors import UserError
from burnish.source.debian import released
from burnish.study.constructors.bundled import bundled_study
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked
from burnish.study.workshop.sides import _release
from burnish.study.workshop.workshop import NotMeasured, Workshop


def workshop(tmp_path: Path, package: str | None) -> Workshop:
    spec = SimpleNamespace(server="sbin/no-such-serverd", release_package=package)
    session: Any = SimpleNamespace(
        spec=spec, options=Options(), home=SimpleNamespace(downloads=tmp_path), bench=SimpleNamespace(say=print)
    )
    maker: Any = SimpleNamespace(builder=SimpleNamespace(origin=SimpleNamespace(version="1:1.9-1")))
    nothing: Any = None
    return Workshop(session, nothing, nothing, maker)


def test_what_can_not_be_had_is_asked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def obtain(*words: str, **_: object) -> Path:
        asked.append(words)
        raise UserError("no release binary: the mirror is gone; --release PATH names one")

    monkeypatch.setattr(released, "obtain", obtain)
    work = workshop(tmp_path, "serverd")
    for _ in range(4):
        with pytest.raises(NotMeasured, match="the mirror is gone"):
            _release(work)
    assert asked == [("serverd", "no-such-serverd", "1:1.9-1")]


def test_an_engine_without_a_package_says_how_to_name_a_program(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="`no-such-serverd` is not installed; --release PATH names one"):
        _release(workshop(tmp_path, None))


def test_a_plan_says_beforehand_that_there_is_no_release_binary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, burnish_home: Path
) -> None:
    """MySQL has no package on Debian's stable release: its row would fail after hours of builds."""
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)

    def reasons(engine: str, options: Options) -> set[str | None]:
        study = bundled_study("sun-2008", engine, Asked(), options)
        return {one.reason for one in study.comparisons if one.row == "release" and one.workload is not None}

    (reason,) = reasons("mysql", Options())
    assert reason == "no release binary: `mysqld` is not installed, and no package has it; --release PATH names one"
    assert reasons("mysql", Options(release=tmp_path / "mysqld")) == {None}
    assert reasons("mariadb", Options()) == {None}, "its package is fetched"
    monkeypatch.setattr(shutil, "which", lambda *_, **__: "/usr/sbin/mysqld")
    assert reasons("mysql", Options()) == {None}
