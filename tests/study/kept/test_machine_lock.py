"""One run at a time on a machine, whatever its home and user; the file that says so is opened with care."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.study.kept import machine as machine_lock
from burnish.study.kept.machine import NONE, VARIABLE, machine
from studying import OWN, QUICK, burnish, text


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "machine.lock"
    monkeypatch.setenv(VARIABLE, str(path))
    return path


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder as /tmp is one: everyone's, sticky."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


def test_root_and_users_take_the_same_folder(tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root can write to every folder; a user passes over those that are root's alone."""
    monkeypatch.delenv(VARIABLE, raising=False)
    roots, absent = tmp_path / "lock", tmp_path / "absent"
    roots.mkdir(mode=0o755)
    monkeypatch.setattr(machine_lock, "FOLDERS", (absent, roots, shared))
    with machine(Home(tmp_path / "a"), pytest.fail):
        assert [file.name for file in shared.iterdir()] == [machine_lock.NAME]
    assert not list(roots.iterdir())


def test_another_home_is_told_who_works_on_the_machine(file: Path, tmp_path: Path) -> None:
    with machine(Home(tmp_path / "a"), pytest.fail):
        with pytest.raises(UserError) as refused, machine(Home(tmp_path / "b"), pytest.fail):
            pass
        message = str(refused.value)
        assert message.startswith(f"{file}: another burnish (process {os.getpid()}, home {tmp_path / 'a'}) is building")
        assert "\n" not in message
    with machine(Home(tmp_path / "b"), pytest.fail):
        pass


@pytest.mark.parametrize(
    "words", [("tune", "fake", "--variant", "baseline,speed130", "--recipes", "own.toml", *QUICK), ("micro", "crc32c")]
)
def test_what_builds_or_measures_is_refused_meanwhile(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    with machine(Home(tmp_path / "other"), pytest.fail):
        child = burnish(*words)
    assert child.returncode == 2
    assert f"process {os.getpid()}, home {tmp_path / 'other'}" in text(child)[1]


def test_what_others_wrote_into_it_is_not_taken_for_a_sentence(file: Path, tmp_path: Path) -> None:
    with machine(Home(tmp_path), pytest.fail):
        file.write_bytes(b"\x1b[2J all is well\n" + b"x" * 100_000)
        nameless = r"another burnish \(which does not say who it is\)"
        with pytest.raises(UserError, match=nameless) as refused, machine(Home(tmp_path), pytest.fail):
            pass
    assert "well" not in str(refused.value)
    assert "\x1b" not in str(refused.value)


def test_no_link_is_followed_and_nothing_but_a_plain_file_is_taken(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")

    def linked() -> None:
        file.symlink_to(target)

    makers: list[Callable[[], None]] = [
        linked,
        lambda: file.hardlink_to(target),
        lambda: os.mkfifo(file),
        file.mkdir,
    ]
    for make in makers:
        make()
        said: list[str] = []
        with machine(Home(tmp_path), said.append):
            assert target.read_text() == "precious"
        assert len(said) == 1
        assert "so runs of other homes and users are not noticed" in said[0]
        if file.is_dir() and not file.is_symlink():
            file.rmdir()
        else:
            file.unlink()


def test_every_user_can_hold_it_whoever_made_it(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel forbids O_CREAT on other users' files in sticky folders, for root as well."""
    file = shared / "burnish.lock"
    monkeypatch.setenv(VARIABLE, str(file))
    before = os.umask(0o077)
    try:
        with machine(Home(tmp_path), pytest.fail):
            assert file.stat().st_mode & 0o777 == 0o666
    finally:
        os.umask(before)
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    os.chown(file, 65534, 65534)
    with machine(Home(tmp_path), pytest.fail):
        assert file.read_text() == f"{os.getpid()} {tmp_path}\n"


def test_a_file_that_was_removed_meanwhile_is_not_what_others_will_lock(file: Path, tmp_path: Path) -> None:
    with machine(Home(tmp_path / "a"), pytest.fail):
        file.unlink()
        refused = pytest.raises(UserError, match=f"home {tmp_path / 'b'}")
        with machine(Home(tmp_path / "b"), pytest.fail), refused, machine(Home(tmp_path / "c"), pytest.fail):
            pass


def test_workers_that_play_hosts_on_one_machine_go_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, NONE)
    with machine(Home(tmp_path / "a"), pytest.fail), machine(Home(tmp_path / "b"), pytest.fail):
        pass
