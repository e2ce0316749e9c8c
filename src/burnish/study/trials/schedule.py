"""When a cell has had enough sittings, and when its next one may begin, from its starts in the record."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from burnish.model.cell import CellId
from burnish.model.sittings import GAP_S, Moment, Schedule, sittings_of
from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.bundled import ComparisonTried, ConfirmationBegun, LayoutsBegun
from burnish.record.events.searches import SearchBegun
from burnish.record.events.study import SessionBegun
from burnish.record.events.trials import StartDone
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.statistics.verdicts import Kind
from burnish.study.trials.starts import disturbed_alone, given_up
from burnish.study.trials.superseded import counted


@dataclass(frozen=True)
class CellSittings:
    """The sittings of a cell that has a verdict.

    Attributes:
        target: number of valid starts that a sitting is to have: that of the verdict of its first one.
        full: number of sittings that have at least half of them, the one under way aside.
        taken: valid starts of the sitting that is still on; 0 if there is none.
        invalid: invalid starts of it.
        disturbed: number of these for which the host was disturbed from outside.
        ended: when the last start ended, seconds since 1970; 0 without any.
        under_way: whether the sitting that is still on was interrupted: it has starts, and is to have more.
    """

    target: int
    full: int
    taken: int
    invalid: int
    disturbed: int
    ended: float
    under_way: bool = False

    @property
    def given_up(self) -> bool:
        """Whether the sitting that is still on has too many invalid starts to go on."""
        return given_up(self.invalid, self.disturbed, self.taken)

    def wanted(self, schedule: Schedule) -> bool:
        """Whether the cell needs another sitting."""
        return self.under_way or self.full < schedule.count

    def due(self, schedule: Schedule) -> float:
        """When its next starts may be taken, seconds since 1970: at once, if a sitting was interrupted."""
        return 0.0 if self.under_way else self.ended + schedule.apart


def moment(record: Record, start: Recorded[StartDone]) -> Moment:
    """When a start of a record was taken, and on which boot of the host."""
    sessions = [session for session in record.events(SessionBegun) if session.number < start.number]
    ended = datetime.fromisoformat(start.at).timestamp()
    boot = str(sessions[-1].event.host.get("boot", "")) if sessions else ""
    return Moment(ended - start.event.seconds, ended, boot)


def cell_sittings(record: Record, cell: CellId, boot: str, now: float | None = None) -> CellSittings | None:
    """The sittings of a cell; None if it has no verdict yet, or one that no further sitting can change.

    Args:
        record: the study's.
        cell: the cell.
        boot: the host's boot, as of now.
        now: seconds since 1970; None: the clock's.
    """
    reached = [verdict for verdict in record.events(VerdictReached, cell=cell) if verdict.event.verdict != Kind.INVALID]
    if not reached:
        return None
    starts = counted(record.events(StartDone, cell=cell))
    target = max(1, reached[0].event.starts)
    clock = time.time() if now is None else now
    since = [start for start in starts if start.number > reached[-1].number]
    groups = _groups(record, starts)
    on = _on(record, since, boot, clock)
    if not since and groups and _is_on(moment(record, groups[-1][-1]), boot, clock):
        on = groups[-1]
    taken = _valid(on)
    disturbed = sum(start.event.disturbed is True for start in on)
    under_way = bool(since) and 0 < taken < target and not given_up(len(on) - taken, disturbed, taken)
    if under_way:
        own = {start.number for start in on}
        groups = _groups(record, [start for start in starts if start.number not in own])
    return CellSittings(
        target=target,
        full=max(_full(groups, target), _full(_by_verdict(starts, reached), target)),
        taken=taken,
        invalid=len(on) - taken,
        disturbed=disturbed,
        ended=moment(record, starts[-1]).ended if starts else 0.0,
        under_way=under_way,
    )


def is_due(sittings: CellSittings | None, schedule: Schedule, now: float | None = None) -> bool:
    """Whether a cell needs another sitting and may have it now.

    Args:
        sittings: of the cell.
        schedule: in how many sittings the study is measured.
        now: seconds since 1970; None: the clock's.
    """
    if sittings is None or not sittings.wanted(schedule):
        return False
    return sittings.due(schedule) <= (time.time() if now is None else now)


def was_disturbed(record: Record, cell: CellId) -> bool:
    """Whether a cell has no verdict but that the host was disturbed from outside while it was measured."""
    last = record.last(VerdictReached, cell=cell)
    if last is None or last.event.verdict != Kind.INVALID:
        return False
    return disturbed_alone(start.event for start in counted(record.events(StartDone, cell=cell)))


DISTURBED_READ: tuple[type[Event], ...] = (
    SearchBegun,
    ComparisonTried,
    ConfirmationBegun,
    LayoutsBegun,
    StartDone,
    VerdictReached,
)
"""The events that `disturbed_in` reads."""


def disturbed_in(by: ByType) -> tuple[list[CellId], list[CellId]]:
    """The cells of a run that are measured again if the host disturbed them and have a verdict, and those of them that
    have none but that the host was disturbed.

    They are its claims, the fresh starts of what was picked last, and other link orders; none of a search, which goes
    on without them.

    Args:
        by: events of the run without superseded starts, those of `DISTURBED_READ` at least.
    """
    if SearchBegun in by:
        return [], []
    begun = by.of(ConfirmationBegun)
    picked = {one.comparison.series: one.comparison.row for one in begun}
    fresh = [one.cell for one in begun if picked[one.comparison.series] == one.comparison.row]
    tried = [*(one.cell for one in by.of(ComparisonTried)), *fresh, *(one.cell for one in by.of(LayoutsBegun))]
    verdicts = {verdict.cell: verdict.verdict for verdict in by.of(VerdictReached)}
    starts: dict[CellId, list[StartDone]] = {}
    for start in by.of(StartDone):
        starts.setdefault(start.cell, []).append(start)
    decided = [cell for cell in dict.fromkeys(tried) if cell in verdicts]
    return decided, [
        cell for cell in decided if verdicts[cell] == Kind.INVALID and disturbed_alone(starts.get(cell, ()))
    ]


def is_open(record: Record, cell: CellId, boot: str, now: float | None = None) -> bool:
    """Whether a cell is still to be decided: it has no verdict, or the host was disturbed in an earlier sitting.

    Args:
        record: the study's.
        cell: the cell.
        boot: the host's boot, as of now.
        now: seconds since 1970; None: the clock's.
    """
    if record.last(VerdictReached, cell=cell) is None:
        return True
    if not was_disturbed(record, cell):
        return False
    return again_from(record, cell, boot) <= (time.time() if now is None else now)


def again_from(record: Record, cell: CellId, boot: str) -> float:
    """When another sitting of a cell that was disturbed may begin, seconds since 1970: when that of its last start is
    over.

    Args:
        record: the study's.
        cell: the cell.
        boot: the host's boot, as of now.
    """
    last = record.last(StartDone, cell=cell)
    assert last is not None  # noqa: S101 - or nothing was disturbed
    return _over(moment(record, last), boot)


def sitting_readings(record: Record, cells: Sequence[CellId], quantity: str) -> list[dict[CellId, tuple[float, ...]]]:
    """By sitting, the readings of a quantity of the valid starts of some cells; sittings without one of each are left
    out.

    Which starts are of one sitting is decided by those of all of the cells together, as they were taken.
    """
    starts = [start for cell in cells for start in counted(record.events(StartDone, cell=cell))]
    groups = _groups(record, sorted(starts, key=lambda start: start.number))
    readings = [
        {
            cell: tuple(
                start.event.readings[quantity]
                for start in group
                if start.event.cell == cell and start.event.invalid is None and quantity in start.event.readings
            )
            for cell in cells
        }
        for group in groups
    ]
    return [one for one in readings if all(one.values())]


def _is_on(last: Moment, boot: str, now: float) -> bool:
    """Whether the sitting of the last start is still on: no half hour has passed, and the host has not booted."""
    return now < _over(last, boot)


def _over(last: Moment, boot: str) -> float:
    """When the sitting of the last start is over, seconds since 1970; 0 if the host has booted since."""
    booted = boot and last.boot and boot != last.boot
    return 0.0 if booted else last.ended + GAP_S


def _groups(record: Record, starts: Sequence[Recorded[StartDone]]) -> list[list[Recorded[StartDone]]]:
    """A cell's starts by sitting."""
    numbers = sittings_of([moment(record, start) for start in starts])
    groups: dict[int, list[Recorded[StartDone]]] = {}
    for number, start in zip(numbers, starts, strict=True):
        groups.setdefault(number, []).append(start)
    return list(groups.values())


