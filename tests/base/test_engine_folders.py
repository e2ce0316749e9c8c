"""Engines are found by their folders: Burnish's own, and those that installed packages name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.base import engine_folders as folders
from burnish.base.errors import UserError


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the search path, for packages of other people."""
    monkeypatch.syspath_prepend(str(tmp_path))
    folders.engine_folders.cache_clear()
    yield tmp_path
    folders.engine_folders.cache_clear()


def install(place: Path, name: str, package: str, *, distribution: str = "other") -> Path:
    """A distribution whose entry point says that `package` is an engine."""
    info = place / f"{distribution}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(f"[burnish.engines]\n{name} = {package}\n")
    folder = place.joinpath(*package.split("."))
    folder.mkdir(parents=True)
    return folder


def names() -> list[str]:
    return [folder.name for folder in folders.engine_folders()]


def test_burnishs_own_are_its_packages_with_a_description(installed: Path) -> None:
    result = {folder.name: folder for folder in folders.engine_folders()}
    assert {"fake", "mariadb", "sqlite"} <= result.keys()
    assert "shared" not in result
    for name, folder in result.items():
        assert folder.package == f"burnish.engines.{name}"
        assert (folder.path / "engine.toml").is_file()


def test_an_installed_package_adds_one_without_being_imported(installed: Path) -> None:
    folder = install(installed, "aaa", "aaa_engine")
    (folder / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (folder / "engine.toml").touch()
    own = [name for name in names() if name != "aaa"]
    assert names() == [*own, "aaa"], "behind Burnish's own"
    assert folders.engine_folders()[-1] == folders.EngineFolder("aaa", "aaa_engine", folder)


def test_a_package_that_is_gone_is_named(installed: Path) -> None:
    folder = install(installed, "aaa", "aaa_engine")
    with pytest.raises(UserError, match=r"the engine 'aaa' of other 1\.2: no engine\.toml in package 'aaa_engine'"):
        folders.engine_folders()
    folder.rmdir()
    with pytest.raises(UserError, match=r"the engine 'aaa' of other 1\.2: there is no package 'aaa_engine'; reinstall"):
        folders.engine_folders()


def test_a_name_is_one_engines(installed: Path) -> None:
    (install(installed, "sqlite", "other_sqlite") / "engine.toml").touch()
    with pytest.raises(UserError, match=r"two engines are called 'sqlite': .*/engines/sqlite and .*/other_sqlite;"):
        folders.engine_folders()
