"""From ticks to readings, from readings to a pair's log-ratios; pure.

A turn of a pair is measured between two ticks of the load program: the first one at or after the end of the settling
time, and the first one at least a window later. Transactions, CPU time and wall time are taken at the same instants, so
the controller's own schedule does not affect them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from burnish.engines.contract import Tick
from burnish.model.histogram import Histogram, together


@dataclass(frozen=True)
class Reading:
    """Readings of one side in one turn of a pair, or in several turns together.

    Attributes:
        seconds: wall time between the two ticks.
        done: transactions finished in it.
        errors: errors in it.
        server_cpu: CPU seconds of the server in it.
        client_cpu: CPU seconds of the load in it.
        latency: in seconds, by name: percentiles of all requests within where the load program counts them in buckets,
            otherwise the mean over the ticks within (``max`` is the largest; ``left_out`` is a share).
        cores: CPU numbers that the side had.
        steps: statements executed in it; 0 if the load does not count them.
        device: seconds of it in which the server's cores were idle while one of its threads waited for a device; the
            mean of its cores.
        times: its requests in buckets; not recorded, as the percentiles are.
    """

    seconds: float
    done: float
    errors: int
    server_cpu: float
    client_cpu: float
    latency: dict[str, float] = field(default_factory=dict)
    cores: tuple[int, ...] = ()
    steps: float = 0.0
    device: float = 0.0
    times: Histogram = field(default_factory=Histogram)

    @property
    def throughput(self) -> float:
        """Transactions per second."""
        return self.done / self.seconds

    @property
    def capacity(self) -> float:
        """Transactions per second of server CPU."""
        return self.done / self.server_cpu if self.server_cpu > 0 else math.nan

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record."""
        return {name: value for name, value in asdict(self).items() if name != "times"}


def on_grid(at: float, grid: float) -> float:
    """The first multiple of `grid` at or after `at`, less a hundredth of it, so that a tick there is not missed."""
    return (math.ceil(at / grid) - 0.01) * grid


def ready(ticks: Sequence[Tick], begin: float, window: float) -> tuple[int, int] | None:
    """Indices of the two ticks that bound a window beginning at `begin` (CLOCK_MONOTONIC s); None until both exist.

    A window without any finished transaction (or statement, if they are counted) is extended until there is one: a
    commit that waits for the disk is part of the load, and a reading of zero has no ratio.
    """
    first = next((i for i, tick in enumerate(ticks) if tick.at >= begin), None)
    if first is None:
        return None
    end = ticks[first].at + window * 0.999  # a tick's jitter must not cost another interval
    progress = _progress(ticks[first])
    ends = (i for i in range(first + 1, len(ticks)) if ticks[i].at >= end and _progress(ticks[i]) > progress)
    last = next(ends, None)
    return None if last is None else (first, last)


def _progress(tick: Tick) -> float:
    """The load's progress: statements if they are counted, otherwise transactions."""
    return tick.steps or tick.done


def reading(ticks: Sequence[Tick], bounds: tuple[int, int], cores: Sequence[int], waited: float = 0.0) -> Reading:
    """The reading between two ticks.

    Args:
        ticks: one side's ticks.
        bounds: indices from `ready`.
        cores: CPU numbers that the side had.
        waited: share of the turn in which its cores waited for a device, 0 to 1.
    """
    first, last = ticks[bounds[0]], ticks[bounds[1]]
    within = ticks[bounds[0] + 1 : bounds[1] + 1]
    names = sorted({name for tick in within for name in tick.latency})
    latency = {}
    for name in names:
        values = [tick.latency[name] for tick in within if name in tick.latency]
        latency[name] = max(values) if name == "max" else sum(values) / len(values)
    times = together(tick.times for tick in within)
    return Reading(
        seconds=last.at - first.at,
        done=last.done - first.done,
        errors=last.errors - first.errors,
        server_cpu=last.server_cpu - first.server_cpu,
        client_cpu=last.client_cpu - first.client_cpu,
        latency=latency | times.percentiles(),
        cores=tuple(sorted(cores)),
        steps=last.steps - first.steps,
        device=waited * (last.at - first.at),
        times=times,
    )


