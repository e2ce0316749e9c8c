"""The result of a cell for each quantity: ratio with interval, and the quantity's own verdict if it has one; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from burnish.model.quantity import BY_NAME, QUANTITIES, Quantity
from burnish.record.events.verdicts import Interval, VerdictReached


@dataclass(frozen=True)
class Measured:
    """The result of a cell for one quantity.

    Attributes:
        interval: ratio of candidate to baseline, above 1 if the candidate is better; None if there is no ratio.
        verdict: the quantity's own verdict, as recorded; '' if it has none beside the cell's.
    """

    interval: Interval | None
    verdict: str = ""


def of_verdict(reached: VerdictReached) -> dict[str, Measured]:
    """Every declared quantity that was measured, by name, in the order of reports."""
    return {
        name: Measured(reached.ratios[name], reached.verdicts.get(name, ""))
        for name in BY_NAME
        if name in reached.ratios
    }


def judged(measured: Mapping[str, Measured]) -> dict[str, str]:
    """The verdicts of those quantities that have one of their own, by name."""
    return {name: quantity.verdict for name, quantity in measured.items() if quantity.verdict}


def further(cells: Iterable[Mapping[str, Measured]]) -> tuple[Quantity, ...]:
    """The quantities for which any of these cells has a separate verdict, in the order of reports."""
    names = {name for cell in cells for name in judged(cell)}
    return tuple(quantity for quantity in QUANTITIES if quantity.name in names)
