"""What who makes or installs a package must know of this host: settings that it overrides, and a server that runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.catalogue import load
from burnish.cli import packaging
from burnish.engines.testing import PlainBench
from burnish.packages import comparing, deb, planned
from burnish.packages.comparing import Compared
from burnish.packages.planned import Along, Format, Request
from burnish.source.debian import binary
from burnish.source.debian.binary import BinaryPackage

OVERRIDDEN = "/etc/my.cnf sets datadir = /srv/mysql, and the package otherwise; set it elsewhere"


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A build whose package would override a setting of this host."""
    base = BinaryPackage(Path("b.deb"), "core", "1-1", binary.architecture(), ("s", "1-1"), "")
    finished = deb.Deb(Path("core_1.deb"), (), "1-1+burnish1", base, "", "")
    monkeypatch.setattr(planned, "_base", lambda *_: base)
    monkeypatch.setattr(binary, "versions", lambda _name: ["1-1"])
    monkeypatch.setattr(deb, "ready", lambda _asked: None)
    monkeypatch.setattr(deb, "stage", lambda *_, **__: None)
    monkeypatch.setattr(deb, "make", lambda *_: finished)
    monkeypatch.setattr(comparing, "compare", lambda *_: Compared((), "", 0, {}, (OVERRIDDEN,)))
    return SimpleNamespace(objections=(), variant="fast", engine=SimpleNamespace(spec=load.engine("mariadb")))


def test_a_setting_of_the_host_that_would_be_overridden_stops_an_installation(compared: Any, tmp_path: Path) -> None:
    bench = PlainBench(tmp_path / "logs")
    with pytest.raises(UserError, match=rf"^install: {OVERRIDDEN}$"):
        planned.make(Home(tmp_path), compared, Request(Format.DEB, tmp_path, verb="install"), bench)
    made = planned.make(Home(tmp_path), compared, Request(Format.DEB, tmp_path), bench)
    assert made.says[0] == f"on this host {OVERRIDDEN}", "elsewhere it may be no matter"


def test_an_installation_ends_with_what_is_left_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = SimpleNamespace(deb=1, files=(tmp_path / "a.deb",), says=("back", "restart"), along=Along(("server=1-1",)))
    installed: list[Any] = []

    def install(*words: Any, **_: Any) -> None:
        print("apt's lines")
        installed.extend(words)

    for name, value in (("_run_with_build", tmp_path), ("result_of", None), ("choose", None), ("make", made)):
        monkeypatch.setattr(packaging, name, lambda *_, value=value: value)
    monkeypatch.setattr(packaging, "_lines", lambda made: list(made.says))
    monkeypatch.setattr(packaging.paths, "home", lambda: Home(tmp_path))
    monkeypatch.setattr(packaging.system, "install_file", install)
    options: Any = SimpleNamespace(yes=True)
    packaging.install("run", None, (), None, strip=False, force=False, options=options)
    assert capsys.readouterr().out.splitlines() == ["back", "restart", "apt's lines", "restart"]
    assert installed == [tmp_path / "a.deb", ("server=1-1",)]
