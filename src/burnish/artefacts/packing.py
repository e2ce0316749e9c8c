"""A folder as one stream of bytes and back: equal content gives equal bytes, and wrong bytes make no folder.

The stream is a tar archive without what differs from host to host: entries sorted by name, no times, no owners, hard
links as files of their own, modes kept. It is not compressed, so that its digest does not depend on a library.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Protocol, cast

from burnish.base.errors import InfrastructureError

CHUNK = 1 << 20
_MODES = 0o777
"""Bits of a mode that are kept: not those that give a program its owner's rights."""


class Sink(Protocol):
    """Something that takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Takes all of them, or raises."""


class DamagedError(InfrastructureError):
    """An entry that is not what its digest and sizes say, or that would write outside of its folder."""


class NotPackable(InfrastructureError):
    """A folder with something in it that an entry may not hold."""


@dataclass(frozen=True)
class Packed:
    """What a packed folder is.

    Attributes:
        digest: hex SHA-256 of the stream.
        size: bytes of the stream.
        unpacked: bytes of the files in it.
        members: number of files, folders and links in it.
    """

    digest: str
    size: int
    unpacked: int
    members: int


class _Counting:
    """Passes bytes on, and knows their digest and number."""

    def __init__(self, sink: Sink | None) -> None:
        self._sink = sink
        self.sha256 = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        if self._sink is not None:
            self._sink.write(data)
        self.sha256.update(data)
        self.size += len(data)
        return len(data)


class Verifying:
    """Reads a stream, and knows the digest and number of the bytes that were read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._sha256 = hashlib.sha256()
        self.size = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        data = self._stream.read(size)
        self._sha256.update(data)
        self.size += len(data)
        return data

    def rest(self) -> str:
        """Reads what is left; returns the digest of the whole stream."""
        while self.read(CHUNK):
            pass
        return self._sha256.hexdigest()


def pack(folder: Path, sink: Sink | None = None) -> Packed:
    """Writes a folder's stream to `sink`, or only finds out what it is.

    Raises:
        NotPackable: it holds a device, a socket, or a link that leads outside.
    """
    out = _Counting(sink)
    unpacked = members = 0
    with tarfile.open(fileobj=cast(Any, out), mode="w|", format=tarfile.GNU_FORMAT, bufsize=CHUNK) as archive:
        for name, path in _sorted(folder):
            info, status = tarfile.TarInfo(name), path.lstat()
            info.mode = stat.S_IMODE(status.st_mode) & _MODES
            members += 1
            if stat.S_ISREG(status.st_mode):
                info.size = status.st_size
                unpacked += info.size
                with path.open("rb") as file:
                    archive.addfile(info, file)
                continue
            if stat.S_ISDIR(status.st_mode):
                info.type = tarfile.DIRTYPE
            elif stat.S_ISLNK(status.st_mode) and leads_inside(name, str(path.readlink())):
                info.type, info.linkname, info.mode = tarfile.SYMTYPE, str(path.readlink()), _MODES
            else:
                what = "a link that leads outside" if path.is_symlink() else "neither a file nor a folder"
                raise NotPackable(f"{path}: {what}; this entry stays on this host")
            archive.addfile(info)
    return Packed(out.sha256.hexdigest(), out.size, unpacked, members)


def _sorted(folder: Path, prefix: str = "") -> Iterator[tuple[str, Path]]:
    """Names below the folder, a folder before what is in it; in the order of their bytes."""
    for path in sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name)):
        name = f"{prefix}{path.name}"
        yield name, path
        if path.is_dir() and not path.is_symlink():
            yield from _sorted(path, f"{name}/")


def leads_inside(name: str, target: str) -> bool:
    """Whether a symbolic link stays in its folder, whatever other links it goes through; pure.

    Args:
        name: of the link, relative to the folder.
        target: as the link has it: not absolute, and ``..`` only at its beginning, where no other link can be.
    """
    parts = PurePosixPath(target).parts
    ups = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
    return (
        bool(target)
        and not target.startswith("/")
        and ".." not in parts[ups:]
        and ups <= len(PurePosixPath(name).parts) - 1
    )


def unpack(stream: Verifying, folder: Path, packed: Packed) -> None:
    """Fills an empty folder from a stream; the caller removes it if this fails.

    Args:
        stream: read to its end.
        folder: the empty folder.
        packed: what the stream must be: nothing that goes beyond it is written.

    Raises:
        DamagedError: the stream is not that, or not an archive that `pack` writes.
        OSError: it could not be read, or written here.
    """
    try:
        _extract(stream, folder, packed)
    except (tarfile.TarError, EOFError, ValueError, FileExistsError) as error:
        raise DamagedError(f"not an archive of an entry: {error}") from None
    digest = stream.rest()
    if stream.size != packed.size:
        raise DamagedError(f"{stream.size} bytes instead of {packed.size}")
    if digest != packed.digest:
        raise DamagedError(f"its digest is {digest[:16]}… instead of {packed.digest[:16]}…")


def _extract(stream: Verifying, folder: Path, packed: Packed) -> None:
    links: list[tuple[Path, str]] = []
    folders: list[tuple[Path, int]] = []
    unpacked = members = 0
    with tarfile.open(fileobj=cast(Any, stream), mode="r|", bufsize=CHUNK) as archive:
        for info in archive:
            members += 1
            unpacked += info.size if info.type == tarfile.REGTYPE else 0
            if members > packed.members or unpacked > packed.unpacked:
                raise ValueError("more is in it than it declares")
            target = folder / _inside(info.name)
            if not target.parent.is_dir():
                raise ValueError(f"{info.name!r}: before its folder")
            if info.type == tarfile.REGTYPE:
                _write(archive, info, target)
            elif info.type == tarfile.DIRTYPE:
                target.mkdir(mode=0o700)
                folders.append((target, info.mode & _MODES))
            elif info.type == tarfile.SYMTYPE and leads_inside(info.name, info.linkname):
                links.append((target, info.linkname))
            else:
                raise ValueError(f"{info.name!r}: a device, or a link that leads outside")
    for path, words in links:  # last, so that nothing can be written through one
        path.symlink_to(words)
    for path, mode in reversed(folders):
        path.chmod(mode)


def _write(archive: tarfile.TarFile, info: tarfile.TarInfo, target: Path) -> None:
    content = archive.extractfile(info)
    assert content is not None  # noqa: S101 - it is a file
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(handle, "wb") as file:  # noqa: PTH123 - a path would be opened again
        while data := content.read(CHUNK):
            file.write(data)
        os.fchmod(handle, info.mode & _MODES)


def _inside(name: str) -> str:
    """A member's name; ValueError if it is none that `pack` writes."""
    if not name or name.startswith("/") or any(part in ("", ".", "..") for part in name.split("/")):
        raise ValueError(f"{name!r}: a name that leads outside")
    return name
