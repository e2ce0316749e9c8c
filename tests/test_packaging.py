"""What is handed to others: a wheel with all of the package, a source archive without records, a whole licence."""

from __future__ import annotations

import email
import hashlib
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from burnish.toolchain.ccache import READ_ONCE

ROOT = Path(__file__).parent.parent

GPL_2 = "8177f97513213526df2cf6184d8ff986c675afb514d4e68a404010521b880643"
"""SHA-256 of Debian's /usr/share/common-licenses/GPL-2."""

DATA = (".toml", ".lua", ".sql", ".c", ".h", ".cc", ".sh", ".cmake", ".csv", ".patch", "py.typed")


def in_git(folder: str) -> set[str]:
    """Files that git has or would take, relative to the root."""
    argv = ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no git checkout")
    return {name for name in done.stdout.splitlines() if (ROOT / name).exists()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The wheel and the source archive, by suffix."""
    folder = tmp_path_factory.mktemp("dist")
    argv = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(argv, cwd=ROOT, capture_output=True, check=True, timeout=120)
    return {path.suffix: path for path in folder.iterdir()}


def test_the_wheel_has_every_file_of_the_package_the_manual_page_and_nothing_else(built: Mapping[str, Path]) -> None:
    names = zipfile.ZipFile(built[".whl"]).namelist()
    wanted = {name.removeprefix("src/") for name in in_git("src/burnish")}
    others = {name for name in names if ".dist-info/" not in name} - wanted
    assert wanted <= set(names)
    assert [name.partition(".data/")[2] for name in others] == ["data/share/man/man1/burnish.1"]
    for suffix in DATA:
        assert any(name.endswith(suffix) for name in wanted), suffix


def test_what_ccache_runs_by_itself_is_executable_in_the_wheel(built: Mapping[str, Path]) -> None:
    """ccache finds no prefix that is not; an installer keeps what the wheel says."""
    entry = zipfile.ZipFile(built[".whl"]).getinfo(f"burnish/toolchain/{READ_ONCE.name}")
    assert entry.external_attr >> 16 & 0o111


def test_the_source_archive_has_all_but_the_results(built: Mapping[str, Path]) -> None:
    with tarfile.open(built[".gz"]) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    assert names - {"PKG-INFO"} == {name for name in in_git(".") if not name.startswith("docs/results/")}


def metadata(built: Mapping[str, Path]) -> email.message.Message:
    with zipfile.ZipFile(built[".whl"]) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(wheel.read(name))


def test_the_licence_is_named_and_whole(built: Mapping[str, Path]) -> None:
    assert metadata(built)["License-Expression"] == "GPL-2.0-or-later AND GPL-2.0-only"
    with zipfile.ZipFile(built[".whl"]) as wheel:
        texts = {Path(name).name: wheel.read(name) for name in wheel.namelist() if "/licenses/" in name}
    assert hashlib.sha256(texts["LICENSE"]).hexdigest() == GPL_2
    assert set(texts) == {"LICENSE", "NOTICE"}


def test_every_patch_of_a_real_server_is_in_the_notice() -> None:
    """They hold lines of its source, and are under its licence."""
    patterns = re.findall(r"^  (src/\S+\.patch)$", (ROOT / "NOTICE").read_text(), re.MULTILINE)
    named = {path for pattern in patterns for path in ROOT.glob(pattern)}
    every = set((ROOT / "src").rglob("*.patch"))
    assert {path.parent.name for path in every - named} == {"fake"}, "changes to an engine of our own"


def test_what_pypi_shows_has_no_relative_link(built: Mapping[str, Path]) -> None:
    shown = metadata(built)
    assert shown["Description-Content-Type"] == "text/markdown"
    links = re.findall(r"\]\(([^)]*)\)", str(shown.get_payload()))
    assert [link for link in links if not link.startswith("https://")] == []


def test_the_version_is_the_same_in_both_places() -> None:
    import burnish

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == burnish.__version__
