"""Unpacks archives and copies folders; an archive that would write outside its folder is rejected."""

from __future__ import annotations

import calendar
import hashlib
import lzma
import os
import posixpath
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from itertools import accumulate
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.files import remove_tree, sha256_of

TAR_SUFFIXES = (
    ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tar.lzma", ".tar.zst", ".tar",
)  # fmt: skip
ZIP_SUFFIX = ".zip"
VERSION_CONTROL = ".git"

# tarfile's own filter exists since Python 3.11.4; before that (Debian 12 has 3.11.2) _Guard is the only check.
_HAS_DATA_FILTER = hasattr(tarfile, "data_filter")
_DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    RuntimeError,  # zipfile: encrypted
    NotImplementedError,  # zipfile: unknown compression
)


def is_archive(path: Path) -> bool:
    """Whether the name is that of an archive that can be unpacked."""
    return path.name.endswith((*TAR_SUFFIXES, ZIP_SUFFIX))


class _Guard:
    """Rejects members that would be written outside the folder into which they are unpacked.

    Members are checked in the order in which they are written, so that a write can only follow links that are already
    known. It does not rely on tarfile's filter, which older Pythons lack and zip files do not have.
    """

    def __init__(self, archive: Path) -> None:
        self.archive = archive
        self.links: set[str] = set()
        self.tops: set[str] = set()
        """First parts of all names."""

    def refuse(self, name: str, why: str) -> UserError:
        return UserError(
            f"{self.archive}: its member {name!r} {why}; nothing was unpacked, take the archive from its origin"
        )

    def place(self, name: str) -> str:
        """The member's normalised name; raises a `UserError` if a file of that name would be written elsewhere."""
        if name.startswith("/") or ".." in name.split("/"):
            raise self.refuse(name, "would be written outside its folder")
        plain = posixpath.normpath(name)
        self.tops |= {plain.split("/")[0]} - {"."}
        if self.links and any(path in self.links for path in accumulate(plain.split("/"), "{}/{}".format)):
            raise self.refuse(name, "would be written through a link")
        return plain

    def link(self, name: str, target: str) -> None:
        """Registers a symbolic link; raises a `UserError` if the link or its target is outside the folder."""
        self.links.discard(posixpath.normpath(name))  # a link may replace a link, which is not followed
        plain = self.place(name)
        destination = posixpath.normpath(posixpath.join(posixpath.dirname(plain), target))
        if target.startswith("/") or destination.split("/")[0] == "..":
            raise self.refuse(name, f"is a link to {target!r}, outside its folder")
        self.links.add(plain)

    def finish(self, folder: Path) -> None:
        """Checks for links that lead outside through other links, which is only possible when all of them exist."""
        root = Path(os.path.realpath(folder))
        for name in self.links:
            if not Path(os.path.realpath(folder / name)).is_relative_to(root):
                raise self.refuse(name, "is a link that leads outside its folder")


def extract(archive: Path, place: Path, only: Collection[str] | None = None) -> None:
    """Unpacks `archive` as the new folder `place`; a single top-level folder is stripped.

    Files belong to the current user and have mode 755 or 644, so that a tree does not depend on who unpacks it.

    Args:
        archive: a file that `is_archive` accepts.
        place: where the tree appears; must not exist, its parent must.
        only: the files that are unpacked, by their names in the tree, as far as they are there; None: all.

    Raises:
        UserError: a member would be written outside, or the archive is damaged.
        InfrastructureError: the disk is full or the like.
    """
    raw = place.with_name(place.name + ".raw")
    raw.mkdir()
    guard = _Guard(archive)
    try:
        if archive.name.endswith(ZIP_SUFFIX):
            _extract_zip(archive, raw, guard, only)
        elif archive.name.endswith(".zst"):
            _extract_tar(_without_zstd(archive, place.with_name(place.name + ".tar")), raw, guard, only)
        else:
            _extract_tar(archive, raw, guard, only)
        guard.finish(raw)
        if not guard.tops:
            raise UserError(f"{archive}: it is empty; a source holds files")
        top = raw / next(iter(guard.tops))
        stripped = len(guard.tops) == 1 and top.is_dir() and not top.is_symlink()
        (top if stripped else raw).replace(place)
    except _DAMAGED as error:
        raise UserError(
            f"{archive}: cannot be unpacked, damaged or cut short? ({error}); nothing was unpacked, fetch it anew"
        ) from None
    except OSError as error:
        if error.errno is None:  # raised by gzip and bz2 for bad data
            raise UserError(f"{archive}: damaged ({error}); nothing was unpacked, fetch it anew") from None
        raise InfrastructureError(f"{archive}: cannot be unpacked: {error}") from error
    finally:
        remove_tree(raw)
        place.with_name(place.name + ".tar").unlink(missing_ok=True)


