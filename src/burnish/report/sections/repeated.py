"""Remarks shared by many builds or cells, each reported once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from burnish.report.words import plural
from burnish.statistics.means import Ratio

FEW = 2
"""Up to this many cells of one kind each have their own sentence."""

_EXAMPLE = re.compile(r" \((?P<path>[^() ]*/[^() ]*)\)$")
"""A file at the end of a note: an example, not part of the remark."""

_PART = re.compile(r"(?P<before>.*: library )(?P<name>\S+)(?P<after>: linked against absent)")
"""A note on one library of several."""

_NEEDED = re.compile(r"some (?P<number>\d+ \w+) would tell")
"""In the sentence of an undecided verdict, how many starts or sittings would have decided it."""


def merged(notes: Iterable[tuple[str, str]], every: Sequence[str], noun: str) -> list[str]:
    """A line for each different note, with all the things that it applies to.

    Args:
        notes: (name of the build or cell, note), in order.
        every: the names of all builds or cells.
        noun: the noun for one of them, such as ``build``.
    """
    about: dict[str, dict[str, None]] = {}
    examples: dict[str, str] = {}
    for name, note in _parts_together(notes):
        example = _EXAMPLE.search(note)
        text = note[: example.start()] if example else note
        about.setdefault(text, {})[name] = None
        if example:
            examples.setdefault(text, example["path"])
    return [
        f"{_names(names, every, noun)}: {text}" + (f" ({examples[text]})" if text in examples else "")
        for text, names in about.items()
    ]


def _names(names: Mapping[str, None], every: Sequence[str], noun: str) -> str:
    others = [name for name in dict.fromkeys(every) if name not in names]
    if len(names) <= FEW or len(others) > 1:
        return ", ".join(names)
    return f"in all {noun}s but {others[0]}" if others else f"in all {plural(len(names), noun)}"


def _parts_together(notes: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The notes, with those on single libraries of one build joined into one."""
    by_note: dict[tuple[str, str, str], list[str]] = {}
    for name, note in notes:
        part = _PART.fullmatch(note)
        key = (name, part["before"], part["after"]) if part else (name, note, "")
        by_note.setdefault(key, []).extend([part["name"]] if part else [])
    return [(name, _joined(before, parts, after)) for (name, before, after), parts in by_note.items()]


def _joined(before: str, parts: Sequence[str], after: str) -> str:
    return (
        f"{before.removesuffix('y ')}ies {', '.join(parts)}{after}"
        if len(parts) > 1
        else f"{before}{''.join(parts)}{after}"
    )


@dataclass(frozen=True)
class Open:
    """A cell whose interval includes 1.

    Attributes:
        name: the cell.
        reason: its verdict's sentence.
        interval: its ratio, or None.
    """

    name: str
    reason: str
    interval: Ratio | None


def undecided(cells: Sequence[Open]) -> list[str]:
    """Why cells are undecided: one sentence each if there are few, else one line with the width of each interval."""
    if len(cells) <= FEW:
        return [f"{cell.name}: {cell.reason}" for cell in cells]
    parts = "; ".join(f"{cell.name}{_width(cell)}" for cell in cells)
    return [f"undecided, as the interval includes 1 (in brackets: how many would decide): {parts}"]


def _width(cell: Open) -> str:
    needed = _NEEDED.search(cell.reason)
    decide = f" ({needed['number']})" if needed else ""
    if cell.interval is None or cell.interval.low <= 0 or math.isinf(cell.interval.high):
        return decide
    half = math.sqrt(cell.interval.high / cell.interval.low) - 1
    return f" ±{100 * half:.2g} %{decide}"


LAYOUT = (
    "about these two binaries only, as the difference is within the ±3 % that other layouts of the same code may make "
    "or take (--layouts 6 tests the recipe)"
)
"""What `burnish.report.analysis.layout_caveat` says of one cell, in words for many."""


def two_binaries(cells: Sequence[tuple[str, str | None]]) -> list[str]:
    """Caveats about code layout: one sentence for each cell if there are few, else one line.

    Args:
        cells: each cell's name and its caveat, or None.
    """
    with_caveat = [(name, caveat) for name, caveat in cells if caveat is not None]
    if len(with_caveat) <= FEW:
        return [f"{name}: {caveat}" for name, caveat in with_caveat]
    return [f"{LAYOUT}: {'; '.join(name for name, _ in with_caveat)}"]
