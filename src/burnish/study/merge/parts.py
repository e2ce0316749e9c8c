"""The content of one record to be merged, by meaning (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from burnish.base.digest import digest_of
from burnish.base.errors import UserError
from burnish.model.cell import CellId, ComparisonId
from burnish.record.codec import encode
from burnish.record.events import Event, Recorded
from burnish.record.events.bundled import (
    ComparisonTried,
    FigureMeasured,
    ProfileInspected,
    SearchRound,
    TablePlanned,
    TimelineRead,
)
from burnish.record.events.study import Origin, RecordsMerged, SessionBegun, StudyBegun, StudyFinished
from burnish.record.events.trials import PairRead, StartBegun, StartDone, TrialsPlanned
from burnish.record.events.verdicts import FamilyJudged, VerdictReached
from burnish.record.exchange import compact
from burnish.statistics.verdicts import Kind
from burnish.study.trials.superseded import counted

VERBS = ("tune", "compare")
"""Verbs whose records can be merged, beside bundled studies. A calibration belongs to one host, and records of other
verbs hold more than a verdict for each cell."""

OfHost = FigureMeasured | TimelineRead | ProfileInspected
"""Events of a bundled study that report what one host observed; like starts, they are identified by host and study."""

OfStart = StartBegun | PairRead | StartDone
"""Events of a start."""

_RECOMPUTED = (StudyBegun, VerdictReached, FamilyJudged, StudyFinished, RecordsMerged)

_MACHINE = ("machine", "cpu_model", "cpu_signature", "cores_online", "hypervisor")
"""Facts that identify a host and stay the same from day to day; GiB of memory is used with them."""

_E = TypeVar("_E", bound=Event)


@dataclass(frozen=True)
class StartName:
    """The identity of a start in any record; two starts with equal names are the same start.

    Attributes:
        cell: the cell.
        host: see `host_key`.
        study: the study that took it.
        number: its number among the run's starts of the cell.
    """

    cell: CellId
    host: str
    study: str
    number: int

    @property
    def rank(self) -> tuple[str, str, str, int]:
        """Sort key among starts that ended at the same time."""
        return self.cell.name, self.host, self.study, self.number


@dataclass(frozen=True)
class Step:
    """An event and its time, without its number."""

    at: str
    event: Event

    @property
    def text(self) -> str:
        """Text that is equal for equal steps."""
        return canonical([self.at, *encode(self.event)])


@dataclass(frozen=True)
class About:
    """What a verdict has about its cell beside figures.

    Attributes:
        design: how the sides shared the host.
        headline: name of the quantity that the verdict is about.
        unit: what is counted.
        per_minute: whether its rate is reported per minute too.
        placement: which cores servers and clients had; None: the design's usual placement, as in older records.
    """

    design: str
    headline: str
    unit: str = "transaction"
    per_minute: bool = False
    placement: str | None = None


@dataclass
class Part:
    """The content of one record.

    Attributes:
        name: the user's name for it, for messages.
        begun: when its run was begun.
        definition: the study's definition.
        trials: what is compared and how, as recorded last; None without trials.
        starts: finished starts, each with its events.
        hosts: by key, the latest facts of every host that it was run on.
        cells: design, headline and unit of each cell that has a verdict.
        about: all other events by their text: source, builds, gates, identities.
        table: the last table of a bundled study; None for other verbs.
        verdicts: by cell, the verdicts that a run reached itself, as opposed to those of a merge.
        rounds: rounds of a search for weights.
    """

    name: str
    begun: str
    definition: Mapping[str, Any]
    trials: TrialsPlanned | None = None
    starts: dict[StartName, list[Step]] = field(default_factory=dict)
    hosts: dict[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    cells: dict[CellId, About] = field(default_factory=dict)
    about: dict[str, Step] = field(default_factory=dict)
    table: TablePlanned | None = None
    verdicts: dict[CellId, VerdictReached] = field(default_factory=dict)
    rounds: list[SearchRound] = field(default_factory=list)

    def of(self, kind: type[_E]) -> list[_E]:
        """The events of `about` that are of this type, in order of time."""
        return [step.event for key, step in sorted(self.about.items()) if isinstance(step.event, kind)]

    @property
    def seen(self) -> list[tuple[str, OfHost]]:
        """Events that report what one host observed, each with its time, in order."""
        return [(step.at, step.event) for _, step in sorted(self.about.items()) if isinstance(step.event, OfHost)]

    @property
    def tried(self) -> dict[ComparisonId, CellId]:
        """By comparison, the cell of its trial; if there are several, the last one that has starts."""
        begun = {name.cell for name in self.starts}
        events = [(event.comparison, event.cell) for event in self.of(ComparisonTried)]
        return dict(events) | {key: cell for key, cell in events if cell in begun}


def host_key(facts: Mapping[str, Any]) -> str:
    """Digest that identifies the host with these facts (of a `SessionBegun`)."""
    gib = round(facts["memory_bytes"] / 2**30) if facts.get("memory_bytes") else None
    return digest_of([*(facts.get(name) for name in _MACHINE), gib])


def canonical(value: Any) -> str:
    """Text that is equal for equal values, regardless of the order of keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def read(name: str, events: Iterable[Recorded[Event]]) -> Part:
    """Reads one record.

    Raises:
        UserError: it cannot be merged: no study, another verb, nothing measured, or recorded by an older Burnish.
    """
    steps = list(compact(counted(events)))
    begun = next(((recorded.at, recorded.event) for recorded in steps if isinstance(recorded.event, StudyBegun)), None)
    if begun is None:
        raise UserError(f"{name}: this record holds no run; `burnish record export RUN` makes one that does")
    part = _sorted(name, *begun, steps)
    verb = part.definition.get("verb")
    if verb not in VERBS and part.table is None:
        allowed = f"those of {' and '.join(VERBS)}, and of bundled studies, can be merged"
        raise UserError(f"{name}: the record of a {verb}; {allowed}")
    if not part.starts and not part.of(FigureMeasured):
        raise UserError(f"{name}: holds no finished start; leave it out")
    old = next((key for key, start_steps in part.starts.items() if not _has_verdict_data(start_steps[-1].event)), None)
    if old is not None:
        raise UserError(
            f"{name}: start {old.number} of {old.cell} was recorded by an older Burnish, without its ratios"
        )
    return part


