"""The hosts' certificates: made once, private, valid where clocks differ, and a line where they can't be used."""

from __future__ import annotations

import ssl
import time
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


DAY_S = 86_400.0


def test_a_machine_whose_clock_is_behind_can_use_them_and_one_a_day_off_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = time.time
    place = tls.make(Home(tmp_path))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_cert_chain(place / tls.CERTIFICATE, place / tls.KEY)
    context.load_verify_locations(place / tls.AUTHORITY)
    assert not [path for path in place.parent.iterdir() if path.name not in ("join", tls.AUTHORITY_KEY)]
    for days in (0.9, -3649.0):
        monkeypatch.setattr(time, "time", lambda days=days: clock() - days * DAY_S)
        assert tls.check(Home(tmp_path)) == place
    monkeypatch.setattr(time, "time", lambda: clock() - 2 * DAY_S)
    with pytest.raises(
        UserError, match=r"valid from .* by this machine's clock it is .*; set the clock of this machine$"
    ):
        tls.check(Home(tmp_path))
    monkeypatch.setattr(time, "time", lambda: clock() + 3651 * DAY_S)
    with pytest.raises(UserError, match=r"or remove .*/join and call `burnish hosts up` anew if they are old"):
        tls.check(Home(tmp_path))


def test_a_damaged_certificate_is_named(tmp_path: Path) -> None:
    place = tls.make(Home(tmp_path))
    (place / tls.AUTHORITY).write_text("what a broken copy left")
    with pytest.raises(UserError, match=r"ca\.pem: no certificate that `burnish hosts up` made; copy the folder join"):
        tls.check(Home(tmp_path))
