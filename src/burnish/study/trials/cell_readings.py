"""The starts of a record's cells by sitting and host, with what is known of other sittings; pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime

from burnish.catalogue import between as shipped
from burnish.model.cell import AA, CellId, Role
from burnish.model.sittings import GAP_S, Moment, Spread, SpreadKind, Spreads, sittings_of
from burnish.model.workload import Design
from burnish.record.by_type import ByType
from burnish.record.events import Recorded
from burnish.record.events.builds import BuildMade, ProgramFound
from burnish.record.events.study import RecordsMerged, SessionBegun, SpreadAssumed, StudyBegun
from burnish.record.events.trials import StartBegun, StartDone, TrialsPlanned
from burnish.record.events.verdicts import VerdictReached
from burnish.statistics.intervals import Interval
from burnish.statistics.replicates import by_replicate
from burnish.statistics.rivals import quotient_beside
from burnish.statistics.sequential import HostPrior, Rule
from burnish.statistics.several_hosts import HostsCell
from burnish.statistics.sittings import Lane, SittingCell, spread_for, spread_half
from burnish.study.trials.profiled import Profiles

SAME_PROGRAM = Spread(0.0, math.inf, "both sides are the same program")
"""Spread between sittings of a program against itself: A/A starts show none (docs/BIAS.md, "One hour")."""


class CellReadings:
    """The cells of a record with their starts.

    Args:
        by: the record's events.
        planned: how they were measured.
    """

    def __init__(self, by: ByType, planned: TrialsPlanned) -> None:
        self.spreads = _spreads(by)
        self.profiles = Profiles(by.of(BuildMade), by.of(ProgramFound), by.of(TrialsPlanned))
        self.kinds: dict[CellId, set[SpreadKind | None]] = {}
        self.begun = {begun.cell: begun for begun in by.of(StartBegun)}
        for begun in by.of(StartBegun):
            kind = self.profiles.kind(begun.cell, Design(begun.design or Design.DUET), begun.builds)
            self.kinds.setdefault(begun.cell, set()).add(kind)
        self.rule = Rule(**asdict(planned.rule))
        self.replicates = max((len(keys) for keys in planned.replicates.values()), default=0)
        sessions = by.recorded(SessionBegun)
        self.boots = [(session.number, str(session.event.host.get("boot", ""))) for session in sessions]
        merged = by.last(RecordsMerged)
        self.letters = {host.key: host.label for host in merged.hosts} if merged else {}
        self.headlines = {verdict.cell: verdict.headline for verdict in by.of(VerdictReached)}
        self.lanes = {
            (verdict.cell, verdict.headline): Lane(HostPrior(known.sd, known.starts), known.ended)
            for verdict in by.of(VerdictReached)
            if (known := verdict.calibrated) is not None
        }
        self._known: dict[tuple[CellId, str], SittingCell | HostsCell | None] = {}
        self.starts: dict[CellId, list[Recorded[StartDone]]] = {}
        for recorded in by.recorded(StartDone):
            if recorded.event.invalid is None:
                self.starts.setdefault(recorded.event.cell, []).append(recorded)

    def of(self, cell: CellId, quantity: str) -> SittingCell | HostsCell | None:
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

    def quotient(self, one: CellId, other: CellId, quantity: str) -> Interval | None:
        """How many times a candidate is another on the same load; None unless they have starts in the same sittings.

        Those are found by the starts of both together. In a long one their starts must lie as close, in the mean, as
        those of one sitting do, and be as many sittings by themselves: a search measures builds an hour apart. With
        several hosts, or several builds of each variant, there is none: it would take more than sittings to compare
        them.
        """
        cells = (one, other)
        starts = [start for cell in cells for start in self.starts.get(cell, ()) if quantity in start.event.readings]
        starts.sort(key=lambda start: start.number)
        alike = len({replace(cell, candidate="", versus=(), program="") for cell in cells}) == 1
        hosts = {start.event.origin.host if start.event.origin else "" for start in starts}
        if not alike or self.replicates > 1 or len(hosts) != 1:
            return None
        sittings: dict[int, tuple[list[Recorded[StartDone]], ...]] = {}
        for number, start in zip(sittings_of([self._moment(start) for start in starts]), starts, strict=True):
            sittings.setdefault(number, ([], []))[cells.index(start.event.cell)].append(start)
        known = [self.of(cell, quantity) for cell in cells]
        own = [len(cell.sittings) for cell in known if isinstance(cell, SittingCell)]
        if own != [len(sittings)] * 2 or not all(self._close(*both) for both in sittings.values()):
            return None
        between = spread_for(self.spreads, self._kind_of_rivals(one, other))
        mine, its = (
            SittingCell(
                cell.name,
                tuple(tuple(start.event.readings[quantity] for start in both[index]) for both in sittings.values()),
                between,
            )
            for index, cell in enumerate(cells)
        )
        return quotient_beside(mine, its, between, self.rule) if mine.finite and its.finite else None

    def _close(self, one: Sequence[Recorded[StartDone]], other: Sequence[Recorded[StartDone]]) -> bool:
        """Whether the starts of two candidates lie as close in time as those of one sitting, in the mean."""
        if not one or not other:
            return False
        ends = [statistics.fmean(_seconds(start.at) for start in starts) for starts in (one, other)]
        return abs(ends[0] - ends[1]) < GAP_S

    def _kind_of_rivals(self, one: CellId, other: CellId) -> SpreadKind | None:
        """The kind of comparison that two candidates are."""
        begun = {cell.label: self.begun[cell] for cell in (other, one) if cell in self.begun}
        keys = {label: list(start.builds.values())[-1] for label, start in begun.items() if start.builds}
        design = next((start.design for start in begun.values() if start.design), Design.DUET)
        return self.profiles.kind(replace(one, base=other.candidate), Design(design), keys)

    def _moment(self, start: Recorded[StartDone]) -> Moment:
        return Moment((ended := _seconds(start.at)) - start.event.seconds, ended, self._boot(start))

    def _sittings(self, cell: CellId, quantity: str, starts: Sequence[Recorded[StartDone]]) -> SittingCell:
        moments = [self._moment(start) for start in starts]
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
            SAME_PROGRAM if equal else self.spread(cell),
            tuple(tuple(values) for values in replicates),
            self.lanes.get((cell, quantity)),
        )

    def spread(self, cell: CellId) -> Spread:
        """How far a cell's ratio is taken to differ between sittings."""
        return spread_for(self.spreads, self._kind(cell))

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
    """What a record assumes of other sittings: by its last session, of a merged record the largest of each kind by
    what it adds to a 95 % interval, since no session is that of all its hosts."""
    now = shipped.shipped(str(by.of(StudyBegun)[0].definition.get("engine", "")))
    assumed = [_assumed(event, now) for event in by.of(SpreadAssumed)] or [now]
    if RecordsMerged not in by:
        return assumed[-1]

    def largest(kind: SpreadKind) -> Spread:
        # Of equal ones by their text, so that the order of the files does not matter.
        return max((each.of(kind) for each in assumed), key=lambda one: (spread_half(one, 0.025, 1), one.source))

    return Spreads(*(largest(kind) for kind in SpreadKind))


def _assumed(event: SpreadAssumed, now: Spreads) -> Spreads:
    """The spreads that a session assumed.

    The oldest name one figure for all comparisons: a host's own holds for all kinds, the one that was shipped then is
    replaced by those that are shipped now. Those that name two have the third from what is shipped.

    Args:
        event: the session's.
        now: what is shipped.
    """
    if event.alike is None:
        return now if shipped.superseded(event.spread) else Spreads.of_all(event.spread)
    return Spreads(event.spread, event.alike, event.committing or now.committing)


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
