"""A host's own store, which has the entries that all hosts of a study share, and no others under their names."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from burnish.artefacts import open_artefacts
from burnish.artefacts.exchange import Exchange
from burnish.artefacts.far import INDEX
from burnish.artefacts.packing import DamagedError
from burnish.artefacts.shared import ingredients, note_of, this_host
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.files import sha256_of, write_whole
from burnish.record.store import DESCRIPTION

NOTES = "shared"
"""Folder in a store with the digests under which its entries are shared, each with that of its description."""

MOUNTED = "burnish-hosts"
"""File in a shared folder by which a host knows that it is that folder, and not one of its own where it would be
mounted: what it shared there would reach nobody."""


class ShelfFailed(InfrastructureError):
    """The shared artefacts could not be reached, or were damaged; another try may succeed."""


class Shelf(Exchange):
    """The store of a host, with what it shares for a study.

    Names on the far side are the keys: hosts that take an entry have been told by the driver that it is the one.
    """

    @classmethod
    def open(cls, root: Path, url: str, limit: int | None) -> Shelf:
        """The store under `root`, with the artefacts at a place."""
        with _failing("the store of artefacts"):
            return cls(root, open_artefacts(url, limit))

    def check_mounted(self) -> None:
        """Refuses a folder that is not the shared one.

        Raises:
            ShelfFailed: it lacks the file `MOUNTED`.
        """
        folder = self.far.far.folder
        if folder is not None and not (folder / MOUNTED).is_file():
            raise ShelfFailed(
                f"{folder}: the shared folder is not mounted here (it has no file {MOUNTED}, which `burnish hosts up` "
                "makes); mount it, or say where it is: burnish worker --artefacts PLACE"
            )

    def shared(self, kind: str, key: str) -> bool:
        """Whether an entry is on the far side."""
        with _failing(f"looking for {kind} {key}"):
            return self.far.has(kind, key)

    def push(self, kind: str, key: str) -> None:
        """Shares an entry of this host. If another host was first with other bytes, these count, and replace it.

        Raises:
            ShelfFailed: it could not be shared, or others' bytes replaced it and what was made from it here is gone:
                another try makes that from theirs.
        """
        outdated: Sequence[str] = ()
        entry = self.find(kind, key)
        if entry is None:
            raise InfrastructureError(f"{kind} {key} was made, but is not in the store")
        with _failing(f"sharing {kind} {key}"):
            digest = self.give(entry, key, note=note_of(entry, this_host(self.root)))
            if digest is None:
                outdated = self._bring(kind, key) or ()
            else:
                self._note(kind, key, digest)
        if outdated:
            raise ShelfFailed(
                f"{kind} {key}: another host was first; {', '.join(outdated)}: to be made from its result"
            )

    def fetch(self, kind: str, key: str) -> bool:
        """Fetches an entry that this host lacks, or has of its own making; returns whether it has one now.

        Raises:
            ShelfFailed: it could not be fetched.
            DamagedError: its bytes were wrong, and are gone. Another try would not find it; a command that is called
                again asks whoever made it to share it anew.
        """
        with _failing(f"fetching {kind} {key}"):
            shared = self.far.digest(kind, key)
            if self.find(kind, key) is not None and shared in (None, self._noted(kind, key)):
                return True
            try:
                return shared is not None and self._bring(kind, key) is not None
            except DamagedError as error:
                damaged = error
        raise DamagedError(f"{damaged}; it was removed there, and the same command has it shared again")

    def _bring(self, kind: str, key: str) -> list[str] | None:
        """Takes the entry of the far side over one that is here; one that is damaged is removed there.

        Returns:
            kind and key of what was made here from other bytes of it, and is removed; None: it is not there.
        """
        had, before = self.has(kind, key), self.digests(kind, key)
        try:
            if self.take(kind, key, (key,)) is None:
                return None
        except DamagedError:
            self.far.discard(kind, key)
            raise
        if had:  # what is known is about other bytes
            self._forget(key)
        self._note(kind, key, self.far.digest(kind, key) or "")
        return self._outdated(kind, key) if had and before != self.digests(kind, key) else []

    def _forget(self, build: str) -> None:
        """Removes what is known about a build's bytes."""
        for entry in list(self.entries("gates", "evidence")):
            if entry.about.get("build") == build:
                self.remove(entry)

    def _outdated(self, kind: str, key: str) -> list[str]:
        """Removes what was made here from an entry that is another one now, and from that; returns kinds and keys.
        What is shared stays: it was made from the one that is shared."""
        removed = []
        for entry in list(self.entries("profiles", "builds")):
            made_from = (kind, key) in set(ingredients(entry.about)) and entry.folder.exists()
            if made_from and self._noted(entry.kind, entry.key) is None:
                self.remove(entry)
                self._forget(entry.key)
                removed += [f"{entry.kind} {entry.key}", *self._outdated(entry.kind, entry.key)]
        return removed

    def _note(self, kind: str, key: str, digest: str) -> None:
        """Notes that an entry is the one that is shared. Equal keys are not always equal bytes: trainings differ. So
        the note is about the description as well, which has the seal: an entry that is made again is another one."""
        place = self.root / NOTES / kind
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(place / key, f"{digest} {sha256_of(self._folder(kind, key) / DESCRIPTION)}".encode())

    def _noted(self, kind: str, key: str) -> str | None:
        """The digest under which an entry of this host is shared; None if it is another one, or was never shared."""
        try:
            digest, _, seal = (self.root / NOTES / kind / key).read_text().partition(" ")
            return digest if seal == sha256_of(self._folder(kind, key) / DESCRIPTION) else None
        except (OSError, UserError):
            return None


def share_folder(url: str, limit: int | None) -> None:
    """Makes the folder that hosts share, where it is one, with the file by which they know it.

    Raises:
        UserError: no host could open the place, or the folder can't be made.
    """
    folder = open_artefacts(url, limit).far.folder
    if folder is None or (folder / MOUNTED).is_file():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MOUNTED).touch()
    except OSError as error:
        raise UserError(
            f"--artefacts {folder}: cannot be written to ({error.strerror}); name a folder that all hosts have, or s3://…"
        ) from None


def share_older(url: str, limit: int | None) -> None:
    """Adds that file to a folder in which hosts shared something before there was one."""
    with contextlib.suppress(UserError):  # whoever can't open it or write there only asks for the study
        folder = open_artefacts(url, limit).far.folder
        if folder is not None and (folder / INDEX).is_dir():
            share_folder(url, limit)


@contextlib.contextmanager
def _failing(what: str) -> Iterator[None]:
    """Whatever goes wrong with the place where they are, as one kind of error."""
    try:
        yield
    except (OSError, ValueError, UserError, InfrastructureError) as error:
        raise ShelfFailed(f"{what}: {error}") from error
