"""What is kept on this machine: runs, builds, and everything else with its size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from burnish.artefacts.bounding import Held
from burnish.catalogue import load
from burnish.record.store import Entry as Stored
from burnish.report import evidence
from burnish.report.analysis import marks
from burnish.report.analysis.taken import taken
from burnish.report.compose import dropping, grid, points, row
from burnish.report.document import Column, Document, Entry, Paragraph, Points, Section, Span, Table
from burnish.report.result import Result
from burnish.study.kept.cleaning import DAY_S, Kept

NAMES = 20
"""Maximum number of differing functions that are named."""

_FIGURES = ("MB", "days unused")
_LONGEST_WINNER = 24
"""Length up to which a winner's name is not wrapped in the list of runs, where its columns have room for that."""

_WIDTH = 80
"""Columns of text in which the list of runs has its names of runs whole."""

_GAP = 2

_SHORT = 8
"""Digits of a key that tell builds of one name apart."""


@dataclass(frozen=True)
class RunLine:
    """A run in the list of runs.

    Attributes:
        run: its name.
        engine: its engine's name.
        verb: the verb that started it, or the bundled study that it runs.
        begun: when, ISO 8601 UTC.
        ended: when it finished; None: it did not.
        cells: number of its comparisons.
        decided: how many of them have a verdict.
        winner: the variant to take, as in the report's conclusion; None if there is none, or no single one.
        marks: letters that warn of the winner (see `burnish.report.analysis.marks`); '' without any.
    """

    run: str
    engine: str
    verb: str
    begun: str
    ended: str | None
    cells: int
    decided: int
    winner: str | None
    marks: str = ""


def run_line(result: Result) -> RunLine:
    """A run's line."""
    best = taken(result)
    return RunLine(
        run=result.name,
        engine=result.engine,
        verb=result.verb,
        begun=result.begun,
        ended=result.ended,
        cells=len(result.rows),
        decided=sum(row.verdict != "running" for row in result.rows),
        winner=best,
        marks=marks.letters(marks.by_variant(result).get(best)) if best is not None else "",
    )


def runs(lines: Sequence[RunLine]) -> Document:
    """The runs of this machine."""
    if not lines:
        return _only("runs", f"no run yet; `burnish tune {load.example()}` makes the first one")
    names = ("run", "engine", "verb", "ended", "verdicts", "winner")
    # A run's name includes its engine and verb, so these columns are dropped first; names of runs, which are typed,
    # and dates are not wrapped. A winner that is a path, or too long beside them, takes the room that is left.
    short = all(len(line.winner or "") <= _LONGEST_WINNER for line in lines) and _kept_width(lines) <= _WIDTH
    whole = ("run", "ended", "verdicts", *(("winner",) if short else ()))
    columns = dropping((Column(name, whole=name in whole) for name in names), "engine", "verb")
    rows = tuple(
        row(line.run, line.engine, line.verb, _moment(line.ended), _decided(line), _winner(line)) for line in lines
    )
    return Document("runs", (Section("runs", (Table("runs", columns, rows, gap=_GAP), *_legend(lines))),))


def _kept_width(lines: Sequence[RunLine]) -> int:
    """Width of the columns that the list of runs never leaves out, each as wide as its longest cell."""
    cells = [(line.run, _moment(line.ended), _decided(line), _winner(line).marked) for line in lines]
    columns = zip(("run", "ended", "verdicts", "winner"), *cells, strict=True)
    widths = [max(map(len, column)) for column in columns]
    return sum(widths) + _GAP * (len(widths) - 1)


def _winner(line: RunLine) -> Span:
    return Span(line.winner or "", marks=line.marks)


def _legend(lines: Sequence[RunLine]) -> Sequence[Points]:
    """What the letters beside winners mean; empty if there are none."""
    shown = {letter for line in lines for letter in line.marks}
    words = [f"!{letter} {word}" for word, letter in marks.LETTERS.items() if letter in shown]
    return [points([", ".join(words)])] if words else []


def _decided(line: RunLine) -> str:
    return f"{line.decided} of {line.cells}" if line.cells else ""


def _moment(at: str | None) -> str:
    """A moment of a record (ISO 8601, UTC) in this machine's time zone."""
    return "unfinished" if at is None else datetime.fromisoformat(at).astimezone().strftime("%d %b %Y %H:%M")


def inventory(items: Sequence[Kept], chosen: Collection[Kept], root: Path, *, full: bool) -> Document:
    """Everything that is kept and what of it will be removed: by kind or, with `full`, one by one."""
    table = _one_by_one(items, chosen) if full else _by_kind(items, chosen)
    total = f"{megabytes(items)} MB in {root}"
    return Document("kept", (Section("kept", (table, Paragraph(Span(total)))),))


