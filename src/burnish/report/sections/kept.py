"""What is kept on this machine: runs, builds, and everything else with its size."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.catalogue import load
from burnish.record.store import Entry as Stored
from burnish.report import evidence
from burnish.report.document import (
    Column,
    Document,
    Entry,
    Paragraph,
    Section,
    Span,
    Table,
    dropping,
    grid,
    points,
    row,
)
from burnish.report.result import Result
from burnish.study.cleaning import DAY_S, Kept

NAMES = 20
"""So many functions that differ are named."""

_FIGURES = ("MB", "days unused")


@dataclass(frozen=True)
class RunLine:
    """A run in the list of runs.

    Attributes:
        study: its name.
        ended: when it finished, or that it did not.
        verdicts: how many of its cells have one.
    """

    study: str
    ended: str
    verdicts: str


def run_line(result: Result) -> RunLine:
    """A run's line."""
    done = sum(row.verdict != "running" for row in result.rows)
    return RunLine(result.name, result.ended or "not finished", f"{done} of {len(result.rows)}")


def runs(lines: Sequence[RunLine]) -> Document:
    """The runs of this machine."""
    if not lines:
        return _only("runs", f"no run yet; `burnish tune {load.example()}` makes the first one")
    columns = tuple(Column(name) for name in ("run", "ended", "verdicts"))
    table = Table("runs", columns, tuple(row(line.study, line.ended, line.verdicts) for line in lines), gap=2)
    return Document("runs", (Section("runs", (table,)),))


def inventory(items: Sequence[Kept], doomed: Collection[Kept], root: Path) -> Document:
    """Everything that is kept, and what of it goes."""
    columns = tuple(Column(name, right=name in _FIGURES) for name in ("kind", "name", "what", "MB", "days unused", ""))
    columns = dropping(columns, "days unused", "what")
    rows = tuple(
        row(
            item.kind,
            item.name,
            item.what,
            f"{item.size / 1e6:,.1f}",
            f"{item.age_s / DAY_S:.1f}",
            "goes" if item in doomed else "",
        )
        for item in items
    )
    total = f"{sum(item.size for item in items) / 1e6:,.0f} MB in {root}"
    return Document("kept", (Section("kept", (Table("kept", columns, rows, gap=2), Paragraph(Span(total)))),))


def builds(found: Sequence[tuple[Stored, Mapping[str, Any]]]) -> Document:
    """The builds that are kept: sizes, memory and time of their making, then what each needs to run."""
    if not found:
        return _only("builds", f"no build is kept; `burnish tune {load.example()}` makes the first ones")
    sizes = grid(
        "sizes", evidence.SIZES, (evidence.size_cells(entry.key, facts, entry.about) for entry, facts in found)
    )
    needs = points(
        f"{entry.key}: {entry.about['engine']}, {_made_by(entry)}; needs "
        + "; ".join(filter(None, (evidence.needs(facts), evidence.tried(facts["tried"]))))
        for entry, facts in found
    )
    return Document("builds", (Section("builds", (sizes, needs)),))


def build_details(found: Sequence[tuple[Stored, Mapping[str, Any]]]) -> Document:
    """Everything that is known of some builds, with the functions that differ from another's where that was asked."""
    entries = tuple(
        Entry(f"{entry.key} {entry.about['engine']} {_made_by(entry)}", prose=tuple(_details(entry, facts)))
        for entry, facts in found
    )
    return Document("builds", (Section("builds", entries),))


def _details(entry: Stored, facts: Mapping[str, Any]) -> list[str]:
    tried = [
        f"{processor}: {'starts and answers' if why is None else why}" for processor, why in facts["tried"].items()
    ]
    changed = facts.get("changed")
    against = [f"against {changed['of']}: {evidence.changed(changed, NAMES)}"] if changed else []
    return [*evidence.details(facts, entry.about), *tried, *against]


def _made_by(entry: Stored) -> str:
    return f"{entry.about['toolchain']}{' + BOLT' if entry.about.get('bolt') else ''}"


def _only(title: str, words: str) -> Document:
    return Document(title, (Section(title, (Paragraph(Span(words)),)),))
