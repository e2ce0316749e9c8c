"""A file system that may fail: fsspec's, with bounded retries, and errors that fit in one line."""

from __future__ import annotations

import contextlib
import datetime
import errno
import os
import re
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, TypeVar

from burnish.artefacts.packing import DamagedError, NotPackable
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.files import link_new

TRIES = 3
"""How often something is tried that may succeed when it is tried again."""

PAUSES_S = (0.5, 2.0)
"""Seconds before the second try, and before the third."""

BLOBS, INDEX, USED = "blobs", "index", "used"
"""Folders of packed entries, of the index files that name them, and of files whose age is that of an entry's use."""

INCOMING = "incoming"
"""Folder of uploads under way: what was not finished lies there and is never taken for a blob."""

INSTALL = "`pip install 'burnish[artefacts]'` adds it"

_WITHOUT_FOLDERS = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az"})
"""Schemes of stores that have no folders: making one there makes a bucket."""

_FORBIDDEN = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})

_FINAL = _FORBIDDEN | {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENAMETOOLONG, errno.ENOENT}
"""Errors that another try does not help with."""

_Result = TypeVar("_Result")


class UnreachableError(InfrastructureError):
    """The far side failed, again and again or in a way that does not pass."""


class ForbiddenError(UnreachableError):
    """The far side does not let this host do that."""


@dataclass(frozen=True)
class Object:
    """A file of the far side.

    Attributes:
        path: below the root.
        size: bytes.
        written: when, in seconds since the epoch by the far side's clock.
    """

    path: str
    size: int
    written: float


class Far:
    """The far side at a URL.

    Attributes:
        url: as the user gave it.
    """

    def __init__(self, url: str, fs: Any, root: str) -> None:
        self.url = url
        self._fs = fs
        self._root = root.rstrip("/")
        schemes = {fs.protocol} if isinstance(fs.protocol, str) else set(fs.protocol)
        self._local = "file" in schemes
        self._folders = not schemes & _WITHOUT_FOLDERS

    @property
    def folder(self) -> Path | None:
        """The folder, where it is one of this host's file systems; None: elsewhere."""
        return Path(self._root) if self._local else None

    def read(self, path: str) -> bytes | None:
        """The content of a small file; None if there is none."""
        try:
            return self.tried(f"reading {path}", lambda: bytes(self._fs.cat_file(self._full(path))))
        except FileNotFoundError:
            return None

    def read_all(self, paths: Sequence[str]) -> dict[str, bytes]:
        """The contents of small files, read at a time where the file system can; those that are gone are left out."""
        if not paths:
            return {}
        full = {self._full(path): path for path in paths}
        content = self.tried("reading the index", lambda: self._fs.cat(list(full), on_error="omit"))
        return {full[name]: bytes(data) for name, data in content.items()}

    def about(self, path: str) -> Object | None:
        """A file's facts; None if there is none."""
        try:
            return self.tried(f"looking at {path}", lambda: _object(path, self._fs.info(self._full(path))))
        except FileNotFoundError:
            return None

    def found(self, folder: str) -> list[Object]:
        """All files below a folder."""

        def find() -> list[Object]:
            found = self._fs.find(self._full(folder), detail=True)
            # Its root as the file system spells it: of an absolute path without a scheme, for example.
            cut = len(self._root) + 1
            return [_object(name[cut:], info) for name, info in sorted(found.items()) if info["type"] == "file"]

        try:
            return self.tried(f"listing {folder}", find)
        except FileNotFoundError:
            return []

    def write(self, path: str, data: bytes) -> None:
        """Writes a small file, over one that is there."""
        if self._local:
            self.upload(path, lambda file: file.write(data))
        else:
            self.tried(f"writing {path}", lambda: self._fs.pipe_file(self._full(path), data), answer=NotPackable)

    def create(self, path: str, data: bytes) -> bool:
        """Writes a small file unless there is one; returns whether it was written.

        In a folder it is whole or not there, by a hard link to a finished file where there are links. Elsewhere the
        store is asked to write only what is not there; some do not keep to that, so the caller reads it again.
        """

        def link() -> bool:
            draft = self._full(f"{INCOMING}/{uuid.uuid4().hex}")
            self._make_folders(draft, self._full(path))
            self._fs.pipe_file(draft, data)
            try:
                link_new(Path(draft), Path(self._full(path)))
            finally:
                self._fs.rm_file(draft)
            return True

        def put() -> bool:
            self._fs.pipe_file(self._full(path), data, mode="create")
            return True

        try:
            return self.tried(f"writing {path}", link if self._local else put, answer=FileExistsError)
        except FileExistsError:
            return False

    def upload(self, path: str, fill: Callable[[IO[bytes]], _Result]) -> _Result:
        """Writes a large file under another name, then renames it; `fill` is called again for each try."""

        def once() -> _Result:
            draft, target = self._full(f"{INCOMING}/{uuid.uuid4().hex}"), self._full(path)
            self._make_folders(draft, target)
            try:
                with self._fs.open(draft, "wb") as file:
                    result = fill(file)
                if self._local:
                    os.replace(draft, target)  # noqa: PTH105 - paths are the file system's
                    return result
                self._fs.cp_file(draft, target)
            except BaseException:
                with contextlib.suppress(Exception):
                    self._fs.rm_file(draft)
                raise
            self._fs.rm_file(draft)
            return result

        return self.tried(f"writing {path}", once, answer=NotPackable)

    @contextlib.contextmanager
    def opened(self, path: str) -> Iterator[IO[bytes]]:
        """A file to read, without another try; FileNotFoundError if there is none."""
        with self._fs.open(self._full(path), "rb") as file:
            yield file

    def remove(self, path: str) -> None:
        """Removes a file; no error if another was quicker."""
        with contextlib.suppress(FileNotFoundError):
            self.tried(f"removing {path}", lambda: self._fs.rm_file(self._full(path)))

    def tried(
        self, what: str, action: Callable[[], _Result], *, answer: type[Exception] = FileNotFoundError
    ) -> _Result:
        """Does something, `TRIES` times at most.

        Args:
            what: in words.
            action: what is done.
            answer: an error that is an answer; it is raised at once.

        Raises:
            DamagedError: it stayed so.
            UnreachableError: anything else.
        """
        for pause in (*PAUSES_S[: TRIES - 1], None):
            try:
                self._fs.invalidate_cache()
                return action()
            except (answer, NotPackable):
                raise
            except Exception as error:  # whatever the file system's package raises
                final = isinstance(error, OSError) and error.errno in _FINAL
                if pause is None or final:
                    if isinstance(error, DamagedError):
                        raise
                    forbidden = isinstance(error, OSError) and error.errno in _FORBIDDEN
                    kind = ForbiddenError if forbidden else UnreachableError
                    raise kind(f"{self.url}: {what}: {_words(error)}") from None
            time.sleep(pause)
        raise AssertionError

    def _make_folders(self, *paths: str) -> None:
        """Makes the folders of files, where there are folders."""
        for path in paths if self._folders else ():
            self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)

    def _full(self, path: str) -> str:
        return f"{self._root}/{path}"


