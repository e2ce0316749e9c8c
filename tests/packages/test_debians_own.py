"""Debian's own server asked what it can do, and its plugins loaded into it: as the new program is asked."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from burnish.catalogue import load
from burnish.engines.mysql_family.tuning import defaults_in
from burnish.engines.registry import create, packaged
from burnish.engines.testing import PlainBench
from burnish.packages import differences
from debians import mariadbd


def test_the_table_of_settings_is_read() -> None:
    lines = [
        "Usage: mariadbd [OPTIONS]", "  --datadir=name  Path", "", "Variables (--variable-name=value)",
        "and boolean options {FALSE|TRUE}                             Value (after reading options)",
        "------------------------------------------------------------ ----------------------------",
        "datadir                                                      /var/lib/mysql/",
        "event-scheduler                                              OFF",
        "init-connect                                                 ",
        "", "To see what values a running server is using, type",
    ]  # fmt: skip
    assert defaults_in(lines) == {"datadir": "/var/lib/mysql/", "event-scheduler": "OFF", "init-connect": ""}
    assert defaults_in(lines[:5]) == {}


def test_a_configuration_file_sets_paths() -> None:
    server = packaged(load.engine("mariadb"))
    assert server.settings_text({"datadir": "/var/lib/mysql/"}) == "[mysqld]\ndatadir = /var/lib/mysql/\n"
    assert server.settings_text({}) == ""


@pytest.mark.real
def test_a_server_is_like_itself_and_like_no_other(tmp_path: Path) -> None:
    engine = create(load.engine("mariadb"))
    server = packaged(engine.spec)
    packaging = server.packaging
    bench = PlainBench(tmp_path / "bench")
    built = engine.existing(mariadbd(tmp_path))
    places = [tmp_path / name for name in ("one", "two", "three", "plugins")]
    for place in places:
        place.mkdir()
    before, after = (server.account(built, None, place, bench) for place in places[:2])
    assert differences.of_accounts(before, after, packaging) == []
    assert len(before["setting"]) > 500
    assert "utf8mb4" in before["character set"]
    assert "InnoDB" in before["engine"]
    file = tmp_path / "settings.cnf"
    file.write_text(server.settings_text({"datadir": "/somewhere/else/"}))
    moved = server.account(built, file, places[2], bench)
    found = {one.name for one in differences.of_accounts(before, moved, packaging)}
    assert "datadir" in found
    assert "socket" not in found

    words = ["apt-get", "-o", "APT::Sandbox::User=root", "download", packaging.server_package]
    subprocess.run(words, cwd=tmp_path, capture_output=True, check=True)
    (deb,) = tmp_path.glob(f"{packaging.server_package}_*.deb")
    subprocess.run(["dpkg", "-x", deb, tmp_path / "service"], check=True)
    folder = tmp_path / "service" / packaging.plugin_folder
    (folder / "no_plugin.so").write_bytes(b"nothing that could be loaded")
    files = [folder / f"{name}.so" for name in ("ha_archive", "no_plugin", "simple_password_check", "locales")]
    trials = server.plugins(built, files, places[3], bench)
    assert {name: trial.loaded for name, trial in trials.items()} == {
        "ha_archive": True, "no_plugin": False, "simple_password_check": True, "locales": True,
    }  # fmt: skip
    assert "ARCHIVE: [('7',)]" in trials["ha_archive"].outcome
    assert "invalid ELF header" in trials["no_plugin"].outcome[0] or "too short" in trials["no_plugin"].outcome[0]
