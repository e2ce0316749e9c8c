"""The quantities that a trial reads: a list, so that another one is one entry.

A ratio of any quantity is written so that above 1 the candidate is better, whichever way the quantity itself runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Quantity:
    """What is read of both sides in every pair.

    Attributes:
        name: as in the record and in options.
        title: head of its column.
        unit: of one side's reading; ``{unit}`` stands for what the load counts.
        better: whether more of it is better, or less.
        reason: what it says to a user.
        headline: whether verdicts can be about it; the others have a verdict of their own, from the headline's starts.
    """

    name: str
    title: str
    unit: str
    better: Literal["more", "less"]
    reason: str
    headline: bool = False


CAPACITY = Quantity(
    "capacity",
    "capacity",
    "{unit}s per second of server CPU",
    "more",
    "What the same cores can carry. It sees through a client that shares them, and through the neighbours' share.",
    headline=True,
)
THROUGHPUT = Quantity(
    "throughput",
    "throughput",
    "{unit}s per second",
    "more",
    "What a client gets, as far as the server limits it.",
    headline=True,
)
LATENCY = Quantity(
    "p95",
    "p95 latency",
    "seconds",
    "less",
    "The response time that 95 of 100 requests stay below: what users of the application feel.",
)
MEMORY = Quantity(
    "rss",
    "memory",
    "bytes",
    "less",
    "The server's resident set: what a build costs in memory on a host that runs several.",
)

QUANTITIES: tuple[Quantity, ...] = (CAPACITY, THROUGHPUT, LATENCY, MEMORY)
"""All of them, in the order of reports."""

HEADLINES = tuple(quantity for quantity in QUANTITIES if quantity.headline)
"""Those that verdicts can be about."""

BY_NAME = {quantity.name: quantity for quantity in QUANTITIES}


def secondary(headline: str) -> tuple[Quantity, ...]:
    """The quantities beside the one that a verdict is about."""
    return tuple(quantity for quantity in QUANTITIES if quantity.name != headline)
