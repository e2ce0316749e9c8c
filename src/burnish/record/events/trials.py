"""The trials of a study: what is compared and how, every start with what was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.model.cell import CellId
from burnish.model.condition import Condition
from burnish.model.workload import Timing, Workload
from burnish.record.events.base import Event
from burnish.record.events.study import Origin
from burnish.record.events.verdicts import HostNoise


@dataclass(frozen=True)
class StoppingRule:
    """How long a cell is sampled and what it takes to decide (`burnish.statistics.sequential.Rule`).

    Attributes:
        cap: maximum number of starts of a cell.
        alpha: chance of calling equal sides different.
        delta: sides within ±delta are equivalent (0.01 = 1 %).
        looks: numbers of starts at which a difference is asked for.
        equivalence_looks: numbers of starts at which equivalence is asked for.
        precision: half-width to reach (0.005 = ±0.5 %); None stops at the first verdict.
        minimum: starts before which an interval is never called narrow enough.
        fast_alpha: part of `alpha` that is spent early on a calibrated host.
        family: verdicts that share `alpha`.
    """

    cap: int
    alpha: float = 0.05
    delta: float = 0.01
    looks: tuple[int, ...] = ()
    equivalence_looks: tuple[int, ...] = ()
    precision: float | None = None
    minimum: int = 8
    fast_alpha: float = 0.01
    family: int = 1


@dataclass(frozen=True)
class TrialsPlanned(Event):
    """What is compared with what, and how it is measured; a later one replaces it.

    Attributes:
        cells: what has a verdict, in the order of reports; canaries and confirmations come beside them.
        rule: when a cell is decided.
        core_sets: numbers of the cores of each side.
        designs: trial design by workload's name.
        headlines: quantity that verdicts are about by workload's name; empty where each comparison has its own.
        timings: times of a start by design.
        workloads: the loads by name; those with another condition are as they are under it.
        condition: of the base; None where the cells have several.
        versus: of the candidates where it is another one; None where it is the same.
        calibrations: what is known of the host, as it is relied on.
        forced: names of those by which this host could not be trusted, measured nevertheless.
        replicates: keys of the builds of each variant that has several, by variant.
    """

    cells: tuple[CellId, ...]
    rule: StoppingRule
    core_sets: tuple[tuple[int, ...], ...]
    designs: Mapping[str, str] = field(default_factory=dict)
    headlines: Mapping[str, str] = field(default_factory=dict)
    timings: Mapping[str, Timing] = field(default_factory=dict)
    workloads: Mapping[str, Workload] = field(default_factory=dict)
    condition: Condition | None = None
    versus: Condition | None = None
    calibrations: tuple[HostNoise, ...] = ()
    forced: tuple[str, ...] = ()
    replicates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class StartBegun(Event):
    """A start of a cell began; without its `StartDone` it counts for nothing.

    Attributes:
        cell: the cell.
        start: its number among all starts of the cell, from 1.
        design: trial design; None in the oldest records.
        seed: decides the slots; None where there is one start.
        copy_seconds: what making clean copies of the data took; None where that was not noted.
        builds: key of each side's build, by the side's label, the base's first.
        origin: in a merged record, where it was taken; None in any other.
    """

    cell: CellId
    start: int
    design: str | None = None
    seed: str | None = None
    copy_seconds: float | None = None
    builds: Mapping[str, str] = field(default_factory=dict)
    origin: Origin | None = None


@dataclass(frozen=True)
class SideReading:
    """What one side did in a pair, all its turns together (`burnish.bench.readings.Reading`).

    Attributes:
        seconds: wall time.
        done: transactions finished.
        errors: errors.
        server_cpu: CPU seconds of the server.
        client_cpu: CPU seconds of the load.
        latency: seconds by name (``p95``, ``mean``, ``max``).
        cores: numbers of the cores that the side had.
        steps: statements answered; 0 where the load counts none.
    """

    seconds: float
    done: float
    errors: int
    server_cpu: float
    client_cpu: float
    latency: Mapping[str, float] = field(default_factory=dict)
    cores: tuple[int, ...] = ()
    steps: float = 0.0


@dataclass(frozen=True)
class ServerUsage:
    """What a side's server used in a pair (`burnish.bench.counters.Usage`).

    Attributes:
        user: CPU seconds in user mode.
        system: CPU seconds in the kernel.
        minor_faults: page faults that needed no disk.
        major_faults: page faults that did.
        waits: context switches because a thread had to wait.
        preemptions: context switches because it was another's turn.
        rss_bytes: memory in use at its end.
    """

    user: float = 0.0
    system: float = 0.0
    minor_faults: int = 0
    major_faults: int = 0
    waits: int = 0
    preemptions: int = 0
    rss_bytes: int = 0


@dataclass(frozen=True)
class PairRead(Event):
    """A pair of a start was read; sides are named by their labels.

    Attributes:
        cell: the cell.
        start: the start's number.
        pair: its number within the start, from 1.
        sides: what each side did.
        turns: of each turn (seconds, transactions, server's CPU seconds, client's, statements); the last is missing in
            older records.
        places: turns in a round of places: 2 in a duet, else 1.
        usage: what each side's server used; empty in the oldest records.
        busy: share of its cores that each side's server was busy for, 0 to 1; empty in the oldest records.
        steal: share of CPU time that the hypervisor took from the core that lost most, 0 to 1.
        core_busy: busy share of each core, by its number.
        invalid: why it counts for nothing; None where it counts.
        origin: in a merged record, where it was taken; None in any other.
    """

    cell: CellId
    start: int
    pair: int
    sides: Mapping[str, SideReading]
    turns: Mapping[str, tuple[tuple[float, ...], ...]]
    places: int
    usage: Mapping[str, ServerUsage] = field(default_factory=dict)
    busy: Mapping[str, float] = field(default_factory=dict)
    steal: float = 0.0
    core_busy: Mapping[int, float] = field(default_factory=dict)
    invalid: str | None = None
    origin: Origin | None = None


@dataclass(frozen=True)
class LaunchedProcess:
    """A process of a side.

    Attributes:
        role: ``server`` or ``load``.
        argv: its command line.
        peak_rss_bytes: its largest resident set; None where the kernel did not say.
        huge_text_bytes: its code that lay on huge pages; None in older records.
    """

    role: str
    argv: tuple[str, ...]
    peak_rss_bytes: int | None = None
    huge_text_bytes: int | None = None


@dataclass(frozen=True)
class StartDone(Event):
    """A start is finished; sides are named by their labels.

    Attributes:
        cell: the cell.
        start: its number among all starts of the cell.
        invalid: why it counts for nothing; None where it counts.
        readings: log-ratio of each quantity, candidate over base, by the quantity's name; empty where it is invalid,
            and in a `why`, which compares nothing.
        pair_ratios: the same of each valid pair; None in older records.
        settled: whether the rate was steady when the first pair began, on all sides.
        seconds: wall time.
        fingerprint: digest of the data, the same on all sides.
        slots: by side, first core set, data copy and place in the launch order, each from 0.
        warmup_s: seconds of load before the first pair.
        launched: by side, its processes; None where the first start of the cell tells them (compact records).
        hardware: by side, events per transaction as the processor counted them, empty without counters; None in the
            oldest records.
        facts: by side, what it found out about itself (cipher); None in older records.
        pairs: number of pairs that were read.
        origin: in a merged record, where it was taken; None in any other.
    """

    cell: CellId
    start: int
    invalid: str | None
    settled: bool
    seconds: float
    fingerprint: str
    readings: Mapping[str, float] = field(default_factory=dict)
    pair_ratios: Mapping[str, tuple[float, ...]] | None = None
    slots: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    warmup_s: float = 0.0
    launched: Mapping[str, tuple[LaunchedProcess, ...]] | None = None
    hardware: Mapping[str, Mapping[str, float]] | None = None
    facts: Mapping[str, Mapping[str, Any]] | None = None
    pairs: int = 0
    origin: Origin | None = None
