"""What several hosts share of their stores, at one URL.

The far side holds packed entries by their digest (``blobs/``), and for each kind and key a small index file that names
one (``index/``). The index is written last, so that nothing half uploaded is ever taken for finished. A file of the
same name in ``used/`` is written again at each use: its age decides what goes first when the store is too large.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import IO, Annotated

from pydantic import NonNegativeInt, StringConstraints, TypeAdapter, ValidationError

from burnish.artefacts import bounding, packing
from burnish.artefacts.bounding import Held
from burnish.artefacts.far import BLOBS, INDEX, USED, Far, UnreachableError, open_far
from burnish.artefacts.packing import DamagedError, Packed, Verifying
from burnish.base.errors import UserError
from burnish.record.store import PARTIAL, put_in_place

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class TakenError(UserError):
    """Another host was first with this entry, and its bytes are others."""


@dataclass(frozen=True)
class _Index:
    """What an index file says: the packed entry, and a note for people."""

    digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    size: NonNegativeInt
    unpacked: NonNegativeInt
    members: NonNegativeInt
    note: str = ""

    @property
    def packed(self) -> Packed:
        return Packed(self.digest, self.size, self.unpacked, self.members)


_INDEX = TypeAdapter(_Index)


@dataclass(frozen=True)
class Artefacts:
    """Packed entries at a URL.

    Attributes:
        far: the far side.
        limit: most bytes of packed entries; None: not bounded from here.
    """

    far: Far
    limit: int | None = None

    def push(self, kind: str, key: str, folder: Path, *, note: str = "", replace: bool = False) -> str:
        """Packs a folder and puts it there, unless it is there already.

        Args:
            kind: as in the local store.
            key: its name.
            folder: left as it is.
            note: for people who list the store.
            replace: over one that is there with other bytes, or whose bytes are damaged.

        Returns:
            the digest of the packed entry.

        Raises:
            TakenError: there is one with other bytes; it stays.
            UserError: it is larger than the whole store may be.
            InfrastructureError: the far side failed, or the folder can't be packed.
        """
        packed, name = packing.pack(folder), _name(kind, key)
        if self.limit is not None and packed.size > self.limit:
            raise UserError(
                f"{kind} {key}: has {packed.size / 1e9:.2f} GB packed, and the store may hold {self.limit / 1e9:.2f}; "
                "allow it more with --artefacts-gb"
            )
        there = self._index(name)
        if replace or there is None or not self._whole(there):
            there = self._put(name, folder, packed, note, replace=replace)
        if there is None or there.digest != packed.digest:
            raise TakenError(f"{kind} {key}: another host was first with other bytes; these stay")
        self._use(name)
        with contextlib.suppress(UnreachableError):  # the entry is there; another push will do it
            bounding.sweep(self.far, f"{USED}/{name}")
        if self.limit is not None:
            bounding.make_room(self.far, self.limit, self.held)
        return packed.digest

    def _put(self, name: str, folder: Path, packed: Packed, note: str, *, replace: bool) -> _Index | None:
        """Writes the bytes, then the index; returns the index that is there then."""
        index = _Index(packed.digest, packed.size, packed.unpacked, packed.members, note)
        path, text = f"{INDEX}/{name}", json.dumps(asdict(index), indent=1).encode()
        if replace or not self._whole(index):
            self._upload(folder, packed)
        if replace:
            self.far.write(path, text)
        elif not self.far.create(path, text):
            first = self._index(name)
            if first is None or not self._whole(first):  # it can't be read, or its bytes are gone
                self.far.write(path, text)
        if not self._whole(index):  # another host made room before the index was there
            self._upload(folder, packed)
        return self._index(name)

    def fetch(self, kind: str, key: str, into: Path) -> bool:
        """Brings an entry here: whole, with its digest verified, moved to `into` by one rename; or not at all.

        Args:
            kind: as in the local store.
            key: its name.
            into: the folder to make; one that is there is replaced.

        Returns:
            whether there is such an entry.

        Raises:
            DamagedError: its bytes stay wrong, however often they are read.
            InfrastructureError: the far side failed, or there is no room here.
        """
        name = _name(kind, key)
        index = self._index(name)
        if index is None or not self._whole(index):
            return False
        into.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (free := shutil.disk_usage(into.parent).free) < index.unpacked:
            raise UnreachableError(
                f"{self.far.url}: {kind} {key} takes {index.unpacked / 1e9:.2f} GB, and {into.parent} has "
                f"{free / 1e9:.2f} GB left; `burnish clean` makes room"
            )
        draft = into.with_name(f"{PARTIAL}{into.name}-{uuid.uuid4().hex[:8]}")
        try:
            self.far.tried(f"reading {kind} {key}", lambda: self._unpack(index, draft))
            put_in_place(draft, into)
        except FileNotFoundError:
            return False  # removed meanwhile
        except DamagedError as error:
            raise DamagedError(f"{self.far.url}: {kind} {key}: {error}") from None
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        self._use(name)
        return True

    def has(self, kind: str, key: str) -> bool:
        """Whether there is such an entry; does not mark it as used."""
        index = self._index(_name(kind, key))
        return index is not None and self._whole(index)

    def digest(self, kind: str, key: str) -> str | None:
        """Digest of the packed entry; None if there is none."""
        index = self._index(_name(kind, key))
        return index.digest if index is not None and self._whole(index) else None

    def held(self) -> list[Held]:
        """Everything that is there, sorted by kind and key."""
        used = {item.path.partition("/")[2]: item.written for item in self.far.found(USED)}
        found = self.far.found(INDEX)
        texts = self.far.read_all([item.path for item in found])
        held = []
        for item in found:
            name, index = item.path.partition("/")[2], _read(texts.get(item.path))
            if index is not None:
                kind, _, key = name.partition("/")
                last = max(item.written, used.get(name, 0.0))
                held.append(Held(kind, key, index.digest, index.size, item.written, last, index.note))
        return held

    def check(self) -> Iterator[tuple[Held, str]]:
        """Reads everything that is there; yields each entry with what is wrong with it, '' if nothing is."""
        for item in self.held():
            wrong = ""
            try:
                self.far.tried(f"reading {item.name}", partial(self._verify, item))
            except FileNotFoundError:
                wrong = "its bytes are not there"
            except DamagedError as error:
                wrong = str(error)
            yield item, wrong

    def discard(self, kind: str, key: str) -> None:
        """Removes an entry with its bytes, which are wrong: by their number alone they would pass for whole again."""
        name = _name(kind, key)
        index = self._index(name)
        for folder in (INDEX, USED):
            self.far.remove(f"{folder}/{name}")
        if index is not None:
            self.far.remove(_blob(index.digest))

    def _verify(self, item: Held) -> None:
        with self.far.opened(_blob(item.digest)) as file:
            stream = Verifying(file)
            digest = stream.rest()
        if (stream.size, digest) != (item.size, item.digest):
            raise DamagedError(f"{stream.size} bytes of {item.size}, with another digest")

    def _index(self, name: str) -> _Index | None:
        """What is there under a name; None also for an index that can't be read, which counts as absent."""
        return _read(self.far.read(f"{INDEX}/{name}"))

    def _whole(self, index: _Index) -> bool:
        """Whether all bytes that an index names are there, by their number."""
        blob = self.far.about(_blob(index.digest))
        return blob is not None and blob.size == index.size

    def _upload(self, folder: Path, packed: Packed) -> None:
        def fill(file: IO[bytes]) -> None:
            if packing.pack(folder, file) != packed:
                raise UnreachableError(f"{folder}: changed while it was read")

        self.far.upload(_blob(packed.digest), fill)

    def _unpack(self, index: _Index, draft: Path) -> None:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        with self.far.opened(_blob(index.digest)) as file:
            packing.unpack(Verifying(file), draft, index.packed)

    def _use(self, name: str) -> None:
        """Marks an entry as used now, where this host may write."""
        try:
            self.far.write(f"{USED}/{name}", b"")
        except UnreachableError:
            return


def open_artefacts(url: str, limit: int | None = None) -> Artefacts:
    """The artefacts at a URL; nothing is read or written yet.

    Args:
        url: a folder's path, ``file://``, ``s3://BUCKET/FOLDER``, or another scheme of fsspec.
        limit: most bytes of packed entries; None: not bounded from here.

    Raises:
        UserError: the URL has a password, or a package that it needs is not installed.
    """
    return Artefacts(open_far(url), limit)


def _name(kind: str, key: str) -> str:
    if not (_NAME.fullmatch(kind) and _NAME.fullmatch(key)):
        raise UserError(f"{kind}/{key}: a kind and a key are letters, digits and -_.")
    return f"{kind}/{key}"


def _read(text: bytes | None) -> _Index | None:
    try:
        return None if text is None else _INDEX.validate_json(text)
    except ValidationError:
        return None


def _blob(digest: str) -> str:
    return f"{BLOBS}/{digest[:2]}/{digest}"
