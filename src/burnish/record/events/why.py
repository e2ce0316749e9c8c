"""Results of a `why` (both builds' samples, code and counters) and of a `micro` (timings)."""

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
    """A build's machine code, sizes in bytes (`burnish.why.text.Text`).

    Attributes:
        code: size of all executable sections.
        cold: size of the code split off as cold.
        functions: number of functions.
        hot_bytes: by share of the samples, size of the pieces of code that contain it.
        hot_pieces: by share of the samples, number of those pieces.
        hot_pages: by share of the samples, number of 4 KiB pages that contain it.
        pages: number of pages with at least one sample.
        samples: number of samples in the program's own code.
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
        profile: by the functions of its symbol table, or by source functions with debug information.
        compared: the profile that is compared with the other build's.
        text: its machine code.
    """

    label: str
    profile: SampleProfile
    compared: SampleProfile
    text: CodeFacts


@dataclass(frozen=True)
class BuildSimulated(Event):
    """A load was run on a simulated processor: one unit of it, or a server's transactions for a while.

    Attributes:
        label: the build.
        totals: events by valgrind's name for them.
        functions: the same for the functions with most instruction-cache misses.
        transactions: of which these are the events.
        second_level: bytes of the last simulated cache where that is a core's second level; None: the processor's
            last level.
    """

    label: str
    totals: Mapping[str, int]
    functions: Mapping[str, Mapping[str, int]]
    transactions: float = 1.0
    second_level: int | None = None


@dataclass(frozen=True)
class SamplingMethod:
    """How the builds were sampled.

    Attributes:
        event: the sampled event.
        by_core: whether cores were sampled rather than processes.
        frequency: samples per second of CPU time.
        seconds: sampled seconds of both builds.
        stacks: how call stacks were unwound.
        design: trial design of the load.
        grouping: how inlined functions are attributed: ``source``, ``callers`` or ``names``.
        functions_gone: functions that only the first build has.
        functions_new: functions that only the second one has.
        perf_cpu: CPU time of perf itself, as a share of one core.
        placement: which cores the servers and their clients had; '' in older records.
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
    placement: str = ""


@dataclass(frozen=True)
class WhyExplained(Event):
    """The comparison of both builds' samples.

    Attributes:
        labels: both builds.
        workload: the load.
        unit: what is counted.
        only_before: functions that only the first build has.
        only_after: functions that only the second one has.
        folded: by function, the largest of the functions whose time was added to it.
        method: how the builds were sampled.
        blind: limits of the samples, one sentence each.
        pictures: names of the flame graphs in the study's folder.
        hardware: by build, events per transaction; empty without counters.
        slots: by build, shares of the processor's slots (top-down level 1); empty without counters.
        notes: deviations from the plan.
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
    """Times of a microbenchmark (`burnish.bench.blocks.Times`).

    Attributes:
        starts: number of launches of both sides.
        pairs: pairs of blocks in a start.
        block_s: minimum CPU seconds of the slower side's block.
        patience_s: wall seconds after which a block is aborted.
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
        seed: seed of the order of blocks.
        times: times of a microbenchmark.
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
        cpu: minimum CPU nanoseconds per call, by side.
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
        digest: digest of its results, equal on both sides.
        identical: whether both sides are the same machine code, so that nothing is timed.
        verdict: verdict on the second tree compared with the first; None if nothing was timed.
        interval: ratio above 1: the second takes less CPU time; None if it has no interval.
        starts: number of starts that the verdict is based on.
        call_ns: by side, minimum CPU nanoseconds per call in one thread; None if nothing was timed.
        checked_elsewhere: other hosts on which its results were checked, in words; '' if there are none.
        readings: the readings.
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
