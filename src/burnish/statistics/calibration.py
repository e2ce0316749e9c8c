"""What A/A starts say of a host's noise, and what follows from it for later studies; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from burnish.model.workload import Design, Timing
from burnish.statistics import planning
from burnish.statistics.verdicts import Components, HostPrior, fixed_interval, variance_components

FAILING_LEVEL = 0.99
"""An A/A whose interval at this level excludes 1 fails: one in a hundred good hosts does by chance."""

MINUTES = (1, 5, 20)
"""Bench times for which the smallest difference is told."""

DELTAS = (0.0025, 0.005, 0.01, 0.02, 0.05)
"""What δ is recommended from."""

MARGIN = 1.5
"""How much narrower than asked a plan is to be: the hour may be noisier than the one of the calibration."""

_DELTA_MINUTES = 20


@dataclass(frozen=True)
class Quantity:
    """What A/A starts say of one quantity; ratios and spreads as log-ratios (0.01 = 1 %).

    Attributes:
        ratio: geometric mean of the starts' ratios; 1 but for noise.
        low: its interval's lower end, at `FAILING_LEVEL`.
        high: the upper end.
        sd_pair: spread of a pair within its start.
        sd_start: spread between starts that no number of pairs takes away.
        sd_reading: spread of a start's reading, as measured.
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
        headline: quantity that verdicts are about: ``capacity`` or ``throughput``.
        host: digest of what the noise depends on.
        at: when, ISO 8601 UTC.
        timing: times of a start, as plain values.
        starts: number of A/A starts.
        capacity: transactions per second of server CPU.
        throughput: transactions per second.
        start_seconds: what a start costs besides its pairs.
        pair_seconds: what a pair costs.
        best_pairs: pairs in a start that narrow the interval fastest.
        delta: smallest δ that equivalence can be shown for within 20 minutes, or the largest one offered.
        differences: (minutes of bench time, smallest ratio above 1 that is found in them with a chance of 80 %).
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

    @property
    def name(self) -> str:
        """As in messages."""
        return f"{self.engine}, {self.workload}, {self.design}"

    @property
    def quantities(self) -> dict[str, Quantity]:
        """What was calibrated, by name."""
        return {"capacity": self.capacity, "throughput": self.throughput}

    @property
    def quantity(self) -> Quantity:
        """The one that verdicts are about."""
        return self.quantities[self.headline]

    @property
    def passes(self) -> bool:
        """Whether the baseline is equal to itself."""
        return self.quantity.passes

    @property
    def words(self) -> str:
        """Ratio and interval."""
        q = self.quantity
        return f"{self.headline} {q.ratio:.4f}, {FAILING_LEVEL:.0%} interval [{q.low:.4f}, {q.high:.4f}]"

    def fits(self, timing: Timing) -> bool:
        """Whether its starts were read in the same way, but for the number of pairs."""
        mine, theirs = dict(self.timing), asdict(timing)
        return {**mine, "pairs": 0} == {**theirs, "pairs": 0}

    def prior(self, pairs: int) -> HostPrior:
        """What the fast lane leans on, for starts of so many pairs."""
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
) -> Calibration:
    """What A/A starts say; a `ValueError` for fewer than two of them.

    Args:
        readings: log-ratio of each start, of ``capacity`` and of ``throughput``.
        pair_ratios: for each start, the log-ratios of its pairs, (capacity, throughput) each.
        seconds: wall time of each start.
        engine: engine's name.
        workload: workload's name.
        design: trial design.
        headline: quantity that verdicts are about.
        host: digest of what the noise depends on.
        timing: times of a start.
        at: when, ISO 8601 UTC.
    """
    pair_seconds = timing.pair  # alone, each side has half of the turns
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
    )


def _quantity(readings: Sequence[float], pairs: Sequence[Sequence[float]]) -> Quantity:
    interval = fixed_interval(readings, FAILING_LEVEL)
    mean = sum(readings) / len(readings)
    sd = math.sqrt(sum((value - mean) ** 2 for value in readings) / (len(readings) - 1))
    if all(len(each) < 2 for each in pairs):  # the load's passes are so long that no start has a second pair
        return Quantity(interval.ratio, interval.low, interval.high, 0.0, sd, sd)
    components = variance_components(pairs)
    return Quantity(interval.ratio, interval.low, interval.high, components.sd_pair, components.sd_start, sd)


def recommended_delta(sd: float, start_cost_s: float) -> float:
    """The smallest δ of `DELTAS` that equal sides are shown to be within in 20 minutes; else the largest."""
    for delta in DELTAS:
        with suppress(ValueError):  # more starts than anybody takes
            if planning.starts_for_equivalence(sd, delta) * start_cost_s <= 60 * _DELTA_MINUTES:
                return delta
    return DELTAS[-1]


def minutes_for(calibration: Calibration, half_width: float) -> float:
    """Bench minutes until an interval of fixed size is this narrow (0.005 = ±0.5 %); infinite where none ever is."""
    q = calibration.quantity
    sd = Components(q.sd_pair, q.sd_start, calibration.starts, 0).sd_reading(calibration.best_pairs)
    cost = calibration.start_seconds + calibration.best_pairs * calibration.pair_seconds
    try:
        return planning.starts_needed(sd, half_width) * cost / 60
    except ValueError:  # more than anybody takes: the host stood still while it was calibrated
        return math.inf


def pairs_for(calibration: Calibration, half_width: float | None, starts: int) -> int:
    """Pairs in a start: the best number, or fewer where the least number of starts is narrow enough with them.

    Args:
        calibration: what is known of the host's noise.
        half_width: what a study wants to reach (0.01 = ±1 %); None: the first verdict.
        starts: the least number that it takes.
    """
    if half_width is not None:
        for pairs in range(1, calibration.best_pairs):
            width = planning.half_width_after(calibration.prior(pairs).sd, starts)
            if MARGIN * width <= math.log1p(half_width):
                return pairs
    return calibration.best_pairs


def recommended(calibrations: Sequence[Calibration]) -> Calibration:
    """The design whose interval is narrowest for a given bench time; those whose A/A passes come first."""
    return min(calibrations, key=lambda each: (not each.passes, minutes_for(each, 0.01)))


def from_dict(value: dict[str, Any]) -> Calibration:
    """A calibration from its plain values; ValueError, KeyError or TypeError where it is none."""
    values = {name: value[name] for name in Calibration.__dataclass_fields__}
    return Calibration(
        **{
            **values,
            "design": Design(values["design"]),
            "capacity": Quantity(**values["capacity"]),
            "throughput": Quantity(**values["throughput"]),
            "differences": tuple((int(minutes), float(ratio)) for minutes, ratio in values["differences"]),
        }
    )
