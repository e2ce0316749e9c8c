"""The cells of a running study as they fill in, from its record alone: for its own terminal and for `burnish watch`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.model.cell import CellId, Role
from burnish.model.quantity import HEADLINES
from burnish.record.events.trials import StartBegun, StartDone, TrialsPlanned
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.statistics.intervals import Interval, fixed_interval
from burnish.statistics.verdicts import IN_SITTING
from burnish.study.trials.superseded import counted

FEWEST = 2
"""Starts below which a cell has no interval."""


@dataclass(frozen=True)
class BoardRow:
    """One cell so far.

    Attributes:
        candidate: the variant or program.
        load: the load.
        starts: valid starts.
        invalid: starts that were repeated.
        so_far: the ratio of the headline quantity with its interval over the starts so far, which is no verdict.
        sitting: once the cell is decided, what its sitting showed: ``ahead``, ``behind``, ``equal``, ``undecided`` or
            ``invalid``; ``running`` while a start of it is under way, else ''. The verdict is the report's.
    """

    candidate: str
    load: str
    starts: int
    invalid: int
    so_far: Interval | None
    sitting: str


def board(record: Record) -> tuple[BoardRow, ...]:
    """A row for each cell that gets a verdict, in the order of reports; empty before the trials."""
    planned = record.last(TrialsPlanned)
    if planned is None:
        return ()
    done: dict[CellId, list[StartDone]] = {}
    for recorded in counted(record.events(StartDone)):
        done.setdefault(recorded.event.cell, []).append(recorded.event)
    decided = {recorded.event.cell: recorded.event.verdict for recorded in record.events(VerdictReached)}
    shown = {cell: IN_SITTING.get(verdict, verdict) for cell, verdict in decided.items()}
    begun = record.last(StartBegun)
    current = begun.event if begun is not None else None
    under_way = current is not None and len(done.get(current.cell, ())) < current.start
    rows = []
    later = (cell for cell in done if cell.role in (Role.CONFIRMATION, Role.DEPLOYMENT))
    cells = dict.fromkeys((*planned.event.cells, *later))
    for cell in cells:
        starts = [start for start in done.get(cell, ()) if start.invalid is None]
        running = "running" if under_way and current is not None and current.cell == cell else ""
        rows.append(
            BoardRow(
                candidate=f"{cell.label} again" if cell.role is Role.CONFIRMATION else cell.label,
                load=cell.workload,
                starts=len(starts),
                invalid=len(done.get(cell, ())) - len(starts),
                so_far=_so_far(starts, planned.event.headlines.get(cell.workload, "")),
                sitting=shown.get(cell, running),
            )
        )
    return tuple(rows)


def _so_far(starts: Sequence[StartDone], headline: str) -> Interval | None:
    """The ratio over the starts so far."""
    names = [headline] if headline else [quantity.name for quantity in HEADLINES]
    name = next((name for name in names if all(name in start.readings for start in starts)), None)
    readings = [start.readings[name] for start in starts] if name else []
    if len(readings) < FEWEST:
        return Interval(math.exp(readings[0]), 0.0, math.inf, 0.95) if readings else None
    return fixed_interval(readings)
