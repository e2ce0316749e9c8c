"""What a run needs of further sittings: what is settled, what is due, when the next one is."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from burnish.base.durations import duration
from burnish.model.cell import CellId, ComparisonId, Role
from burnish.model.sittings import Schedule
from burnish.record.by_type import ByType
from burnish.record.events.bundled import ComparisonTried, FigureMeasured
from burnish.record.events.searches import SearchBegun, SearchEnded
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.study.comparison import Comparison
from burnish.study.trials.schedule import DISTURBED_READ, again_from, cell_sittings, disturbed_in, is_due, is_open
from burnish.study.trials.superseded import counted


def settled(record: Record, schedule: Schedule, boot: str, asked: Iterable[Comparison] = ()) -> frozenset[ComparisonId]:
    """The comparisons for which nothing is to be done now: those that have a figure, or a verdict and all sittings
    that are due; not those that the host disturbed in an earlier sitting. Of a search that is at its end these are all
    but its finalist's.

    Args:
        record: the run's.
        schedule: in how many sittings it is measured.
        boot: the host's boot.
        asked: the study's comparisons.
    """
    decided = {recorded.event.cell for recorded in record.events(VerdictReached)}
    tried = {recorded.event.comparison: recorded.event.cell for recorded in record.events(ComparisonTried)}
    ended = record.last(SearchEnded)
    if ended is not None:
        due = sitting_due(record, schedule, boot)
        finalist = {one for one, cell in tried.items() if due and cell.candidate == ended.event.finalist}
        return frozenset({*(comparison.id for comparison in asked), *tried} - finalist)
    if schedule.count > 1:
        decided -= {cell for cell in decided if is_due(cell_sittings(record, cell, boot), schedule)}
    decided -= {cell for cell in disturbed_cells(record) if is_open(record, cell, boot)}
    done = {comparison for comparison, cell in tried.items() if cell in decided}
    return frozenset(done | {recorded.event.comparison for recorded in record.events(FigureMeasured)})


def disturbed_cells(record: Record) -> list[CellId]:
    """The cells of a run that have no verdict but that the host was disturbed (`disturbed_in`)."""
    _, disturbed = disturbed_in(ByType(counted(record.events(*DISTURBED_READ))))
    return disturbed


def _counted(record: Record) -> list[CellId]:
    """The cells by which a run's sittings are counted.

    They are its claims: a confirmation gets its share of a sitting, but none is begun for it, as another candidate may
    be the best by then. A search's finalist stays the same, and the starts of its claim are spread over the search, so
    there they are its confirmations; no other candidate is measured in another sitting.
    """
    cells = dict.fromkeys(recorded.event.cell for recorded in record.events(VerdictReached))
    if record.last(SearchBegun) is None:
        return [cell for cell in cells if cell.role is Role.CLAIM]
    ended = record.last(SearchEnded)
    own = [cell for cell in cells if ended is not None and cell.candidate == ended.event.finalist]
    again = [cell for cell in own if cell.role is Role.CONFIRMATION]
    return again or [cell for cell in own if cell.role is Role.CLAIM]


def sitting_due(record: Record, schedule: Schedule, boot: str) -> bool:
    """Whether a cell by which sittings are counted may have another one now."""
    return any(is_due(cell_sittings(record, cell, boot), schedule) for cell in _counted(record))


@dataclass(frozen=True)
class Next:
    """The next sitting of a run.

    Attributes:
        number: which sitting it is, from 1.
        of: number of sittings that were requested.
        due: when it may begin, seconds since 1970.
    """

    number: int
    of: int
    due: float

    @property
    def words(self) -> str:
        """When it is due, in a sentence."""
        return f"sitting {self.number} of {self.of} is {_due(self.due)}"


@dataclass(frozen=True)
class Again:
    """The cells of a run that the host disturbed, which are measured again in another sitting.

    Attributes:
        cells: how many there are.
        due: when the last of them may be, seconds since 1970.
    """

    cells: int
    due: float

    @property
    def words(self) -> str:
        """When they are due, in a sentence."""
        return f"measuring {self.cells} disturbed cell{'s' if self.cells > 1 else ''} again is {_due(self.due)}"


def _due(due: float) -> str:
    wait = due - time.time()
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(due))
    return f"due at {when} (in {duration(wait)})" if wait > 0 else "due now"


def next_sitting(record: Record, schedule: Schedule, boot: str) -> Next | None:
    """The next sitting of a run whose cells are decided; None if none of them needs one.

    It is due when it is due for the cell that waits longest, so that one call takes the starts of all.

    Args:
        record: the run's.
        schedule: in how many sittings it is measured.
        boot: the host's boot.
    """
    if schedule.count < 2:
        return None
    cells = [one for cell in _counted(record) if (one := cell_sittings(record, cell, boot)) is not None]
    open_cells = [one for one in cells if one.wanted(schedule)]
    if not open_cells:
        return None
    number = min(one.full for one in open_cells) + 1
    return Next(number, schedule.count, max(one.due(schedule) for one in open_cells))


def following(record: Record, schedule: Schedule, boot: str) -> Next | Again | None:
    """What a run waits for: its next sitting, or another one for what the host disturbed, whichever is due first; None
    if it waits for neither.

    Args:
        record: the run's.
        schedule: in how many sittings it is measured.
        boot: the host's boot.
    """
    cells = disturbed_cells(record)
    again = Again(len(cells), max(again_from(record, cell, boot) for cell in cells)) if cells else None
    waits = [one for one in (next_sitting(record, schedule, boot), again) if one is not None]
    return min(waits, key=lambda one: one.due, default=None)
