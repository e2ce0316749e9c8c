"""How far starts of one comparison scatter about its mean, and how long a start takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scatter:
    """The scatter of starts of one load, within sittings.

    Attributes:
        throughput: standard deviation of a start's log-ratio of throughput.
        capacity: of its log-ratio of capacity.
        df: degrees of freedom of both.
        seconds: mean wall time of a start.
        source: where it is from, in words.
    """

    throughput: float
    capacity: float
    df: int
    seconds: float
    source: str
