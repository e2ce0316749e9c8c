"""Which cells of a study are measured again, on fresh starts, and how; pure.

What was picked from many looks better than it is. What was found in a duet was measured on servers that share their
cores with their clients; few servers do so in production, and kernel time is a larger share of their CPU time when they
don't. So the winner is measured again, and where it was found in a duet, with server and clients on cores of their own.
These are the figures to quote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.model.cell import AA, Role
from burnish.model.workload import Design, Placement, Timing
from burnish.study.cells import Cell
from burnish.study.comparison import BASELINE, Comparison
from burnish.study.study import Confirmation, Study
from burnish.study.trials.timing import start_seconds


def contenders(study: Study) -> dict[str, dict[str, list[Comparison]]]:
    """By series and row, the comparisons that a recommendation is made from: those with the series' baseline.

    Left out: a row that is compared with another row's build, which is not a comparison with the baseline; a control,
    which is the baseline itself; and a release binary, which was not built here.
    """
    by_series: dict[str, dict[str, list[Comparison]]] = {}
    controls = {
        comparison.row for comparison in study.comparisons if comparison.control and _is_baseline(study, comparison)
    }
    for comparison in study.comparisons:
        built = comparison.candidate in study.variants or comparison.candidate in study.programs
        tried = (
            comparison.cell is not None
            and comparison.role is Role.CLAIM
            and comparison.candidate != AA
            and not comparison.release
        )
        if built and tried and comparison.row not in controls and _is_baseline(study, comparison):
            by_series.setdefault(comparison.series, {}).setdefault(comparison.row, []).append(comparison)
    return by_series


def _is_baseline(study: Study, comparison: Comparison) -> bool:
    return comparison.base in (study.base, f"{comparison.series}.{BASELINE}")


def is_due(confirmation: Confirmation, rows: int, cells: Sequence[Cell]) -> bool:
    """Whether a winner is measured again.

    Args:
        confirmation: the study's rule.
        rows: number of rows that it was picked from.
        cells: its cells.
    """
    if confirmation.more_than is None:
        return False
    apart = any(_elsewhere(confirmation, cell) for cell in cells)
    return rows > (confirmation.apart_more_than if apart else confirmation.more_than)


def _elsewhere(confirmation: Confirmation, cell: Cell) -> bool:
    """Whether a cell is measured again in another placement."""
    return confirmation.apart and cell.design is Design.DUET


def again(cell: Cell, confirmation: Confirmation, series: str) -> Cell:
    """The cell of the fresh starts; found in a duet, it is interleaved and placed apart.

    Args:
        cell: the cell of the claim.
        confirmation: the study's rule.
        series: the series, if the study may have several.
    """
    fresh = replace(cell.id, role=Role.CONFIRMATION, series=series)
    if not _elsewhere(confirmation, cell):
        return replace(cell, id=fresh)
    placement = Placement.APART
    return replace(cell, id=replace(fresh, placement=str(placement)), design=Design.INTERLEAVED, placement=placement)


@dataclass(frozen=True)
class Expected:
    """What measuring the winners again will cost.

    Attributes:
        cells: number of cells.
        starts: starts of each.
        apart: whether they are placed apart, although they are found in a duet.
        seconds: all together, at most.
    """

    cells: int
    starts: int
    apart: bool
    seconds: float

    @property
    def title(self) -> str:
        """In words."""
        where = ", server and clients apart" if self.apart else ""
        return f"the winner again: {self.cells} cell{'s' * (self.cells > 1)}, {self.starts} starts each{where}"


def expected(
    study: Study, chosen: Sequence[Comparison], times: Mapping[Design, Timing], starts: int
) -> Expected | None:
    """The cost of measuring the winner of each series again, if there is one; None if none is measured again.

    Args:
        study: the study.
        chosen: the comparisons that are run.
        times: of a start, by design.
        starts: fresh starts of each cell.
    """
    keys = {comparison.key for comparison in chosen}
    cells: list[Cell] = []
    for rows in contenders(study).values():
        kept = [[cell for one in row if one.key in keys and (cell := one.cell) is not None] for row in rows.values()]
        kept = [row for row in kept if row]
        largest = max(kept, key=len, default=[])
        if largest and is_due(study.confirmation, len(kept), largest):
            cells += [again(cell, study.confirmation, "") for cell in largest]
    if not cells:
        return None
    apart = any(cell.id.placement == Placement.APART for cell in cells)
    return Expected(len(cells), starts, apart, sum(starts * start_seconds(times[cell.design]) for cell in cells))
