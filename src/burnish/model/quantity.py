"""The quantities that a trial measures, as a list: a new one is one more entry.

Every ratio is oriented so that above 1 the candidate is better, whether more or less of the quantity is better.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Quantity:
    """A quantity that is measured on both sides in every pair.

    Attributes:
        name: as in the record and in options.
        title: head of its column.
        unit: unit of one side's reading; ``{unit}`` stands for what the load counts.
        better: whether more or less of it is better.
        reason: what it means to a user.
        headline: whether it can be the study's quantity; the others get verdicts of their own from the same starts.
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
    "How much work the same cores can do, whatever share of them the client and other processes take.",
    headline=True,
)
THROUGHPUT = Quantity(
    "throughput",
    "throughput",
    "{unit}s per second",
    "more",
    "The rate that a client gets, as far as the server limits it.",
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

TAIL = Quantity(
    "p99",
    "p99 latency",
    "seconds",
    "less",
    "The response time that 99 of 100 requests stay below, which a page of many requests waits for.",
)

QUANTITIES: tuple[Quantity, ...] = (CAPACITY, THROUGHPUT, LATENCY, MEMORY)
"""Those that are read in every study, in the order of reports."""

HEADLINES = tuple(quantity for quantity in QUANTITIES if quantity.headline)
"""Those that verdicts can be about."""

BY_NAME = {quantity.name: quantity for quantity in (*QUANTITIES, TAIL)}
"""All of them; what is not in `QUANTITIES` is read where a study is about it."""

LATENCIES = (LATENCY, TAIL)
"""Response times: a study can be about one at a fixed rate, as waiting for a full server says nothing of the build."""


def read_for(names: Container[str]) -> list[str]:
    """Names of the quantities that are read in every study, and of those of `names`, in the order of reports."""
    return [name for name, quantity in BY_NAME.items() if quantity in QUANTITIES or name in names]


def secondary(headline: str) -> tuple[Quantity, ...]:
    """The quantities other than `headline`."""
    return tuple(quantity for quantity in QUANTITIES if quantity.name != headline)
