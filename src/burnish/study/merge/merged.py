"""Verdicts of a merged record, from the starts of several records, with the host as a block (pure)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from burnish.model.cell import CellId, Role
from burnish.model.quantity import QUANTITIES
from burnish.record.codec import plain, value_of
from burnish.record.events.trials import TrialsPlanned
from burnish.record.events.verdicts import FamilyJudged, HostVerdict, Interval, SideSummary, VerdictReached
from burnish.statistics import multiplicity
from burnish.statistics.hosts import HostCell
from burnish.statistics.intervals import Interval as Estimate
from burnish.statistics.replicates import by_replicate
from burnish.statistics.sequential import Rule
from burnish.statistics.verdicts import Judgement, Kind
from burnish.study.merge.parts import About, OfStart
from burnish.study.trials.findings import interval_of, member_of, other_methods, side_summary, within
from burnish.study.trials.starts import Starts, invalid_cell, starts_of


@dataclass(frozen=True)
class Gathered:
    """A cell's starts.

    Attributes:
        cell: the cell.
        about: design, headline and unit of its verdict.
        hosts: by label, the starts taken there.
        sessions: by label, the starts of each study there, in order.
        replicates: builds of each variant; 0: each was built once.
    """

    cell: CellId
    about: About
    hosts: Mapping[str, Starts]
    sessions: Mapping[str, Sequence[Starts]]
    replicates: int

    @property
    def invalid(self) -> list[str]:
        """Why starts were invalid."""
        return [why for starts in self.hosts.values() for why in starts.invalid]

    def readings(self, quantity: str) -> list[float]:
        """All starts' readings of a quantity, in order."""
        return [value for starts in self.hosts.values() for value in starts.of(quantity)]

    def of(self, quantity: str) -> HostCell:
        """Its readings of a quantity, by host."""
        name = self.cell.name
        if self.replicates:
            return HostCell(name, {"": _across(self.sessions, quantity, self.replicates)}, unit="replicate")
        return HostCell(name, {label: starts.of(quantity) for label, starts in self.hosts.items() if starts.valid})

    def judge(self, rule: Rule) -> Judgement:
        """Its verdict; invalid starts count unless their cell was measured again since in their own run."""
        cell = self.of(self.about.headline)
        reasons = [why for starts in self.hosts.values() for why in starts.invalid[starts.spent :]]
        disturbed = max(0, sum(starts.disturbed - starts.spent for starts in self.hosts.values()))
        return invalid_cell(reasons, sum(map(len, cell.readings.values())), disturbed) or cell.judge(rule)


def verdicts(
    events: Sequence[OfStart],
    trials: TrialsPlanned,
    cells: Mapping[CellId, About],
    labels: Mapping[str, str],
    *,
    explore: bool,
    kept: Mapping[CellId, VerdictReached] | None = None,
    together: Collection[CellId] | None = None,
) -> tuple[list[VerdictReached], FamilyJudged]:
    """The verdict of each cell, and all of them as a family.

    Args:
        events: of all starts of all cells, each with its origin.
        trials: how it was measured.
        cells: what is known of a cell beside its starts.
        labels: hosts' labels by key.
        explore: whether the false-discovery rate is controlled rather than the family-wise error.
        kept: verdicts that are kept unchanged, by cell.
        together: cells that are one family; None: every claim.
    """
    rule = Rule(**asdict(trials.rule))
    by_cell: dict[CellId, list[OfStart]] = {cell: [] for cell in trials.cells}
    for cell in sorted({event.cell for event in events}, key=lambda cell: cell.name):
        by_cell.setdefault(cell, [])
    for event in events:
        by_cell[event.cell].append(event)
    reached: list[VerdictReached] = []
    family: list[tuple[CellId, multiplicity.Member, Kind]] = []
    for cell, cell_events in by_cell.items():
        if not cell_events or cell.is_canary:
            continue
        gathered = _gather(cell, cells.get(cell) or about(cell, trials), cell_events, labels, trials)
        headline = gathered.about.headline
        claim = cell.role is Role.CLAIM
        taken = max(2, sum(map(len, gathered.of("capacity").readings.values())))
        judged_by = rule if claim else Rule.fixed(taken, delta=rule.delta)
        member: multiplicity.Member = gathered.of(headline)
        if kept and cell in kept:
            verdict, kind = _kept_verdict(gathered, kept[cell], labels), Kind(kept[cell].verdict)
            member = multiplicity.Cell(cell.name, tuple(gathered.readings(headline)))
        else:
            judgement = gathered.judge(judged_by)
            verdict, kind = _verdict(gathered, judgement, judged_by, labels), judgement.kind
        reached.append(verdict)
        if claim and (together is None or cell in together):
            family.append((cell, member, kind))
    method = multiplicity.exploration if explore else multiplicity.claims
    corrected = method([member for _, member, _ in family], rule)
    members = [
        member_of(cell, corrected_cell, Kind.INVALID if alone is Kind.INVALID else corrected_cell.kind)
        for corrected_cell, (cell, _, alone) in zip(corrected, family, strict=True)
    ]
    return reached, FamilyJudged(explore, tuple(members))


def about(cell: CellId, trials: TrialsPlanned, *, design: str | None = None, headline: str | None = None) -> About:
    """Design, headline and unit of a cell that has no verdict in any record.

    Args:
        cell: the cell.
        trials: how it was measured.
        design: its design if known; None: that of its load.
        headline: its headline if known; None: that of its load.
    """
    load = trials.workloads.get(cell.workload)
    return About(
        design or trials.designs.get(cell.workload, "duet"),
        headline or trials.headlines.get(cell.workload, "capacity"),
        load.unit if load else "transaction",
        load.per_minute if load else False,
        cell.placement or trials.placements.get(cell.workload),
    )