def _is_wanted(name: str, only: Collection[str] | None) -> bool:
    """Whether a member is one of these files of the tree, whose top may be a folder of the archive."""
    return only is None or name in only or name.partition("/")[2] in only


def extract_all(tar: tarfile.TarFile, folder: Path, origin: Path) -> None:
    """Unpacks an open archive into a folder that is there, with the checks and modes of `extract`.

    Args:
        tar: the archive.
        folder: where its members go.
        origin: its name for messages.

    Raises:
        UserError: a member would be written outside.
        tarfile.TarError, OSError, EOFError, zlib.error: the archive is damaged, or cannot be written.
    """
    guard = _Guard(origin)
    _extract_members(tar, folder, guard, None)
    guard.finish(folder)


def _extract_tar(archive: Path, folder: Path, guard: _Guard, only: Collection[str] | None) -> None:
    with tarfile.open(archive) as tar:
        _extract_members(tar, folder, guard, only)


def _extract_members(tar: tarfile.TarFile, folder: Path, guard: _Guard, only: Collection[str] | None) -> None:
    for member in tar:
        if member.issym():
            guard.link(member.name, member.linkname)
        elif member.islnk():
            member.linkname = guard.place(member.linkname)
        elif not (member.isreg() or member.isdir()):
            raise guard.refuse(member.name, "is a device or a pipe")
        if not member.issym():
            member.name = guard.place(member.name)
        if not _is_wanted(posixpath.normpath(member.name), only):
            continue
        member.mode = _mode(member.mode, folder=member.isdir())
        member.uid, member.gid = os.getuid(), os.getgid()
        member.uname = member.gname = ""
        if _HAS_DATA_FILTER:
            tar.extract(member, folder, filter="data")
        else:
            tar.extract(member, folder)  # checked by the guard


def _mode(mode: int, *, folder: bool) -> int:
    return 0o755 if folder or mode & stat.S_IXUSR else 0o644


def _without_zstd(archive: Path, plain: Path) -> Path:
    if shutil.which("zstd") is None:
        raise UserError(f"{archive}: unpacking it needs zstd; install it with `apt install zstd`")
    done = process.run(["zstd", "-q", "-d", "-f", archive, "-o", plain])
    if not done.ok:
        raise UserError(f"{archive}: damaged ({done.output.strip()}); nothing was unpacked, fetch it anew")
    return plain


def _extract_zip(archive: Path, folder: Path, guard: _Guard, only: Collection[str] | None) -> None:
    with zipfile.ZipFile(archive) as bundle:
        for info in bundle.infolist():
            mode = info.external_attr >> 16
            if stat.S_ISLNK(mode):
                raise guard.refuse(info.filename, "is a link, which zip sources may not hold")
            name = guard.place(info.filename)
            target = folder / name
            if not _is_wanted(name, only):
                continue
            if info.is_dir():
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            with bundle.open(info) as content, target.open("wb") as file:
                shutil.copyfileobj(content, file, 1 << 20)
            target.chmod(_mode(mode, folder=False))
            # zip has no time zone: use the same one everywhere. Some writers leave month and day 0.
            year, month, day, *clock = info.date_time
            when = calendar.timegm((year, max(month, 1), max(day, 1), *clock))
            os.utime(target, (when, when))


