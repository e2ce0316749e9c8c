"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

import pytest

from burnish.base import paths
from burnish.base.errors import OF_THE_HOST, UserError
from burnish.base.files import (
    check_folder,
    drafted,
    held,
    link_new,
    link_or_copy,
    linked_copy,
    locked,
    make_folder,
    write_out,
    write_whole,
    written_to,
)


def test_a_file_is_written_whole_or_nothing_stays(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    for content in (b"one", b"two"):
        write_whole(target, content)
        assert target.read_bytes() == content
    assert target.stat().st_mode & 0o777 == 0o644
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(folder, b"one")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "page.html"], "no draft is left"


def test_a_draft_takes_its_place_or_goes(tmp_path: Path) -> None:
    target = tmp_path / "package.deb"
    with drafted(target) as draft:
        draft.write_bytes(b"one")
        assert not target.exists()
    with suppress(KeyboardInterrupt), drafted(target) as draft:
        draft.write_bytes(b"half of tw")
        raise KeyboardInterrupt
    assert target.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
def test_a_home_without_locks_is_named_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refused(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refused)
    for lock in (lambda path: held(path, str), lambda path: locked(path, str)):
        says = rf"lock: cannot be locked \({os.strerror(number)}\)"
        with pytest.raises(UserError, match=says) as caught, lock(tmp_path / "lock"):
            pytest.fail("it is not held")
        assert "\n" not in str(caught.value)
        assert "BURNISH_HOME" in str(caught.value)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.ESTALE, errno.ETIMEDOUT])
def test_file_systems_of_a_network_fail_as_hosts_do(number: int) -> None:
    assert number in OF_THE_HOST


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_file_system_without_links_has_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refused(source: str, *_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), source)

    monkeypatch.setattr("os.link", refused)
    (tmp_path / "one/sub").mkdir(parents=True)
    (tmp_path / "one/sub/file").write_text("text")
    (tmp_path / "one/left").touch()
    linked_copy(tmp_path / "one", tmp_path / "other", "left")
    assert [str(path.relative_to(tmp_path / "other")) for path in sorted((tmp_path / "other").rglob("*"))] == [
        "sub",
        "sub/file",
    ]
    assert (tmp_path / "other/sub/file").read_text() == "text"


def test_a_file_in_a_folders_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(UserError, match=r"out: is a file, and a folder is to be there; name another$"):
        make_folder(tmp_path / "out")


def test_a_file_that_cant_be_written_is_refused_beforehand(tmp_path: Path) -> None:
    check_folder(tmp_path / "new")
    with pytest.raises(UserError, match="absent: there is no such folder"):
        check_folder(tmp_path / "absent/new")
    with pytest.raises(UserError, match="is a folder"):
        check_folder(tmp_path)


def test_a_home_has_no_folder_of_others_that_would_be_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "data"
    monkeypatch.setenv(paths.HOME_VARIABLE, str(place))
    (place / "scratch/mysql").mkdir(parents=True)
    with pytest.raises(UserError, match=r"data: is not Burnish's, which would empty the scratch in it; name a"):
        paths.home()
    assert [path.name for path in place.iterdir()] == ["scratch"]
    (place / "scratch").rename(place / "scratched")
    (place / "hosts/join").mkdir(parents=True)  # copied here before a worker is begun
    assert paths.home().root == place
    (place / paths.MARKER).unlink()
    (place / "scratch").mkdir()
    (place / "lock").touch()  # as an older Burnish left it
    assert paths.home().root == place
    (place / "lock").unlink()
    assert paths.home().root == place, "it is marked"


def test_a_file_is_linked_where_it_can_be_and_copied_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "a"
    source.write_text("content")
    link_or_copy(str(source), str(tmp_path / "b"))
    assert (tmp_path / "b").samefile(source)

    def elsewhere(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", elsewhere)
    link_or_copy(str(source), str(tmp_path / "c"))
    assert (tmp_path / "c").read_text() == "content"
    assert not (tmp_path / "c").samefile(source)


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk without room: a file's content can't be written."""

    def no_room(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", no_room)


def test_a_full_disk_leaves_a_users_file_as_it_was_and_names_it(tmp_path: Path, full: None) -> None:
    target, new, link = tmp_path / "speeds.csv", tmp_path / "new.csv", tmp_path / "link.csv"
    target.write_text("mine")
    link.symlink_to(target)
    for path in (target, new, link):
        with pytest.raises(OSError, match="No space left") as caught:
            write_out(path, "x" * 100_000)
        assert caught.value.filename == str(path)
    assert target.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.csv", "speeds.csv"]


def test_a_users_file_keeps_its_rights_and_a_link_and_a_device_are_not_replaced(tmp_path: Path) -> None:
    target, link, pipe = tmp_path / "speeds.csv", tmp_path / "link.csv", tmp_path / "pipe"
    target.touch(0o600)
    link.symlink_to(target)
    write_out(link, "one é")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "one é"
    assert target.stat().st_mode & 0o777 == 0o600
    before = os.umask(0o077)
    try:
        write_out(tmp_path / "new.csv", "two")
    finally:
        os.umask(before)
    assert (tmp_path / "new.csv").stat().st_mode & 0o777 == 0o600
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_out(pipe, "three")
        assert os.read(reading, 10) == b"three"
    finally:
        os.close(reading)
    assert pipe.is_fifo()


def test_an_error_of_writing_names_what_was_to_be_written_and_one_of_reading_what_was_read(tmp_path: Path) -> None:
    target, source = tmp_path / "package.deb", tmp_path / "source"
    with pytest.raises(OSError, match="No space") as caught, drafted(target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(source), None, str(target))  # as of shutil.copy2
    assert (caught.value.filename, caught.value.filename2) == (str(target), None)
    with pytest.raises(OSError, match="Input/output") as caught, written_to(target):
        raise OSError(errno.EIO, os.strerror(errno.EIO))  # as of a file's `write`
    assert caught.value.filename == str(target)
    with pytest.raises(PermissionError) as refused, drafted(target) as draft:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(draft))
    assert refused.value.filename == str(target)
    with pytest.raises(FileNotFoundError) as absent, drafted(target):
        source.read_bytes()
    assert absent.value.filename == str(source)


@pytest.mark.parametrize("number", [None, errno.EPERM, errno.EOPNOTSUPP])
def test_a_new_file_is_made_with_and_without_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int | None
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("one")
    source.chmod(0o600)

    def refused(*_: object) -> None:
        raise OSError(number, "no links")

    if number is not None:
        monkeypatch.setattr("os.link", refused)
    link_new(source, target)
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("one", 0o600)
    with pytest.raises(FileExistsError):
        link_new(source, target)
    assert target.read_text() == "one", "the first one stays"


def test_a_link_that_fails_otherwise_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EIO, "broken")

    (tmp_path / "source").touch()
    monkeypatch.setattr("os.link", refused)
    with pytest.raises(OSError, match="broken"):
        link_new(tmp_path / "source", tmp_path / "target")
    assert not (tmp_path / "target").exists()
