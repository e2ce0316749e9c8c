"""How far ratios have moved between sittings on this host, from the runs that are kept on it."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from datetime import datetime

from burnish.base.paths import Home
from burnish.bench.host import HostFacts
from burnish.catalogue.between import shipped
from burnish.model.cell import AA, Role
from burnish.model.sittings import Moment, Spread, SpreadKind, Spreads, sittings_of
from burnish.model.workload import Design
from burnish.record.events.builds import BuildMade, ProgramFound
from burnish.record.events.study import RecordsMerged, SessionBegun, StudyBegun
from burnish.record.events.trials import StartBegun, StartDone, TrialsPlanned
from burnish.record.record import Record
from burnish.statistics.between import Known, between
from burnish.study.kept.runs import of_all
from burnish.study.trials.profiled import Profiles
from burnish.study.trials.superseded import counted

ENOUGH = 8.0
"""Degrees of freedom from which on a host's own history is relied on; with fewer the shipped figure is better known."""

_Key = tuple[str, ...]

_OF = {
    SpreadKind.PROFILED: "builds with a profile",
    SpreadKind.ALIKE: "builds without a profile",
    SpreadKind.COMMITTING: "loads that commit",
}


def spreads_of(home: Home, engine: str, host: HostFacts) -> Spreads:
    """The spreads between sittings that a study on this host assumes, each the host's own if it has enough of that kind
    of comparison, else the engine's or the shipped one.

    Args:
        home: where runs are kept.
        engine: the engine; only its runs count.
        host: this host; runs of another machine count no more than its calibrations do.
    """
    starts: dict[SpreadKind, dict[_Key, list[tuple[Moment, float]]]] = {kind: {} for kind in SpreadKind}
    for kind, key, moment, reading in of_all(home, lambda record: _starts(record, engine, host)):
        starts[kind].setdefault(key, []).append((moment, reading))
    known = shipped(engine)
    return Spreads(*(_own(starts[kind].values(), _OF[kind]) or known.of(kind) for kind in SpreadKind))


def _own(taken: Iterable[list[tuple[Moment, float]]], of: str) -> Spread | None:
    """The spread of comparisons of one kind; None if too little is known of it."""
    found = between([group for starts in taken if len(group := _sittings(starts)) > 1])
    if found is None or found.df < ENOUGH:
        return None
    return Spread(found.sd, found.df, f"{found.sittings} sittings of this host of {of}")


def _starts(record: Record, engine: str, host: HostFacts) -> Iterable[tuple[SpreadKind, _Key, Moment, float]]:
    """The valid starts of a run's claims on this host: of which kind they are, what was compared, when, and the
    headline's reading. Those of which the kind is not known tell of none, nor does a merged record: its starts are of
    other hosts, or of runs that are kept as well."""
    begun = record.last(StudyBegun)
    if begun is None or begun.event.definition.get("engine") != engine or record.last(RecordsMerged) is not None:
        return
    sessions = [(session.number, session.event.host) for session in record.events(SessionBegun)]
    profiles = Profiles(
        [made.event for made in record.events(BuildMade)],
        [found.event for found in record.events(ProgramFound)],
        [planned.event for planned in record.events(TrialsPlanned)],
    )
    builds: dict[tuple[object, int], _Key] = {}
    kinds: dict[tuple[object, int], SpreadKind | None] = {}
    for start in record.events(StartBegun):
        cell = start.event.cell
        design = Design(start.event.design or Design.DUET)
        kinds[cell, start.event.start] = profiles.kind(cell, design, start.event.builds)
        builds[cell, start.event.start] = (
            *start.event.builds.values(),
            str(start.event.design),
            *cell.given,
            *cell.versus,
        )
    for done in counted(record.events(StartDone)):
        cell = done.event.cell
        facts = next((facts for number, facts in reversed(sessions) if number < done.number), None)
        same = cell.role is not Role.CLAIM or cell.control or cell.candidate == AA
        kind = kinds.get((cell, done.event.start))
        if done.event.invalid is not None or "capacity" not in done.event.readings or same or kind is None:
            continue
        if facts is None or facts.get("machine") != host.machine:  # resumed on another machine by an older version
            continue
        ended = datetime.fromisoformat(done.at).timestamp()
        moment = Moment(ended - done.event.seconds, ended, str(facts.get("boot", "")))
        # The digest of the data tells apart what loads of one name do in two runs.
        key = (cell.workload, done.event.fingerprint, *builds.get((cell, done.event.start), ()))
        yield kind, key, moment, done.event.readings["capacity"]


def _sittings(taken: list[tuple[Moment, float]]) -> list[Known]:
    """The means of the sittings that have two starts and more."""
    ordered = sorted(taken, key=lambda start: start[0].ended)
    groups: dict[int, list[float]] = {}
    for number, (_, reading) in zip(sittings_of([moment for moment, _ in ordered]), ordered, strict=True):
        groups.setdefault(number, []).append(reading)
    return [
        Known(statistics.fmean(group), statistics.variance(group) / len(group))
        for group in groups.values()
        if len(group) > 1
    ]
