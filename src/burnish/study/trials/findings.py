"""Results as values of the record: intervals, families, the sides of a cell."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from burnish.model.cell import CellId
from burnish.record.events.trials import PairRead
from burnish.record.events.verdicts import (
    FamilyJudged,
    FamilyMember,
    Interval,
    OtherMethod,
    SideSummary,
    VerdictReached,
)
from burnish.record.record import Record
from burnish.statistics import multiplicity
from burnish.statistics.sensitivity import sensitivity
from burnish.statistics.verdicts import Interval as Estimate
from burnish.statistics.verdicts import Judgement, Kind, Rule


def interval_of(estimate: Estimate | None) -> Interval | None:
    """An interval for the record; None if there are too few starts to bound the ratio."""
    if estimate is None or math.isinf(estimate.high):
        return None
    return Interval(estimate.ratio, estimate.low, estimate.high, estimate.level)


def within(judgement: Judgement, rule: Rule) -> float | None:
    """Of a difference that is proved to be within ±delta too, that delta; None of any other judgement."""
    proved = judgement.kind in (Kind.FASTER, Kind.SLOWER) and judgement.within_delta
    return rule.delta if proved else None


def other_methods(readings: Sequence[float]) -> tuple[OtherMethod, ...]:
    """The intervals of other statistical methods on the same starts.

    Args:
        readings: log-ratio of each start.
    """
    return tuple(OtherMethod(name, interval_of(estimate)) for name, estimate in sensitivity(readings))


def claim_together(
    record: Record, family: Sequence[tuple[CellId, multiplicity.Cell]], rule: Rule, *, explore: bool
) -> dict[CellId, Kind]:
    """Judges decided cells together as a family and records the result; returns the verdicts by cell.

    Args:
        record: the study's; it has each cell's verdict alone.
        family: the cells.
        rule: the rule that they were sampled by.
        explore: whether the false-discovery rate is controlled rather than the family-wise error.
    """
    method = multiplicity.exploration if explore else multiplicity.claims
    alone = {recorded.event.cell: recorded.event.verdict for recorded in record.events(VerdictReached)}
    kinds, members = {}, []
    for (cell, _), corrected in zip(family, method([member for _, member in family], rule), strict=True):
        kinds[cell] = Kind.INVALID if alone[cell] == Kind.INVALID else corrected.kind
        members.append(member_of(cell, corrected, kinds[cell]))
    record.append(FamilyJudged(explore, tuple(members)))
    return kinds


def member_of(cell: CellId, corrected: multiplicity.Corrected, kind: Kind) -> FamilyMember:
    """A cell's verdict within a family."""
    return FamilyMember(
        cell=cell,
        verdict=str(kind),
        p=corrected.p,
        adjusted_p=corrected.adjusted_p,
        adjusted_equivalence_p=corrected.adjusted_equivalence_p,
        label=corrected.label,
        interval=interval_of(corrected.interval),
    )


def side_summary(
    pairs: Sequence[PairRead], label: str, hardware: Sequence[Mapping[str, Mapping[str, float]]]
) -> SideSummary | None:
    """Medians over a side's pairs, for the report; None without a pair."""
    if not pairs:
        return None
    sides = [pair.sides[label] for pair in pairs]
    usage = [pair.usage[label] for pair in pairs]
    names = {name for side in sides for name in side.latency}
    spent = sum(used.user + used.system for used in usage)

    def per_transaction(values: Sequence[float]) -> float:
        """Median per transaction of counts over whole pairs, scaled by the share of CPU time within the turns."""
        return statistics.median(
            value / side.done * min(1.0, side.server_cpu / max(1e-9, used.user + used.system))
            for value, used, side in zip(values, usage, sides, strict=True)
        )

    return SideSummary(
        throughput=statistics.median(side.done / side.seconds for side in sides),
        server_cpu_per_transaction=statistics.median(side.server_cpu / side.done for side in sides),
        client_cpu_per_transaction=statistics.median(side.client_cpu / side.done for side in sides),
        kernel_share=sum(used.system for used in usage) / spent if spent > 0 else 0.0,
        busy=statistics.median(pair.busy[label] for pair in pairs),
        latency={
            name: statistics.median(side.latency[name] for side in sides if name in side.latency)
            for name in sorted(names)
        },
        waits_per_transaction=per_transaction([used.waits for used in usage]),
        preemptions_per_transaction=per_transaction([used.preemptions for used in usage]),
        faults_per_transaction=per_transaction([used.minor_faults for used in usage])
        + per_transaction([used.major_faults for used in usage]),
        rss_bytes=statistics.median(used.rss_bytes for used in usage),
        steal=statistics.median(pair.steal for pair in pairs),
        hardware={
            name: statistics.median(counts[label][name] for counts in hardware if name in counts.get(label, {}))
            for name in sorted({name for counts in hardware for name in counts.get(label, {})})
        },
    )
