"""Starts and findings as values of format 1, for the merge until it reads typed events."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.record.record import Event
from burnish.statistics import multiplicity
from burnish.statistics.sensitivity import sensitivity
from burnish.statistics.verdicts import Interval, Kind


@dataclass(frozen=True)
class Starts:
    """A cell's finished starts.

    Attributes:
        capacity: log-ratio of each valid start.
        throughput: likewise.
        invalid: reasons of the invalid ones.
        pairs: the valid pairs of the valid starts, as recorded.
        pair_ratios: for each valid start, the log-ratios of its valid pairs, (capacity, throughput) each.
        invalid_pairs: pairs of valid starts that count for nothing.
        unsettled: valid starts whose rate never was steady.
        hardware: of each valid start, events per transaction by side.
        seconds: wall time of each valid start.
    """

    capacity: list[float]
    throughput: list[float]
    invalid: list[str]
    pairs: list[Mapping[str, Any]]
    pair_ratios: list[list[tuple[float, float]]]
    invalid_pairs: int
    unsettled: int
    hardware: list[Mapping[str, Mapping[str, float]]]
    seconds: list[float]

    def of(self, quantity: str) -> list[float]:
        """Log-ratios of ``capacity`` or ``throughput``."""
        return self.capacity if quantity == "capacity" else self.throughput


def starts_of(events: Iterable[Event]) -> Starts:
    """The finished starts among events of one cell: its ``start_done`` and, where they are wanted, its ``pair``."""
    every = list(events)
    closed = {event.body["start"]: event.body for event in every if event.kind == "start_done"}
    valid = {number: body for number, body in closed.items() if body["invalid"] is None}
    read = [event.body for event in every if event.kind == "pair" and event.body["start"] in valid]
    return Starts(
        capacity=[body["capacity"] for body in valid.values()],
        throughput=[body["throughput"] for body in valid.values()],
        invalid=[body["invalid"] for body in closed.values() if body["invalid"] is not None],
        pairs=[body for body in read if body["invalid"] is None],
        pair_ratios=[[(c, t) for c, t in body["pair_ratios"]] for body in valid.values()],
        invalid_pairs=sum(body["invalid"] is not None for body in read),
        unsettled=sum(not body["settled"] for body in valid.values()),
        hardware=[body["hardware"] for body in valid.values() if body["hardware"]],
        seconds=[body["seconds"] for body in valid.values()],
    )


def plain_interval(interval: Interval | None) -> dict[str, float] | None:
    """Plain values for the record; None where too few starts were read to bound the ratio at all."""
    if interval is None or math.isinf(interval.high):
        return None
    return {"ratio": interval.ratio, "low": interval.low, "high": interval.high, "level": interval.level}


def sensitivity_values(readings: Sequence[float]) -> list[dict[str, Any]]:
    """What other ways to judge the same starts say, as plain values for the record.

    Args:
        readings: log-ratio of each start.
    """
    return [{"name": name, **(plain_interval(interval) or {})} for name, interval in sensitivity(readings)]


def claim_values(claim: multiplicity.Corrected, kind: Kind) -> dict[str, Any]:
    """A cell's verdict as one of a family, as plain values for the record."""
    return {
        "verdict": str(kind),
        "p": claim.p,
        "adjusted_p": claim.adjusted_p,
        "adjusted_equivalence_p": claim.adjusted_equivalence_p,
        "interval": plain_interval(claim.interval),
        "label": claim.label,
    }


def side_summary(
    pairs: Sequence[Mapping[str, Any]], label: str, hardware: Sequence[Mapping[str, Mapping[str, float]]]
) -> dict[str, Any] | None:
    """Medians over a side's pairs, for the report."""
    if not pairs:
        return None
    sides = [pair["sides"][label] for pair in pairs]
    usage = [pair["usage"][label] for pair in pairs]
    names = {name for side in sides for name in side["latency"]}
    spent = sum(used["user"] + used["system"] for used in usage)

    def per_transaction(name: str) -> float:
        """Of what was counted over whole pairs, by the share of its CPU time that fell into the turns."""
        values: list[float] = [
            used[name] / side["done"] * min(1.0, side["server_cpu"] / max(1e-9, used["user"] + used["system"]))
            for used, side in zip(usage, sides, strict=True)
        ]
        return statistics.median(values)

    return {
        "throughput": statistics.median(side["done"] / side["seconds"] for side in sides),
        "server_cpu_per_transaction": statistics.median(side["server_cpu"] / side["done"] for side in sides),
        "client_cpu_per_transaction": statistics.median(side["client_cpu"] / side["done"] for side in sides),
        "kernel_share": sum(used["system"] for used in usage) / spent if spent > 0 else 0.0,
        "busy": statistics.median(pair["busy"][label] for pair in pairs),
        "latency": {
            name: statistics.median(side["latency"][name] for side in sides if name in side["latency"])
            for name in sorted(names)
        },
        "waits_per_transaction": per_transaction("waits"),
        "preemptions_per_transaction": per_transaction("preemptions"),
        "faults_per_transaction": per_transaction("minor_faults") + per_transaction("major_faults"),
        "rss_bytes": statistics.median(used["rss_bytes"] for used in usage),
        "steal": statistics.median(pair["steal"] for pair in pairs),
        "hardware": {
            name: statistics.median(each[label][name] for each in hardware if name in each.get(label, {}))
            for name in sorted({name for each in hardware for name in each.get(label, {})})
        },
    }
