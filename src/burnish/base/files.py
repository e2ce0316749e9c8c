"""File operations: digests, atomic writes, locks between runs."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

from burnish.base.errors import FULL, BusyError, UserError

_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS})
"""Errors of a hard link on a file system that has none: vfat, some SMB and FUSE mounts."""


def sha256_of(path: Path) -> str:
    """Hex SHA-256 of a file's content; a `UserError` if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check the name and its rights") from None


def make_folder(folder: Path) -> Path:
    """`folder`, created if needed; a `UserError` without permission."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UserError(f"{folder}: is a file, and a folder is to be there; name another") from None
    except OSError as error:
        raise UserError(
            f"{folder}: cannot make this folder ({error.strerror}); name another home in BURNISH_HOME"
        ) from None
    return folder


def check_folder(file: Path) -> None:
    """A `UserError` for a file that can't be written because its folder is not there, or because it is one."""
    if not file.parent.is_dir():
        raise UserError(f"{file.parent}: there is no such folder; name a file in an existing one")
    if file.is_dir():
        raise UserError(f"{file}: is a folder; name a file in it")


def link_or_copy(source: str, target: str) -> None:
    """A hard link where both are on one file system that has them, else a copy; neither may be written to."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def link_new(source: Path, target: Path) -> None:
    """A new file `target` with the content and the rights of `source`: a hard link, so that it is there whole or not at
    all; on a file system without links it is written in place.

    Raises:
        FileExistsError: there is one.
    """
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    else:
        return
    data, mode = source.read_bytes(), source.stat().st_mode & 0o777
    number = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
    except BaseException:  # what is half written would count as the whole file
        target.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def written_to(path: Path) -> Iterator[None]:
    """Within it, a system error of writing `path` names it: one of a write names nothing, of a copy its source, of a
    draft that. An error of reading another file keeps that file's name.
    """
    try:
        yield
    except OSError as error:
        named = error.filename is not None and not Path(os.fsdecode(error.filename)).name.startswith(f".{path.name}.")
        if error.errno is None or (named and error.errno not in FULL):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_out(path: Path, text: str) -> None:
    """Writes the file that a user names, in UTF-8, whole or not at all: an older one stays if there is no room.

    A link stays one, and a file keeps its rights. What has no draft that could take its place is written to directly:
    a pipe, a device, a file in a folder without the right to write.
    """
    if path.exists() and not (path.is_file() and not path.is_mount() and os.access(path.resolve().parent, os.W_OK)):
        with written_to(path):
            path.write_text(text, encoding="utf-8")
        return
    target = path.resolve()
    with written_to(path):
        write_whole(target, text.encode(), target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())


def _umask() -> int:
    """Rights that new files of this process don't get."""
    mask = os.umask(0o077)  # it can only be read by setting it
    os.umask(mask)
    return mask


def write_whole(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Writes a file that is there whole or not at all: to a draft beside it, which takes its place or is removed."""
    with (
        written_to(path),
        tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file,
    ):
        draft = Path(file.name)
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            draft.chmod(mode)
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """A draft beside `path` to write to: it takes its place once that is done, and is removed if it fails."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with written_to(path):
            yield draft
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_json(path: Path, value: Mapping[str, object]) -> None:
    """Writes `value` to `path` atomically."""
    with drafted(path) as draft:
        draft.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n")


def read_json(path: Path) -> dict[str, object]:
    """The JSON object in `path`; an empty one if the file does not exist or has no object."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def size_of(folder: Path) -> int:
    """Bytes of the files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def remove_tree(folder: Path) -> None:
    """Removes a folder with its content (or a link); no error if it does not exist."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def linked_copy(folder: Path, target: Path, *without: str) -> None:
    """Fills the folder `target` with hard links to the files of `folder`, except those named in `without`; with copies
    where there are no links."""
    shutil.copytree(
        folder,
        target,
        dirs_exist_ok=True,
        copy_function=link_or_copy,
        symlinks=True,
        ignore=shutil.ignore_patterns(*without),
    )


def _lock(path: Path, file: IO[str], how: int) -> None:
    """Locks an open file.

    Raises:
        BlockingIOError: another process holds it.
        UserError: it cannot be locked, as on NFS without a lock daemon or on Lustre without ``flock``.
    """
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        raise
    except OSError as error:
        raise UserError(
            f"{path}: cannot be locked ({error.strerror}), and two runs would disturb each other without that; name a "
            "home on a file system with locks in BURNISH_HOME"
        ) from None


@contextlib.contextmanager
def held(path: Path, busy: Callable[[str], str]) -> Iterator[None]:
    """Holds the lock file `path`, which has this process's number then. The kernel releases it if this process dies.

    Args:
        path: the file, in a folder that exists.
        busy: what to say where another process, whose number it is given, holds it.

    Raises:
        BusyError: another process holds it.
        UserError: the file system has no locks.
    """
    with path.open("a+") as file:
        try:
            _lock(path, file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise BusyError(f"{path}: {busy(file.read().strip() or 'unknown')}") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


@contextlib.contextmanager
def locked(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Holds the lock file `path`; waits for another run that holds it. The kernel releases it if this process dies."""
    make_folder(path.parent)
    try:
        file = path.open("a")
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror}); check the rights of its folder") from None
    with file:
        try:
            _lock(path, file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another run that is working in {path.parent}")
            _lock(path, file, fcntl.LOCK_EX)
        yield
