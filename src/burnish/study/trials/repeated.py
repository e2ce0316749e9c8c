"""What the starts of a record promise for another sitting: verdicts and intervals "to be repeated"; pure.

A recorded verdict is about the sitting in which its starts were taken, and decided when to stop there. What a reader
relies on is another sitting, so reports, families and recommendations go by the interval that holds there
(`burnish.statistics.sittings`), and the recorded one stands beside it. Both come from the starts, so that records made
before there was such a thing have both as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

from burnish.catalogue import between as shipped
from burnish.model.cell import AA, CellId, Role
from burnish.model.quantity import HEADLINES
from burnish.model.sittings import Moment, Spread, SpreadKind, Spreads, sittings_of
from burnish.model.workload import Design
from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import BuildMade, ProgramFound
from burnish.record.events.study import RecordsMerged, SessionBegun, SpreadAssumed, StudyBegun
from burnish.record.events.trials import StartBegun, StartDone, TrialsPlanned
from burnish.record.events.verdicts import FamilyJudged, HostVerdict, Interval, VerdictReached
from burnish.statistics import multiplicity
from burnish.statistics.replicates import by_replicate
from burnish.statistics.sequential import Rule
from burnish.statistics.several_hosts import Heterogeneity, HostsCell
from burnish.statistics.sittings import SittingCell, spread_for
from burnish.statistics.verdicts import Judgement, Kind
from burnish.study.trials.findings import interval_of, member_of, within
from burnish.study.trials.profiled import Profiles

SAME_PROGRAM = Spread(0.0, math.inf, "both sides are the same program")
"""Spread between sittings of a program against itself: A/A starts show none (docs/BIAS.md, "One hour")."""

DIFFER = 0.05
"""P-value of "all hosts have the same ratio" below which a report says that they differ."""


@dataclass(frozen=True)
class Sitting:
    """The part of a cell's result that is about its own sittings.

    Attributes:
        verdict: the verdict as recorded: on the sitting in which sampling ended.
        reason: its reason, a sentence.
        intervals: by quantity, the interval over the starts as recorded; over all of them where a search took more
            starts than the verdict needed.
        sittings: number of sittings; on several hosts, of all of them.
        means: mean log-ratio of the headline quantity in each sitting.
        assumed: spread between sittings that the interval relies on, as a standard deviation of log-ratios; None if
            the sittings told it themselves, or the verdict is about several hosts.
        source: where that is from; '' without one.
        heterogeneity: how far hosts differ; None with one host.
    """

    verdict: str
    reason: str = ""
    intervals: Mapping[str, Interval | None] = field(default_factory=dict)
    sittings: int = 1
    means: tuple[float, ...] = ()
    assumed: float | None = None
    source: str = ""
    heterogeneity: Heterogeneity | None = None


@dataclass(frozen=True)
class Repeated:
    """A record's events with verdicts to be repeated in the place of those of a sitting.

    Attributes:
        by: the events.
        sittings: by cell, what is about its own sittings.
    """

    by: ByType
    sittings: Mapping[CellId, Sitting]

    @property
    def kinds(self) -> dict[CellId, Kind]:
        """By claim, its verdict within the family of all."""
        family = self.by.last(FamilyJudged)
        return {member.cell: Kind(member.verdict) for member in family.cells} if family else {}


def repeated(by: ByType) -> Repeated:
    """A record's verdicts as another sitting may be expected to give them."""
    planned = by.last(TrialsPlanned)
    reached = by.recorded(VerdictReached)
    if planned is None or not reached:
        return Repeated(by, {})
    cells = _Cells(by, planned)
    sittings: dict[CellId, Sitting] = {}
    verdicts = []
    for recorded in reached:
        event, about = cells.repeat(recorded.event)
        verdicts.append(replace(recorded, event=event))
        if about is not None:
            sittings[event.cell] = about
    changed = by.replaced(VerdictReached, verdicts)
    families = [replace(recorded, event=cells.family(recorded.event)) for recorded in by.recorded(FamilyJudged)]
    return Repeated(changed.replaced(FamilyJudged, families), sittings)


READ: tuple[type[Event], ...] = (
    StudyBegun,
    SessionBegun,
    SpreadAssumed,
    RecordsMerged,
    BuildMade,
    ProgramFound,
    TrialsPlanned,
    StartBegun,
    StartDone,
    VerdictReached,
    FamilyJudged,
)
"""The events that `repeated` reads; of a record on disk, the pairs are left unread."""


