"""What verdicts cost and how often they are wrong, from recorded A/A starts of a real host.

    python benchmarks/verdict_figures.py STUDY.jsonl.xz... [--studies 20000]

Each file is the exported record of a `burnish calibrate` study (`burnish record export STUDY`). Studies are drawn
from its starts with replacement, slots turned at random, so that they have the host's own noise and a truth that is
known. Ratios of designs are from one study: their starts were taken within the same hour. The seed is fixed: the same
records give the same figures.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from burnish.model.cell import AA, CellId, Role
from burnish.record.codec import plain
from burnish.record.events.verdicts import HostCalibrated
from burnish.record.record import Record, import_events
from burnish.statistics.boundaries import Floats
from burnish.statistics.calibration import Calibration, from_dict
from burnish.statistics.planning import Components
from burnish.statistics.sequential import Rule
from burnish.statistics.simulation import rates
from burnish.study.trials.starts import cell_starts

SEED = 97
FIXED_RULE = 0.025
"""The rule of other tools: a difference of more than 2.5 % is one."""


@dataclass(frozen=True)
class Series:
    """A/A starts of one workload under one design.

    Attributes:
        calibration: what `calibrate` made of them.
        readings: log-ratios of the starts, the headline's.
        single: log-ratios of single pairs: what one run of each side would have said.
    """

    calibration: Calibration
    readings: Floats
    single: Floats

    @property
    def name(self) -> str:
        return f"{self.calibration.workload}, {self.calibration.design}"

    @property
    def cost(self) -> float:
        """Seconds that a start took, with its pairs."""
        each = self.calibration
        return each.start_seconds + each.timing["pairs"] * each.pair_seconds

    @property
    def best_sd(self) -> float:
        """Spread of a start at the best number of pairs."""
        q = self.calibration.quantity
        return Components(q.sd_pair, q.sd_start, 0, 0).sd_reading(self.calibration.best_pairs)

    def draw(self, rng: np.random.Generator, studies: int, starts: int, effect: float = 0.0) -> Floats:
        """Start readings of studies of equal sides, `effect` added; shape (studies, starts)."""
        drawn = rng.choice(self.readings - self.readings.mean(), (studies, starts))
        return effect + drawn * rng.choice([-1.0, 1.0], (studies, starts))


def read(record: Record) -> list[Series]:
    """The series of one calibrate study."""
    found = []
    for recorded in record.events(HostCalibrated):
        noted = recorded.event.calibration
        noise = {name: vars(quantity) for name, quantity in noted.noise.items()}
        each = from_dict({**vars(noted), **noise, "timing": plain(noted.timing)})
        starts = cell_starts(record, CellId(AA, each.workload, Role.CANARY, design=each.design))
        single = [ratio for pairs in starts.pair_ratios for ratio in pairs[each.headline]]
        found.append(Series(each, np.array(starts.of(each.headline)), np.array(single)))
    return found


def half_widths(drawn: Floats) -> Floats:
    """Half-widths of the 95 % intervals of studies of a fixed number of starts."""
    count = drawn.shape[1]
    widths: Floats = stats.t.ppf(0.975, count - 1) * drawn.std(axis=1, ddof=1) / math.sqrt(count)
    return widths


def minutes_until(series: Series, half_width: float, share: float, studies: int) -> float:
    """Bench minutes after which so large a share of studies of a fixed number of starts is as narrow."""
    rng = np.random.default_rng((SEED, 1))
    for count in range(3, 2000):
        if (half_widths(series.draw(rng, studies, count)) <= half_width).mean() >= share:
            return count * series.cost / 60
    return math.inf


def line(series: Series, studies: int) -> tuple[str, ...]:
    """A row of the table of one series."""
    quantity = series.calibration.quantity
    small = max(200, studies // 20)
    rng = np.random.default_rng((SEED, 2))
    prior = np.full(studies, series.readings.std(ddof=1))
    rule = Rule(cap=12)
    large = rates(series.draw(rng, studies, 12, math.log(1.05)), math.log(1.05), rule, prior, series.readings.size)
    equal = rates(series.draw(rng, studies, 12), 0.0, rule, prior, series.readings.size)
    return (
        series.name,
        str(series.readings.size),
        f"{quantity.ratio:.4f} [{quantity.low:.4f}, {quantity.high:.4f}]",
        f"{quantity.sd_pair:.2%}",
        f"{quantity.sd_start:.2%}",
        f"{series.readings.std(ddof=1):.2%}",
        f"{series.cost:.1f} s",
        f"{minutes_until(series, 0.005, 0.5, small):.1f} / {minutes_until(series, 0.005, 0.8, small):.1f}",
        f"{minutes_until(series, 0.0025, 0.5, small):.1f}",
        f"{large.within_three:.1%}",
        f"{200 * equal.different:.1f}",
        f"{200 * (np.abs(np.expm1(series.single)) > FIXED_RULE).mean():.0f}",
    )


HEAD = (
    "load, design",
    "A/A starts",
    "A/A ratio [99 %]",
    "sd pair",
    "sd start",
    "sd of a start's reading",
    "a start takes",
    "minutes to ±0.5 %, in 50 / 80 % of studies",
    "minutes to ±0.25 %",
    "5 % decided within 3 starts",
    "of 200 A/A studies, called different",
    "of 200 single runs of each, more than 2.5 % apart",
)


def ratio_of_spreads(one: Series, other: Series) -> str:
    """How much wider `other` scatters than `one`, each at its best number of pairs, with its 95 % F interval."""
    ratio = other.best_sd / one.best_sd
    m, n = other.readings.size - 1, one.readings.size - 1
    low = ratio / math.sqrt(float(stats.f.ppf(0.975, m, n)))
    high = ratio / math.sqrt(float(stats.f.ppf(0.025, m, n)))
    return f"{ratio:.1f} [{low:.1f}, {high:.1f}]"


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", type=Path)
    parser.add_argument("--studies", type=int, default=20_000)
    arguments = parser.parse_args()
    every: list[Series] = []
    for path in arguments.records:
        with tempfile.TemporaryDirectory() as place, closing(import_events(path, Path(place))) as record:
            every += read(record)
    print("| " + " | ".join(HEAD) + " |\n|" + " --- |" * len(HEAD))
    for series in every:
        print("| " + " | ".join(line(series, arguments.studies)) + " |")
    print()
    for series in (each for each in every if each.calibration.design == "solo"):
        spread = float(series.single.std(ddof=1))
        print(
            f"* {series.calibration.workload}, one run of each side after the other (solo, one pair), as published "
            f"studies do it: scatters by {spread:.2%}; "
            f"{(np.abs(np.expm1(series.single)) > FIXED_RULE).mean():.0%} of equal sides look more than 2.5 % apart"
        )
    duets = [series for series in every if series.calibration.design == "duet"]
    for duet in duets:
        for other in every:
            if other.calibration.workload == duet.calibration.workload and other is not duet:
                print(f"* {other.name} scatters {ratio_of_spreads(duet, other)} times as widely as the duet")
    return 0


if __name__ == "__main__":
    sys.exit(main())