def _on(record: Record, since: Sequence[Recorded[StartDone]], boot: str, now: float) -> Sequence[Recorded[StartDone]]:
    """Those of a cell's starts since its last verdict that are of a sitting that is still on.

    Where a round of all cells takes half an hour, each start of a cell is half an hour after its last one: which are of
    one sitting is decided by the starts of all cells then.
    """
    if not since:
        return []
    if len(_groups(record, since)) == 1 and _is_on(moment(record, since[-1]), boot, now):
        return since
    every = [start for start in record.events(StartDone) if start.number >= since[0].number]
    if not _is_on(moment(record, every[-1]), boot, now):
        return []
    last = {start.number for start in _groups(record, every)[-1]}
    return [start for start in since if start.number in last]


def _by_verdict(
    starts: Sequence[Recorded[StartDone]], verdicts: Sequence[Recorded[VerdictReached]]
) -> list[list[Recorded[StartDone]]]:
    """A cell's starts by the verdict that they led to; those since the last one are left out."""
    ends = [0, *(verdict.number for verdict in verdicts)]
    return [[one for one in starts if begin < one.number < end] for begin, end in itertools.pairwise(ends)]


def _full(groups: Sequence[Sequence[Recorded[StartDone]]], target: int) -> int:
    """How many of these sittings have at least half of the starts that they are to have."""
    return sum(2 * _valid(group) >= target for group in groups)


def _valid(starts: Sequence[Recorded[StartDone]]) -> int:
    return sum(start.event.invalid is None for start in starts)
