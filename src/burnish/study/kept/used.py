"""The time that a run's sessions have used, for a budget that is for all of them."""

from __future__ import annotations

from datetime import datetime

from burnish.record import live
from burnish.record.events.study import SessionBegun
from burnish.record.record import Record


def used_before(record: Record) -> float:
    """Seconds that the sessions of a run have used; nothing is used between two of them.

    A session that was killed lasted until its last sign of life: its last event, or what it said of the step that it
    was at, about once a second. A compile of half an hour has no event before its end. The latter says what the session
    had used by a clock that stands still while the machine sleeps, as that of a session which runs does. Of sessions
    before the last one, the last says what they used; in records of older versions it does not, and they count as
    nothing.
    """
    session = record.last(SessionBegun)
    if session is None:
        return 0.0
    began = datetime.fromisoformat(session.at).timestamp()
    alive = live.read(record.folder)
    written = datetime.fromisoformat(record.written).timestamp()
    lasted = max(0.0, written - began)
    if alive is not None and alive.at >= began:
        until = alive.at - began
        # No more than by the clock on the wall: the file may be of a session that ended in the second this one began.
        awake = until if alive.used is None else min(alive.used, until)
        lasted = awake + max(0.0, written - alive.at)
    return (session.event.used or 0.0) + lasted
