"""A candidate over all loads of a run: the geometric mean of its ratios; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burnish.model.cell import Role
from burnish.model.quantity import HEADLINES
from burnish.report.analysis import suites
from burnish.report.analysis.placed import to_quote
from burnish.statistics.means import Ratio, mean_over_loads

if TYPE_CHECKING:
    from burnish.report.result import Result, Row

LEAST = 3
"""Fewest loads that have a mean; of two, each has a figure that fits beside the other's."""


@dataclass(frozen=True)
class LoadsMean:
    """A candidate over all loads.

    Attributes:
        candidate: its name.
        loads: number of loads.
        placement: which cores servers and clients had; '' where loads differ in it or it is not known.
        again: whether these are the winner's fresh starts.
        means: geometric mean of the loads' ratios, by quantity that a verdict can be about and that all loads have.
    """

    candidate: str
    loads: int
    placement: str
    again: bool
    means: Mapping[str, Ratio]


def over_loads(result: Result) -> list[LoadsMean]:
    """The mean of every candidate that has a figure on each of three loads or more; tests of a suite are none.

    Then that of the winner's fresh starts, where its figures to quote are of these. Bundled studies, series of patches
    and explanations have other means, or none.
    """
    if result.shipped is not None or result.patched is not None or result.explanation is not None:
        return []
    suite = suites.members(result.rows)
    claims = [row for row in result.rows if row.workload not in suite]
    loads = len({row.workload for row in claims})
    fresh = [row for row in to_quote(result) if row.role == Role.CONFIRMATION and row.workload not in suite]
    found = [*_of_candidates(claims, loads, again=False), *_of_candidates(fresh, loads, again=True)]
    return found if loads >= LEAST else []


def _of_candidates(rows: Iterable[Row], loads: int, *, again: bool) -> list[LoadsMean]:
    by_candidate: dict[str, list[Row]] = {}
    for row in rows:
        by_candidate.setdefault(row.candidate, []).append(row)
    found = []
    for candidate, cells in by_candidate.items():
        means = {quantity.name: mean for quantity in HEADLINES if (mean := of_rows(cells, quantity.name)) is not None}
        if len(cells) == loads and means:
            placements = {row.placement for row in cells}
            found.append(LoadsMean(candidate, loads, placements.pop() if len(placements) == 1 else "", again, means))
    return found


def of_rows(rows: Sequence[Row], quantity: str) -> Ratio | None:
    """Geometric mean of a quantity's ratio over rows of one candidate, a load each; None if one has none."""
    values = []
    for row in rows:
        ratio = row.of(quantity)
        if ratio is None:
            return None
        values.append((ratio, row.sitting.intervals.get(quantity) if row.sitting else None))
    return mean_over_loads(values)
