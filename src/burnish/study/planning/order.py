"""In which order a bundled study's rows are run: those first that answer most of what was published for their time.

A study of a large server takes hours and may be interrupted, or have a budget: then what it has should tell most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.study.bundled import patches
from burnish.study.comparison import Comparison, Unit
from burnish.study.planning.costs import Forecast, UnitCost


@dataclass(frozen=True)
class Order:
    """The order in which rows are run, where it is not that of the study's file.

    Attributes:
        units: the rows with a published change, in the order in which they are run; the others come after them.
        changes: number of cells that are compared with a published change.
        half: seconds until half of these, rounded up, are measured.
    """

    units: tuple[Unit, ...]
    changes: int
    half: float


def changes_of(comparisons: Sequence[Comparison]) -> Mapping[Unit, int]:
    """By row, how many published changes its measured cells answer: changes in per cent, between sides that differ.

    The tests of a suite answer one together. Identical machine code is built, but not measured.
    """
    cells = {
        (comparison.unit, comparison.reading, comparison.load, comparison.threads)
        for comparison in comparisons
        if comparison.reason is None
        and comparison.published is not None
        and (comparison.published.unit, comparison.published.low is None) == ("%", False)
        and not comparison.control
        and comparison.shows != patches.IDENTICAL
    }
    return Counter(unit for unit, *_ in cells)


def telling_first(forecast: Forecast, changes: Mapping[Unit, int]) -> Forecast:
    """The forecast with its rows in the order in which they are run; pure.

    Next is always the row with the most published changes for the seconds that it still needs once those before it
    have been run, so that a build is made early that many rows share, and what is in the store already comes before
    what must be compiled. Of equal rows, and of those without a published change, which come last, the order stays.
    """
    had: set[str] = set()
    left, ordered = list(forecast.costs), list[UnitCost]()
    while left:
        best = max(left, key=lambda cost: changes.get(cost.unit, 0) / max(1.0, cost.after(had).seconds))
        left.remove(best)
        ordered.append(best)
        had |= {need.name for need in best.needs}
    return replace(forecast, costs=tuple(ordered)).of([cost.unit for cost in ordered])


def order_of(forecast: Forecast, comparisons: Sequence[Comparison]) -> Order | None:
    """The order of a forecast's rows; None where it is that of `comparisons`, or nothing published is answered."""
    changes = changes_of(comparisons)
    units = tuple(cost.unit for cost in forecast.costs)
    listed = [unit for unit in dict.fromkeys(comparison.unit for comparison in comparisons) if unit in units]
    total = sum(changes.get(unit, 0) for unit in units)
    if list(units) == listed or not total:
        return None
    seconds, answered, half = 0.0, 0, 0.0
    for cost in forecast.costs:
        seconds += cost.seconds
        answered += changes.get(cost.unit, 0)
        if not half and 2 * answered >= total:
            half = seconds
    return Order(tuple(unit for unit in units if changes.get(unit)), total, half)
