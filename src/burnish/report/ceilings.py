"""The ceiling on every load of a study, from what its record has: user and kernel time of the baseline and the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.why.ceiling import LEGEND_UNSPLIT, Ceiling

if TYPE_CHECKING:
    from burnish.report.summary import Row, Summary


def ceilings(summary: Summary, best: str | None) -> list[Ceiling]:
    """One for each load that has a verdict.

    Args:
        summary: the study.
        best: the winner; None where none won everywhere: then each load's best.
    """
    found = []
    for workload in dict.fromkeys(row.workload for row in summary.rows):
        mine = [row for row in summary.rows if row.workload == workload and _told(row, summary)]
        chosen = [row for row in mine if row.candidate == best] or sorted(
            mine, key=lambda row: row.sides[row.candidate]["server_cpu_per_transaction"]
        )
        if not chosen:
            continue
        row = chosen[0]
        base, other = row.sides[summary.baseline], row.sides[row.candidate]
        total = base["server_cpu_per_transaction"]
        found.append(
            Ceiling(
                workload=workload,
                unit=row.unit,
                baseline=summary.baseline,
                winner=row.candidate,
                total=total,
                kernel=total * base["kernel_share"],
                libraries=None,
                after=other["server_cpu_per_transaction"],
            )
        )
    return found


def bars(summary: Summary, best: str | None) -> list[str]:
    """A bar for each load with its name above, and what the bars' signs mean."""
    lines = [line for each in ceilings(summary, best) for line in (f"{each.workload}: {each.winner}", each.bar())]
    return [*lines, LEGEND_UNSPLIT] if lines else []


def _told(row: Row, summary: Summary) -> bool:
    return bool(row.sides.get(summary.baseline) and row.sides.get(row.candidate))