def _words(error: Exception) -> str:
    """An error in one line."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return (text.strip().splitlines() or [type(error).__name__])[0]


def _object(path: str, info: Any) -> Object:
    """A file from what fsspec says of it; every file system calls its time by a name of its own."""
    moment = next((info[name] for name in ("mtime", "LastModified", "modified", "created") if info.get(name)), 0.0)
    written = moment.timestamp() if isinstance(moment, datetime.datetime) else float(moment)
    return Object(path, int(info["size"] or 0), written)


def open_far(url: str) -> Far:
    """The far side at a URL: a folder's path, ``file://``, ``s3://BUCKET/FOLDER``, or another scheme of fsspec.

    Raises:
        UserError: the URL has a password, or a package that it needs is not installed.
    """
    if re.match(r"[\w.+-]+://[^/]*:[^/]*@", url):
        raise UserError(
            f"{url.partition('://')[0]}://…: this URL has a password, which every record would repeat; give it in the "
            "environment or in the file that the store's own tools read"
        )
    scheme = re.match(r"[\w.+-]+(?=://)", url)
    place = url if scheme else str(Path(url).expanduser().absolute())
    try:
        fs, root = import_module("fsspec").url_to_fs(place, skip_instance_cache=True, use_listings_cache=False)
    except ModuleNotFoundError as error:
        if error.name != "fsspec":
            raise
        raise UserError(f"{url}: needs the package fsspec, which is not installed; {INSTALL}") from None
    except ImportError as error:  # fsspec's own words: "Install s3fs to access S3"
        of_s3 = scheme is not None and scheme[0] in ("s3", "s3a")
        raise UserError(f"{url}: {error}; {INSTALL if of_s3 else 'name a folder, or s3://BUCKET/FOLDER'}") from None
    except ValueError as error:
        raise UserError(f"{url}: {_words(error)}; name a folder, or s3://BUCKET/FOLDER") from None
    return Far(url, fs, root)
