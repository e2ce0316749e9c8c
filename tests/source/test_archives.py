from __future__ import annotations

import io
import os
import shutil
import socket
import tarfile
import zipfile
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.source import archives

Member = tuple[str, str, bytes | str]  # name, kind, content or target


def make_tar(path: Path, members: list[Member], mode: str = "w:gz") -> Path:
    kinds = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "pipe": tarfile.FIFOTYPE, "folder": tarfile.DIRTYPE}
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for name, kind, content in members:
            info = tarfile.TarInfo(name)
            info.mode = 0o4777 if kind == "program" else 0o600
            data = b""
            if kind in kinds:
                info.type = kinds[kind]
                info.linkname = str(content) if kind in {"link", "hard"} else ""
            else:
                assert isinstance(content, bytes)
                data = content
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


GOOD: list[Member] = [
    ("top/", "folder", ""),
    ("top/a.c", "file", b"int a;"),
    ("top/configure", "program", b"#!/bin/sh"),
    ("top/sub/b.c", "file", b"int b;"),
    ("top/sub/up", "link", "../a.c"),
    ("top/same", "hard", "top/a.c"),
]


@pytest.fixture(params=[True, False], ids=["filter", "guard-alone"])
def filtered(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param and not archives._HAS_DATA_FILTER:
        pytest.skip("this Python's tarfile has no filter")
    monkeypatch.setattr(archives, "_HAS_DATA_FILTER", request.param)


@pytest.mark.parametrize(("suffix", "mode"), [(".tar.gz", "w:gz"), (".tar.xz", "w:xz"), (".tar.bz2", "w:bz2")])
def test_tar_loses_its_top_folder_and_owner_bits(tmp_path: Path, filtered: None, suffix: str, mode: str) -> None:
    archive = make_tar(tmp_path / f"x{suffix}", GOOD, mode)
    old = os.umask(0o077)
    try:
        archives.extract(archive, tmp_path / "tree")
    finally:
        os.umask(old)
    tree = tmp_path / "tree"
    assert (tree / "a.c").read_bytes() == b"int a;" == (tree / "sub/up").read_bytes()
    assert (tree / "sub/up").is_symlink()
    assert (tree / "configure").stat().st_mode & 0o7777 == 0o755
    assert (tree / "a.c").stat().st_mode & 0o7777 == 0o644
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tree", archive.name]


@pytest.mark.skipif(shutil.which("zstd") is None, reason="zstd is not installed")
def test_tar_zst(tmp_path: Path) -> None:
    from burnish.base import process

    plain = make_tar(tmp_path / "x.tar", GOOD, "w:")
    process.run(["zstd", "-q", "--rm", plain]).check("zstd")
    archives.extract(tmp_path / "x.tar.zst", tmp_path / "tree")
    assert (tmp_path / "tree/a.c").read_bytes() == b"int a;"


def test_several_entries_at_the_top_stay(tmp_path: Path) -> None:
    archive = make_tar(tmp_path / "x.tar.gz", [("a", "file", b"1"), ("b/c", "file", b"2")])
    archives.extract(archive, tmp_path / "tree")
    assert (tmp_path / "tree/b/c").read_bytes() == b"2"


HOSTILE: dict[str, list[Member]] = {
    "parent": [("top/../../evil", "file", b"x")],
    "absolute": [("/tmp/burnish-evil", "file", b"x")],
    "link-out": [("top/l", "link", "../../elsewhere")],
    "link-absolute": [("top/l", "link", "/etc/passwd")],
    "through-link": [("top/l", "link", "sub"), ("top/l/evil", "file", b"x")],
    "over-link": [("top/l", "link", "other"), ("top/./l", "file", b"x")],
    "hard-out": [("top/h", "hard", "../evil")],
    "hard-to-link": [("top/l", "link", "x"), ("top/h", "hard", "top/l")],
    "links-of-links": [("s", "link", "."), ("t", "link", "s/s/s/../../.."), ("a", "file", b"x")],
    "pipe": [("top/p", "pipe", "")],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tar_is_refused_in_one_line_and_leaves_nothing(tmp_path: Path, filtered: None, name: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    archive = make_tar(inner / "x.tar.gz", [("top/good", "file", b"x"), *HOSTILE[name]])
    with pytest.raises(UserError, match=r"x\.tar\.gz") as caught:
        archives.extract(archive, inner / "tree")
    assert "\n" not in str(caught.value)
    assert [path.name for path in inner.iterdir()] == ["x.tar.gz"]
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]
    assert not Path("/tmp/burnish-evil").exists()


def test_zip_keeps_executable_bits(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as bundle:
        program = zipfile.ZipInfo("sqlite-src/configure")
        program.external_attr = 0o100755 << 16
        bundle.writestr(program, "#!/bin/sh")
        bundle.writestr("sqlite-src/src/a.c", "int a;")
    archives.extract(tmp_path / "x.zip", tmp_path / "tree")
    assert os.access(tmp_path / "tree/configure", os.X_OK)
    assert (tmp_path / "tree/src/a.c").read_text() == "int a;"


def test_a_zip_whose_writer_left_the_dates_empty(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as bundle:
        bundle.writestr("src/a.c", "int a;")
    data = (tmp_path / "x.zip").read_bytes()
    dated = zipfile.ZipFile(tmp_path / "x.zip").infolist()[0].date_time
    dos = ((dated[0] - 1980) << 9 | dated[1] << 5 | dated[2]).to_bytes(2, "little")
    (tmp_path / "x.zip").write_bytes(data.replace(dos, b"\0\0"))
    assert zipfile.ZipFile(tmp_path / "x.zip").infolist()[0].date_time[1:3] == (0, 0)
    archives.extract(tmp_path / "x.zip", tmp_path / "tree")
    assert (tmp_path / "tree/a.c").read_text() == "int a;"


@pytest.mark.parametrize("name", ["../evil", "/tmp/burnish-evil"])
def test_hostile_zip_is_refused(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as bundle:
        bundle.writestr("good", "x")
        bundle.writestr(zipfile.ZipInfo(name), "x")
    with pytest.raises(UserError, match="outside its folder"):
        archives.extract(tmp_path / "x.zip", tmp_path / "tree")
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


@pytest.mark.parametrize("suffix", [".tar.gz", ".tar.xz", ".tar.bz2", ".zip"])
@pytest.mark.parametrize("how", ["cut", "garbage"])
def test_damaged_archive(tmp_path: Path, suffix: str, how: str) -> None:
    archive = tmp_path / f"x{suffix}"
    if suffix == ".zip":
        with zipfile.ZipFile(archive, "w") as bundle:
            bundle.writestr("a", os.urandom(100_000))
    else:
        make_tar(archive, [("a", "file", os.urandom(100_000)), ("b", "file", b"x")], f"w:{suffix[5:]}")
    content = archive.read_bytes()
    archive.write_bytes(content[: len(content) // 2] if how == "cut" else b"no archive at all " * 100)
    with pytest.raises(UserError, match="nothing was unpacked"):
        archives.extract(archive, tmp_path / "tree")
    assert [path.name for path in tmp_path.iterdir()] == [archive.name]


def make_tree(folder: Path) -> Path:
    (folder / "sub/empty").mkdir(parents=True)
    (folder / "a.c").write_text("int a;")
    (folder / "sub/run").write_text("#!/bin/sh")
    (folder / "sub/run").chmod(0o700)
    (folder / "sub/l").symlink_to("../a.c")
    (folder / ".git").mkdir()
    (folder / ".git/HEAD").write_text("x")
    return folder


def test_copy_has_the_same_digest_and_no_version_control(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    archives.copy_tree(tree, tmp_path / "copy")
    assert archives.tree_digest(tmp_path / "copy") == archives.tree_digest(tree)
    assert not (tmp_path / "copy/.git").exists()
    assert os.access(tmp_path / "copy/sub/run", os.X_OK)
    assert (tmp_path / "copy/sub/l").is_symlink()


def test_digest_sees_content_name_executable_bit_link_and_folder_but_not_umask(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    seen = [archives.tree_digest(tree)]
    (tree / "a.c").chmod(0o600)
    (tree / ".git/HEAD").write_text("y")
    assert archives.tree_digest(tree) == seen[0]

    def changed() -> bool:
        seen.append(archives.tree_digest(tree))
        return seen[-1] not in seen[:-1]

    (tree / "a.c").write_text("int b;")
    assert changed()
    (tree / "a.c").chmod(0o755)
    assert changed()
    (tree / "a.c").rename(tree / "b.c")
    assert changed()
    (tree / "sub/l").unlink()
    (tree / "sub/l").symlink_to("../b.c")
    assert changed()
    (tree / "sub/empty").rmdir()
    assert changed()


def test_digest_sees_what_a_link_leads_to_elsewhere(tmp_path: Path) -> None:
    """The compiler reads it there, in the copy too."""
    tree = make_tree(tmp_path / "tree")
    before = archives.tree_digest(tree)
    (tmp_path / "mine.c").write_text("int mine;")
    (tree / "mine.c").symlink_to(tmp_path / "mine.c")
    seen = archives.tree_digest(tree)
    (tmp_path / "mine.c").write_text("int other;")
    assert len({before, seen, archives.tree_digest(tree)}) == 3
    (tree / "mine.c").unlink()
    (tree / "engine").symlink_to(tmp_path)
    with pytest.raises(UserError, match=rf"engine: leads out of the source folder, to {tmp_path}; put a copy in its"):
        archives.tree_digest(tree)


def test_a_copys_links_lead_to_the_same_as_the_trees(tmp_path: Path) -> None:
    """Else its digest is another one, so that no source with such links can be unpacked."""
    (tmp_path / "mine").write_text("#!/bin/sh")
    (tmp_path / "mine").chmod(0o755)
    tree = make_tree(tmp_path / "tree")
    (tree / "sub/out").symlink_to("../../mine")
    (tree / "sub/back").symlink_to(tree / "a.c")
    (tree / "folder").symlink_to(tree / "sub")
    copy = tmp_path / "other/place/copy"
    copy.parent.mkdir(parents=True)
    archives.copy_tree(tree, copy)
    assert archives.tree_digest(copy) == archives.tree_digest(tree)
    assert not (copy / "sub/out").is_symlink()
    assert os.access(copy / "sub/out", os.X_OK)
    assert [os.readlink(copy / name) for name in ("sub/back", "folder")] == ["../a.c", "sub"]  # noqa: PTH115
    before = archives.tree_digest(tree)
    (tmp_path / "mine").write_text("#!/bin/dash")
    assert archives.tree_digest(tree) != before


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tree / "server.sock"))
        with pytest.raises(UserError, match=r"server\.sock: neither file"):
            archives.tree_digest(tree)
