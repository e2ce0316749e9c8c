from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.engines.mysql_family import certificates
from mariadb_support import PlainBench

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


def test_certificates_are_made_once_checked_and_handed_out(tmp_path: Path) -> None:
    bench, folder = PlainBench(tmp_path), tmp_path / "certificates"
    assert certificates.obtain(folder, bench) == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    made = (folder / certificates.SERVER).read_bytes()
    certificates.obtain(folder, bench)
    assert (folder / certificates.SERVER).read_bytes() == made
    certificates.hand_out(folder, tmp_path)
    certificates.hand_out(folder, tmp_path)
    assert (tmp_path / "client-cert.pem").read_bytes() == (folder / "client-cert.pem").read_bytes()
    assert not (tmp_path / "ca-key.pem").exists()
    other = certificates.obtain(tmp_path / "other", bench)
    shutil.copy(other / certificates.SERVER, folder)
    with pytest.raises(UserError, match="the certificates in it don't match"):
        certificates.obtain(folder, bench)
    shutil.copy(other / certificates.CLIENT_KEY, other / certificates.SERVER_KEY)
    with pytest.raises(UserError, match="don't match"):
        certificates.check(other, bench)
