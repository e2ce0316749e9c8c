"""What both servers of each cell said of themselves: only their programs should differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from burnish.model.cell import Role
from burnish.report.analysis.taken import taken
from burnish.report.answer.words import span
from burnish.report.compose import grid, points, section
from burnish.report.document import Section
from burnish.report.page.details import Details
from burnish.report.words import change, plural

if TYPE_CHECKING:
    from burnish.record.events.trials import ServersReported
    from burnish.report.result import Result

_ROLES = (Role.CLAIM, Role.CONFIRMATION)
_APART = 0.02
"""Share by which a counter per statement must differ to be named."""

_RARE = 1e-3
"""Counts per statement below which a counter differs by chance."""

_MOST = 40


def sections(result: Result, details: Details) -> list[Section]:
    """Settings and counters of both sides; nothing of engines that have no server to ask."""
    cells = {(label, load): reported for (label, load, role), reported in details.reported.items() if role in _ROLES}
    if not cells:
        return []
    alike = span([reported.alike for reported in cells.values()])
    first = f"settings of both servers, as they said at the end of a start ({plural(len(cells), 'cell')}): {alike} are "
    lines = [f"{first}the same on both, but for each side's own folders", *_settings(cells), *_counters(cells)]
    shown = lines[:_MOST] + [f"and {len(lines) - _MOST} more"] * (len(lines) > _MOST)
    labels = [label for label, _ in cells]
    chosen = next((label for label in labels if label == taken(result)), labels[0])
    rows = [row for (label, load), reported in cells.items() if label == chosen for row in _rows(label, load, reported)]
    title = "Both servers, as they said themselves"
    table = grid("counters", ("load", "counter for each statement", result.baseline, chosen, "change"), rows, ())
    return [section("servers", title, points(shown), table if rows else None)]


def _settings(cells: Mapping[tuple[str, str], ServersReported]) -> Iterator[str]:
    """The settings that differ, each with the cells in which they do so in the same way."""
    where: dict[str, list[str]] = {}
    for (label, load), reported in cells.items():
        for name, values in reported.differ.items():
            sides = sorted(values, key=label.__eq__)  # the base first; a start has them in the order of their launch
            said = ", ".join(f"{values[side] or '(empty)'} on {side}" for side in sides)
            where.setdefault(f"{name}: {said}", []).append(f"{label} on {load}")
    if not where:
        yield "no setting differs"
    for line, names in where.items():
        yield f"differs: {line} ({names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''})"


def _counters(cells: Mapping[tuple[str, str], ServersReported]) -> Iterator[str]:
    """The counters of which the sides have different numbers for a statement."""
    found = [
        f"{name} for each statement differs: {before:.4g} and {after:.4g} ({label} on {load})"
        for (label, load), reported in cells.items()
        for name, before, after in _both(label, reported)
        if max(before, after) >= _RARE and abs(after - before) > _APART * max(before, after)
    ]
    yield from found or [f"no counter of the servers' work for a statement differs by more than {100 * _APART:g} %"]


def _both(label: str, reported: ServersReported) -> Iterator[tuple[str, float, float]]:
    """Each counter with its numbers on the base and on the candidate of this label."""
    own = reported.per_statement.get(label, {})
    for side, counters in reported.per_statement.items():
        if side != label:
            yield from ((name, count, own[name]) for name, count in counters.items() if name in own)


def _rows(label: str, load: str, reported: ServersReported) -> Iterator[tuple[str, ...]]:
    for name, before, after in _both(label, reported):
        if before or after:
            moved = f"{change(after / before)} %" if before else "-"
            yield load, name, f"{before:.4g}", f"{after:.4g}", moved
