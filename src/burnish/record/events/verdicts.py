"""Results of the trials: each cell's verdict, the verdicts of all cells together, the host's noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.model.cell import CellId
from burnish.model.workload import Design, Placement, Timing
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
    """A side of a cell: medians over its valid pairs; None for values missing in older records.

    Attributes:
        throughput: transactions per second.
        server_cpu_per_transaction: CPU seconds.
        client_cpu_per_transaction: CPU seconds.
        kernel_share: share of the server's CPU time that is the kernel's, 0 to 1.
        latency: seconds by name (``p95``, ``mean``, ``max``). ``left_out`` is no time but the share of requests that
            are not in the others, since their load was stopped for the other side's turn while they were under way;
            where it is missing (older records), those are in.
        busy: share of its cores that the server kept busy, 0 to 1.
        waits_per_transaction: voluntary context switches.
        preemptions_per_transaction: involuntary context switches.
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
    """The result of another estimator on the same starts.

    Attributes:
        name: name of the estimator.
        interval: its result; None if there are too few starts for an interval.
    """

    name: str
    interval: Interval | None = None


@dataclass(frozen=True)
class HostVerdict:
    """A cell's result on one host of a merged record.

    Attributes:
        host: letter of the host.
        starts: number of valid starts there.
        interval: interval of the headline quantity; None if there are too few starts for one.
    """

    host: str
    starts: int
    interval: Interval | None = None


@dataclass(frozen=True)
class Calibrated:
    """The calibration of a host that a cell's verdict leaves a part of its looks to, the fast lane.

    Attributes:
        sd: standard deviation of the readings of its A/A starts, of log-ratios.
        starts: number of those starts.
        ended: whether the fast lane ended sampling.
    """

    sd: float
    starts: int
    ended: bool


@dataclass(frozen=True)
class VerdictReached(Event):
    """A cell is decided; a later one of the same cell replaces it.

    Attributes:
        cell: the cell.
        design: how the sides shared the host.
        headline: name of the verdict's quantity.
        unit: what is counted (``transaction``).
        per_minute: whether its rate is also reported per minute.
        verdict: ``faster``, ``slower``, ``equivalent``, ``undecided`` or ``invalid``.
        reason: the reason, in a sentence.
        ratios: by quantity, the ratio with its interval; None if it has no interval.
        verdicts: by quantity other than the headline, its own verdict from the same starts; empty in older records.
        starts: number of valid starts.
        invalid_starts: number of invalid starts.
        invalid_pairs: number of invalid pairs in valid starts.
        unsettled: number of valid starts whose rate was never steady.
        sd_between: standard deviation between starts, of log-ratios; None with fewer than two starts.
        sensitivity: results of other estimators on the same starts.
        sides: both sides by label, the base first; None if there is no pair.
        hosts: in a record merged from several hosts, the result of each host; empty in any other.
        hosts_differ: whether two of those intervals do not overlap.
        kept: in a merged record, whether it is the verdict of its own study; None in any other.
        within: of a difference that is proved to be within ±delta too, that delta (0.01 = 1 %); None of any other.
        placement: which cores servers and clients had; None in older records: the design's usual one.
        calibrated: the calibration that the fast lane had; None without one, and in older records.
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
    placement: str | None = None
    calibrated: Calibrated | None = None

    @property
    def placed(self) -> Placement:
        """Its placement, whether it is recorded or follows from the design."""
        return Placement(self.placement or Design(self.design).usual)


@dataclass(frozen=True)
class FamilyMember:
    """A cell's verdict within a family of verdicts, corrected for multiple comparisons.

    Attributes:
        cell: the cell.
        verdict: the corrected verdict.
        p: p-value of "no difference", not corrected.
        adjusted_p: the same, corrected.
        adjusted_equivalence_p: p-value of "not equivalent", corrected.
        label: method of correction, in words.
        interval: simultaneous confidence interval; None if the ratio has none.
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
        explore: whether the false-discovery rate is controlled (Benjamini-Hochberg), not the family-wise error (Holm).
        cells: every member.
    """

    explore: bool
    cells: tuple[FamilyMember, ...]


@dataclass(frozen=True)
class Noise:
    """The noise of one quantity on a host: ratio of equal sides and spreads of log-ratios.

    Attributes:
        ratio: estimated ratio of equal sides.
        low: lower end of its interval.
        high: upper end of its interval.
        sd_pair: standard deviation of pairs within a start.
        sd_start: standard deviation between starts, in addition to that.
        sd_reading: standard deviation of a start's reading, as measured.
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
        headline: quantity of the verdicts.
        host: digest of the host's facts that affect the noise.
        at: time of the calibration, ISO 8601 in UTC.
        timing: times of a start.
        starts: number of A/A starts.
        noise: noise by quantity.
        start_seconds: duration of a start without its pairs.
        pair_seconds: duration of a pair.
        best_pairs: number of pairs in a start that narrows the interval fastest.
        delta: smallest margin for which equivalence can be shown in 20 minutes.
        differences: (minutes of bench time, smallest ratio that is detected in them with a power of 80 %).
        placement: which cores servers and clients had; None in older records: the design's usual one.
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
    placement: str | None = None

    @property
    def manner(self) -> tuple[str, str, str]:
        """Load, design and placement, on which noise depends."""
        return self.workload, self.design, self.placement or Design(self.design).usual


@dataclass(frozen=True)
class HostCalibrated(Event):
    """A host's noise was measured; a later one of the same workload, design and placement replaces it.

    Attributes:
        calibration: the result.
    """

    calibration: HostNoise


@dataclass(frozen=True)
class DifferenceKnown(Event):
    """A calibration measured a pair that is known to differ.

    Attributes:
        reason: why it differs.
    """

    reason: str
