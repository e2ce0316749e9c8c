"""What an unfinished run measures again when its cells are decided, and how far it is; pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from burnish.model.cell import CellId, Role
from burnish.record.by_type import ByType
from burnish.record.events.bundled import ConfirmationBegun, LayoutsBegun
from burnish.record.events.study import StudyFinished
from burnish.record.events.trials import StartDone, TrialsPlanned
from burnish.record.events.verdicts import VerdictReached
from burnish.study.trials.starts import FRESH_STARTS, fresh_starts

_WORDS = {Role.CONFIRMATION: "the winner's fresh starts", Role.LAYOUTS: "the starts in other link orders"}


@dataclass(frozen=True)
class Pending:
    """Starts for one purpose that were begun and are not all taken.

    Attributes:
        role: their purpose.
        taken: how many are taken, on all loads together.
        wanted: how many there are to be.
    """

    role: Role
    taken: int
    wanted: int

    @property
    def words(self) -> str:
        """What is not complete, and how far it is: ``the winner's fresh starts (20 of 40)``."""
        return f"{_WORDS[self.role]} ({self.taken} of {self.wanted})"


def pending_of(by: ByType) -> tuple[Pending, ...]:
    """What is measured again in an unfinished run and has no verdict yet."""
    if StudyFinished in by:
        return ()
    planned = by.last(TrialsPlanned)
    usual = fresh_starts(FRESH_STARTS, planned.rule.cap) if planned else FRESH_STARTS
    wanted: dict[Role, dict[CellId, int]] = {
        Role.CONFIRMATION: {begun.cell: begun.starts or usual for begun in by.of(ConfirmationBegun)},
        Role.LAYOUTS: {begun.cell: begun.layouts for begun in by.of(LayoutsBegun)},
    }
    decided = {verdict.cell for verdict in by.of(VerdictReached)}
    valid = Counter(start.cell for start in by.of(StartDone) if start.invalid is None)
    found = []
    for role, cells in wanted.items():
        if cells.keys() - decided:
            taken = sum(count if cell in decided else min(valid[cell], count) for cell, count in cells.items())
            found.append(Pending(role, taken, sum(cells.values())))
    return tuple(found)