def _entries(folder: Path, without: frozenset[str], inside: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """(relative name, entry) of everything in `folder`, parents first, in an order independent of the host."""
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        name = inside + entry.name
        if entry.name == VERSION_CONTROL or name in without:
            continue
        yield name, entry
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(Path(entry.path), without, name + "/")


def tree_digest(folder: Path, *, without: frozenset[str] = frozenset()) -> str:
    """Hex SHA-256 over the names, kinds, executable bits and contents of everything in `folder`.

    Other permission bits are ignored, because they depend on the umask with which the copy was made; so are ``.git``
    and the names in `without` (relative to `folder`).

    Raises:
        UserError: something is neither file, folder nor link, cannot be read, or leads to a folder elsewhere.
    """
    total = hashlib.sha256()
    try:
        for name, entry in _entries(folder, without):
            if entry.is_symlink():
                kind, content = _link(Path(entry.path), folder)
            elif entry.is_dir():
                kind, content = "folder", ""
            elif entry.is_file():
                kind, content = _file(Path(entry.path))
            else:
                raise UserError(f"{entry.path}: neither file, folder nor link; take it out of the source folder")
            total.update(f"{kind}\0{name}\0{content}\0".encode(errors="surrogateescape"))
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be read ({error.strerror}); check its rights") from None
    return total.hexdigest()


def _file(path: Path) -> tuple[str, str]:
    """(kind, content) of a file for `tree_digest`."""
    return "program" if path.stat().st_mode & stat.S_IXUSR else "file", sha256_of(path)


def _link(link: Path, folder: Path) -> tuple[str, str]:
    """(kind, content) of what a copy has in a link's place; with the digest of a file that it still leads to elsewhere.

    A build reads that file where it is.
    """
    there = _copied(link, folder)
    if isinstance(there, Path):
        return _file(there)
    target = link.resolve()
    elsewhere = target.exists() and not target.is_relative_to(folder.resolve())
    return "link", f"{there}\0{sha256_of(target)}" if elsewhere else there


def _copied(link: Path, folder: Path) -> str | Path:
    """What a copy of `folder` has in a link's place: a link with this text, or a copy of this file.

    A relative link out of the folder leads elsewhere from a copy, and an absolute one into it to the original.
    """
    text, target = os.readlink(link), link.resolve()  # noqa: PTH115 - text as it is
    if not target.exists():
        return text
    if target.is_relative_to(folder.resolve()):
        return os.path.relpath(target, link.parent.resolve()) if text.startswith("/") else text
    if not target.is_file():
        raise UserError(f"{link}: leads out of the source folder, to {target}; put a copy in its place, or take it out")
    return text if text.startswith("/") else target


def copy_tree(folder: Path, place: Path, *, without: frozenset[str] = frozenset()) -> None:
    """Copies what `tree_digest` covers to the new folder `place`: modes 755 or 644, times kept.

    Links are kept where they lead to the same from the copy.
    """
    place.mkdir()
    try:
        for name, entry in _entries(folder, without):
            target = place / name
            what = _copied(Path(entry.path), folder) if entry.is_symlink() else Path(entry.path)
            if isinstance(what, str):
                target.symlink_to(what)
            elif what.is_dir():
                target.mkdir()
            else:
                shutil.copyfile(what, target)
                status = what.stat()
                target.chmod(_mode(status.st_mode, folder=False))
                os.utime(target, ns=(status.st_mtime_ns, status.st_mtime_ns))
    except OSError as error:
        raise InfrastructureError(f"{folder}: cannot be copied to {place}: {error}") from error
