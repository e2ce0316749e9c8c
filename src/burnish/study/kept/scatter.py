"""How far starts of a load that commits scatter on this host, and what a quarter of an hour of them gives."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Iterator, Sequence

from burnish.base.paths import Home
from burnish.bench.host import HostFacts
from burnish.catalogue.committing import shipped
from burnish.model.cell import CellId
from burnish.model.condition import DISK
from burnish.model.scatter import Scatter
from burnish.model.workload import Design
from burnish.record.events.study import SessionBegun, StudyBegun
from burnish.record.events.trials import StartBegun, StartDone, TrialsPlanned
from burnish.record.record import Record
from burnish.statistics.planning import half_width_after, starts_needed
from burnish.study.kept.runs import of_all
from burnish.study.trials.superseded import counted
from burnish.workload.conditions import merged

ENOUGH = 8
"""Degrees of freedom from which on a host's own starts are relied on."""

BENCH_S = 900.0
AIM = 0.02
"""Half-width that the time of an even disk is held to, of a log-ratio."""

_QUANTITIES = ("throughput", "capacity")


Load = tuple[str, Design, str, tuple[tuple[str, str], ...]]
"""A load's name with its parameters, how its sides share the host, where the data are (as in `Condition.place`), and
the settings of its base, the load's own and those of ``--set``: with others it is another load."""


def scatter_of(home: Home, engine: str, host: HostFacts, loads: Collection[Load]) -> dict[Load, Scatter]:
    """The scatter of the starts of each load: this host's own, else the shipped one; loads of which neither is known
    are left out.

    Args:
        home: where runs are kept.
        engine: the engine.
        host: this host; sessions on another machine don't count.
        loads: the loads; with none no record is read.
    """
    if not loads:
        return {}
    runs = list(of_all(home, lambda record: _starts(record, engine, host)))
    known: dict[Load, Scatter] = {}
    for load in loads:
        workload, design, place, settings = load
        own = pooled(
            [
                group
                for begun, done, settings_of in runs
                if settings_of.get(workload) == settings
                for group in groups_of(begun, done, workload, design, place)
            ]
        )
        if own is not None and own.df >= ENOUGH:
            known[load] = own
        elif design is Design.INTERLEAVED and place == DISK and (usual := shipped(engine, workload)) is not None:
            known[load] = usual
    return known


def groups_of(
    begun: Iterable[StartBegun], done: Iterable[StartDone], workload: str, design: Design, place: str = DISK
) -> list[list[StartDone]]:
    """The valid starts of one record with that load, design and place, by cell.

    Canaries are cells like others: each scatters about a mean of its own.
    """
    alike = {
        (start.cell, start.start)
        for start in begun
        if start.design == design and set((start.storage or {"": DISK}).values()) == {place}
    }
    cells: dict[CellId, list[StartDone]] = {}
    for start in done:
        valid = start.invalid is None and set(_QUANTITIES) <= set(start.readings)
        if valid and start.cell.workload == workload and (start.cell, start.start) in alike:
            cells.setdefault(start.cell, []).append(start)
    return list(cells.values())


def pooled(groups: Sequence[Sequence[StartDone]]) -> Scatter | None:
    """The scatter within these groups, each about its own mean; None if no group has two starts."""
    several = [group for group in groups if len(group) > 1]
    df = sum(len(group) - 1 for group in several)
    if not df:
        return None
    throughput, capacity = (
        math.sqrt(
            sum((len(group) - 1) * statistics.variance(start.readings[name] for start in group) for group in several)
            / df
        )
        for name in _QUANTITIES
    )
    seconds = statistics.fmean(start.seconds for group in several for start in group)
    return Scatter(throughput, capacity, df, seconds, f"{sum(map(len, several))} starts of this host")


def sentence(workload: str, scatter: Scatter) -> str:
    """What `BENCH_S` of starts give at that scatter, and how long `AIM` takes in throughput, in one line."""
    starts = max(2, int(BENCH_S / scatter.seconds))
    throughput, capacity = (100 * half_width_after(sd, starts) for sd in (scatter.throughput, scatter.capacity))
    said = (
        f"{workload}: {BENCH_S / 60:.0f} minutes of starts ({starts} of {scatter.seconds:.0f} s) give "
        f"±{throughput:.1f} % in throughput and ±{capacity:.1f} % in capacity within this sitting; a start scatters by "
        f"{100 * scatter.throughput:.1f} and {100 * scatter.capacity:.1f} % ({scatter.source})"
    )
    if throughput <= 100 * AIM:
        return said
    minutes = starts_needed(scatter.throughput, AIM) * scatter.seconds / 60
    return f"{said}; ±{100 * AIM:.0f} % in throughput takes some {minutes:.0f} minutes"


_Run = tuple[list[StartBegun], list[StartDone], dict[str, tuple[tuple[str, str], ...]]]


def _starts(record: Record, engine: str, host: HostFacts) -> Iterator[_Run]:
    """The starts of a run of that engine and its base's settings by load, if all its sessions were on this host."""
    begun, planned = record.last(StudyBegun), record.last(TrialsPlanned)
    if begun is None or planned is None or begun.event.definition.get("engine") != engine:
        return
    settings = planned.event.condition.settings if planned.event.condition else ()
    if all(session.event.host.get("machine") == host.machine for session in record.events(SessionBegun)):
        yield (
            [start.event for start in record.events(StartBegun)],
            [start.event for start in counted(record.events(StartDone))],
            {name: merged(workload.settings, settings) for name, workload in planned.event.workloads.items()},
        )
