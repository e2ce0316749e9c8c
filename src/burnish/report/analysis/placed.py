"""Which cores servers and clients had, in words; and which figures of a winner are the ones to quote; pure.

A winner that was found in a duet is measured again with server and clients on cores of their own
(`burnish.study.planning.confirming`). Its ceiling and its costs are then read off those starts: kernel time is a larger
share of a server's CPU time when its clients run elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from burnish.model.cell import Role
from burnish.model.workload import Placement
from burnish.report.analysis.taken import taken

if TYPE_CHECKING:
    from burnish.report.result import Result, Row

ABOUT: Mapping[str, str] = {
    Placement.SHARED: "each server shares its cores with its clients, beside the other side",
    Placement.APART: "one side at a time under load, server and clients on cores of their own, half of them each",
    Placement.WHOLE: "one side at a time under load, server and clients on all cores together",
}
"""What each placement means."""

WITH: Mapping[str, str] = {
    Placement.SHARED: "with servers that share their cores with their clients",
    Placement.APART: "with a server on cores of its own",
    Placement.WHOLE: "with server and clients on all cores together",
}
"""Each placement within a sentence on a figure."""


def confirmed(result: Result) -> list[Row]:
    """The confirmations that have a figure: one has none where too many of its starts were invalid."""
    return [row for row in result.confirmations if row.ratio is not None]


def by_candidate(result: Result, confirmations: Sequence[Row]) -> dict[str, list[Row]]:
    """Confirmations by candidate, first those of the one whose figures are to be quoted.

    In another sitting, or on another host of a merged record, another candidate may have been the best.
    """
    found: dict[str, list[Row]] = {}
    for row in sorted(confirmations, key=lambda row: row.candidate != again_to_quote(result)):
        found.setdefault(row.candidate, []).append(row)
    return found


def again_to_quote(result: Result) -> str | None:
    """The candidate whose confirmations are to be quoted: the only one, or of several the recommended one, if any."""
    names = {row.candidate for row in result.confirmations}
    if len(names) == 1:
        return names.pop()
    best = taken(result) if names else None
    return best if best in names else None


def elsewhere(result: Result) -> tuple[Row, ...]:
    """The confirmations of candidates of which any is in another placement than that in which it was found; else none.

    Loads that have a placement of their own are measured again in it, beside the others.
    """
    claims = {(row.candidate, row.workload): row.placement for row in result.rows}
    again = tuple(row for row in confirmed(result) if (row.candidate, row.workload) in claims)
    moved_ones = {row.candidate for row in again if claims[row.candidate, row.workload] not in (row.placement, "")}
    return tuple(row for row in again if row.candidate in moved_ones)


def complete(result: Result, candidate: str) -> bool:
    """Whether every load of a candidate is among these confirmations of it."""
    return candidate in _complete(result, elsewhere(result))


def _complete(result: Result, confirmations: Sequence[Row]) -> set[str]:
    """The candidates of which every load is among these confirmations."""
    again = {(row.candidate, row.workload) for row in confirmations}
    open_ones = {row.candidate for row in result.rows if (row.candidate, row.workload) not in again}
    return {candidate for candidate, _ in again} - open_ones


def to_quote(result: Result) -> list[Row]:
    """The rows of a run, a winner's replaced by those of its confirmation in another placement; a search's in any.

    Not if the budget ended before all its loads were measured again: figures of two placements are not to be mixed.
    """
    fresh = elsewhere(result) if result.searched is None else confirmed(result)
    whole = _complete(result, fresh)
    again = {(row.candidate, row.workload): row for row in fresh if row.candidate in whole}
    return [again.get((row.candidate, row.workload), row) for row in result.rows]


def quoted(result: Result, candidate: str | None) -> list[Row]:
    """The rows of a candidate whose figures are to be quoted."""
    return [row for row in to_quote(result) if row.candidate == candidate]


def moved(result: Result, row: Row) -> str:
    """``with a server on cores of its own`` if a row is such a confirmation; '' otherwise."""
    return WITH[row.placement] if row.role == Role.CONFIRMATION and row in elsewhere(result) else ""


def named(result: Result, candidate: str) -> str:
    """``with a server on cores of its own`` if the figures to quote of a candidate are, and not a duet's.

    Not of older records, whose placement is not recorded.
    """
    if not result.contest.get("placements"):
        return ""
    placements = {row.placement for row in quoted(result, candidate)}
    return WITH[placements.pop()] if len(placements) == 1 and not placements & {Placement.SHARED, ""} else ""


def lines(placements: Mapping[str, Sequence[str]]) -> list[str]:
    """A line for each placement with its meaning.

    Args:
        placements: by placement, what was measured in it; named only if there are several placements.
    """
    return [
        f"placement {placement}: {ABOUT[placement]}"
        + (f" ({', '.join(dict.fromkeys(names))})" if len(placements) > 1 else "")
        for placement, names in placements.items()
    ]