class _Cells:
    """The cells of a record with their starts.

    Args:
        by: the record's events.
        planned: how they were measured.
    """

    def __init__(self, by: ByType, planned: TrialsPlanned) -> None:
        self.spreads = _spreads(by)
        self.profiles = Profiles(by.of(BuildMade), by.of(ProgramFound), by.of(TrialsPlanned))
        self.kinds: dict[CellId, set[SpreadKind | None]] = {}
        for begun in by.of(StartBegun):
            kind = self.profiles.kind(begun.cell, Design(begun.design or Design.DUET), begun.builds)
            self.kinds.setdefault(begun.cell, set()).add(kind)
        self.rule = Rule(**asdict(planned.rule))
        self.replicates = max((len(keys) for keys in planned.replicates.values()), default=0)
        sessions = by.recorded(SessionBegun)
        self.boots = [(session.number, str(session.event.host.get("boot", ""))) for session in sessions]
        self.headlines = {verdict.cell: verdict.headline for verdict in by.of(VerdictReached)}
        merged = by.last(RecordsMerged)
        self.letters = {host.key: host.label for host in merged.hosts} if merged else {}
        self._known: dict[tuple[CellId, str], SittingCell | HostsCell | None] = {}
        self.starts: dict[CellId, list[Recorded[StartDone]]] = {}
        for recorded in by.recorded(StartDone):
            if recorded.event.invalid is None:
                self.starts.setdefault(recorded.event.cell, []).append(recorded)

    def repeat(self, verdict: VerdictReached) -> tuple[VerdictReached, Sitting | None]:
        """A verdict to be repeated, and what is about its own sittings; unchanged if nothing can be said of it."""
        rule = self._rule(verdict)
        cell = self._of(verdict.cell, verdict.headline)
        if verdict.verdict == Kind.INVALID or cell is None:
            return verdict, None
        judgement = cell.judge(rule)
        ratios = dict(verdict.ratios)
        for name in _judged(verdict):
            read = self._of(verdict.cell, name)
            if ratios.get(name) is not None and read is not None:
                headline = name == verdict.headline
                judged = judgement if headline else read.judge(rule)
                ratios[name] = interval_of(judged.interval if headline else judged.difference)
        event = replace(
            verdict,
            verdict=str(judgement.kind),
            reason=_reason(verdict, judgement),
            within=within(judgement, rule),
            ratios=ratios,
        )
        about = _about(verdict, cell, rule)
        if about.sittings > 1:
            event = replace(event, starts=cell.starts)
        elif isinstance(cell, SittingCell) and not cell.replicates and cell.starts > verdict.starts:
            # A search takes more starts of a build than its verdict needed: both intervals are of all of them.
            event = replace(event, starts=cell.starts)
            about = replace(about, intervals={**about.intervals, verdict.headline: _own_sitting(cell, rule)})
        if isinstance(cell, HostsCell) and about.heterogeneity is not None:
            event = replace(event, hosts=_hosts(cell, rule), hosts_differ=about.heterogeneity.p < DIFFER)
        return event, about

    def family(self, judged: FamilyJudged) -> FamilyJudged:
        """The verdicts of all cells together, from their intervals to be repeated."""
        cells = [
            None if member.verdict == Kind.INVALID else self._of(member.cell, self.headlines.get(member.cell, ""))
            for member in judged.cells
        ]
        method = multiplicity.exploration if judged.explore else multiplicity.claims
        # What can't be judged stays in the family: leaving it out would invalidate the correction.
        family = [
            cell or multiplicity.Cell(member.cell.name, ()) for cell, member in zip(cells, judged.cells, strict=True)
        ]
        members = tuple(
            member if cell is None else member_of(member.cell, corrected, corrected.kind)
            for member, cell, corrected in zip(judged.cells, cells, method(family, self.rule), strict=True)
        )
        return replace(judged, cells=members)

    def _rule(self, verdict: VerdictReached) -> Rule:
        """The rule of a cell; fresh starts, of the winner or of other layouts, are of a number fixed in advance."""
        if verdict.cell.is_again:
            return Rule.fixed(max(2, verdict.starts), delta=self.rule.delta)
        return self.rule

    def _of(self, cell: CellId, quantity: str) -> SittingCell | HostsCell | None:
        """A cell's readings of a quantity by sitting and host; None without any, or if one is not finite."""
        key = (cell, quantity)  # asked for its verdict, for the ratio of that quantity, and for the family
        if key not in self._known:
            self._known[key] = self._read(cell, quantity)
        return self._known[key]

    def _read(self, cell: CellId, quantity: str) -> SittingCell | HostsCell | None:
        by_host: dict[str, list[Recorded[StartDone]]] = {}
        for recorded in self.starts.get(cell, ()):
            if quantity in recorded.event.readings:
                origin = recorded.event.origin
                by_host.setdefault(self.letters.get(origin.host, origin.host) if origin else "", []).append(recorded)
        hosts = {label: self._sittings(cell, quantity, starts) for label, starts in sorted(by_host.items())}
        if not hosts or not all(host.finite for host in hosts.values()):
            return None
        return next(iter(hosts.values())) if len(hosts) == 1 else HostsCell(cell.name, hosts)

    def _sittings(self, cell: CellId, quantity: str, starts: Sequence[Recorded[StartDone]]) -> SittingCell:
        moments = [
            Moment((ended := _seconds(start.at)) - start.event.seconds, ended, self._boot(start)) for start in starts
        ]
        readings = [start.event.readings[quantity] for start in starts]
        sittings: dict[int, list[float]] = {}
        for number, reading in zip(sittings_of(moments), readings, strict=True):
            sittings.setdefault(number, []).append(reading)
        equal = cell.control or cell.candidate == AA
        builds = len(readings) if cell.role is Role.LAYOUTS else self.replicates
        replicates = by_replicate(readings, builds) if builds > 1 else []
        return SittingCell(
            cell.name,
            tuple(tuple(values) for values in sittings.values()),
            SAME_PROGRAM if equal else spread_for(self.spreads, self._kind(cell)),
            tuple(tuple(values) for values in replicates),
        )

    def _kind(self, cell: CellId) -> SpreadKind | None:
        """The kind of a cell; of several that of which most is assumed, or None if it is not known for some start."""
        kinds = self.kinds.get(cell, {None})
        order = (SpreadKind.COMMITTING, SpreadKind.PROFILED, None, SpreadKind.ALIKE)
        return next(kind for kind in order if kind in kinds)

    def _boot(self, start: Recorded[StartDone]) -> str:
        """The boot of the session that took a start; '' if unknown, as in a merged record."""
        if start.event.origin is not None:
            return ""
        return next((boot for number, boot in reversed(self.boots) if number < start.number), "")