def _sorted(name: str, at: str, begun: StudyBegun, events: Sequence[Recorded[Event]]) -> Part:
    part = Part(name, at, begun.definition)
    host = ""
    open_starts: dict[StartName, list[Step]] = {}
    doubted: dict[CellId, list[StartName]] = {}
    for recorded in events:
        event = recorded.event
        if isinstance(event, SessionBegun):
            host = host_key(event.host)
            part.hosts[host] = (recorded.at, event.host)
        if isinstance(event, OfStart):
            origin = event.origin or Origin(host, begun.name, event.start)
            key = StartName(event.cell, origin.host, origin.study, origin.start or event.start)
            open_starts.setdefault(key, []).append(Step(recorded.at, replace(event, start=key.number, origin=None)))
            if isinstance(event, StartDone):
                part.starts[key] = open_starts[key]
        elif isinstance(event, TrialsPlanned):
            part.trials = event
        elif isinstance(event, TablePlanned):
            part.table = event
        elif isinstance(event, SearchRound):
            part.rounds.append(replace(event, on=()))
        elif isinstance(event, VerdictReached):
            part.cells[event.cell] = About(event.design, event.headline, event.unit, event.per_minute, event.placement)
            if event.verdict == Kind.INVALID:
                doubted[event.cell] = [key for key in part.starts if key.cell == event.cell]
            else:
                _spend(part, doubted.pop(event.cell, ()))
            if event.kept is not False:
                part.verdicts[event.cell] = replace(event, kept=None, hosts=(), hosts_differ=False)
        elif isinstance(event, FigureMeasured) and event.hosts:
            continue  # a mean, computed again
        elif not isinstance(event, _RECOMPUTED):
            if isinstance(event, OfHost):
                origin = event.origin or Origin(host, begun.name)
                event = replace(event, origin=replace(origin, label=None))
            step = Step(recorded.at, event)
            part.about[step.text] = step
    return part


def _spend(part: Part, doubted: Iterable[StartName]) -> None:
    """Marks the invalid starts that an earlier verdict was about, of a cell that has a valid one since."""
    for key in doubted:
        *others, last = part.starts[key]
        assert isinstance(last.event, StartDone)  # noqa: S101 - a start ends with one
        if last.event.invalid is not None:
            part.starts[key] = [*others, replace(last, event=replace(last.event, spent=True))]


def _has_verdict_data(done: Event) -> bool:
    """Whether a closing event has the data that a verdict needs."""
    assert isinstance(done, StartDone)  # noqa: S101 - a start ends with one
    return done.invalid is not None or (done.pair_ratios is not None and done.hardware is not None)
