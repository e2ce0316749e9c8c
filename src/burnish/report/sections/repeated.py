"""Remarks that many builds or cells have in common, said once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from burnish.report.words import plural
from burnish.statistics.means import Ratio

FEW = 2
"""So many cells of one kind have each a sentence of its own."""

_EXAMPLE = re.compile(r" \((?P<path>[^() ]*/[^() ]*)\)$")
"""A file at the end of a note, which is an example and no part of what is said."""

_PART = re.compile(r"(?P<before>.*: library )(?P<name>\S+)(?P<after>: linked against absent)")
"""A note on one library of several."""

_NEEDED = re.compile(r"some (?P<number>\d+) \w+ would tell")
"""In the sentence of an undecided verdict, what would have decided it."""


def merged(notes: Iterable[tuple[str, str]], every: Sequence[str], noun: str) -> list[str]:
    """A line for each different note, with all that it is about.

    Args:
        notes: (whom it is about, what is said), in order.
        every: all that a note could be about.
        noun: what one of these is called, as in ``build``.
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
    """The notes, of which those on single libraries of one build are one note."""
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
    """Why cells are undecided: a sentence each where they are few, else one line with the width of each interval."""
    if len(cells) <= FEW:
        return [f"{cell.name}: {cell.reason}" for cell in cells]
    parts = "; ".join(f"{cell.name}{_width(cell)}" for cell in cells)
    return [f"undecided, as the interval includes 1 (in brackets: how many starts would decide): {parts}"]


def _width(cell: Open) -> str:
    needed = _NEEDED.search(cell.reason)
    decide = f" ({needed['number']})" if needed else ""
    if cell.interval is None or cell.interval.low <= 0 or math.isinf(cell.interval.high):
        return decide
    half = math.sqrt(cell.interval.high / cell.interval.low) - 1
    return f" ±{100 * half:.2g} %{decide}"


LAYOUT = (
    "about these two binaries only, as the difference is less than two standard deviations of what shuffling the code "
    "layout alone does (--layouts 6 tests the flag)"
)
"""What `burnish.report.analysis.layout_caveat` says of one cell, said of many."""


def two_binaries(cells: Sequence[tuple[str, str | None]]) -> list[str]:
    """Of cells with a caveat about their code layout, that caveat: a sentence each where they are few, else one line.

    Args:
        cells: each cell's name and its caveat, or None.
    """
    with_caveat = [(name, caveat) for name, caveat in cells if caveat is not None]
    if len(with_caveat) <= FEW:
        return [f"{name}: {caveat}" for name, caveat in with_caveat]
    return [f"{LAYOUT}: {'; '.join(name for name, _ in with_caveat)}"]
