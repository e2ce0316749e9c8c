"""The trials of a study: what is compared and how, and every start with its readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.model.cell import CellId
from burnish.model.condition import Condition
from burnish.model.workload import Design, Placement, Timing, Workload
from burnish.record.events.base import Event
from burnish.record.events.study import Origin
from burnish.record.events.verdicts import HostNoise


@dataclass(frozen=True)
class StoppingRule:
    """When a cell is decided and sampling stops (`burnish.statistics.sequential.Rule`).

    Attributes:
        cap: maximum number of starts per cell.
        alpha: probability of calling equal sides different.
        delta: sides within ±delta are equivalent (0.01 = 1 %).
        looks: numbers of starts at which a difference is tested.
        equivalence_looks: numbers of starts at which equivalence is tested.
        precision: half-width to reach (0.005 = ±0.5 %); None stops at the first verdict.
        minimum: minimum number of starts before an interval can be narrow enough.
        fast_alpha: part of `alpha` that is spent early on a calibrated host.
        family: number of verdicts that share `alpha`.
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
        cells: cells that get a verdict, in the order of reports, without canaries and confirmations.
        rule: when a cell is decided.
        core_sets: numbers of the cores of each side.
        designs: trial design by workload's name.
        placements: placement by workload's name; empty in older records, whose designs had their usual one.
        headlines: quantity of the verdicts by workload's name; empty if each comparison has its own.
        timings: times of a start by design.
        workloads: the loads by name, with the settings of their condition.
        condition: condition of the base; None if the cells have several.
        versus: condition of the candidates if it differs; None if it is the same.
        calibrations: the host's calibrations that the verdicts rely on.
        forced: names of calibrations that call this host unreliable, but were overridden.
        replicates: by variant with several builds, their keys.
        storages: by name of a load that changes its data, where the base's data are; empty in older records: on disk.
        durability: by name of such a load, when what it commits is safe (``commit``: flushed before it is answered),
            as the server's file says; empty for engines without the word, and in older records.
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
    placements: Mapping[str, str] = field(default_factory=dict)
    storages: Mapping[str, str] = field(default_factory=dict)
    durability: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FlushesProbed(Event):
    """What a flush costs where data are kept: writes of 4 KiB, each followed by fdatasync, while nothing else runs.

    Attributes:
        storage: where (``disk``, ``memory``, a folder).
        filesystem: its kind (``ext4``); '' if it is not known.
        flushes: number of flushes.
        median_s: seconds of the median flush.
        p99_s: seconds of the 99th percentile.
        longest_s: seconds of the longest one.
    """

    storage: str
    filesystem: str
    flushes: int
    median_s: float
    p99_s: float
    longest_s: float


@dataclass(frozen=True)
class HostState:
    """What a core was seen to do while nothing of the run was on it, by a probe (`burnish.bench.probe`).

    Without a C compiler, what needs one is None or empty.

    Attributes:
        core: its number.
        spin_ns: nanoseconds of a dependent multiplication and addition: the inverse of its clock, within one host.
        call_ns: nanoseconds of a system call.
        seconds: time that the probe took.
        steal: share of it in which the hypervisor ran another guest, 0 to 1, in steps of a tick.
        latency_ns: nanoseconds of a load that depends on the one before, in random order over so many KiB.
        page_ns: the same over 16,384 small pages, a line of each: a cached line and a page walk.
        read_bytes_s: bytes per second read in order.
        copy_bytes_s: bytes per second copied, each counted once.
        switch_ns: nanoseconds of a switch to another process by a pipe, system calls included.
    """

    core: int
    spin_ns: float
    call_ns: float
    seconds: float
    steal: float = 0.0
    latency_ns: Mapping[int, float] = field(default_factory=dict)
    page_ns: float | None = None
    read_bytes_s: float | None = None
    copy_bytes_s: float | None = None
    switch_ns: float | None = None


