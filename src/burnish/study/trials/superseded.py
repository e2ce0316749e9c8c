"""Starts of programs that were made again since, and came out otherwise: no verdict pools them with later ones; pure.

A build that is cleaned away between two sittings is made again by the same key. Where it is trained anew, or a tool
does not repeat itself, it is another program. Its earlier starts stay in the record; once a start of the later program
is there, they do not count any more. Where each side has several builds, the same is true of all of them together: an
upgrade of a compiler changes them between two sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from burnish.model.cell import CellId
from burnish.record.events import Event, Recorded
from burnish.record.events.trials import PairRead, StartBegun, StartDone
from burnish.record.events.verdicts import VerdictReached

_E = TypeVar("_E", bound=Event)

Superseded = Mapping[tuple[CellId, int], tuple[bool, bool]]
"""By cell and number of a start, whether its base's and its candidate's program are others than the last start's."""


def superseded(starts: Iterable[StartDone]) -> dict[tuple[CellId, int], tuple[bool, bool]]:
    """The starts of other programs than the last start of their cell, each with whether its base and its candidate
    are others.

    Args:
        starts: in the order in which they ended. Those of a merged record are compared within their host's run.

    Returns:
        By cell and number of the start.
    """
    known = [(start, start.programs) for start in starts if start.programs is not None]
    last = {_run(start): programs for start, programs in known}
    found = {}
    for start, (base, candidate) in known:
        now = last[_run(start)]
        if (base, candidate) != now:
            found[start.cell, start.start] = (base != now[0], candidate != now[1])
    return found


def counted(events: Iterable[Recorded[_E]], known: Superseded | None = None) -> list[Recorded[_E]]:
    """The events without those of superseded starts, and without verdicts that were reached before all others of their
    cell.

    Args:
        events: of a record, or of one of its cells.
        known: the superseded starts among them; None: they are looked for.
    """
    every = list(events)
    left_out = known
    if left_out is None:
        left_out = superseded(one.event for one in every if isinstance(one.event, StartDone))
    if not left_out:
        return every
    cells = {cell for cell, _ in left_out}
    kept, ended = [], set()
    for one in every:
        event: Event = one.event
        if isinstance(event, StartBegun | PairRead | StartDone):
            if (event.cell, event.start) in left_out:
                continue
            if isinstance(event, StartDone):
                ended.add(event.cell)
        elif isinstance(event, VerdictReached) and event.cell in cells - ended:
            continue
        kept.append(one)
    return kept


def _run(start: StartDone) -> tuple[CellId, str, str]:
    """What a start is compared within: its cell, and in a merged record the host's run."""
    return (start.cell, start.origin.host, start.origin.study) if start.origin is not None else (start.cell, "", "")
