"""The result of a cell for each quantity: ratio with interval, and the quantity's own verdict if it has one; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from burnish.model.quantity import BY_NAME, HEADLINES, LATENCIES, LATENCY, QUANTITIES, Quantity
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


def compared(headlines: Iterable[str]) -> tuple[Quantity, ...]:
    """The quantities that a table of verdicts has columns for: response times that verdicts are about come first.

    Args:
        headlines: name of the quantity of each verdict.
    """
    wanted = set(headlines)
    return (*(quantity for quantity in LATENCIES if quantity.name in wanted), *HEADLINES)


def is_latency(name: str) -> bool:
    """Whether a quantity is a response time, whose ratio is above 1 if it is shorter."""
    return name in {quantity.name for quantity in LATENCIES}


def percentile(headline: str) -> str:
    """The response time that goes with a verdict: the one that it is about, else the 95th percentile."""
    return headline if is_latency(headline) else LATENCY.name


def times(baseline: str, name: str) -> str:
    """What a ratio is a multiple of, after its figure: ``times baseline's capacity``."""
    if is_latency(name):
        return f"times shorter {BY_NAME[name].title} than {baseline}"
    return f"times {baseline}'s {name}"
