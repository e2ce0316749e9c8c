"""A pair of programs against a bound: the sentence, a line for each load, what the figures mean."""

from __future__ import annotations

import shlex

from burnish.report.answer.checked import Check, LoadChecked, Outcome
from burnish.report.answer.headed import host
from burnish.report.compose import points, row
from burnish.report.document import Column, Document, Literal, Paragraph, Role, Section, Span, Table
from burnish.report.words import percent
from burnish.statistics.bounds import ALPHA
from burnish.statistics.intervals import Interval

_ROLES = {
    Outcome.PASSED: Role.FASTER,
    Outcome.SLOWER: Role.SLOWER,
    Outcome.UNDECIDED: Role.UNDECIDED,
    Outcome.INVALID: Role.INVALID,
}
_OF = {"capacity": "work per CPU second", "throughput": "work per second"}


def document(check: Check) -> Document:
    """The outcome first; for a terminal and, as Markdown, for a review."""
    names = ("load", "outcome", f"{check.candidate} %", "starts", "p95", "why")
    figures = (f"{check.candidate} %", "starts")
    columns = tuple(Column(name, right=name in figures, whole=name not in ("load", "why")) for name in names)
    table = Table("check", columns, tuple(row(*_cells(one)) for one in check.loads))
    title = f"{check.engine}: {check.candidate} against {check.base}"
    return Document(
        title,
        (
            Section("answer", (Paragraph(Span(check.sentence, Role.STRONG)),)),
            Section("loads", (table,)),
            Section("notes", (points(_notes(check)),)),
            Section("onward", (Literal((f"next     burnish show {shlex.quote(check.run)} --full  # all of it",)),)),
        ),
    )


def _cells(one: LoadChecked) -> tuple[str | Span, ...]:
    outcome = Span(str(one.outcome), _ROLES[one.outcome])
    return one.load, outcome, _change(one.interval), str(one.starts or "-"), one.p95 or "-", one.reason


def _change(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    middle, low, high = (100.0 * (end - 1.0) for end in (interval.ratio, interval.low, interval.high))
    return f"{middle:+.1f} [{low:+.1f}, {high:+.1f}]"


def _notes(check: Check) -> list[str]:
    """What the figures mean, and whom the claim is about."""
    of = " and ".join(dict.fromkeys(_OF.get(one.quantity, one.quantity) for one in check.loads))
    several = f"; those that fail are corrected for {len(check.loads)} loads" if len(check.loads) > 1 else ""
    return [
        f"%: change in {of}, with one-sided limits at {percent(1 - ALPHA)}{several}",
        "about these two programs, measured side by side in one sitting on this host: nothing of other hosts or days",
        *(f"they differ: {line}" for line in check.differences),
        f"{host(check.host)}; time for the trials: {check.seconds / 60:g} min",
    ]
