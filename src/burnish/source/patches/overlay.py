"""A patched tree in the place of the clean one, for the time of one build.

Paths go into objects, into ccache's keys and into the names of profiles, so a patched source must be built at the
very place of the unpatched one. The patched tree is made beside it from hard links, the files that patches touch
as copies of their own, and takes its place by renaming. The clean tree is only ever moved, never written to, and
while it is away it has one fixed name: wherever a run is killed, `recover` finds the clean tree and puts it back.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from burnish.base.files import read_json, remove_tree, write_json
from burnish.source.patches import patch as patching
from burnish.source.patches.patch import Patch

MARKER = ".burnish-source.json"
"""File at the top of an unpacked tree: digest, name and version of the source it holds."""

_NAMED = re.compile(
    rb"^(?:--- |\+\+\+ |Index: |rename from |copy from |diff --git (?=\S+ (?P<second>\S+)))(?P<name>.+)$", re.M
)


def clean_place(place: Path) -> Path:
    """Where the clean tree is while a patched one has its place."""
    return place.with_name(f".{place.name}.clean")


def _draft_place(place: Path) -> Path:
    return place.with_name(f".{place.name}.patched")


def recover(place: Path) -> None:
    """Puts the clean tree back that a killed run had moved away, and removes its patched one."""
    clean, draft = clean_place(place), _draft_place(place)
    remove_tree(draft)
    if clean.exists():
        if place.exists():
            place.rename(draft)  # in one step: half a removed tree must not be at the place
        clean.rename(place)
        remove_tree(draft)


@contextlib.contextmanager
def patched(place: Path, patches: Sequence[Patch], digest: str) -> Iterator[None]:
    """Within it, `place` holds the patched tree; before and after it, the clean one. Nothing to do without patches.

    Args:
        place: the clean tree, which only one run at a time may use (the home's lock).
        patches: known to apply (`patchsets.fit`).
        digest: names the patched source.
    """
    if not patches:
        yield
        return
    recover(place)
    clean, draft = clean_place(place), _draft_place(place)
    marker = read_json(place / MARKER)
    what = f"{marker.get('name', place)} {marker.get('version', '')}".strip()
    shutil.copytree(place, draft, symlinks=True, copy_function=os.link)
    for name in touched(patches):
        _own(draft / name)
    patching.apply(patches, draft, what=what, exact=False)
    # Another digest than the clean tree's, so that nothing ever takes the one for the other.
    write_json(draft / MARKER, {**marker, "digest": digest})
    place.rename(clean)
    try:
        draft.rename(place)
        yield
    finally:
        recover(place)


def _own(path: Path) -> None:
    """Makes a file that is shared by hard links one of its own."""
    if path.is_file() and not path.is_symlink():
        copy = path.with_name(f".{path.name}.own")
        shutil.copy2(path, copy)
        copy.replace(path)


def touched(patches: Sequence[Patch]) -> list[str]:
    """Names in the tree that patches may read or write, as far as they lie in it; some may not exist."""
    found: dict[str, None] = {}
    for patch in patches:
        for match in _NAMED.finditer(patch.content):
            for raw in filter(None, (match["name"], match["second"])):
                text = raw.decode(errors="surrogateescape").rstrip("\r")
                # A time may stand behind the name: after a tab, or in old diffs after a blank.
                for spelt in (text.partition("\t")[0].rstrip(), text.split()[0] if text.split() else ""):
                    plain = spelt.strip('"')
                    if not match[0].startswith((b"rename", b"copy")):
                        plain = plain.partition("/")[2]
                    if plain and not plain.startswith("/") and ".." not in plain.split("/"):
                        found[plain] = None
    return list(found)
