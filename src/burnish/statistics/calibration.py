"""A host's noise, measured by A/A starts, and its consequences for later studies; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from burnish.model.workload import Design, Placement, Timing
from burnish.statistics import planning
from burnish.statistics.verdicts import Components, HostPrior, fixed_interval, variance_components

FAILING_LEVEL = 0.99
"""An A/A comparison fails if its interval at this level excludes 1; by chance, one in a hundred good hosts fails."""

MINUTES = (1, 5, 20)
"""Bench times for which the smallest detectable difference is reported, in minutes."""

DELTAS = (0.0025, 0.005, 0.01, 0.02, 0.05)
"""Values of δ that can be recommended."""

MARGIN = 1.5
"""Factor by which a plan's interval is narrower than requested: the host may be noisier than when calibrated."""

_DELTA_MINUTES = 20


@dataclass(frozen=True)
class Quantity:
    """Noise of one quantity in A/A starts; standard deviations are of log-ratios (0.01 = 1 %).

    Attributes:
        ratio: geometric mean of the starts' ratios; 1 except for noise.
        low: lower end of its interval, at `FAILING_LEVEL`.
        high: upper end of its interval.
        sd_pair: standard deviation of a pair within its start.
        sd_start: standard deviation between starts, which more pairs do not reduce.
        sd_reading: standard deviation of a start's reading, as measured.
    """

    ratio: float
    low: float
    high: float
    sd_pair: float
    sd_start: float
    sd_reading: float

    @property
    def passes(self) -> bool:
        """Whether equal sides look equal."""
        return self.low <= 1.0 <= self.high


