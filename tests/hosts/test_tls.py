"""The hosts' certificates: made once, private, and a line where what makes them is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base import process, system
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.hosts import tls


def test_without_openssl_a_line_names_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, **_: None if name == "openssl" else f"/usr/bin/{name}")
    monkeypatch.setattr(system, "missing_packages", list)
    monkeypatch.setattr(process, "run", lambda *_, **__: pytest.fail("nothing is run"))
    with pytest.raises(UserError, match=r"missing packages \(the hosts' certificates\): run `.*install.* openssl`"):
        tls.make(Home(tmp_path))


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    place = tls.make(Home(tmp_path))
    assert all((place / name).stat().st_mode & 0o077 == 0 for name in (tls.AUTHORITY, tls.CERTIFICATE, tls.KEY))
    assert tls.make(Home(tmp_path)) == place, "made once"
    (place / tls.KEY).chmod(0o644)
    with pytest.raises(UserError, match=r"key\.pem: others can read it \(mode 644\); chmod 600 "):
        tls.make(Home(tmp_path))
