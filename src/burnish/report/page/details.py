"""What a page shows beyond the result: every start, hosts, gates, commands, digests; pure.

`Result` has what a verdict rests on in figures; this is what it rests on in facts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import (
    BuildMade,
    GateFindings,
    GateRun,
    Identity,
    ProgramFound,
    SourceObtained,
    ToolchainsFound,
    TuningExamined,
)
from burnish.record.events.bundled import TablePlanned
from burnish.record.events.study import PictureDrawn, RecordsMerged, SessionBegun, StudyBegun
from burnish.record.events.trials import ServersReported, StartDone, TrialsPlanned
from burnish.study.trials.superseded import counted

Key = tuple[str, str, str]
"""Label of a candidate, its load, its role."""


@dataclass(frozen=True)
class Side:
    """Processes of one side of a cell.

    Attributes:
        label: the side.
        commands: (``server`` or ``load``, command line), without repetitions.
    """

    label: str
    commands: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Details:
    """Facts of a record.

    Attributes:
        burnish: version of Burnish that began the run; '' if unknown.
        source: what was built; None if nothing was.
        hosts: facts of every host, by its letter, or by '' if there is one.
        calls: the command of each session, without repetitions.
        seeds: seeds of everything random.
        starts: by cell (see `Key`), the readings of every valid start: ratio by quantity.
        by_cell: the same by the cell's name.
        gates: by build, the results of the server's own tests.
        identities: by build or program, how it identifies itself.
        keys: by build, its name in the store; by program, its digest.
        digests: by build, SHA-256 of its program, where the record has it.
        flags: by build, the flags it was given, by what they are for (`c`, `cxx`, `link`).
        toolchains: by name, the version line of each compiler.
        reported: by cell (see `Key`), what its servers said of themselves in its first valid start.
        sides: the processes of both sides, of the first start of each load.
        published: by comparison of a bundled study, ends of the published ratio.
        threads: by load, its number of client threads.
        reasons: by load, why it is in the catalogue.
        tuning: settings of the server that suit the loads badly.
        pictures: (name, SVG) of drawings that can't be made again.
    """

    burnish: str
    source: SourceObtained | None
    hosts: Mapping[str, Mapping[str, Any]]
    calls: tuple[tuple[str, ...], ...]
    seeds: tuple[int, ...]
    starts: Mapping[Key, tuple[Mapping[str, float], ...]]
    by_cell: Mapping[str, tuple[Mapping[str, float], ...]]
    gates: Mapping[str, GateFindings]
    identities: Mapping[str, Identity]
    keys: Mapping[str, str]
    digests: Mapping[str, str]
    flags: Mapping[str, Mapping[str, tuple[str, ...]]]
    toolchains: Mapping[str, str]
    reported: Mapping[Key, ServersReported]
    sides: Mapping[str, tuple[Side, ...]]
    published: Mapping[str, tuple[float, float]]
    threads: Mapping[str, int]
    reasons: Mapping[str, str]
    tuning: tuple[str, ...]
    pictures: tuple[tuple[str, str], ...]

    def dots(self, candidate: str, workload: str, role: str, quantity: str) -> tuple[float, ...]:
        """The ratio of a quantity in every valid start of a cell."""
        return ratios(self.starts.get((candidate, workload, role), ()), quantity)


def ratios(readings: Sequence[Mapping[str, float]], quantity: str) -> tuple[float, ...]:
    """The ratio of a quantity in each of these starts that has it."""
    logs = (reading[quantity] for reading in readings if quantity in reading)
    return tuple(math.exp(log) for log in logs if math.isfinite(log) and abs(log) < 50)


def details(events: Iterable[Recorded[Event]]) -> Details:
    """The facts of a record's events."""
    by = ByType(counted(events))
    begun, merged = by.of(StudyBegun), by.last(RecordsMerged)
    sessions, planned = by.of(SessionBegun), by.last(TrialsPlanned)
    starts: dict[Key, list[Mapping[str, float]]] = {}
    by_cell: dict[str, list[Mapping[str, float]]] = {}
    reported: dict[Key, ServersReported] = {}
    sides: dict[str, dict[str, tuple[tuple[str, tuple[str, ...]], ...]]] = {}
    for start in by.of(StartDone):
        cell = start.cell
        if start.invalid is None:
            key = (cell.label, cell.workload, str(cell.role))
            starts.setdefault(key, []).append(start.readings)
            if start.reported is not None:
                reported.setdefault(key, start.reported)
            by_cell.setdefault(cell.name, []).append(start.readings)
        for label, processes in (start.launched or {}).items():
            known = sides.setdefault(cell.workload, {})
            known.setdefault(label, tuple(dict.fromkeys((process.role, process.argv) for process in processes)))
    programs: list[BuildMade | ProgramFound] = [*by.of(BuildMade), *by.of(ProgramFound)]
    table = by.last(TablePlanned)
    return Details(
        burnish=begun[0].burnish if begun else "",
        source=by.last(SourceObtained),
        hosts={host.label: host.facts for host in merged.hosts} if merged else _hosts(sessions),
        calls=tuple(dict.fromkeys(session.call.words for session in sessions if session.call)),
        seeds=tuple(dict.fromkeys(session.seed for session in sessions if session.seed is not None)),
        starts={key: tuple(readings) for key, readings in starts.items()},
        by_cell={name: tuple(readings) for name, readings in by_cell.items()},
        gates={gate.build.name: gate.report for gate in by.of(GateRun)},
        identities={made.build.name: made.identity for made in programs if made.identity != Identity()},
        keys={made.build.name: made.key for made in programs},
        digests={made.build.name: str(made.about["sha256"]) for made in by.of(BuildMade) if "sha256" in made.about},
        flags={made.build.name: _flags(made.about.get("flags")) for made in by.of(BuildMade)},
        toolchains={chain.name: chain.version for found in by.of(ToolchainsFound) for chain in found.found},
        reported=reported,
        sides={load: tuple(Side(*side) for side in both.items()) for load, both in sides.items()},
        published=_published(table),
        threads={name: load.threads for name, load in planned.workloads.items()} if planned else {},
        reasons={name: load.reason for name, load in planned.workloads.items()} if planned else {},
        tuning=tuple(dict.fromkeys(line for examined in by.of(TuningExamined) for line in examined.found)),
        pictures=tuple((picture.name, picture.svg) for picture in by.of(PictureDrawn)),
    )


def _hosts(sessions: Sequence[SessionBegun]) -> dict[str, Mapping[str, Any]]:
    """The host of the last session."""
    return {"": sessions[-1].host} if sessions and sessions[-1].host else {}


def _flags(found: object) -> dict[str, tuple[str, ...]]:
    """A build's flags as its description in the store has them; empty if it has none."""
    if not isinstance(found, Mapping):
        return {}
    return {str(use): tuple(map(str, flags)) for use, flags in found.items() if isinstance(flags, (list, tuple))}


def _published(table: TablePlanned | None) -> dict[str, tuple[float, float]]:
    """The published changes in per cent, as ratios."""
    ends = {}
    for planned in table.comparisons if table else ():
        figure = planned.published
        if figure is not None and figure.unit == "%" and figure.low is not None:
            high = figure.low if figure.high is None else figure.high
            ends[planned.id.key] = (1 + figure.low / 100, 1 + high / 100)
    return ends
