"""Archives and git revisions of another server are refused in planning, by the few files that tell whose they are."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import Collection
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.catalogue import load
from burnish.engines.registry import create
from burnish.source import sources
from burnish.study.builds import source as module
from burnish.study.builds.source import check_source, source_request
from burnish.study.request.options import Options
from patchfiles import FASTER, write
from studying import burnish, text

TREES = {
    "mariadb": ("storage/maria/ma_open.c", "sql/mysqld.cc", "VERSION"),
    "mysql": ("sql/mysqld.cc", "MYSQL_VERSION"),
    "postgresql": ("configure", "src/backend/postmaster/postmaster.c"),
    "sqlite": ("main.mk", "test/speedtest1.c"),
    "fake": create(load.engine("fake")).source_files,
}
"""By engine, files of its source that tell which it is."""

PLACES = ("archive.tar.gz", "archive.zip", "without-top.tar.xz", "repository:v1", "repository/server:v1")
"""Sources that hold a tree: archives with one folder at their top and with none, a repository and a folder of one."""


def tree(place: Path, engine: str) -> Path:
    for name in (*TREES[engine], "README", "doc/much.txt"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text('MYSQL_VERSION_MAJOR=8\nMYSQL_VERSION_MINOR=4\nMYSQL_VERSION_PATCH="8"\n')
    return place


def named(place: Path, engine: str, word: str) -> Path:
    """A source of that kind with this engine's tree."""
    found = place / word
    if ":" in word:
        repository = place / "repository"
        tree(Path(str(found).partition(":")[0]), engine)
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"], ["tag", "v1"]):
            who = ["-c", "user.name=a", "-c", "user.email=a@b"]
            subprocess.run(["git", "-C", repository, *who, *words], check=True, capture_output=True)
        return found
    top = tree(place / f"{engine}-1.0", engine)
    if word.startswith("archive"):
        base, form = word.split(".", 1)
        shutil.make_archive(str(place / base), {"tar.gz": "gztar"}.get(form, form), place, top.name)
    else:
        with tarfile.open(found, "w:xz") as archive:
            for path in top.iterdir():
                archive.add(path, path.name)
    return found


@pytest.fixture
def laid(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The files that were laid out of each source."""
    found: list[set[str]] = []
    really = sources.some_of

    def seen(local: Path, names: Collection[str], place: Path) -> Path:
        really(local, names, place)
        found.append({str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()})
        return place

    monkeypatch.setattr(module.sources, "some_of", seen)
    return found


@pytest.mark.parametrize("word", PLACES)
def test_only_its_own_engine_takes_a_source(tmp_path: Path, laid: list[set[str]], word: str) -> None:
    home = Home(tmp_path / "home")
    for mine, files in TREES.items():
        (place := tmp_path / mine).mkdir()
        local = named(place, mine, word)
        for name in TREES:
            spec, options = load.engine(name), Options(source=local)
            if name == mine:
                check_source(home, spec, options)
                assert set(files) & set(create(spec).source_files) == laid[-1]
            else:
                with pytest.raises(UserError) as caught:
                    check_source(home, spec, options)
                assert str(caught.value).startswith(f"{local}: ")
                assert "\n" not in str(caught.value)
    assert not home.root.exists(), "nothing is unpacked"


def test_a_tree_that_was_built_in_is_refused(tmp_path: Path) -> None:
    configured = "CMakeCache.txt"
    for name, trace in (("postgresql", "config.status"), ("mysql", configured), ("mariadb", configured)):
        (place := tmp_path / name).mkdir()
        (tree(place / f"{name}-1.0", name) / trace).touch()
        with pytest.raises(UserError, match=f"{trace} is there"):
            check_source(Home(tmp_path), load.engine(name), Options(source=named(place, name, PLACES[0])))


def test_an_unpacked_tree_is_looked_at_where_it_is(tmp_path: Path, laid: list[set[str]]) -> None:
    """An earlier run had it; it may be another engine's, of a version that unpacked first."""
    home, spec = Home(tmp_path / "home"), load.engine("fake")
    for mine, refused in (("fake", False), ("sqlite", True)):
        (place := tmp_path / mine).mkdir()
        options = Options(source=named(place, mine, PLACES[0]))
        request, where = source_request(spec, options), home.work(spec.name) / "source"
        source = sources.known(request, cache=home.downloads)
        assert source is not None
        sources.unpack(source, request, cache=home.downloads, place=where)
        if refused:
            with pytest.raises(UserError, match=f"^{options.source}: not the fake engine's source"):
                check_source(home, spec, options)
        else:
            check_source(home, spec, options)
    assert not laid


def test_a_home_that_no_make_can_build_in_is_refused_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "my home"
    monkeypatch.setenv("BURNISH_HOME", str(home))
    for words in (("plan", "sqlite"), ("tune", "fake", "--yes")):
        child = burnish(*words)
        _, said = text(child)
        assert child.returncode == 2
        assert said == f"burnish: {home}: make takes no path with a space; name a folder without one in BURNISH_HOME\n"
    assert not (home / "work").exists()


def test_a_plan_of_another_servers_archive_ends_in_one_line(burnish_home: Path, tmp_path: Path) -> None:
    archive = named(tmp_path, "postgresql", PLACES[0])
    child = burnish("plan", "fake", "--source", archive)
    out, err = text(child)
    assert child.returncode == 2
    assert not out
    assert err.strip().endswith("not the fake engine's source (no server.c); take the one that is shipped")
    assert not list(burnish_home.glob("work/*/source"))


def test_patches_of_another_servers_archive_end_in_one_line_before_it_is_unpacked(
    burnish_home: Path, tmp_path: Path
) -> None:
    archive, change = named(tmp_path, "postgresql", PLACES[0]), write(tmp_path, faster=FASTER)
    for dry in ((), ("--dry-run",)):
        child = burnish("patch", archive, *change, "--engine", "fake", "--yes", *dry)
        out, err = text(child)
        assert child.returncode == 2
        assert not out
        (line,) = err.strip().splitlines()
        assert line.endswith("not the fake engine's source (no server.c); take the one that is shipped")
        assert not list(burnish_home.glob("work/*/source"))
