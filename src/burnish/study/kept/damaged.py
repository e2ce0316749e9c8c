"""Runs whose record is damaged: gone on from what is whole, and no obstacle to other runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from burnish.base.errors import UserError
from burnish.record import rescue
from burnish.record.record import DamagedError, Record


def repair(folder: Path, wanted: Callable[[Record], bool], say: Callable[[str], None]) -> bool:
    """Puts what can be read of a damaged record into its place, if the record is wanted.

    Args:
        folder: the run's.
        wanted: whether a record is to be resumed.
        say: prints a line for the user.

    Returns:
        whether the record is wanted, and whole now.
    """
    try:
        with closing(Record(folder)) as record:
            if not wanted(record):
                return False
            record.check()
            return True
    except DamagedError as error:
        damage = str(error)
    except UserError:  # of a newer Burnish: none that this one resumes
        return False
    draft = rescue.draft(folder)
    if draft is None:
        say(f"left out: {damage}")
        return False
    with closing(draft):
        number = sum(1 for _ in draft.lines()) if wanted(draft) else 0
    if not number:
        rescue.discard(folder)
        return False
    rescue.adopt(folder)
    whole = f"the {number} events that are whole"
    say(f"{folder.name}: its record is damaged; goes on after {whole} ({rescue.ASIDE} is kept beside it)")
    return True
