"""The store, shared by all studies: builds, profiles, datasets, gate results, evidence, patches, probes, costs.

An entry is a folder named by the digest of its inputs. It appears atomically: it is filled under a temporary name and
renamed after its description (`burnish.json`) is written. An incomplete entry was left by a run that was killed, and
is removed. The description has the digests of the description itself and of every file (`burnish.record.seal`): an
entry that has changed since is not there, so that it is made again.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.base.files import remove_tree
from burnish.record import seal
from burnish.record.costs import Cost, Costs

DESCRIPTION = "burnish.json"
KINDS = ("builds", "profiles", "datasets", "gates", "evidence", "patches", "probes")
PARTIAL = ".partial-"
MADE_WITH = "made_with"
"""Under which a description has the digest of every profile that an entry was made with, by the profile's key. The key
of a profile is that of the build it was trained on: trained again, it has other counts and the same key."""


@dataclass(frozen=True)
class Entry:
    """One entry of the store.

    Attributes:
        kind: one of `KINDS`.
        key: its name, the digest of its inputs.
        folder: its folder.
        about: its description.
        used: when it was last used, seconds since the epoch.
    """

    kind: str
    key: str
    folder: Path
    about: Mapping[str, Any]
    used: float

    def size(self) -> int:
        """Bytes on disk."""
        return folder_size(self.folder)

    @property
    def made_with(self) -> dict[str, str]:
        """Digests of all profiles that it was made with, a profile's own among them, by their keys; without those of
        entries that older versions made."""
        return dict(self.about.get(MADE_WITH) or {})


class Store:
    """The store under `root`.

    Args:
        root: its folder.
        say: prints a line for the user.
    """

    def __init__(self, root: Path, say: Callable[[str], None] = lambda _: None) -> None:
        self.root = root
        self.say = say
        self._whole: set[Path] = set()
        self._named: set[Path] = set()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)

    def find(self, kind: str, key: str) -> Entry | None:
        """The entry, marked as used now; None when there is none.

        Its files are compared with their digests when it is first asked for, with their sizes later; one that has
        changed is named and counts as not there.
        """
        folder = self._folder(kind, key)
        entry = self._undamaged(kind, folder, thorough=folder not in self._whole)
        if entry is not None:
            self._whole.add(folder)
            with contextlib.suppress(OSError):  # a store that is only read
                os.utime(folder / DESCRIPTION)
        return entry

    def named(self, kind: str, key: str, *, thorough: bool = False) -> Entry | None:
        """The entry here for whoever does not use it: its files have their sizes; their content is read if it is to be
        `thorough`."""
        return self._undamaged(kind, self._folder(kind, key), thorough=thorough)

    def _undamaged(self, kind: str, folder: Path, *, thorough: bool) -> Entry | None:
        damage = seal.damage(folder, DESCRIPTION, thorough=thorough)
        if damage is not None:
            self._tell(folder, damage)
            return None
        return self._read(kind, folder)

    def has(self, kind: str, key: str) -> bool:
        """Whether there is such an entry, with all of its files; does not mark it as used."""
        folder = self._folder(kind, key)
        return (folder / DESCRIPTION).is_file() and seal.damage(folder, DESCRIPTION, thorough=False) is None

    def made_with(self, kind: str, key: str) -> dict[str, str]:
        """As `Entry.made_with`, of an entry that is here; empty where it is not."""
        entry = self._read(kind, self._folder(kind, key))
        return {} if entry is None else entry.made_with

    def digests(self, kind: str, key: str) -> dict[str, str]:
        """SHA-256 of an entry's files by their names in it, as it was made; empty where it is not here."""
        return seal.digests(self._folder(kind, key) / DESCRIPTION)

    def _tell(self, folder: Path, damage: str) -> None:
        if folder not in self._named:
            self._named.add(folder)
            self.say(f"{folder}: {damage}; not used")

    def begin(self, kind: str, key: str) -> Path:
        """An empty folder to fill; `admit` makes it the entry."""
        folder = self._folder(kind, key)
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = folder.with_name(f"{PARTIAL}{key}")
        remove_tree(partial)
        partial.mkdir(mode=0o700)
        self._whole.discard(folder)
        return partial

    def admit(self, kind: str, key: str, about: Mapping[str, Any]) -> Entry:
        """Turns the folder returned by `begin` into the entry, in one rename."""
        folder = self._folder(kind, key)
        partial = folder.with_name(f"{PARTIAL}{key}")
        description = partial / DESCRIPTION
        with description.open("w") as file:
            json.dump(seal.sealed(about, partial, DESCRIPTION), file, indent=1, default=str)
            file.flush()
            os.fsync(file.fileno())
        put_in_place(partial, folder)
        self._whole.add(folder)
        entry = self._read(kind, folder)
        assert entry is not None  # noqa: S101 - it was written just now
        return entry

    def entries(self, *kinds: str) -> Iterator[Entry]:
        """All entries; only those of `kinds`, if any are given."""
        for kind in kinds or KINDS:
            for folder in sorted((self.root / kind).glob("*")):
                entry = None if folder.name.startswith(PARTIAL) else self._read(kind, folder)
                if entry is not None:
                    yield entry

    def remove(self, entry: Entry) -> None:
        """Removes an entry; a partly removed one never looks complete."""
        removed = entry.folder.with_name(f"{PARTIAL}{entry.key}")
        shutil.rmtree(removed, ignore_errors=True)
        entry.folder.rename(removed)
        shutil.rmtree(removed, ignore_errors=True)

    def sweep(self) -> None:
        """Removes incomplete entries of killed runs; call it only while holding the home's lock."""
        for kind in KINDS:
            for partial in (self.root / kind).glob(f"{PARTIAL}*"):
                shutil.rmtree(partial, ignore_errors=True)

    @property
    def costs(self) -> Costs:
        """Costs of steps on this host."""
        return Costs(self.root / "costs.sqlite", self.say)

    def note_cost(self, engine: str, step: str, name: str, seconds: float, peak_rss: int = 0) -> None:
        """Stores the cost of a step on this host, for later plans (seconds of wall time, bytes)."""
        self.costs.note(engine, step, name, Cost(seconds, peak_rss))

    def cost(self, engine: str, step: str, name: str, like: str = "") -> float | None:
        """Wall seconds that the step took here last time; an estimate if the name is new (`History.figure`)."""
        figure = self.costs.history(engine).figure(step, name, "seconds", like)
        return figure.value if figure else None

    def _folder(self, kind: str, key: str) -> Path:
        return self.root / kind / key

    @staticmethod
    def _read(kind: str, folder: Path) -> Entry | None:
        description = folder / DESCRIPTION
        try:
            about = json.loads(description.read_text())
            used = description.stat().st_mtime
        except (OSError, ValueError):
            return None
        return Entry(kind, folder.name, folder, seal.without(about), used) if isinstance(about, dict) else None


def put_in_place(draft: Path, into: Path) -> None:
    """Makes the finished folder `draft` the entry at `into` by one rename; an entry that is there goes."""
    former = into.with_name(f"{PARTIAL}former-{into.name}")
    remove_tree(former)
    if into.exists():
        into.rename(former)
    draft.rename(into)
    remove_tree(former)


def folder_size(folder: Path) -> int:
    """Bytes that a folder's files take on disk; hard links counted once."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for path in folder.rglob("*"):
        try:
            status = path.lstat()
        except OSError:
            continue
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            total += status.st_blocks * 512
    return total
