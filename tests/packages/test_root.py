"""What a clean root gets of the host's apt settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base import process
from burnish.packages import root

DUMPED = """\
APT::Architecture "amd64";
DPkg::Pre-Install-Pkgs:: "/usr/bin/apt-listchanges --apt || test $? -lt 10";
DPkg::Post-Invoke:: "test -x /usr/sbin/needrestart && needrestart";
Acquire::http::Proxy "http://proxy:3142";
Acquire::http::Proxy-Auto-Detect "/usr/bin/auto-apt-proxy";
Acquire::IndexTargets::deb::DEP-11::MetaKey "$(COMPONENT)/dep11/Components.yml";
"""


def test_hooks_of_the_host_are_not_in_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("sources.list.d", "apt.conf.d", "trusted.gpg.d", "preferences.d"):
        (tmp_path / "etc/apt" / folder).mkdir(parents=True)
    (tmp_path / "usr/sbin").mkdir(parents=True)
    monkeypatch.setattr(process, "capture", lambda _argv: DUMPED)
    root._settings(tmp_path, ("server", "1:1-1"))
    (file,) = (tmp_path / "etc/apt/apt.conf.d").iterdir()
    assert file.read_text() == 'Acquire::http::Proxy "http://proxy:3142";\n'
    pin = (tmp_path / "etc/apt/preferences.d/burnish").read_text()
    assert pin == "Package: src:server\nPin: version 1:1-1\nPin-Priority: 1001\n"
