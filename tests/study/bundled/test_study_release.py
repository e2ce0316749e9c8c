"""The release binary of a study: where none can be had, that is looked into once, not for each of its cells."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from burnish.base.errors import UserError
from burnish.source.debian import released
from burnish.study.request.options import Options
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