@dataclass(frozen=True)
class Calibration:
    """A/A starts of one workload under one design on this host.

    Attributes:
        engine: engine's name.
        workload: workload's name.
        design: trial design.
        headline: quantity of the verdicts: ``capacity`` or ``throughput``.
        host: digest of the host's facts that affect the noise.
        at: time of the calibration, ISO 8601 UTC.
        timing: times of a start, as plain values.
        starts: number of A/A starts.
        capacity: noise of transactions per second of server CPU.
        throughput: noise of transactions per second.
        start_seconds: duration of a start without its pairs.
        pair_seconds: duration of a pair.
        best_pairs: number of pairs in a start that narrows the interval fastest.
        delta: smallest δ for which equivalence can be shown within 20 minutes, or the largest of `DELTAS`.
        differences: (minutes of bench time, smallest ratio above 1 that is detected in them with a power of 80 %).
        placed: which cores servers and clients had; None in older files: the design's usual placement.
    """

    engine: str
    workload: str
    design: Design
    headline: str
    host: str
    at: str
    timing: dict[str, float]
    starts: int
    capacity: Quantity
    throughput: Quantity
    start_seconds: float
    pair_seconds: float
    best_pairs: int
    delta: float
    differences: tuple[tuple[int, float], ...]
    placed: Placement | None = None

    @property
    def placement(self) -> Placement:
        """Which cores servers and clients had."""
        return self.placed or self.design.usual

    @property
    def manner(self) -> tuple[str, Design, Placement]:
        """Load, design and placement, on which noise depends."""
        return self.workload, self.design, self.placement

    @property
    def way(self) -> str:
        """The design, and the placement where the design does not imply it."""
        return f"{self.design}" if self.placement is self.design.usual else f"{self.design}, {self.placement}"

    @property
    def name(self) -> str:
        """Name in messages."""
        return f"{self.engine}, {self.workload}, {self.way}"

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The calibrated quantities, by name."""
        return {"capacity": self.capacity, "throughput": self.throughput}

    @property
    def quantity(self) -> Quantity:
        """The quantity of the verdicts."""
        return self.quantities[self.headline]

    @property
    def passes(self) -> bool:
        """Whether the baseline is found equal to itself."""
        return self.quantity.passes

    @property
    def words(self) -> str:
        """Ratio and interval."""
        q = self.quantity
        return f"{self.headline} {q.ratio:.4f}, {FAILING_LEVEL:.0%} interval [{q.low:.4f}, {q.high:.4f}]"

    def fits(self, timing: Timing) -> bool:
        """Whether its starts had this timing, ignoring the number of pairs."""
        own, other = dict(self.timing), asdict(timing)
        return {**own, "pairs": 0} == {**other, "pairs": 0}

    def prior(self, pairs: int) -> HostPrior:
        """The fast lane's prior, for starts of `pairs` pairs."""
        q = self.quantity
        if pairs == self.timing["pairs"]:
            return HostPrior(q.sd_reading, self.starts)
        components = Components(q.sd_pair, q.sd_start, self.starts, self.starts * int(self.timing["pairs"]))
        return HostPrior(components.sd_reading(pairs), self.starts)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record and the file."""
        return asdict(self)


def calibrate(
    readings: Mapping[str, Sequence[float]],
    pair_ratios: Sequence[Sequence[tuple[float, float]]],
    seconds: Sequence[float],
    *,
    engine: str,
    workload: str,
    design: Design,
    headline: str,
    host: str,
    timing: Timing,
    at: str,
    placement: Placement | None = None,
) -> Calibration:
    """The calibration that results from A/A starts; a `ValueError` for fewer than two of them.

    Args:
        readings: log-ratio of each start, of ``capacity`` and of ``throughput``.
        pair_ratios: for each start, the log-ratios of its pairs, (capacity, throughput) each.
        seconds: wall time of each start.
        engine: engine's name.
        workload: workload's name.
        design: trial design.
        headline: quantity of the verdicts.
        host: digest of the host's facts that affect the noise.
        timing: times of a start.
        at: time of the calibration, ISO 8601 UTC.
        placement: which cores servers and clients had; None: the design's usual placement.
    """
    pair_seconds = timing.pair
    typical = sorted(seconds)[len(seconds) // 2]
    start_seconds = max(1.0, typical - timing.pairs * pair_seconds)
    about = {
        name: _quantity(readings[name], [[pair[index] for pair in pairs] for pairs in pair_ratios])
        for index, name in enumerate(("capacity", "throughput"))
    }
    q = about[headline]
    components = Components(q.sd_pair, q.sd_start, len(readings[headline]), sum(map(len, pair_ratios)))
    pairs = planning.best_pairs(components, start_seconds, pair_seconds)
    cost = start_seconds + pairs * pair_seconds
    sd = components.sd_reading(pairs)
    return Calibration(
        engine=engine,
        workload=workload,
        design=design,
        headline=headline,
        host=host,
        at=at,
        timing=asdict(timing),
        starts=len(readings[headline]),
        capacity=about["capacity"],
        throughput=about["throughput"],
        start_seconds=start_seconds,
        pair_seconds=pair_seconds,
        best_pairs=pairs,
        delta=recommended_delta(sd, cost),
        differences=tuple(
            (minutes, math.exp(planning.smallest_difference(sd, max(2, int(minutes * 60 / cost)))))
            for minutes in MINUTES
        ),
        placed=placement,
    )


def _quantity(readings: Sequence[float], pairs: Sequence[Sequence[float]]) -> Quantity:
    interval = fixed_interval(readings, FAILING_LEVEL)
    mean = sum(readings) / len(readings)
    sd = math.sqrt(sum((value - mean) ** 2 for value in readings) / (len(readings) - 1))
    if all(len(start) < 2 for start in pairs):  # the load's passes are so long that no start has two pairs
        return Quantity(interval.ratio, interval.low, interval.high, 0.0, sd, sd)
    components = variance_components(pairs)
    return Quantity(interval.ratio, interval.low, interval.high, components.sd_pair, components.sd_start, sd)


def recommended_delta(sd: float, start_cost_s: float) -> float:
    """The smallest δ of `DELTAS` for which equivalence can be shown in 20 minutes; otherwise the largest."""
    for delta in DELTAS:
        with suppress(ValueError):  # more than `planning.MOST_STARTS`
            if planning.starts_for_equivalence(sd, delta) * start_cost_s <= 60 * _DELTA_MINUTES:
                return delta
    return DELTAS[-1]


def minutes_for(calibration: Calibration, half_width: float) -> float:
    """Bench minutes until an interval has this half-width (0.005 = ±0.5 %); infinite if it never does."""
    q = calibration.quantity
    sd = Components(q.sd_pair, q.sd_start, calibration.starts, 0).sd_reading(calibration.best_pairs)
    cost = calibration.start_seconds + calibration.best_pairs * calibration.pair_seconds
    try:
        return planning.starts_needed(sd, half_width) * cost / 60
    except ValueError:  # more than `planning.MOST_STARTS`: the host stalled during its calibration
        return math.inf


def pairs_for(calibration: Calibration, half_width: float | None, starts: int) -> int:
    """Pairs in a start: the best number, or fewer if the minimum number of starts is then precise enough.

    Args:
        calibration: the host's noise.
        half_width: half-width that the study is to reach (0.01 = ±1 %); None: the first verdict.
        starts: the study's minimum number of starts.
    """
    if half_width is not None:
        for pairs in range(1, calibration.best_pairs):
            width = planning.half_width_after(calibration.prior(pairs).sd, starts)
            if MARGIN * width <= math.log1p(half_width):
                return pairs
    return calibration.best_pairs


def recommended(calibrations: Sequence[Calibration]) -> Calibration:
    """The calibration with the narrowest interval for a given bench time; those that pass are preferred."""
    return min(calibrations, key=lambda calibration: (not calibration.passes, minutes_for(calibration, 0.01)))


def from_dict(value: dict[str, Any]) -> Calibration:
    """A calibration from its plain values; ValueError, KeyError or TypeError if they are not one."""
    values = {name: value[name] for name in Calibration.__dataclass_fields__ if name != "placed"}
    placed = value.get("placed") or value.get("placement")
    return Calibration(
        **{
            **values,
            "design": Design(values["design"]),
            "placed": Placement(placed) if placed else None,
            "capacity": Quantity(**values["capacity"]),
            "throughput": Quantity(**values["throughput"]),
            "differences": tuple((int(minutes), float(ratio)) for minutes, ratio in values["differences"]),
        }
    )
