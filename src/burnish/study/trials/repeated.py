"""What the starts of a record promise for another sitting: verdicts and intervals "to be repeated"; pure.

A recorded verdict is about the sitting in which its starts were taken, and decided when to stop there. What a reader
relies on is another sitting, so reports, families and recommendations go by the interval that holds there
(`burnish.statistics.sittings`), and the recorded one stands beside it. Both come from the starts, so that records made
before there was such a thing have both as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from burnish.model.cell import CellId
from burnish.model.quantity import HEADLINES
from burnish.record.by_type import ByType
from burnish.record.events import Event
from burnish.record.events.builds import BuildMade, ProgramFound
from burnish.record.events.study import RecordsMerged, SessionBegun, SpreadAssumed, StudyBegun
from burnish.record.events.trials import StartBegun, StartDone, TrialsPlanned
from burnish.record.events.verdicts import FamilyJudged, HostVerdict, Interval, VerdictReached
from burnish.statistics import multiplicity
from burnish.statistics.sequential import Rule
from burnish.statistics.several_hosts import Heterogeneity, HostsCell
from burnish.statistics.sittings import ENOUGH, SittingCell, contradiction
from burnish.statistics.verdicts import Judgement, Kind
from burnish.study.trials.cell_readings import SAME_PROGRAM, CellReadings
from burnish.study.trials.findings import interval_of, member_of, within

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
            the sittings showed it themselves (three or more did, or two contradicted what was assumed), or the verdict
            is about several hosts.
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

    @property
    def contrary(self) -> bool:
        """Whether two sittings contradict the spread that would be assumed, so that their own difference counts."""
        return self.sittings < ENOUGH and self.assumed is None and self.heterogeneity is None

    @property
    def contradiction(self) -> str:
        """What a reader should know of two such sittings; '' of others."""
        if not self.contrary:
            return ""
        both = contradiction(self.means)
        return f"{both}: the interval has both, and a third one will show which holds (docs/METHODOLOGY.md)"


@dataclass(frozen=True)
class Repeated:
    """A record's events with verdicts to be repeated in the place of those of a sitting.

    Attributes:
        by: the events.
        sittings: by cell, what is about its own sittings.
        readings: the starts of its cells; None if there is no verdict.
    """

    by: ByType
    sittings: Mapping[CellId, Sitting]
    readings: CellReadings | None = None

    @property
    def kinds(self) -> dict[CellId, Kind]:
        """By claim, its verdict within the family of all."""
        family = self.by.last(FamilyJudged)
        return {member.cell: Kind(member.verdict) for member in family.cells} if family else {}

    def quotient(self, one: CellId, other: CellId, quantity: str | None = None) -> Interval | None:
        """How many times a candidate is another on a load, by their headline or another quantity.

        None unless both have it and share their sittings.
        """
        if self.readings is None:
            return None
        headlines = [self.readings.headlines.get(cell) for cell in (one, other)]
        wanted = headlines[0] if quantity is None and headlines[0] == headlines[1] else quantity
        return interval_of(self.readings.quotient(one, other, wanted)) if wanted is not None else None


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
    return Repeated(changed.replaced(FamilyJudged, families), sittings, cells.readings)


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
    """The verdicts of a record's cells from their starts.

    Args:
        by: the record's events.
        planned: how they were measured.
    """

    def __init__(self, by: ByType, planned: TrialsPlanned) -> None:
        self.readings = CellReadings(by, planned)
        self.rule = self.readings.rule

    def repeat(self, verdict: VerdictReached) -> tuple[VerdictReached, Sitting | None]:
        """A verdict to be repeated, and what is about its own sittings; unchanged if nothing can be said of it."""
        rule = self._rule(verdict)
        cell = self.readings.of(verdict.cell, verdict.headline)
        if verdict.verdict == Kind.INVALID or cell is None:
            return verdict, None
        judgement = cell.judge(rule)
        ratios = dict(verdict.ratios)
        fullest: dict[str, Interval | None] = {}
        for name in _judged(verdict):
            read = self.readings.of(verdict.cell, name)
            if ratios.get(name) is not None and read is not None:
                headline = name == verdict.headline
                judged = judgement if headline else read.judge(rule)
                ratios[name] = interval_of(judged.interval if headline else judged.difference)
                if isinstance(read, SittingCell) and not read.replicates:
                    fullest |= _fullest(name, read, verdict.starts, rule)
        event = replace(
            verdict,
            verdict=str(judgement.kind),
            reason=_reason(verdict, judgement),
            within=within(judgement, rule),
            ratios=ratios,
        )
        about = _about(verdict, cell, rule)
        if about.sittings > 1:
            # Other estimators, as recorded, have the last sitting's starts only: they are none of the ratio over all.
            other = verdict.sensitivity if verdict.starts == cell.starts else ()
            event = replace(event, starts=cell.starts, sensitivity=other)
        elif isinstance(cell, SittingCell) and not cell.replicates and cell.starts > verdict.starts:
            event = replace(event, starts=cell.starts)  # both intervals are of all of them
        about = replace(about, intervals={**about.intervals, **fullest})
        if isinstance(cell, HostsCell) and about.heterogeneity is not None:
            event = replace(event, hosts=_hosts(cell, rule), hosts_differ=about.heterogeneity.p < DIFFER)
        return event, about

    def family(self, judged: FamilyJudged) -> FamilyJudged:
        """The verdicts of all cells together, from their intervals to be repeated."""
        cells = [
            None
            if member.verdict == Kind.INVALID
            else self.readings.of(member.cell, self.readings.headlines.get(member.cell, ""))
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


def _judged(verdict: VerdictReached) -> list[str]:
    """Names of the quantities whose ratio has both intervals: the verdict's own, which may be a response time, too."""
    return list(dict.fromkeys((*(quantity.name for quantity in HEADLINES), verdict.headline)))


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


def _fullest(name: str, cell: SittingCell, starts: int, rule: Rule) -> dict[str, Interval | None]:
    """By the quantity's name, the interval of the sitting with most starts, if those are more than the verdict's.

    A search takes more starts of a build than its verdict needed, maybe half an hour later. The interval is at the
    level of the looks at them and holds for that sitting only.
    """
    fullest = max(cell.sittings, key=len)
    if len(fullest) <= starts:
        return {}
    alone = replace(cell, sittings=(fullest,), between=SAME_PROGRAM)
    return {name: interval_of(alone.judge(rule).difference)}


def _about(verdict: VerdictReached, cell: SittingCell | HostsCell, rule: Rule) -> Sitting:
    intervals = {name: verdict.ratios.get(name) for name in _judged(verdict)}
    if isinstance(cell, HostsCell):
        sittings = sum(len(host.sittings) for host in cell.hosts.values())
        return Sitting(verdict.verdict, verdict.reason, intervals, sittings, heterogeneity=cell.heterogeneity(rule))
    assumed = cell.between.sd if cell.assumes else None
    source = cell.between.source if cell.assumes else ""
    return Sitting(verdict.verdict, verdict.reason, intervals, len(cell.sittings), cell.means, assumed, source)
