"""The distribution's binary packages, asked of stand-ins for apt."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.errors import InfrastructureError, UserError
from burnish.source.debian import binary

STUCK = "sleep 60\n"

OTHER = """\
case $1 in
  show) echo "E: No packages found"; exit 100 ;;
  madison) echo "serverd | 1:2.0-1 | http://mirror.example/debian bookworm/main amd64 Packages" ;;
esac
"""

BROKEN = "echo 'E: The package lists or status file could not be parsed or opened.'; exit 100\n"


def stand_in(name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a program of ours first in PATH."""
    program = tmp_path / "programs" / name
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{text}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")


def obtain(tmp_path: Path) -> None:
    binary.obtain("serverd", "1:1.9-1", cache=tmp_path / "cache", say=lambda text: None)


def test_apt_that_does_not_answer_is_not_taken_for_a_missing_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("apt-cache", STUCK, tmp_path, monkeypatch)
    monkeypatch.setattr(binary, "_INDEX_SECONDS", 0.1)
    said = "serverd 1:1.9-1: apt could not be asked about it; try again: `apt-cache` took too long and was killed"
    with pytest.raises(InfrastructureError, match=said):
        obtain(tmp_path)


def test_apt_that_fails_is_not_taken_for_a_missing_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("apt-cache", BROKEN, tmp_path, monkeypatch)
    with pytest.raises(InfrastructureError, match=r"try again: `apt-cache` ended with exit code 100\n.*be parsed"):
        obtain(tmp_path)


def test_a_version_that_apt_does_not_list_is_said_with_those_that_it_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("apt-cache", OTHER, tmp_path, monkeypatch)
    with pytest.raises(UserError, match=r"serverd 1:1\.9-1: apt does not list this version \(it lists 1:2\.0-1\)"):
        obtain(tmp_path)


def test_what_is_installed_is_found_by_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "installed s server 2-1\ninstalled other s 9\nconfig-files s gone 1-1\ninstalled s client 2-1\n"
    stand_in("dpkg-query", f"printf '{rows}'", tmp_path, monkeypatch)
    assert binary.installed_of("s") == {"server": "2-1", "client": "2-1"}
