"""A local store beside the artefacts that hosts share: how one entry comes here, and how one gets there.

Which entries are exchanged, under which names, and what follows when the far side has others, is for those who derive
from it: `SharedStore` takes what fits, and goes on without it; `burnish.hosts.shelf.Shelf` has all hosts measure the
same bytes.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from burnish.artefacts.artefacts import Artefacts, TakenError
from burnish.artefacts.packing import DamagedError
from burnish.record import seal
from burnish.record.store import DESCRIPTION, PARTIAL, Entry, Store, put_in_place


class Exchange(Store):
    """The store under `root`, with the artefacts that hosts share.

    Args:
        root: as of `Store`.
        far: the artefacts.
        say: called with a line for the user.
    """

    def __init__(self, root: Path, far: Artefacts, say: Callable[[str], None] = lambda _: None) -> None:
        super().__init__(root, say)
        self.far = far

    def give(self, entry: Entry, name: str, *, note: str = "", replace: bool = False) -> str | None:
        """Puts an entry on the far side, unless it is there already.

        Args:
            entry: one that is here.
            name: its name there.
            note: for people who list the far side.
            replace: over one with other bytes.

        Returns:
            the digest of its bytes; None if another host was first with other ones, which stay.

        Raises:
            InfrastructureError, UserError: see `Artefacts.push`.
        """
        try:
            return self.far.push(entry.kind, name, entry.folder, note=note, replace=replace)
        except TakenError:
            return None

    def take(
        self, kind: str, key: str, names: Sequence[str], fits: Callable[[Entry], bool] = lambda _: True
    ) -> Entry | None:
        """Brings an entry here, over one that is here.

        Args:
            kind: its kind.
            key: its key here.
            names: those that it may have on the far side, the most likely first.
            fits: called with the fetched entry, which lies in a folder of its own yet; whether it is wanted.

        Returns:
            the entry; None if it is not there, or not wanted.

        Raises:
            DamagedError: it has no description, or its bytes stay wrong, or it had changed before it was given.
            InfrastructureError: see `Artefacts.fetch`.
        """
        folder = self._folder(kind, key)
        draft = folder.with_name(f"{PARTIAL}fetched-{key}")
        try:
            if not any(self.far.fetch(kind, name, draft) for name in names):
                return None
            fetched = self._read(kind, draft)
            if fetched is None:
                raise DamagedError(f"{self.far.far.url}: {kind} {key}: no {DESCRIPTION} in it")
            if (damage := seal.damage(draft, DESCRIPTION, thorough=True)) is not None:
                raise DamagedError(f"{self.far.far.url}: {kind} {key}: {damage}")
            if not fits(dataclasses.replace(fetched, key=key)):
                return None
            put_in_place(draft, folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        self._whole.add(folder)
        return self._read(kind, folder)
