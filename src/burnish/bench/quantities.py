"""How each quantity is read off a pair: one function for each entry of `burnish.model.quantity`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from burnish.bench.counters import Usage
from burnish.bench.readings import Reading, log_ratio, middle, pair_ratio
from burnish.model import quantity as declared
from burnish.model.histogram import SHARES, together

Turns = Sequence[Reading]
Read = Callable[[Turns, Turns, int, Usage | None, Usage | None], float | None]
"""From both sides' turns (the baseline's first), turns in a round, and both servers' usage, to the pair's log-ratio,
above 0 if the candidate is better; None if it can't be read."""


def _capacity(baseline: Turns, candidate: Turns, places: int, *_: object) -> float:
    return pair_ratio(baseline, candidate, places).capacity


def _throughput(baseline: Turns, candidate: Turns, places: int, *_: object) -> float:
    return pair_ratio(baseline, candidate, places).throughput


def _latency(name: str) -> Read:
    """The reader of a percentile of the response time, by the load's name for it."""

    def read(baseline: Turns, candidate: Turns, places: int, *_: object) -> float | None:
        turns = list(zip(baseline, candidate, strict=True))
        if not all(name in item.latency for turn in turns for item in turn):
            return None
        if all(item.times.requests for turn in turns for item in turn):  # a turn alone may have too few
            before, after = (together(item.times for item in side) for side in (baseline, candidate))
            return _finite(log_ratio(before.percentile(SHARES[name]), after.percentile(SHARES[name])))
        return _finite(middle([log_ratio(b.latency[name], c.latency[name]) for b, c in turns], places))

    return read


def _rss(_base: Turns, _candidate: Turns, _places: int, before: Usage | None, after: Usage | None) -> float | None:
    if before is None or after is None:
        return None
    return _finite(log_ratio(before.rss_bytes, after.rss_bytes))


READERS: Mapping[str, Read] = {
    declared.CAPACITY.name: _capacity,
    declared.THROUGHPUT.name: _throughput,
    declared.LATENCY.name: _latency("p95"),
    declared.MEMORY.name: _rss,
    declared.TAIL.name: _latency("p99"),
}
"""By the quantity's name."""


def ratios(
    baseline: Turns, candidate: Turns, places: int, usage: Mapping[str, Usage | None] | None = None
) -> dict[str, float]:
    """Log-ratios of a pair by quantity, candidate over baseline, above 0 if the candidate is better.

    Args:
        baseline: its readings, turn by turn.
        candidate: the other side's, of the same turns.
        places: turns in a round: 2 where the sides swap places, 1 where they have the same one in turn.
        usage: ``baseline`` and ``candidate``: what each side's server used over the pair.

    Raises:
        ValueError: the turns are no whole rounds.
    """
    used = usage or {}
    values = {
        name: reader(baseline, candidate, places, used.get("baseline"), used.get("candidate"))
        for name, reader in READERS.items()
    }
    return {name: value for name, value in values.items() if value is not None}


FEWEST_TURNS = 8
"""Turns of a side from which on half of them is enough to read."""


def faster_half(baseline: Turns, candidate: Turns, places: int) -> dict[str, float]:
    """Log-ratios of capacity and throughput over the faster half of each side's turns, whichever those are.

    A server that works in bursts (MariaDB purges old index entries for a quarter of each second) has turns with a burst
    and turns without; how many a start gets of either is chance, and most of its scatter. Where the candidate's turns
    are a multiple of the baseline's, the two halves have the ratio of all (`benchmarks/estimators.py`).

    Args:
        baseline: its readings, turn by turn.
        candidate: the other side's.
        places: turns in a round; only of sides that take turns (1) is a turn's pace the server's own.

    Returns:
        empty with fewer than `FEWEST_TURNS` turns, or if a side finished nothing in half of them.
    """
    if places != 1 or len(baseline) < FEWEST_TURNS:
        return {}
    counted = all(item.steps > 0 for item in (*baseline, *candidate))
    found = {}
    for quantity, spent in ((declared.CAPACITY, "server_cpu"), (declared.THROUGHPUT, "seconds")):
        paces = []
        for turns in (baseline, candidate):
            logs = sorted(_pace(item.steps if counted else item.done, getattr(item, spent)) for item in turns)
            paces.append(statistics.fmean(logs[len(logs) // 2 :]))
        found[quantity.name] = paces[1] - paces[0]
    return found if all(map(math.isfinite, found.values())) else {}


def _pace(work: float, spent: float) -> float:
    """Logarithm of work for what it took; of a turn without work, the slowest there is."""
    return math.log(work / spent) if min(work, spent) > 0 else -math.inf


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
