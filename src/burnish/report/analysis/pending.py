"""What an unfinished run measures again when its cells are decided, sittings included, and how far it is; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from burnish.model.cell import CellId, Role
from burnish.record.by_type import ByType
from burnish.record.events.bundled import ConfirmationBegun, LayoutsBegun
from burnish.record.events.searches import SearchBegun
from burnish.record.events.study import SessionBegun, StudyFinished
from burnish.record.events.trials import StartDone, TrialsPlanned
from burnish.record.events.verdicts import VerdictReached
from burnish.study.trials.repeated import Sitting
from burnish.study.trials.schedule import disturbed_in
from burnish.study.trials.starts import FRESH_STARTS, fresh_starts

SITTINGS = "sittings"
DISTURBED = "disturbed"

_WORDS = {
    DISTURBED: "the undisturbed cells",
    Role.CONFIRMATION: "the winner's fresh starts",
    Role.LAYOUTS: "the starts in other link orders",
    SITTINGS: "the sittings",
}


@dataclass(frozen=True)
class Pending:
    """Starts for one purpose that were begun and are not all taken, or sittings, or cells.

    Attributes:
        role: their purpose, or ``sittings``, or ``disturbed``: cells that are measured again in another sitting.
        taken: how many are taken, on all loads together; of sittings, those that all cells have had; of cells, those
            that the host did not disturb.
        wanted: how many there are to be.
    """

    role: str
    taken: int
    wanted: int

    @property
    def words(self) -> str:
        """What is not complete, and how far it is: ``the winner's fresh starts (20 of 40)``."""
        return f"{_WORDS[self.role]} ({self.taken} of {self.wanted})"


def pending_of(by: ByType, sittings: Mapping[CellId, Sitting]) -> tuple[Pending, ...]:
    """What is measured again in an unfinished run and has no verdict yet, and the sittings that it is to have.

    Args:
        by: the record.
        sittings: each cell's.
    """
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
    return (*_disturbed(by), *found, *_sittings(by, sittings))


def _disturbed(by: ByType) -> list[Pending]:
    """The cells that have no verdict but that the host was disturbed; a search goes on without them."""
    decided, bad = disturbed_in(by)
    return [Pending(DISTURBED, len(decided) - len(bad), len(decided))] if bad else []


def _sittings(by: ByType, sittings: Mapping[CellId, Sitting]) -> list[Pending]:
    """The sittings that are left once all cells have a verdict; in a search its finalist alone has any."""
    planned, session = by.last(TrialsPlanned), by.last(SessionBegun)
    if planned is None or session is None or session.call is None or SearchBegun in by:
        return []
    wanted, had = session.call.schedule.count, [sittings.get(cell) for cell in planned.cells]
    taken = min((one.sittings if one is not None else 0 for one in had), default=0)
    return [Pending(SITTINGS, taken, wanted)] if 0 < taken < wanted else []
