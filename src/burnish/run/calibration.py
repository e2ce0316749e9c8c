"""What A/A starts on this host say about its noise: kept in the home, leaned on by later studies.

One file for each (engine, workload, design), bound to the host and the times of a start it was measured with.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from burnish.bench.host import HostFacts
from burnish.paths import Home
from burnish.run.contest import Starts
from burnish.statistics import planning
from burnish.statistics.verdicts import Components, HostPrior, fixed_interval, variance_components
from burnish.study.model import Design, Timing, digest_of

FAILING_LEVEL = 0.99
"""An A/A whose interval at this level excludes 1 fails: one in a hundred good hosts does by chance."""

MINUTES = (1, 5, 20)
"""Bench times for which the smallest difference is told."""

DELTAS = (0.0025, 0.005, 0.01, 0.02, 0.05)
"""What δ is recommended from."""

MARGIN = 1.5
"""How much narrower than asked a plan is to be: the hour may be noisier than the one of the calibration."""

_DELTA_MINUTES = 20
_FORMAT = 1


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
    def quantity(self) -> Quantity:
        """The one that verdicts are about."""
        return self.capacity if self.headline == "capacity" else self.throughput

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


def host_digest(host: HostFacts) -> str:
    """What the noise depends on and does not change by itself."""
    return digest_of(
        [host.cpu_model, host.cpu_signature, host.cores_allowed, host.smt, host.hypervisor, host.governor, host.turbo]
    )


def calibrate(
    starts: Starts,
    *,
    engine: str,
    workload: str,
    design: Design,
    headline: str,
    host: HostFacts,
    timing: Timing,
    at: str,
) -> Calibration:
    """What these A/A starts say; a `ValueError` for fewer than two of them or a single pair in each."""
    pair_seconds = timing.turns * (timing.settle + timing.window)  # alone, each side has half of the turns
    typical = sorted(starts.seconds)[len(starts.seconds) // 2]
    start_seconds = max(1.0, typical - timing.pairs * pair_seconds)
    about = {
        name: _quantity(starts.of(name), [[pair[index] for pair in pairs] for pairs in starts.pair_ratios])
        for index, name in enumerate(("capacity", "throughput"))
    }
    q = about[headline]
    components = Components(q.sd_pair, q.sd_start, len(starts.capacity), sum(map(len, starts.pair_ratios)))
    pairs = planning.best_pairs(components, start_seconds, pair_seconds)
    cost = start_seconds + pairs * pair_seconds
    sd = components.sd_reading(pairs)
    return Calibration(
        engine=engine,
        workload=workload,
        design=design,
        headline=headline,
        host=host_digest(host),
        at=at,
        timing=asdict(timing),
        starts=len(starts.capacity),
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
    components = variance_components(pairs)
    mean = sum(readings) / len(readings)
    sd = math.sqrt(sum((value - mean) ** 2 for value in readings) / (len(readings) - 1))
    return Quantity(interval.ratio, interval.low, interval.high, components.sd_pair, components.sd_start, sd)


def recommended_delta(sd: float, start_cost_s: float) -> float:
    """The smallest δ of `DELTAS` that equal sides are shown to be within in 20 minutes; else the largest."""
    for delta in DELTAS:
        if planning.starts_for_equivalence(sd, delta) * start_cost_s <= 60 * _DELTA_MINUTES:
            return delta
    return DELTAS[-1]


def minutes_for(calibration: Calibration, half_width: float) -> float:
    """Bench minutes until an interval of fixed size is this narrow (0.005 = ±0.5 %)."""
    q = calibration.quantity
    sd = Components(q.sd_pair, q.sd_start, calibration.starts, 0).sd_reading(calibration.best_pairs)
    cost = calibration.start_seconds + calibration.best_pairs * calibration.pair_seconds
    return planning.starts_needed(sd, half_width) * cost / 60


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


def _file(home: Home, engine: str, workload: str, design: Design) -> Path:
    return home.root / "calibration" / f"{engine}-{workload}-{design}.json"


def save(home: Home, calibration: Calibration) -> Path:
    """Keeps it for later studies; whole or not at all."""
    path = _file(home, calibration.engine, calibration.workload, calibration.design)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        json.dump({"format": _FORMAT, **calibration.as_dict()}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(path)
    return path


def find(home: Home, engine: str, workload: str, design: Design, host: HostFacts) -> Calibration | None:
    """The calibration of this host, if there is one; one of another host or form counts for nothing."""
    path = _file(home, engine, workload, design)
    try:
        found = from_dict(json.loads(path.read_text()))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if found.host == host_digest(host) else None


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
