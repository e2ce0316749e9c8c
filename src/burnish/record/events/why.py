"""What a `why` found: both builds' samples, code and counters; and what a `micro` timed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.record.events.base import Event
from burnish.record.events.verdicts import Interval


@dataclass(frozen=True)
class SampleProfile:
    """Where the CPU time of a build goes (`burnish.why.attribution.Profile`).

    Attributes:
        label: the build.
        cpu: CPU seconds of the server per transaction.
        samples: number of samples.
        functions: (part, object, function, share of the samples), the heaviest first.
    """

    label: str
    cpu: float
    samples: int
    functions: tuple[tuple[str, str, str, float], ...]


@dataclass(frozen=True)
class CodeFacts:
    """What a build is as machine code, in bytes (`burnish.why.text.Text`).

    Attributes:
        code: all executable sections.
        cold: what was moved away as cold.
        functions: number of functions.
        hot_bytes: by share of the samples, size of the pieces of code that cover it.
        hot_pieces: by share of the samples, number of those pieces.
        hot_pages: by share of the samples, pages of 4 KiB that cover it.
        pages: pages in which any sample fell.
        samples: events that fell into the program.
    """

    code: int
    cold: int
    functions: int
    hot_bytes: Mapping[str, int]
    hot_pieces: Mapping[str, int]
    hot_pages: Mapping[str, int]
    pages: int
    samples: int


@dataclass(frozen=True)
class BuildSampled(Event):
    """A build was sampled under load.

    Attributes:
        label: the build.
        profile: by the functions of its symbol table, or of its source with debug information.
        compared: as it is set beside the other build's.
        text: its machine code.
    """

    label: str
    profile: SampleProfile
    compared: SampleProfile
    text: CodeFacts


@dataclass(frozen=True)
class BuildSimulated(Event):
    """One unit of a load was run in a simulated processor.

    Attributes:
        label: the build.
        totals: events by cachegrind's name for them.
        functions: the same of the functions with most misses of the instruction cache.
    """

    label: str
    totals: Mapping[str, int]
    functions: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class SamplingMethod:
    """How it was sampled.

    Attributes:
        event: what was sampled on.
        by_core: whether by core rather than by process.
        frequency: samples per second of CPU time.
        seconds: sampled, of both builds.
        stacks: how callers were found.
        design: trial design of the load.
        grouping: how inlined functions are told apart: ``source``, ``callers`` or ``names``.
        functions_gone: functions that only the first build has.
        functions_new: functions that only the second one has.
        perf_cpu: CPU time of perf itself, as a share of one core.
    """

    event: str
    by_core: bool
    frequency: float
    seconds: float
    stacks: str
    design: str
    grouping: str
    functions_gone: int
    functions_new: int
    perf_cpu: float


@dataclass(frozen=True)
class WhyExplained(Event):
    """What both builds' samples say together.

    Attributes:
        labels: both builds.
        workload: the load.
        unit: what is counted.
        only_before: functions that only the first build has.
        only_after: functions that only the second one has.
        folded: by function, the heaviest of those whose time was put into it.
        method: how it was sampled.
        blind: what the samples can't show, a sentence each.
        pictures: names of the flame graphs in the study's folder.
        hardware: by build, events per transaction; empty without counters.
        slots: by build, shares of the processor's slots (top-down level 1); empty without.
        notes: what went otherwise than planned.
    """

    labels: tuple[str, str]
    workload: str
    unit: str
    method: SamplingMethod
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    folded: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    blind: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    hardware: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    slots: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class MicroTimes:
    """How microbenchmarks are read (`burnish.bench.blocks.Times`).

    Attributes:
        starts: launches of both sides.
        pairs: pairs of blocks in a start.
        block_s: CPU seconds of the slower side's block, at least.
        patience_s: wall seconds after which a block is given up.
    """

    starts: int
    pairs: int
    block_s: float
    patience_s: float


@dataclass(frozen=True)
class MicroBegun(Event):
    """Functions of two trees are going to be timed.

    Attributes:
        sides: names of the two trees.
        seed: decides the order of blocks.
        times: how they are read.
    """

    sides: tuple[str, ...]
    seed: int
    times: MicroTimes


@dataclass(frozen=True)
class MicroStart:
    """One launch of both sides.

    Attributes:
        calls: calls in a block, in each thread.
        log_ratios: for each pair, the logarithm of the first side's CPU time over the second's.
        cpu: least nanoseconds of CPU time of a call, by side.
    """

    calls: int
    log_ratios: tuple[float, ...]
    cpu: tuple[float, float]


@dataclass(frozen=True)
class MicroDone(Event):
    """A function was timed in both trees.

    Attributes:
        micro: the microbenchmark.
        does: what it times.
        threads: threads that call it at once.
        digest: of its results, equal on both sides.
        identical: whether both sides are the same machine code, so that nothing is timed.
        verdict: on the second tree against the first; None where nothing was timed.
        interval: ratio above 1: the second takes less CPU time; None where nothing bounds it.
        starts: starts that the verdict rests on.
        call_ns: by side, least CPU nanoseconds of a call in one thread; None where nothing was timed.
        checked_elsewhere: where its results were checked beside this host, in words; '' where they were not.
        readings: what was read.
    """

    micro: str
    does: str
    threads: int
    digest: str
    identical: bool
    verdict: str | None = None
    interval: Interval | None = None
    starts: int = 0
    call_ns: Mapping[str, float | None] = field(default_factory=dict)
    checked_elsewhere: str = ""
    readings: tuple[MicroStart, ...] = ()
