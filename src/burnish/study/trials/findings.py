"""What was found, as plain values for the record: intervals, claims, the sides of a cell."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from burnish.record.record import Record
from burnish.statistics import multiplicity
from burnish.statistics.sensitivity import sensitivity
from burnish.statistics.verdicts import Interval, Kind, Rule


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


def claim_together(
    record: Record, family: Sequence[multiplicity.Cell], rule: Rule, *, explore: bool
) -> dict[str, Kind]:
    """Records what a family of decided cells says when all are claimed together; returns the verdicts by cell.

    Args:
        record: the study's; it has each cell's verdict alone.
        family: the cells.
        rule: the one that they were sampled by.
        explore: whether they are looked through rather than claimed.
    """
    method = multiplicity.exploration if explore else multiplicity.claims
    closed = {event.body["cell"]: event.body["verdict"] for event in record.events("verdict")}
    kinds, found = {}, {}
    for each in method(family, rule):
        kinds[each.name] = Kind.INVALID if closed[each.name] == Kind.INVALID else each.kind
        found[each.name] = claim_values(each, kinds[each.name])
    record.append("family", explore=explore, cells=found)
    return kinds


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
