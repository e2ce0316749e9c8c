"""The seal of a store entry: digests of its files and of its description, by which damage is found.

A disk that was full, a copy that was cut off, a flipped bit, a program that wrote into the store: without it an entry
that is no longer what was made would be measured as if it were. Entries of older versions have no seal; they are taken
as they are.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from burnish.base.digest import digest_of

KEY = "seal"
"""Under which a description has its seal."""


def sealed(about: Mapping[str, Any], folder: Path, description: str) -> dict[str, Any]:
    """A description with the seal of what is in `folder`.

    Args:
        about: the description; a seal in it, as of an entry from another host, is replaced.
        folder: the entry's, filled.
        description: name of the description's own file, which is left out.
    """
    plain = json.loads(json.dumps(without(about), default=str))
    files = {name: [_size(path), _digest(path)] for name, path in _files(folder, description)}
    return {**plain, KEY: {"about": digest_of(plain), "files": files}}


def without(about: Mapping[str, Any]) -> dict[str, Any]:
    """A description without its seal."""
    return {key: value for key, value in about.items() if key != KEY}


def digests(description: Path) -> dict[str, str]:
    """SHA-256 of an entry's files by their names in it, as they were sealed; empty without a seal or an entry."""
    try:
        files = json.loads(description.read_text())[KEY]["files"]
        return {str(name): str(digest) for name, (_, digest) in files.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def damage(folder: Path, description: str, *, thorough: bool) -> str | None:
    """What has changed in an entry, in words; None if nothing has, if it has no seal, or if there is no entry.

    Args:
        folder: the entry's.
        description: name of its description's file.
        thorough: whether the content of its files is read; otherwise only their sizes are looked at.
    """
    if not os.path.lexists(folder):
        return None
    try:
        about = json.loads((folder / description).read_text())
        seal = about.get(KEY)
        if seal is None:
            return None
        if digest_of(without(about)) != seal["about"]:
            return f"{description} has changed since it was made"
        files = {str(name): (int(size), str(digest)) for name, (size, digest) in seal["files"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return f"{description} cannot be read"
    for name, (size, digest) in files.items():
        try:
            changed = _size(folder / name) != size or (thorough and _digest(folder / name) != digest)
        except OSError as error:
            return f"{name}: {error.strerror}"
        if changed:
            return f"{name} has changed since it was made"
    return None


def _files(folder: Path, description: str) -> Iterator[tuple[str, Path]]:
    """By its name in the entry, every file and link."""
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name != description and (path.is_symlink() or path.is_file()):
            yield name, path


def _size(path: Path) -> int:
    return path.lstat().st_size


def _digest(path: Path) -> str:
    """Digest of a file's content, or of where a link leads."""
    if path.is_symlink():
        return hashlib.sha256(os.fsencode(path.readlink())).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
