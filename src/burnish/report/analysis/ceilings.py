"""The ceiling on every load of a run, from the recorded user and kernel time of the baseline and the best; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.report.analysis import suites
from burnish.report.analysis.placed import moved, to_quote
from burnish.report.document import Bar, Bars
from burnish.why.ceiling import Ceiling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burnish.report.result import Result, Row


def ceilings(summary: Result, best: str | None) -> list[Ceiling]:
    """One for each load that has a verdict; a suite has one for a pass of all its tests.

    That of a winner is read off the starts that its figures are quoted from (`burnish.report.analysis.placed`): the
    kernel's share is that of their placement.

    Empty if the sides differ by their condition: the cost of TLS, for example, is not something that a compiler could
    remove.

    Args:
        summary: the run.
        best: the winner; None if no candidate won on every load: then the best of each load is used.
    """
    if summary.contest.get("versus"):
        return []
    suite = suites.members(summary.rows)
    by_load: dict[str, dict[str, list[Row]]] = {}
    for row in to_quote(summary):
        if row.sides.get(summary.baseline) and row.sides.get(row.candidate):
            load = suite.get(row.workload, row.workload)
            by_load.setdefault(load, {}).setdefault(row.candidate, []).append(row)
    chosen = []
    for load, by in by_load.items():
        most = max(len(rows) for rows in by.values())  # a candidate that lacks tests of a suite would look cheapest
        candidates = [_ceiling(summary, load, rows) for rows in by.values() if len(rows) == most]
        chosen.append(
            next(
                (ceiling for ceiling in candidates if ceiling.winner == best),
                min(candidates, key=lambda ceiling: ceiling.after),
            )
        )
    return chosen


def _ceiling(summary: Result, load: str, rows: Sequence[Row]) -> Ceiling:
    """The ceiling of one candidate on a load, or on all tests of a suite together."""
    bases, bests = (
        [side for row in rows if (side := row.sides[name])] for name in (summary.baseline, rows[0].candidate)
    )
    return Ceiling(
        workload=load,
        unit=rows[0].unit,
        baseline=summary.baseline,
        winner=rows[0].candidate,
        total=sum(base.server_cpu_per_transaction for base in bases),
        kernel=sum(base.server_cpu_per_transaction * base.kernel_share for base in bases),
        libraries=None,
        after=sum(best.server_cpu_per_transaction for best in bests),
        where=moved(summary, rows[0]),
    )


LEGEND = (("░", "saved"), ("▒", "still the server's own"), ("▓", "libraries"), ("█", "kernel"))
"""Parts of a ceiling's bar if the libraries' time is known."""

UNSPLIT = (("░", "saved"), ("▒", "still outside of the kernel"), ("█", "kernel"))
"""Parts if it is not known, and counts as the server's own."""


def bars(summary: Result, best: str | None) -> Bars:
    """The ceiling on each load as a bar."""
    drawn = []
    for ceiling in ceilings(summary, best):
        saved, left, _, kernel = ceiling.shares
        again = " again" if ceiling.where else ""
        drawn.append(Bar(f"{ceiling.workload}: {ceiling.winner}{again}", (saved, left, kernel)))
    return Bars(UNSPLIT, tuple(drawn))
