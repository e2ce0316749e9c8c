"""Replaces the clean tree by a patched one during a build.

Paths are part of objects, of ccache's keys and of profiles' names, so a patched source must be built at the path of the
unpatched one. The patched tree is made beside it from hard links, with copies of the files that patches touch, and
moved to its path. The clean tree is only moved, never written to, and then always has the same name: if a run is
killed, `recover` finds the clean tree and moves it back.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from burnish.base.files import link_or_copy, read_json, remove_tree, write_json
from burnish.source.patches import patch as patching
from burnish.source.patches.patch import Patch

MARKER = ".burnish-source.json"
"""File at the top of an unpacked tree with digest, name and version of its source."""

_NAMED = re.compile(
    rb"^(?:--- |\+\+\+ |Index: |rename from |copy from |diff --git (?=\S+ (?P<second>\S+)))(?P<name>.+)$", re.M
)

_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.S)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def clean_place(place: Path) -> Path:
    """Path of the clean tree while a patched one is at `place`."""
    return place.with_name(f".{place.name}.clean")


def _draft_place(place: Path) -> Path:
    return place.with_name(f".{place.name}.patched")


def recover(place: Path) -> None:
    """Moves the clean tree back that a killed run had moved away, and removes the patched one."""
    clean, draft = clean_place(place), _draft_place(place)
    remove_tree(draft)
    if clean.exists():
        if place.exists():
            place.rename(draft)  # atomically: a partly removed tree must not be at `place`
        clean.rename(place)
        remove_tree(draft)


@contextlib.contextmanager
def patched(place: Path, patches: Sequence[Patch], digest: str) -> Iterator[None]:
    """Context manager in which `place` is the patched tree; before and after, it is the clean one.

    Args:
        place: the clean tree, which only one run at a time may use (the home's lock).
        patches: patches that apply (`patch_set.fit`); without patches nothing happens.
        digest: digest of the patched source.
    """
    if not patches:
        yield
        return
    recover(place)
    clean, draft = clean_place(place), _draft_place(place)
    marker = read_json(place / MARKER)
    what = f"{marker.get('name', place)} {marker.get('version', '')}".strip()
    shutil.copytree(place, draft, symlinks=True, copy_function=link_or_copy)
    for name in touched(patches):
        _own(draft / name)
    patching.apply(patches, draft, what=what, exact=False)
    # A different digest from the clean tree's, so that the two are never confused.
    write_json(draft / MARKER, {**marker, "digest": digest})
    place.rename(clean)
    try:
        draft.rename(place)
        yield
    finally:
        recover(place)


def _own(path: Path) -> None:
    """Replaces a hard link by a copy of the file."""
    if path.is_file() and not path.is_symlink():
        copy = path.with_name(f".{path.name}.own")
        shutil.copy2(path, copy)
        copy.replace(path)


def _unquoted(name: str) -> str:
    """A name as git writes it in quotes where it has other than ASCII letters: ``"a/caf\\303\\251.c"``."""
    if not name.startswith('"'):
        return name
    plain = name.strip('"').encode(errors="surrogateescape")
    return _ESCAPED.sub(lambda found: _byte(found[1]), plain).decode(errors="surrogateescape")


def _byte(escape: bytes) -> bytes:
    """The byte of an escape without its backslash: an octal number, or one of C's letters."""
    return bytes([int(escape, 8) & 255]) if len(escape) == 3 else _LETTERS.get(escape, escape)


def touched(patches: Sequence[Patch]) -> list[str]:
    """Names of the files in the tree that patches may read or write; some may not exist."""
    names: dict[str, None] = {}
    for patch in patches:
        for match in _NAMED.finditer(patch.content):
            for raw in filter(None, (match["name"], match["second"])):
                text = raw.decode(errors="surrogateescape").rstrip("\r")
                # A time may follow the name, after a tab or, in old diffs, after a space.
                for spelled in (text.partition("\t")[0].rstrip(), text.split()[0] if text.split() else ""):
                    plain = _unquoted(spelled)
                    if not match[0].startswith((b"rename", b"copy")):
                        plain = plain.partition("/")[2]
                    if plain and not plain.startswith("/") and ".." not in plain.split("/"):
                        names[plain] = None
    return list(names)
