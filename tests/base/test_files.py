"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

import pytest

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.base.files import check_folder, drafted, link_or_copy, make_folder, write_whole


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
