"""What a cell says of each quantity: the ratio with its interval, and the verdict of its own that it may have; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from burnish.model.quantity import BY_NAME, QUANTITIES, Quantity
from burnish.record.events.verdicts import Interval, VerdictReached


@dataclass(frozen=True)
class Measured:
    """What a cell says of one quantity.

    Attributes:
        interval: ratio of candidate to baseline, above 1 where the candidate is better; None where nothing bounds it.
        verdict: of its own, a word of the record; '' of quantities that have none beside the cell's.
    """

    interval: Interval | None
    verdict: str = ""


def of_verdict(reached: VerdictReached) -> dict[str, Measured]:
    """Every declared quantity that was read, by name, in the order of reports."""
    return {
        name: Measured(reached.ratios[name], reached.verdicts.get(name, ""))
        for name in BY_NAME
        if name in reached.ratios
    }


def judged(measured: Mapping[str, Measured]) -> dict[str, str]:
    """The verdicts of those quantities that have one of their own, by name."""
    return {name: each.verdict for name, each in measured.items() if each.verdict}


def further(cells: Iterable[Mapping[str, Measured]]) -> tuple[Quantity, ...]:
    """The quantities of which any of these cells has a verdict of its own, in the order of reports."""
    names = {name for cell in cells for name in judged(cell)}
    return tuple(quantity for quantity in QUANTITIES if quantity.name in names)
