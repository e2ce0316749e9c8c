"""What the trials say: each cell's verdict, all of them together, the host's noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.model.cell import CellId
from burnish.model.workload import Timing
from burnish.record.events.base import Event


@dataclass(frozen=True)
class Interval:
    """A ratio, candidate over base, with its confidence interval.

    Attributes:
        ratio: the estimate.
        low: lower end.
        high: upper end.
        level: confidence level, 0 to 1.
    """

    ratio: float
    low: float
    high: float
    level: float


@dataclass(frozen=True)
class SideSummary:
    """A side of a cell: medians over its valid pairs; None for what older records do not have.

    Attributes:
        throughput: transactions per second.
        server_cpu_per_transaction: CPU seconds.
        client_cpu_per_transaction: CPU seconds.
        kernel_share: share of the server's CPU time that is the kernel's, 0 to 1.
        latency: seconds by name (``p95``, ``mean``, ``max``).
        busy: share of its cores that the server was busy for, 0 to 1.
        waits_per_transaction: context switches because a thread had to wait.
        preemptions_per_transaction: context switches because it was another's turn.
        faults_per_transaction: page faults.
        rss_bytes: memory in use.
        steal: share of CPU time that the hypervisor took, 0 to 1.
        hardware: events per transaction as the processor counted them; empty without counters.
    """

    throughput: float
    server_cpu_per_transaction: float
    client_cpu_per_transaction: float
    kernel_share: float
    latency: Mapping[str, float]
    busy: float | None = None
    waits_per_transaction: float | None = None
    preemptions_per_transaction: float | None = None
    faults_per_transaction: float | None = None
    rss_bytes: float | None = None
    steal: float | None = None
    hardware: Mapping[str, float] | None = None


@dataclass(frozen=True)
class OtherMethod:
    """What another way of taking the middle of the same starts says.

    Attributes:
        name: the way.
        interval: what it says; None where too few starts were read to bound the ratio.
    """

    name: str
    interval: Interval | None = None


@dataclass(frozen=True)
class HostVerdict:
    """What one host of a merged record says of a cell by itself.

    Attributes:
        host: its letter.
        starts: valid starts there.
        interval: of the headline; None where too few starts were read to bound it.
    """

    host: str
    starts: int
    interval: Interval | None = None


@dataclass(frozen=True)
class VerdictReached(Event):
    """A cell is decided; a later one of the same cell replaces it.

    Attributes:
        cell: the cell.
        design: how the sides shared the host.
        headline: name of the quantity that the verdict is about.
        unit: what is counted (``transaction``).
        per_minute: whether its rate is reported per minute too.
        verdict: ``faster``, ``slower``, ``equivalent``, ``undecided`` or ``invalid``.
        reason: in a sentence.
        ratios: by quantity, the ratio with its interval; None where nothing bounds it.
        verdicts: by quantity beside the headline, its own verdict from the same starts; empty in older records.
        starts: valid starts.
        invalid_starts: starts that count for nothing.
        invalid_pairs: pairs of valid starts that count for nothing.
        unsettled: valid starts whose rate was never steady.
        sd_between: standard deviation between starts, of log-ratios; None where one start or none was read.
        sensitivity: what other ways to judge the same starts say.
        sides: both sides by label, the base first; None where no pair was read.
        hosts: in a record merged from several hosts, what each says by itself; empty in any other.
        hosts_differ: whether two of those intervals have nothing in common.
        kept: in a merged record, whether it is the verdict that its study gave; None in any other.
        within: of a difference that is proved to be within ±delta too, that delta (0.01 = 1 %); None of any other.
    """

    cell: CellId
    design: str
    headline: str
    unit: str
    verdict: str
    reason: str
    ratios: Mapping[str, Interval | None]
    starts: int
    per_minute: bool = False
    verdicts: Mapping[str, str] = field(default_factory=dict)
    invalid_starts: int = 0
    invalid_pairs: int = 0
    unsettled: int = 0
    sd_between: float | None = None
    sensitivity: tuple[OtherMethod, ...] = ()
    sides: Mapping[str, SideSummary | None] = field(default_factory=dict)
    hosts: tuple[HostVerdict, ...] = ()
    hosts_differ: bool = False
    kept: bool | None = None
    within: float | None = None


@dataclass(frozen=True)
class FamilyMember:
    """A cell's verdict as one of several.

    Attributes:
        cell: the cell.
        verdict: as one of the family.
        p: p-value of "no difference" by itself.
        adjusted_p: the same as one of the family.
        adjusted_equivalence_p: of "not equivalent", as one of the family.
        label: how it was adjusted, in words.
        interval: that holds beside the others'; None where nothing bounds the ratio.
    """

    cell: CellId
    verdict: str
    p: float
    adjusted_p: float
    adjusted_equivalence_p: float
    label: str
    interval: Interval | None = None


@dataclass(frozen=True)
class FamilyJudged(Event):
    """The verdicts of all cells together; a later one replaces it.

    Attributes:
        explore: whether the cells are looked through (Benjamini-Hochberg) rather than claimed together (Holm).
        cells: every member.
    """

    explore: bool
    cells: tuple[FamilyMember, ...]


@dataclass(frozen=True)
class Noise:
    """The noise of one quantity on a host: ratio of equal sides and spreads of log-ratios.

    Attributes:
        ratio: of equal sides.
        low: lower end of its interval.
        high: upper end.
        sd_pair: spread of pairs within a start.
        sd_start: spread of starts beyond that.
        sd_reading: spread of a start's reading, as measured.
    """

    ratio: float
    low: float
    high: float
    sd_pair: float
    sd_start: float
    sd_reading: float


@dataclass(frozen=True)
class HostNoise:
    """A/A starts of one workload under one design (`burnish.statistics.calibration.Calibration`).

    Attributes:
        engine: the engine.
        workload: the load.
        design: trial design.
        headline: quantity that verdicts are about.
        host: digest of what the noise depends on.
        at: when, ISO 8601 in UTC.
        timing: times of a start.
        starts: number of A/A starts.
        noise: by quantity.
        start_seconds: what a start costs besides its pairs.
        pair_seconds: what a pair costs.
        best_pairs: pairs in a start that narrow the interval fastest.
        delta: smallest difference that equivalence can be shown for in 20 minutes.
        differences: (minutes of bench time, smallest ratio that is found in them with a chance of 80 %).
    """

    engine: str
    workload: str
    design: str
    headline: str
    host: str
    at: str
    timing: Timing
    starts: int
    noise: Mapping[str, Noise]
    start_seconds: float
    pair_seconds: float
    best_pairs: int
    delta: float
    differences: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class HostCalibrated(Event):
    """A host's noise was measured; a later one of the same workload and design replaces it.

    Attributes:
        calibration: what was found.
    """

    calibration: HostNoise


@dataclass(frozen=True)
class DifferenceKnown(Event):
    """A calibration measured a pair that is known to differ.

    Attributes:
        reason: why it differs.
    """

    reason: str