@dataclass(frozen=True)
class StartBegun(Event):
    """A start of a cell began; it is ignored without its `StartDone`.

    Attributes:
        cell: the cell.
        start: its number among all starts of the cell, from 1.
        design: trial design; None in the oldest records.
        seed: seed of the slot assignment; None if there is only one start.
        copy_seconds: time taken to copy the data; None if not recorded.
        builds: key of each side's build, by the side's label, the base's first.
        origin: in a merged record, where it was measured; None in any other.
        placement: which cores servers and clients had; None in older records: the design's usual one.
        state: the host's state before the sides were launched, of one core of each set; None in short starts and in
            older records.
        storage: where each side's data were, by its label; None in older records: on disk.
        cached: share of each side's program that was in the page cache before it was launched, by its label, after
            all of it had been dropped; null where the kernel does not tell. None if programs were launched as they
            lay in the cache, as in older records.
        beside: key of each further build that was a side of the same start, by its label: candidates that shared the
            base; None if there was none, as in older records.
    """

    cell: CellId
    start: int
    design: str | None = None
    seed: str | None = None
    copy_seconds: float | None = None
    builds: Mapping[str, str] = field(default_factory=dict)
    origin: Origin | None = None
    placement: str | None = None
    state: tuple[HostState, ...] | None = None
    storage: Mapping[str, str] | None = None
    cached: Mapping[str, float | None] | None = None
    beside: Mapping[str, str] | None = None

    @property
    def placed(self) -> Placement:
        """Its placement, whether it is recorded or follows from the design."""
        return Placement(self.placement or Design(self.design or Design.DUET).usual)


@dataclass(frozen=True)
class SideReading:
    """Readings of one side in a pair, all its turns together (`burnish.bench.readings.Reading`).

    Attributes:
        seconds: wall time.
        done: transactions finished.
        errors: errors.
        server_cpu: CPU seconds of the server.
        client_cpu: CPU seconds of the load.
        latency: seconds by name (``p95``, ``mean``, ``max``). ``left_out`` is no time but the share of requests that
            are not in the others, since their load was stopped for the other side's turn while they were under way;
            where it is missing (older records), those are in.
        cores: numbers of the cores that the side had.
        steps: statements executed; 0 if the load does not count them.
        device: seconds in which the server's cores were idle while one of its threads waited for a device, the mean of
            its cores; None in older records.
    """

    seconds: float
    done: float
    errors: int
    server_cpu: float
    client_cpu: float
    latency: Mapping[str, float] = field(default_factory=dict)
    cores: tuple[int, ...] = ()
    steps: float = 0.0
    device: float | None = None


@dataclass(frozen=True)
class ServerUsage:
    """Resources that a side's server used in a pair (`burnish.bench.counters.Usage`).

    Attributes:
        user: CPU seconds in user mode.
        system: CPU seconds in the kernel.
        minor_faults: page faults without disk access.
        major_faults: page faults with disk access.
        waits: voluntary context switches (a thread had to wait).
        preemptions: involuntary context switches (another thread's turn).
        rss_bytes: resident memory at the end of the pair.
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
    """A pair of a start was measured; sides are named by their labels.

    Attributes:
        cell: the cell.
        start: the start's number.
        pair: its number within the start, from 1.
        sides: readings of each side.
        turns: of each turn (seconds, transactions, CPU seconds of the server and of the client, statements); the last
            is missing in older records.
        places: turns until each side has been on both halves of the cores: 2 in a duet, else 1.
        usage: resources that each side's server used; empty in the oldest records.
        busy: share of its cores that each side's server kept busy, 0 to 1; empty in the oldest records.
        steal: share of CPU time that the hypervisor took from the core that lost most, 0 to 1.
        core_busy: busy share of each core, by its number.
        invalid: why it is invalid; None if it is valid.
        origin: in a merged record, where it was measured; None in any other.
        at_fault: of an invalid pair, the sides that the reason is about, none if it is about the host; None of a valid
            one, and in older records.
        device: by side, of each turn the seconds in which the server's cores waited for a device; None in older
            records.
        writes: by side, what its server reports to have written during the pair, by name (``flushes``,
            ``log_bytes``, ``pages``), and what it still has to write at its end (``dirty_pages``, ``purge``); None in
            older records.
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
    at_fault: tuple[str, ...] | None = None
    device: Mapping[str, tuple[float, ...]] | None = None
    writes: Mapping[str, Mapping[str, int]] | None = None


