"""What microbenchmarks found: a row for each function, the sides above the table and notes below it."""

from __future__ import annotations

from collections.abc import Iterable

from burnish.catalogue.micro import Micro
from burnish.report.compose import dropping, points, row
from burnish.report.document import Column, Document, Entry, Paragraph, Role, Section, Span, Table
from burnish.study.micro.run import LABELS, Outcome, Result

_LEGEND = (
    "ratio: CPU time of a call in A over that in B, so above 1 says that B takes less; the interval and the "
    "verdict are of the starts of this one sitting, and another may differ by more than they say. "
    "The least time of a call shows its order of magnitude only."
)
_WORDS = ("function", "verdict")


def document(result: Result) -> Document:
    """The sides, the table, then notes such as results under qemu."""
    names = ("function", *(f"{label}, ns" for label in LABELS), "ratio", "interval", "verdict")
    columns = dropping(
        (Column(name, right=name not in _WORDS, whole=name not in _WORDS) for name in names),
        *(f"{label}, ns" for label in LABELS),
        "interval",
    )
    table = Table("micro", columns, tuple(row(*_cells(outcome)) for outcome in result.outcomes))
    sides = points(f"{label}: {side}" for label, side in zip(LABELS, result.sides, strict=True))
    notes = points(f"{outcome.name}: {note}" for outcome in result.outcomes for note in _notes(outcome))
    legend = Paragraph(Span(_LEGEND, Role.ASIDE))
    return Document("microbenchmarks", (Section("micro", (sides, table, notes, legend)),))


def listing(functions: Iterable[Micro]) -> Document:
    """The functions that can be timed."""
    entries = tuple(Entry(function.name, prose=(function.does, function.reason)) for function in functions)
    return Document("functions", (Section("functions", entries),))


def _cells(outcome: Outcome) -> tuple[str, ...]:
    if outcome.identical:
        return outcome.name, "", "", "", "", "identical code"
    times = tuple(_nanoseconds(outcome.call_ns(number)) for number in range(len(LABELS)))
    judged = outcome.judgement
    interval = judged.interval if judged else None
    if judged is None or interval is None:
        return outcome.name, *times, "", "", ""
    ends = f"{interval.low:.3f}-{interval.high:.3f}"
    return outcome.name, *times, f"{interval.ratio:.3f}", ends, judged.kind.value


def _nanoseconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _notes(outcome: Outcome) -> list[str]:
    notes = [outcome.elsewhere] if outcome.elsewhere else []
    if outcome.judgement is not None:
        notes.append(outcome.judgement.reason)
    return notes
