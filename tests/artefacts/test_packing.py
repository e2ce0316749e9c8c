"""A packed folder: equal content has an equal digest, comes back as it was, and nothing else comes out of it."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.artefacts import packing
from burnish.artefacts.packing import DamagedError, NotPackable, Packed, Verifying, leads_inside

NAMES = st.text("aB.-_ é\n\udce9", min_size=1, max_size=8).filter(lambda name: name not in (".", ".."))
FILES = st.tuples(st.binary(max_size=1000), st.sampled_from([0o600, 0o644, 0o755, 0o400]))
TREES = st.dictionaries(NAMES, FILES | st.dictionaries(NAMES, FILES | st.just({}), max_size=3), max_size=4)


def lay(tree: dict, folder: Path, *, backwards: bool = False) -> None:  # type: ignore[type-arg]
    folder.mkdir(exist_ok=True)
    for name in sorted(tree, reverse=backwards):
        if isinstance(tree[name], dict):
            lay(tree[name], folder / name, backwards=backwards)
        else:
            content, mode = tree[name]
            (folder / name).write_bytes(content)
            (folder / name).chmod(mode)
            os.utime(folder / name, (1, 1) if backwards else None)


def read(folder: Path) -> dict:  # type: ignore[type-arg]
    return {
        path.name: read(path) if path.is_dir() else (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in folder.iterdir()
    }


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def member(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = "", content: bytes = b""
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, 0o644
    return info, content


def unpack(data: bytes, folder: Path, *, unpacked: int = 10_000, members: int = 10) -> None:
    folder.mkdir()
    packed = Packed(hashlib.sha256(data).hexdigest(), len(data), unpacked, members)
    packing.unpack(Verifying(io.BytesIO(data)), folder, packed)


@settings(max_examples=15, deadline=None)
@given(tree=TREES)
def test_equal_content_has_an_equal_digest_and_comes_back(tree: dict) -> None:  # type: ignore[type-arg]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        lay(tree, place / "a")
        lay(tree, place / "b", backwards=True)
        out = io.BytesIO()
        packed = packing.pack(place / "a", out)
        assert packed == packing.pack(place / "b")
        assert (packed.digest, packed.size) == (hashlib.sha256(out.getvalue()).hexdigest(), len(out.getvalue()))
        (place / "c").mkdir()
        packing.unpack(Verifying(io.BytesIO(out.getvalue())), place / "c", packed)
        assert read(place / "c") == tree


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_no_other_bytes_are_taken(data: st.DataObject) -> None:
    """Cut, longer, one byte changed, or anything at all: an error, and nothing outside of the folder."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        lay({"bin": {"server": (b"program" * 200, 0o755)}, "burnish.json": (b"{}", 0o644)}, place / "a")
        out = io.BytesIO()
        packed = packing.pack(place / "a", out)
        good = out.getvalue()
        where = data.draw(st.integers(0, len(good) - 1))
        bad = data.draw(
            st.sampled_from([good[:where], good + b"\0", good[:where] + bytes([good[where] ^ 1]) + good[where + 1 :]])
            | st.binary(max_size=3000)
        )
        (place / "c").mkdir()
        with pytest.raises(DamagedError):
            packing.unpack(Verifying(io.BytesIO(bad)), place / "c", packed)
        assert {path.name for path in place.iterdir()} == {"a", "c"}


def test_links_modes_and_hard_links(tmp_path: Path) -> None:
    folder = tmp_path / "entry"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib/one.so.1").write_text("one")
    (folder / "one").symlink_to("lib/one.so.1")
    (folder / "lib/up").symlink_to("../one")
    before = packing.pack(folder)
    os.link(folder / "lib/one.so.1", tmp_path / "elsewhere")
    assert packing.pack(folder) == before, "a hard link to a file elsewhere is no content"
    (folder / "lib/one.so.1").chmod(0o755)
    assert packing.pack(folder) != before, "its mode is"
    out = io.BytesIO()
    packed = packing.pack(folder, out)
    (tmp_path / "out").mkdir()
    packing.unpack(Verifying(io.BytesIO(out.getvalue())), tmp_path / "out", packed)
    assert (tmp_path / "out/lib/up").readlink() == Path("../one")
    assert (tmp_path / "out/lib/up").read_text() == "one"
    (folder / "bad").symlink_to("/etc/passwd")
    with pytest.raises(NotPackable, match="a link that leads outside"):
        packing.pack(folder)
    (folder / "bad").unlink()
    os.mkfifo(folder / "pipe")
    with pytest.raises(NotPackable, match="neither a file nor a folder"):
        packing.pack(folder)


@pytest.mark.parametrize(
    ("name", "target", "inside"),
    [
        ("a", "b", True), ("a/b", "../c", True), ("a/b/c", "../../x/y", True), ("a", "../b", False),
        ("a/b", "../../c", False), ("a", "/b", False), ("a", "l/../../b", False), ("a/b/c/m", "l/../x", False),
        ("a", "", False), ("a", ".", True),
    ],
)  # fmt: skip
def test_links_that_stay_inside(name: str, target: str, inside: bool) -> None:
    assert leads_inside(name, target) is inside


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ([member("/abs")], "leads outside"),
        ([member("../up")], "leads outside"),
        ([member("a/../../up")], "leads outside"),
        ([member("d", tarfile.SYMTYPE, "../.."), member("d/f")], "leads outside"),
        ([member("d", tarfile.SYMTYPE, "/tmp")], "leads outside"),
        ([member("d", tarfile.SYMTYPE, "x"), member("d/f")], "before its folder"),
        ([member("f"), member("f")], "File exists"),
        ([member("f", tarfile.LNKTYPE, "/etc/passwd")], "leads outside"),
        ([member("f", tarfile.CHRTYPE)], "a device"),
        ([member("f", tarfile.FIFOTYPE)], "a device"),
        ([member("f", content=b"x" * 10_001)], "more is in it than it declares"),
        ([member(f"f{number}") for number in range(11)], "more is in it than it declares"),
    ],
)
def test_what_an_archive_may_not_do(tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]], says: str) -> None:
    with pytest.raises(DamagedError, match=says):
        unpack(archive(*members), tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} - {"burnish-home"} == {"out"}