def shared(held: Sequence[Held], usable: Collection[Held], url: str) -> Document:
    """What hosts share: each entry, when it was last used, and whether this host can use it, or could by its key."""
    names = ("kind", "key", "what", "MB", "last used", "here")
    columns = tuple(Column(name, right=name == "MB", whole=name != "what") for name in names)
    rows = tuple(
        row(
            item.kind,
            item.local,
            item.note,
            f"{item.size / 1e6:,.1f}",
            f"{datetime.fromtimestamp(item.used, UTC):%Y-%m-%d}",
            "usable" if item in usable else "by key" if item.local == item.key else "",
        )
        for item in sorted(held, key=lambda item: (item.kind, -item.used))
    )
    total = f"{len(held)} entries, {sum({item.digest: item.size for item in held}.values()) / 1e6:,.0f} MB in {url}"
    return Document("store", (Section("store", (Table("store", columns, rows, gap=2), Paragraph(Span(total)))),))


def _by_kind(items: Sequence[Kept], chosen: Collection[Kept]) -> Table:
    """For each kind: number, size, folder, and how much of it will be removed."""
    rows = []
    for kind in dict.fromkeys(item.kind for item in items):
        own = [item for item in items if item.kind == kind]
        going = [item for item in own if item in chosen]
        goes = f"{megabytes(going)} MB go" if going else ""
        place = min(str(item.folder.parent) for item in own)
        rows.append(row(kind, str(len(own)), megabytes(own), goes, place))
    names = ("kind", "entries", "MB", "", "folder")
    columns = tuple(Column(name, right=name in ("entries", "MB")) for name in names)
    return Table("kept", columns, tuple(rows), gap=2)


def _one_by_one(items: Sequence[Kept], chosen: Collection[Kept]) -> Table:
    columns = tuple(Column(name, right=name in _FIGURES) for name in ("kind", "name", "what", "MB", "days unused", ""))
    rows = tuple(
        row(
            item.kind,
            item.name,
            item.what,
            f"{item.size / 1e6:,.1f}",
            f"{item.age_s / DAY_S:.1f}",
            "goes" if item in chosen else "",
        )
        for item in items
    )
    return Table("kept", dropping(columns, "days unused", "what"), rows, gap=2)


def megabytes(items: Collection[Kept]) -> str:
    """The total size of the items, in MB (10^6 bytes)."""
    return f"{sum(item.size for item in items) / 1e6:,.0f}"


def builds(
    examined: Sequence[tuple[Stored, Mapping[str, Any]]], names: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Document:
    """The builds that are kept: their sizes, the memory and time that building took, then what each needs to run.

    Args:
        examined: builds with the facts about their programs.
        names: by a build's key, the names of the variants that it is.
    """
    if not examined:
        return _only("builds", f"no build is kept; `burnish tune {load.example()}` makes the first ones")
    called = labels([entry.key for entry, _ in examined], names)
    sizes = grid(
        "sizes",
        evidence.SIZES,
        (evidence.size_cells(called[entry.key], facts, entry.about) for entry, facts in examined),
    )
    needs = points(
        f"{_named(entry, names)}: {entry.about['engine']}, {_made_by(entry)}; needs "
        + "; ".join(filter(None, (evidence.needs(facts), evidence.tried(facts["tried"]))))
        for entry, facts in examined
    )
    return Document("builds", (Section("builds", (sizes, needs)),))


def build_details(
    examined: Sequence[tuple[Stored, Mapping[str, Any]]], names: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Document:
    """Everything known about some builds, with the functions that differ from another build's if requested.

    Args:
        examined: builds with the facts about their programs.
        names: by a build's key, the names of the variants that it is.
    """
    entries = tuple(
        Entry(f"{_named(entry, names)} {entry.about['engine']} {_made_by(entry)}", prose=tuple(_details(entry, facts)))
        for entry, facts in examined
    )
    return Document("builds", (Section("builds", entries),))


def _details(entry: Stored, facts: Mapping[str, Any]) -> list[str]:
    tried = [
        f"{processor}: {'starts and answers' if why is None else why}" for processor, why in facts["tried"].items()
    ]
    changed = facts.get("changed")
    against = [f"against {changed['of']}: {evidence.changed(changed, NAMES)}"] if changed else []
    return [*evidence.details(facts, entry.about), *tried, *against]


def labels(keys: Sequence[str], names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """By a build's key, the variants that it is; with the key's beginning where others are the same; else the key."""
    known = {key: ", ".join(names.get(key, ())) for key in keys}
    times = Counter(known.values())
    return {
        key: (name if times[name] == 1 else f"{name} {key[:_SHORT]}") if name else key for key, name in known.items()
    }


def _named(entry: Stored, names: Mapping[str, Sequence[str]]) -> str:
    """A build's key, with the names of the variants that it is."""
    known = names.get(entry.key, ())
    return f"{entry.key} ({', '.join(known)})" if known else entry.key


def _made_by(entry: Stored) -> str:
    return f"{entry.about['toolchain']}{' + BOLT' if entry.about.get('bolt') else ''}"


def _only(title: str, words: str) -> Document:
    return Document(title, (Section(title, (Paragraph(Span(words)),)),))
