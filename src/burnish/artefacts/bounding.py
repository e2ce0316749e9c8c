"""Which artefacts go when the store is too large: those that nobody used for longest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from burnish.artefacts.far import BLOBS, INCOMING, INDEX, USED, Far, Object

SAFE_S = 3600.0
"""Bytes that an index written within this time names, or that are themselves as young, are never removed: whoever
wrote them may not have finished."""

ABANDONED_S = 86_400.0
"""Age of an upload that nobody will finish."""


@dataclass(frozen=True)
class Held:
    """An entry of the far side.

    Attributes:
        kind: as in the local store.
        key: its name.
        digest: of its packed bytes.
        size: their number.
        written: when its index was written, seconds since the epoch by the far side's clock.
        used: when it was last used.
        note: for people.
    """

    kind: str
    key: str
    digest: str
    size: int
    written: float
    used: float
    note: str = ""

    @property
    def name(self) -> str:
        """Kind and key."""
        return f"{self.kind}/{self.key}"

    @property
    def local(self) -> str:
        """Its key in a local store; the same where hosts of a study share it, who name it by that alone."""
        return self.key.rpartition("-")[0] or self.key


def choose(held: Sequence[Held], blobs: Mapping[str, Object], limit: int, now: float) -> list[str]:
    """Digests to remove so that at most `limit` bytes stay, those first that were not used for longest; pure.

    Args:
        held: all entries.
        blobs: by digest, what is there.
        limit: bytes.
        now: by the far side's clock.
    """
    used, young = dict.fromkeys(blobs, 0.0), set()
    for item in held:
        if item.digest in used:
            used[item.digest] = max(used[item.digest], item.used)
        if now - item.written < SAFE_S:
            young.add(item.digest)
    total = sum(blob.size for blob in blobs.values())
    chosen = []
    for digest in sorted(blobs, key=lambda digest: (used[digest], blobs[digest].written, digest)):
        if total <= limit:
            break
        if digest not in young and now - blobs[digest].written >= SAFE_S:
            chosen.append(digest)
            total -= blobs[digest].size
    return chosen


def sweep(far: Far, clock: str) -> None:
    """Removes uploads that nobody will finish.

    Args:
        far: the far side.
        clock: a file there that was written just now: this host's clock may be wrong.
    """
    uploads = far.found(INCOMING)
    now = far.about(clock) if uploads else None
    for upload in uploads:
        if now is not None and now.written - upload.written > ABANDONED_S:
            far.remove(upload.path)


def make_room(far: Far, limit: int, entries: Callable[[], Sequence[Held]]) -> list[str]:
    """Removes what `choose` says; returns the names of removed entries.

    Several hosts may do this at a time. An entry's index goes before its bytes: without bytes it counts as absent, and
    whoever needs it pushes it again.

    Args:
        far: the far side.
        limit: most bytes of packed entries.
        entries: reads what is there.
    """
    blobs = {blob.path.rpartition("/")[2]: blob for blob in far.found(BLOBS)}
    if sum(blob.size for blob in blobs.values()) <= limit:
        return []
    held = entries()
    # The far side's own clock, as its newest file tells: this host's may be wrong.
    now = max((*(item.used for item in held), *(blob.written for blob in blobs.values())))
    removed = []
    for digest in choose(held, blobs, limit, now):
        for item in held:
            if item.digest == digest:
                far.remove(f"{INDEX}/{item.name}")
                far.remove(f"{USED}/{item.name}")
                removed.append(item.name)
        far.remove(blobs[digest].path)
    return removed