def total(readings: Sequence[Reading]) -> Reading:
    """Total of several readings of a side: sums, percentiles of all, other latencies weighted by transactions."""
    done = sum(item.done for item in readings)
    names = sorted({name for item in readings for name in item.latency})
    latency = {}
    for name in names:
        having = [item for item in readings if name in item.latency]
        if name == "max":
            latency[name] = max(item.latency[name] for item in having)
        else:
            weight = sum(item.done for item in having) or 1.0
            latency[name] = sum(item.latency[name] * item.done for item in having) / weight
    times = together(item.times for item in readings)
    return Reading(
        seconds=sum(item.seconds for item in readings),
        done=done,
        errors=sum(item.errors for item in readings),
        server_cpu=sum(item.server_cpu for item in readings),
        client_cpu=sum(item.client_cpu for item in readings),
        latency=latency | times.percentiles(),
        cores=tuple(sorted({core for item in readings for core in item.cores})),
        steps=sum(item.steps for item in readings),
        device=sum(item.device for item in readings),
        times=times,
    )


@dataclass(frozen=True)
class PairRatio:
    """One pair, candidate over baseline; natural logarithms, > 0 = the candidate is better.

    Attributes:
        capacity: log-ratio of transactions per server-CPU-second.
        throughput: log-ratio of transactions per second.
    """

    capacity: float
    throughput: float


def pair_ratio(baseline: Sequence[Reading], candidate: Sequence[Reading], places: int = 2) -> PairRatio:
    """Log-ratios of a pair from each side's turns.

    Each turn compares the two sides under the same external load. The turns of one round are averaged, so that the
    advantage of a place cancels; the pair's ratio is the mean of the middle rounds (`middle`), which is robust
    against a disturbance of one turn.

    If both sides count statements, these are compared: with many threads, transactions finish in waves, of which a
    short turn sees none or a hundred. Both sides run the same transactions, so either count has the same ratio.

    Args:
        baseline: the baseline's readings, turn by turn.
        candidate: the candidate's readings of the same turns.
        places: turns in a round: 2 if the sides swap places, 1 if they use the same place in turn.
    """
    turns = list(zip(baseline, candidate, strict=True))
    if not turns or len(turns) % places:
        raise ValueError(f"a pair is whole rounds of {places} turns, not {len(turns)} turns")
    count_steps = all(item.steps > 0 for turn in turns for item in turn)
    work = [log_ratio(c.steps, b.steps) if count_steps else log_ratio(c.done, b.done) for b, c in turns]
    cpu = [log_ratio(c.server_cpu, b.server_cpu) for b, c in turns]
    time = [log_ratio(c.seconds, b.seconds) for b, c in turns]
    return PairRatio(
        capacity=middle([w - s for w, s in zip(work, cpu, strict=True)], places),
        throughput=middle([w - s for w, s in zip(work, time, strict=True)], places),
    )


def log_ratio(candidate: float, baseline: float) -> float:
    """Natural logarithm of a ratio; NaN if one of the values is not above 0."""
    return math.log(candidate / baseline) if min(candidate, baseline) > 0 else math.nan


def middle(values: Sequence[float], places: int) -> float:
    """Mean within each round, then the mean of the middle rounds: a quarter, rounded down, is left out at each end.

    So six of ten rounds count (60 %), and with fewer than four all of them.
    """
    rounds = sorted(sum(values[i : i + places]) / places for i in range(0, len(values), places))
    cut = len(rounds) // 4
    kept = rounds[cut : len(rounds) - cut]
    return sum(kept) / len(kept)


def passes(ticks: Sequence[Tick]) -> float:
    """Units finished since the first tick; 0 without ticks."""
    return ticks[-1].done - ticks[0].done if ticks else 0.0


def rate(ticks: Sequence[Tick]) -> float:
    """Units finished per second over the last second of ticks, or over all ticks if they span less."""
    last = ticks[-1]
    first = next((t for t in reversed(ticks) if t.at <= last.at - 1.0), ticks[0])
    return (last.done - first.done) / (last.at - first.at) if last.at > first.at else 0.0


def steady(ticks: Sequence[Tick], span: float = 1.0, tolerance: float = 0.05) -> bool:
    """Whether the last two spans of `span` seconds ran at the same rate, within `tolerance`."""
    if not ticks:
        return False
    edges = [ticks[-1]]
    for _ in range(2):  # if ticks are further apart than a span, their own intervals are used
        tick = next((t for t in reversed(ticks) if t.at <= edges[-1].at - span), None)
        if tick is None:
            return False
        edges.append(tick)
    late, middle, early = edges
    now = (_progress(late) - _progress(middle)) / (late.at - middle.at)
    before = (_progress(middle) - _progress(early)) / (middle.at - early.at)
    return before > 0 and abs(now / before - 1) <= tolerance