@dataclass(frozen=True)
class LaunchedProcess:
    """A process of a side.

    Attributes:
        role: ``server`` or ``load``.
        argv: its command line.
        peak_rss_bytes: its largest resident set; None if the kernel did not report it.
        huge_text_bytes: bytes of its code on huge pages; None in older records.
    """

    role: str
    argv: tuple[str, ...]
    peak_rss_bytes: int | None = None
    huge_text_bytes: int | None = None


@dataclass(frozen=True)
class PagesUsed:
    """Pages of a side's server at the end of a start, in bytes, and how they lie (`burnish.bench.page_scatter`).

    Attributes:
        huge_text: of its code on huge pages.
        huge_heap: of its own memory on huge pages.
        huge_files: of mapped files on huge pages, code among them.
        nodes: by memory node, all its memory; empty on hosts with a single node.
        scatter_text: lines of 8 page table entries for each page of its code: 0.125 where all lie in a row in physical
            memory, 1 where none do. None without CAP_SYS_ADMIN (root has it), which frame numbers need, of a server
            with more than 16 GiB of address space, and in older records.
        scatter_heap: the same of its own memory.
        scatter_files: the same of mapped files, code among them.
    """

    huge_text: int
    huge_heap: int
    huge_files: int
    nodes: Mapping[int, int] = field(default_factory=dict)
    scatter_text: float | None = None
    scatter_heap: float | None = None
    scatter_files: float | None = None


@dataclass(frozen=True)
class ServersReported:
    """What the servers of a start said of themselves at its end, compared (`burnish.engines.reported`).

    Attributes:
        alike: number of settings with the same value on all sides, but for each side's own folders.
        differ: the other settings by name, each with its values by side.
        per_statement: by side, its counters since the load began, divided by the statements that it answered, by name.
    """

    alike: int
    differ: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    per_statement: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class StartDone(Event):
    """A start is finished; sides are named by their labels.

    Attributes:
        cell: the cell.
        start: its number among all starts of the cell.
        invalid: why it is invalid; None if it is valid.
        readings: log-ratio of each quantity, candidate over base, by the quantity's name; empty if the start is
            invalid, and in a `why`, which compares nothing.
        pair_ratios: the log-ratios of each valid pair; None in older records.
        settled: whether the rate was steady when the first pair began, on all sides.
        seconds: wall time.
        fingerprint: digest of the data, the same on all sides.
        slots: by side, first core set, data copy and place in the launch order, each from 0.
        warmup_s: seconds of load before the first pair.
        launched: by side, its processes; None if they are the same as in the cell's first start (compact records).
        hardware: by side, events per transaction as the processor counted them, empty without counters; None in the
            oldest records.
        facts: by side, facts that the engine reports (cipher); None in older records.
        pairs: number of pairs measured.
        origin: in a merged record, where it was measured; None in any other.
        at_fault: of an invalid start, the sides that died, hung or had errors, or that the reason of its pairs is
            about; None if it has another reason, and in older records.
        state: the host's state after the sides had stopped; see `StartBegun`.
        pages: by side, where its server's memory was; None in older records.
        reported: what the servers said of themselves; None of engines without a server to ask, and in older records.
        programs: digests of the base's and the candidate's program, each of its code and data; where each side has
            several builds, of all of these in order. None of programs that Burnish did not build, and in older
            records.
        disturbed: true if it is invalid because the host was disturbed from outside (time taken by the hypervisor, a
            suspension, a jump of the clock) in all its pairs; None otherwise, and in older records.
        faster: log-ratios of capacity and throughput over the faster half of each side's turns, which bursts of a
            server's own work can't move; None unless sides take eight turns or more one at a time, and in older
            records.
        spent: true in a merged record if it is invalid and its cell was measured again since in its own run, so that it
            makes the cell invalid no more; None otherwise.
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
    at_fault: tuple[str, ...] | None = None
    state: tuple[HostState, ...] | None = None
    pages: Mapping[str, PagesUsed] | None = None
    reported: ServersReported | None = None
    programs: tuple[str, str] | None = None
    disturbed: bool | None = None
    faster: Mapping[str, float] | None = None
    spent: bool | None = None
