"""Runs whose record is damaged: gone on from what is whole, and no obstacle to other runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from burnish.record import rescue
from burnish.record.record import DamagedError, Record


def resumable(folder: Path, wanted: Callable[[Record], bool], say: Callable[[str], None]) -> Record | None:
    """The record in a run's folder if it is wanted; one that is damaged is rescued first.

    Args:
        folder: the run's.
        wanted: whether a record is to be gone on with.
        say: prints a line for the user.
    """
    record: Record | None = None
    try:
        record = Record(folder)
        if wanted(record):
            record.check()
            return record
        record.close()
    except DamagedError as error:
        if record is not None:
            record.close()
        return _rescued(folder, wanted, say, str(error))
    return None


def _rescued(folder: Path, wanted: Callable[[Record], bool], say: Callable[[str], None], damage: str) -> Record | None:
    """A new record of what is whole, in the place of the damaged one; None if it is not wanted, or nothing is whole."""
    draft = rescue.draft(folder)
    if draft is None or not wanted(draft):
        if draft is None:
            say(f"left out: {damage}")
        else:
            draft.close()
            rescue.discard(folder)
        return None
    number = sum(1 for _ in draft.lines())
    draft.close()
    rescue.adopt(folder)
    whole = f"the {number} events that are whole"
    say(f"{folder.name}: its record is damaged; goes on after {whole} ({rescue.ASIDE} is kept beside it)")
    return Record(folder)
