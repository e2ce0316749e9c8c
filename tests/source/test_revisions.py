"""Revisions of git repositories as sources, without a checkout of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.source import revisions, sources
from burnish.source.sources import SourceRequest


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
    return subprocess.run(
        ["git", "-C", folder, *identity, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """A repository with two releases, the newer one checked out and changed."""
    folder = tmp_path / "server"
    (folder / "sql").mkdir(parents=True)
    git(folder, "init", "-q")
    for version in ("8.4.8", "9.7.2"):
        (folder / "sql/version").write_text(version)
        (folder / "run.sh").write_text("#!/bin/sh\n")
        (folder / "run.sh").chmod(0o755)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "--allow-empty", "-m", version)
        git(folder, "tag", f"mysql-{version}")
    (folder / "sql/version").write_text("changed, not committed")
    return folder


def request(source: str | Path, sha256: str | None = None) -> SourceRequest:
    return SourceRequest("fake", None, Path(source), sha256)


def resolved(source: str | Path, tmp_path: Path, said: list[str] | None = None) -> sources.Source:
    return sources.resolve(request(source), cache=tmp_path, say=(said if said is not None else []).append)


def test_a_revision_is_taken_as_it_was_committed(server: Path, tmp_path: Path) -> None:
    word = f"{server}:mysql-8.4.8"
    source = resolved(word, tmp_path)
    commit = git(server, "rev-parse", "mysql-8.4.8")
    assert (source.version, source.origin) == ("8.4.8", f"revision {commit[:12]} of {server}")
    assert sources.known(request(word), cache=tmp_path) == source
    tree = sources.unpack(source, request(word), cache=tmp_path, place=tmp_path / "tree")
    assert (tree / "sql/version").read_text() == "8.4.8"
    assert (tree / "run.sh").stat().st_mode & 0o111
    assert not (tree / ".git").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".tree.lock", "server", "tree"], "nothing is left over"
    assert sources.folder_of(request(word)) is None
    other = resolved(f"{server}:mysql-9.7.2", tmp_path)
    assert other.digest != source.digest
    assert resolved(f"{server}:{commit}", tmp_path).digest == source.digest, "however it is named"
    assert resolved(f"{server / 'sql'}:mysql-8.4.8", tmp_path).digest != source.digest


def test_a_folder_of_a_repository_is_a_source_too(server: Path, tmp_path: Path) -> None:
    word = f"{server / 'sql'}:mysql-8.4.8"
    tree = sources.unpack(resolved(word, tmp_path), request(word), cache=tmp_path, place=tmp_path / "tree")
    assert (tree / "version").read_text() == "8.4.8"


def test_a_branch_that_moved_on_since_is_refused(server: Path, tmp_path: Path) -> None:
    word = f"{server}:HEAD"
    source = resolved(word, tmp_path)
    git(server, "commit", "-q", "-a", "-m", "more")
    with pytest.raises(UserError, match="changed since it was first read; nothing was unpacked"):
        sources.unpack(source, request(word), cache=tmp_path, place=tmp_path / "tree")


def test_submodules_are_named_since_git_keeps_them_elsewhere(server: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(server), "engine")
    git(server, "submodule", "add", "-q", str(tmp_path / "engine"), "storage")
    git(server, "commit", "-q", "-m", "with an engine")
    said: list[str] = []
    source = resolved(f"{server}:HEAD", tmp_path, said)
    assert source.note in said
    assert "without its submodules (storage), which git keeps elsewhere" in str(source.note)
    assert resolved(f"{server}:mysql-8.4.8", tmp_path).note is None


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("{server}:mysql-8.4.9", "has no revision 'mysql-8.4.9'; `git -C"),
        ("{server}:--all", "has no revision '--all'"),
        ("{tmp}/plain:main", "plain is in no git repository"),
        ("{tmp}/absent:main", "FOLDER:REVISION of git"),
    ],
)
def test_what_is_no_revision_is_refused_in_one_line(server: Path, tmp_path: Path, word: str, says: str) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(UserError) as raised:
        resolved(word.format(server=server, tmp=tmp_path), tmp_path)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_another_users_repository_is_one_and_git_says_how(
    server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(UserError, match=r"git config --global --add safe\.directory") as raised:
        resolved(f"{server}:mysql-8.4.8", tmp_path)
    assert "no git repository" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_digest_belongs_to_an_archive(server: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not for a revision; leave it out"):
        sources.resolve(request(f"{server}:HEAD", sha256="00"), cache=tmp_path, say=print)


def test_a_file_with_a_colon_is_no_revision(tmp_path: Path) -> None:
    (tmp_path / "server:8.4.tar").touch()
    assert not revisions.is_revision(tmp_path / "server:8.4.tar")
    assert not revisions.is_revision(tmp_path)
    assert revisions.is_revision(Path(f"{tmp_path}:main"))
