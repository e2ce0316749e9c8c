"""A running study: the step that it is at, and its cells as they fill in."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

from burnish.base.durations import duration
from burnish.record.live import Live
from burnish.report.answer.words import change
from burnish.report.compose import dropping, points, role_of, row
from burnish.report.document import Column, Document, Section, Span, Table
from burnish.report.words import plural
from burnish.study.trials.board import BoardRow

MOST = 24
"""Most rows that are shown: those under way and the latest come first."""


def document(name: str, live: Live | None, rows: Sequence[BoardRow], *, finished: bool, most: int = MOST) -> Document:
    """The state of a run in a screen."""
    return Document(name, (Section("now", (points(_now(name, live, finished=finished)),)), cells(rows, most)))


def _now(name: str, live: Live | None, *, finished: bool) -> list[str]:
    if finished:
        return [f"{name}: finished; `burnish show {shlex.quote(name)}` has its result"]
    if live is None or not live.running:
        return [f"{name}: not running; the same command resumes it, or `burnish resume {shlex.quote(name)}`"]
    expected = f" of about {duration(live.expected)}" if live.expected else ""
    left = f"; about {duration(live.left)} left in all" if live.left else ""
    lines = [f"{name} (process {live.pid}){left}", f"{live.step} ({duration(live.spent)}{expected})"]
    return [*lines, *([live.text] if live.text else [])]


def cells(rows: Sequence[BoardRow], most: int = MOST) -> Section:
    """The cells: starts, the ratio so far, and what the sitting showed once the cell is decided."""
    if not rows:
        return Section("board", (points(["no trial yet"]),))
    order = sorted(rows, key=lambda one: (one.sitting != "running", not one.starts))
    shown = order[:most] if len(rows) > most else list(rows)
    names = ("candidate", "load", "starts", "% so far", "sitting")
    columns = dropping((Column(name, right=name in names[2:4], whole=name != "load") for name in names), "load")
    body = tuple(
        row(
            one.candidate,
            one.load,
            f"{one.starts}{f' (+{one.invalid})' if one.invalid else ''}",
            _so_far(one),
            Span(one.sitting or "-", role_of(one.sitting)),
        )
        for one in shown
    )
    more = [f"{plural(len(rows) - len(shown), 'cell')} more"] if len(shown) < len(rows) else []
    decided = sum(one.sitting not in ("", "running") for one in rows)
    notes = [*more, f"{decided} of {plural(len(rows), 'cell')} decided for this sitting; verdicts come with the report"]
    return Section("board", (Table("board", columns, body, gap=2), points(notes)))


def _so_far(one: BoardRow) -> str:
    if one.so_far is None:
        return "-"
    return change(one.so_far, brief=math.isinf(one.so_far.high))