def _spreads(by: ByType) -> Spreads:
    """What a record assumes of other sittings. The oldest name one figure for all comparisons: a host's own holds for
    all kinds, the one that was shipped then is replaced by those that are shipped now. Those that name two have the
    third from what is shipped."""
    assumed = by.last(SpreadAssumed)
    now = shipped.shipped(str(by.of(StudyBegun)[0].definition.get("engine", "")))
    if assumed is None or (assumed.alike is None and shipped.superseded(assumed.spread)):
        return now
    if assumed.alike is None:
        return Spreads.of_all(assumed.spread)
    return Spreads(assumed.spread, assumed.alike, assumed.committing or now.committing)


def _judged(verdict: VerdictReached) -> list[str]:
    """Names of the quantities whose ratio has both intervals: the verdict's own, which may be a response time, too."""
    return list(dict.fromkeys((*(quantity.name for quantity in HEADLINES), verdict.headline)))


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


def _reason(verdict: VerdictReached, judgement: Judgement) -> str:
    """The sentence of a verdict to be repeated, with that of its sitting where they differ."""
    if judgement.kind == verdict.verdict:
        return judgement.reason
    return f"{judgement.reason}; in its own sitting {verdict.verdict}"


def _hosts(cell: HostsCell, rule: Rule) -> tuple[HostVerdict, ...]:
    return tuple(
        HostVerdict(label, judged.starts, interval_of(judged.difference))
        for label, judged in cell.by_host(rule).items()
    )


def _own_sitting(cell: SittingCell, rule: Rule) -> Interval | None:
    """The interval over all starts of a cell, at the level of the looks at them, that holds for their sitting only."""
    return interval_of(replace(cell, between=SAME_PROGRAM).judge(rule).difference)


def _about(verdict: VerdictReached, cell: SittingCell | HostsCell, rule: Rule) -> Sitting:
    intervals = {name: verdict.ratios.get(name) for name in _judged(verdict)}
    if isinstance(cell, HostsCell):
        sittings = sum(len(host.sittings) for host in cell.hosts.values())
        return Sitting(verdict.verdict, verdict.reason, intervals, sittings, heterogeneity=cell.heterogeneity(rule))
    assumed = cell.between.sd if cell.assumes else None
    source = cell.between.source if cell.assumes else ""
    return Sitting(verdict.verdict, verdict.reason, intervals, len(cell.sittings), cell.means, assumed, source)
