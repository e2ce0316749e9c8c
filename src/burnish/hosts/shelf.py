"""Between a host's own store and the artefacts that all hosts share."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

from burnish.artefacts import Artefacts, open_artefacts
from burnish.artefacts.artefacts import TakenError
from burnish.base.errors import InfrastructureError, UserError
from burnish.record.store import DESCRIPTION, Store

NOTES = "shared"
"""Folder in a store with the digests under which its entries are shared."""


class ShelfFailed(InfrastructureError):
    """The shared artefacts could not be reached, or were damaged; another try may succeed."""


@dataclass(frozen=True)
class Shelf:
    """The shared artefacts, as a host uses them."""

    artefacts: Artefacts

    @classmethod
    def open(cls, url: str, limit: int | None) -> Shelf:
        """The artefacts at a place."""
        with _failing("the store of artefacts"):
            return cls(open_artefacts(url, limit))

    def has(self, kind: str, key: str) -> bool:
        """Whether an entry is shared."""
        with _failing(f"looking for {kind} {key}"):
            return self.artefacts.has(kind, key)

    def push(self, store: Store, kind: str, key: str) -> None:
        """Shares an entry of a store. If another host was first with other bytes, these count, and replace it.

        Raises:
            ShelfFailed: it could not be shared.
        """
        entry = store.find(kind, key)
        if entry is None:
            raise InfrastructureError(f"{kind} {key} was made, but is not in the store")
        with _failing(f"sharing {kind} {key}"):
            try:
                _note(store, kind, key, self.artefacts.push(kind, key, entry.folder))
            except TakenError:
                self._bring(store, kind, key)

    def fetch(self, store: Store, kind: str, key: str) -> bool:
        """Fetches an entry into a store that lacks it, or has one of its own making; returns whether it has one now.

        Raises:
            ShelfFailed: it could not be fetched.
        """
        with _failing(f"fetching {kind} {key}"):
            shared = self.artefacts.digest(kind, key)
            if store.find(kind, key) is not None and shared in (None, _noted(store, kind, key)):
                return True
            return shared is not None and self._bring(store, kind, key)

    def _bring(self, store: Store, kind: str, key: str) -> bool:
        partial = store.begin(kind, key)
        try:
            if not self.artefacts.fetch(kind, key, partial):
                return False
            had = store.has(kind, key)
            store.admit(kind, key, json.loads((partial / DESCRIPTION).read_text()))
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        if had:  # what is known is about other bytes
            for entry in list(store.entries("gates", "evidence")):
                if entry.about.get("build") == key:
                    store.remove(entry)
        _note(store, kind, key, self.artefacts.digest(kind, key) or "")
        return True


def _note(store: Store, kind: str, key: str, digest: str) -> None:
    """Notes that a store's entry is the one that is shared. Equal keys are not always equal bytes: trainings differ."""
    place = store.root / NOTES / kind
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    (place / key).write_text(digest)


def _noted(store: Store, kind: str, key: str) -> str | None:
    try:
        return (store.root / NOTES / kind / key).read_text()
    except OSError:
        return None


@contextlib.contextmanager
def _failing(what: str) -> Iterator[None]:
    """Whatever goes wrong with the place where they are, as one kind of error."""
    try:
        yield
    except (OSError, ValueError, UserError, InfrastructureError) as error:
        raise ShelfFailed(f"{what}: {error}") from error
