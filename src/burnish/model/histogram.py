"""Response times counted in buckets: what several spans have together is read from their sum, not from their means.

A percentile of a short span is one of few requests: of fewer than a hundred, the 99th percentile is the longest that
the span happens to have, and the mean of such figures lies below the percentile of all requests.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

SHARES = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
"""Percentiles that are read, by the name that load programs have for them."""


@dataclass(frozen=True)
class Histogram:
    """Requests by how long they took.

    Attributes:
        width: width of every bucket, the natural logarithm of its upper over its lower limit; 0 without a bucket.
        counts: requests by the middle of their bucket on the logarithmic scale, in seconds.
    """

    width: float = 0.0
    counts: Mapping[float, int] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        """Requests in all buckets."""
        return sum(self.counts.values())

    def percentile(self, share: float) -> float:
        """Seconds that this share of the requests (above 0, at most 1) stay below; between a bucket's limits by rank.

        Raises:
            ValueError: there is no request.
        """
        rank, below = share * self.requests, 0
        for middle, count in sorted(self.counts.items()):
            if count and below + count >= rank:
                return middle * math.exp(self.width * ((rank - below) / count - 0.5))
            below += count
        raise ValueError("no request to take a percentile of")

    def percentiles(self) -> dict[str, float]:
        """Seconds by name (`SHARES`); empty without a request."""
        return {name: self.percentile(share) for name, share in SHARES.items()} if self.requests else {}


def together(parts: Iterable[Histogram]) -> Histogram:
    """All requests of several spans of one load program, whose buckets are the same."""
    width, counts = 0.0, Counter[float]()
    for part in parts:
        width = max(width, part.width)
        counts.update(part.counts)
    return Histogram(width, counts)
