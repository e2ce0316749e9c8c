"""What is kept on disk, how large it is, and what to remove by age or total size."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.files import read_json
from burnish.base.paths import Home
from burnish.profiles.kept import name_of
from burnish.record.record import FILE, Record
from burnish.record.store import Entry, Store, folder_size
from burnish.study.kept.runs import REMOVED, folders, is_unfinished

DAY_S = 86_400.0
HOSTS = "hosts"
"""Folder of the work with other hosts, and the kind of what is kept there."""


@dataclass(frozen=True)
class Kept:
    """One thing that is kept.

    Attributes:
        kind: builds, profiles, datasets, gates, downloads, work, scratch, packages, verified, micro, logs, ccache,
            thinlto, hosts or studies.
        name: key or folder name.
        what: in words.
        folder: where it is.
        size: bytes on disk.
        age_s: seconds since it was last used.
        named: a profile's names; a profile with a name was kept on purpose.
        unfinished: whether it is an unfinished run.
    """

    kind: str
    name: str
    what: str
    folder: Path
    size: int
    age_s: float
    named: str = ""
    unfinished: bool = False


def inventory(home: Home) -> list[Kept]:
    """Everything in the home, largest first within each kind."""
    now, store = time.time(), Store(home.store)
    items = []
    for entry in store.entries():
        named = name_of(store, entry.key) if entry.kind == "profiles" else ""
        words = f"{_words(entry)} {named}".strip()
        items.append(Kept(entry.kind, entry.key, words, entry.folder, entry.size(), now - entry.used, named))
    for kind, root in (
        ("downloads", home.downloads),
        ("work", home.root / "work"),
        ("scratch", home.scratch),
        ("ccache", home.store / "ccache"),
        *((name, home.root / name) for name in ("packages", "verified", "micro", "logs")),
    ):
        for folder in sorted(root.glob("*")):
            if folder.name.startswith(REMOVED):
                continue
            # Source packages are kept and used one by one.
            for part in sorted(folder.glob("[!.]*")) if (kind, folder.name) == ("downloads", "debian") else [folder]:
                size = folder_size(part) if part.is_dir() else part.stat().st_blocks * 512
                name = str(part.relative_to(root))
                items.append(Kept(kind, name, "", part, size, now - part.stat().st_mtime))
    for folder in home.store.glob("thinlto"):  # one item: the files in it are managed by the linker
        age = now - folder.stat().st_mtime
        items.append(Kept("thinlto", folder.name, "ThinLTO's cache", folder, folder_size(folder), age))
    for path in _of_hosts(home):
        size = folder_size(path) if path.is_dir() else path.stat().st_blocks * 512
        name = str(path.relative_to(home.root / HOSTS))
        items.append(Kept(HOSTS, name, "", path, size, now - path.stat().st_mtime))
    for folder in folders(home):
        age = now - (folder / FILE).stat().st_mtime
        unfinished = _is_unfinished(folder)
        words = f"record and logs{' of an unfinished run' if unfinished else ''}"
        items.append(Kept("studies", folder.name, words, folder, folder_size(folder), age, unfinished=unfinished))
    return sorted(items, key=lambda item: (item.kind, -item.size))


def _of_hosts(home: Home) -> list[Path]:
    """What work with other hosts has left (`burnish.hosts.place`): files of commands, builds for others, logs, answered
    tasks, results. What takes part needs stays: ``join``, what no host has answered yet, and results of a run on hosts
    that the same command goes on with."""
    root = home.root / HOSTS
    going_on = {str(read_json(path).get("name")) for path in (root / "campaigns").glob("*.json")}
    return [
        *(path for name in ("files", "builds", "logs") for path in sorted((root / name).glob("[!.]*"))),
        *(path for path in sorted((root / "tasks").glob("[!.]*")) if (path / "answer.json").is_file()),
        *(path for path in sorted((root / "results").glob("[!.]*")) if path.name not in going_on),
    ]


def _is_unfinished(folder: Path) -> bool:
    """Whether a run was begun here and not finished; False for a record that is imported or cannot be read."""
    try:
        with contextlib.closing(Record(folder)) as record:
            return is_unfinished(record)
    except UserError:
        return False


def _words(entry: Entry) -> str:
    about = entry.about
    if entry.kind == "builds":
        stage = "instrumented " if about.get("instrumented") else ""
        return f"{about.get('engine')} {stage}{about.get('toolchain')}{' + BOLT' if about.get('bolt') else ''}"
    if entry.kind in ("profiles", "datasets"):
        return f"{about.get('engine')} {about.get('kind') or about.get('dataset')}"
    return ""


def choose(items: Sequence[Kept], *, older_s: float | None, bound: int | None, unfinished: bool = False) -> list[Kept]:
    """What to remove: items unused longer than `older_s`, then the least recently used until `bound` bytes are left.

    Finished runs are never chosen, because a record cannot be made again; nor are profiles with a name. Pure.

    Args:
        items: what is kept.
        older_s: seconds; None: age is not considered.
        bound: bytes to keep at most, runs not counted; None: size is not considered.
        unfinished: whether unfinished runs are chosen too: all of them, or those older than `older_s`.
    """
    removable = [item for item in items if item.kind != "studies" and not item.named]
    chosen = [item for item in removable if older_s is not None and item.age_s > older_s]
    if unfinished:
        chosen += [item for item in items if item.unfinished and (older_s is None or item.age_s > older_s)]
    if bound is not None:
        left = [item for item in removable if item not in chosen]
        total = sum(item.size for item in left)
        for item in sorted(left, key=lambda item: -item.age_s):
            if total <= bound:
                break
            chosen.append(item)
            total -= item.size
    return chosen


def remove(home: Home, items: Sequence[Kept]) -> int:
    """Removes these items; returns the bytes freed. The caller must hold the home's lock."""
    store = Store(home.store)
    entries = {(entry.kind, entry.key): entry for entry in store.entries()}
    freed = 0
    for item in items:
        entry = entries.get((item.kind, item.name))
        if entry is not None:
            store.remove(entry)
        elif not item.folder.is_dir():
            item.folder.unlink(missing_ok=True)
        elif not (item.folder.is_symlink() or _remove_folder(item.folder)):
            continue
        freed += 0 if item.folder.exists() else item.size
    return freed


def _remove_folder(folder: Path) -> bool:
    """Removes a folder under another name, so that one that is partly removed never looks complete: the tree of a
    source is taken by its marker, which may be the last file to go. Returns whether nothing is left of it."""
    place = folder.with_name(f"{REMOVED}{folder.name}")
    shutil.rmtree(place, ignore_errors=True)
    try:
        folder.rename(place)
    except OSError:  # where a file system is mounted
        place = folder
    shutil.rmtree(place, ignore_errors=True)
    return not place.exists()


def sweep(home: Home) -> list[Path]:
    """Removes what is left of folders whose removal was interrupted; returns them. The caller must hold the home's
    lock."""
    left = sorted(path for depth in ("*", "*/*") for path in home.root.glob(f"{depth}/{REMOVED}*"))
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return left