def _kept_verdict(cell: Gathered, verdict: VerdictReached, labels: Mapping[str, str]) -> VerdictReached:
    """A verdict that is kept, with its host if the record is of several hosts."""
    interval = verdict.ratios.get(cell.about.headline)
    hosts = [HostVerdict(label, verdict.starts, interval) for label in cell.hosts] if len(labels) > 1 else []
    return replace(verdict, kept=True, hosts=tuple(hosts), hosts_differ=False)


def _verdict(cell: Gathered, judgement: Judgement, rule: Rule, labels: Mapping[str, str]) -> VerdictReached:
    headline = cell.about.headline
    read = cell.of(headline)
    hosts = read.by_host(rule) if len(labels) > 1 and not cell.replicates and read.finite else {}
    alone = cell.readings(headline)
    ratios, beside = _quantities(cell, rule)
    ratios[headline] = interval_of(judgement.interval)
    return VerdictReached(
        cell=cell.cell,
        design=cell.about.design,
        placement=cell.about.placement,
        headline=headline,
        unit=cell.about.unit,
        per_minute=cell.about.per_minute,
        verdict=str(judgement.kind),
        reason=judgement.reason,
        within=within(judgement, rule),
        ratios=ratios,
        verdicts=beside,
        starts=judgement.starts,
        invalid_starts=len(cell.invalid),
        invalid_pairs=sum(starts.invalid_pairs for starts in cell.hosts.values()),
        unsettled=sum(starts.unsettled for starts in cell.hosts.values()),
        sd_between=judgement.sd_between if math.isfinite(judgement.sd_between) else None,
        sensitivity=other_methods(alone) if len(cell.hosts) == 1 and read.finite else (),
        sides=_sides(cell.hosts.values()),
        hosts=tuple(
            HostVerdict(label, len(read.readings[label]), interval_of(interval)) for label, interval in hosts.items()
        ),
        hosts_differ=_disjoint(list(hosts.values())),
        kept=False,
    )


def _gather(
    cell: CellId, known: About, events: Sequence[OfStart], labels: Mapping[str, str], trials: TrialsPlanned
) -> Gathered:
    by_host: dict[str, list[OfStart]] = {}
    by_study: dict[tuple[str, str], list[OfStart]] = {}
    for event in events:
        assert event.origin is not None  # noqa: S101 - every one has its origin
        label = labels[event.origin.host]
        by_host.setdefault(label, []).append(event)
        by_study.setdefault((label, event.origin.study), []).append(event)
    sessions: dict[str, list[Starts]] = {}
    for (label, _), study_events in by_study.items():
        sessions.setdefault(label, []).append(starts_of(study_events))
    replicates = max((len(keys) for keys in trials.replicates.values()), default=0)
    ordered = {label: starts_of(by_host[label]) for label in sorted(by_host, key=list(labels.values()).index)}
    return Gathered(cell, known, ordered, sessions, replicates)


def _across(sessions: Mapping[str, Sequence[Starts]], quantity: str, count: int) -> list[float]:
    """One reading for each replicate that every host has measured: the mean over hosts of its starts' means."""
    by_host = []
    for studies in sessions.values():
        read: dict[int, list[float]] = {}
        for starts in studies:
            for number, values in enumerate(by_replicate(starts.of(quantity), count)):
                read.setdefault(number, []).extend(values)
        by_host.append({number: statistics.fmean(values) for number, values in read.items()})
    everywhere = [number for number in range(count) if all(number in read for read in by_host)]
    return [statistics.fmean(read[number] for read in by_host) for number in everywhere]


def _quantities(cell: Gathered, rule: Rule) -> tuple[dict[str, Interval | None], dict[str, str]]:
    """The ratio of each quantity, and the verdict of each quantity that is not a headline."""
    valid = sum(starts.valid for starts in cell.hosts.values())
    ratios: dict[str, Interval | None] = {}
    verdicts: dict[str, str] = {}
    for quantity in QUANTITIES:
        read = cell.of(quantity.name)
        if quantity.headline:
            ratios[quantity.name] = interval_of(read.judge(rule).difference) if read.finite else None
        elif len(cell.readings(quantity.name)) == valid and valid > 1:
            taken = max(2, sum(map(len, read.readings.values())))
            judged = read.judge(Rule.fixed(taken, delta=rule.delta))
            ratios[quantity.name] = interval_of(judged.interval)
            verdicts[quantity.name] = str(judged.kind)
    return ratios, verdicts


def _disjoint(intervals: Sequence[Estimate]) -> bool:
    """Whether two of the hosts' intervals do not overlap."""
    return len(intervals) > 1 and max(interval.low for interval in intervals) > min(
        interval.high for interval in intervals
    )


def _sides(hosts: Iterable[Starts]) -> dict[str, SideSummary | None]:
    """The summary of each side, averaged over hosts."""
    summaries: dict[str, list[Any]] = {}
    for starts in hosts:
        for label in starts.pairs[0].sides if starts.pairs else ():
            summaries.setdefault(label, []).append(plain(side_summary(starts.pairs, label, starts.hardware)))
    return {label: value_of(SideSummary, _mean(values)) for label, values in summaries.items()}


def _mean(values: Sequence[Any]) -> Any:
    """The mean of nested values of one shape; each figure is averaged over the values that have it."""
    if isinstance(values[0], Mapping):
        names = dict.fromkeys(name for value in values for name in value)
        return {name: _mean([value[name] for value in values if name in value]) for name in names}
    return statistics.fmean(values)
