"""What sampling costs the servers that are sampled: throughput and CPU of the sampled core against the other one.

    python benchmarks/sampling_overhead.py mariadbd --engine mariadb --workload oltp_read_only [--starts 4]

One build on both sides, each on a core set of its own with its load, and a recording for each core set that is exactly
the one of `burnish why`, perf itself bound to the cores that it samples. Slices of half a second come in blocks of
four in random order: this core set is sampled, that one, neither, neither. A block's figure is half the difference of
the sides' log-ratio between its two sampled slices, so that neither a side, nor a core, nor a neighbour's mood of more
than some seconds is worth anything; half the difference of its two other slices is the control, which has to be 1.
Prints a row for each start and the mean over all blocks with its 95 % interval; ends with 1 unless sampling costs
at most 2 % of throughput.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from prepared import prepare
from scipy import stats

from burnish.base.paths import home
from burnish.bench.host import read_host
from burnish.bench.placement import place
from burnish.bench.readings import PairRatio, pair_ratio, reading, ready
from burnish.bench.sampling import Sampling, Stacks, find_ability, find_perf
from burnish.engines.contract import Side, SideSpec, Tick
from burnish.model.condition import Condition

BOUND = 0.02
SETTLE_S = 0.05
"""After a switch, before a slice is read."""
NOBODY = 2
BLOCK = (0, 1, NOBODY, NOBODY)
"""Which side is sampled, slice by slice, before the order is drawn."""


@dataclass(frozen=True)
class Effect:
    """A block's figures, natural logarithms; above 0 = better while sampled.

    Attributes:
        throughput: of what is done in a second.
        capacity: of what is done in a second of the server's CPU.
        control: of throughput between slices without samples.
    """

    throughput: float
    capacity: float
    control: float


class Sides:
    """Two sides under load, each on its core set, and a paused recording for each.

    Args:
        sides: started, with their load.
        samplings: begun and paused, one for each side.
        slice_s: seconds of a slice.
    """

    def __init__(self, sides: Sequence[Side], samplings: Sequence[Sampling], slice_s: float) -> None:
        self._sides, self._samplings, self._slice_s = sides, samplings, slice_s
        self._ticks: list[list[Tick]] = [[] for _ in sides]

    def slice(self, sampled: int) -> PairRatio:
        """Reads a slice with this side's cores sampled: the second side over the first."""
        if sampled != NOBODY:
            self._samplings[sampled].resume()
        began = time.monotonic() + SETTLE_S
        bounds = [ready(ticks, began, self._slice_s) for ticks in self._ticks]
        while not all(bounds):
            time.sleep(0.02)
            for side, ticks in zip(self._sides, self._ticks, strict=True):
                ticks.extend(side.ticks())
                if trouble := side.trouble():
                    sys.exit(f"{side.spec.label}: {trouble}")
            bounds = [ready(ticks, began, self._slice_s) for ticks in self._ticks]
        if sampled != NOBODY:
            self._samplings[sampled].pause()
        one, other = (reading(ticks, at, []) for ticks, at in zip(self._ticks, bounds, strict=True) if at is not None)
        self._ticks = [ticks[-1:] for ticks in self._ticks]
        return pair_ratio([one], [other], 1)

    def block(self, chance: random.Random) -> Effect:
        """Reads a block in an order drawn for it."""
        order = chance.sample(range(len(BLOCK)), len(BLOCK))
        found = {number: self.slice(BLOCK[number]) for number in order}
        return Effect(
            (found[1].throughput - found[0].throughput) / 2,
            (found[1].capacity - found[0].capacity) / 2,
            (found[3].throughput - found[2].throughput) / 2,
        )


def interval(values: Sequence[float]) -> str:
    """Mean of log-ratios as a ratio with its 95 % interval."""
    mean = statistics.fmean(values)
    half = stats.t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return f"{math.exp(mean):.4f} [{math.exp(mean - half):.4f}, {math.exp(mean + half):.4f}]"


def row(name: str, effects: Sequence[Effect]) -> str:
    """A row of the table."""
    ways = zip(*((each.throughput, 0 - each.capacity, each.control) for each in effects), strict=True)
    return f"| {name} | {' | '.join(map(interval, map(list, ways)))} |"


def main() -> int:
    """Measures; ends with 1 when sampling costs more than 2 % of throughput."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--engine", default="mariadb")
    parser.add_argument("--workload", default="oltp_read_only")
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument("--blocks", type=int, default=40, help="of a start")
    parser.add_argument("--slice", type=float, default=0.5, help="seconds")
    parser.add_argument("--warm-up", type=float, default=10.0, help="seconds")
    parser.add_argument("--frequency", type=int, help="default: as `why` takes it")
    parser.add_argument("--stacks", choices=list(Stacks), default=Stacks.POINTERS)
    arguments = parser.parse_args()
    host, perf = read_host(), find_perf()
    ability = find_ability(perf, pmu=bool(host.pmu), lbr=bool(host.lbr))
    frequency = arguments.frequency or ability.frequency(Stacks(arguments.stacks))
    if not ability.by_core:
        sys.exit("needs permission to sample a core")
    print(f"{ability.event} at {frequency} Hz, stacks: {arguments.stacks}, {arguments.workload}\n")
    print("| start | throughput, sampled / not | CPU a transaction | nothing sampled |")
    print("| --- | --- | --- | --- |")
    chance = random.Random(1)
    every: list[Effect] = []
    with tempfile.TemporaryDirectory(prefix="overhead-", dir=home().root) as name:
        folder = Path(name)
        found = prepare(arguments.engine, arguments.workload, arguments.program, folder)
        sets = found.core_sets
        for start in range(1, arguments.starts + 1):
            places = found.copies.clean(found.workload, len(sets))
            with contextlib.ExitStack() as ended:
                sides, samplings = [], []
                for label, cores, copy in zip(("one", "other"), sets, places, strict=True):
                    scratch = folder / f"{start}-{label}"
                    scratch.mkdir(mode=0o700)
                    spec = SideSpec(label, found.built, Condition(), found.workload, copy, scratch, start, cores)
                    side = found.engine.side(spec)
                    ended.callback(side.stop)
                    side.boot()
                    sides.append(side)
                for side, cores in zip(sides, sets, strict=True):
                    side.load()
                    place(side, cores)
                time.sleep(arguments.warm_up)
                for side, cores in zip(sides, sets, strict=True):
                    sampling = Sampling(
                        perf,
                        ability,
                        Stacks(arguments.stacks),
                        {side.spec.label: tuple(side.server_pids())},
                        cores,
                        side.spec.folder / "perf.data",
                        frequency,
                    )
                    sampling.begin(cores)
                    ended.callback(sampling.end)
                    sampling.pause()
                    samplings.append(sampling)
                both = Sides(sides, samplings, arguments.slice)
                effects = [both.block(chance) for _ in range(arguments.blocks)]
            every += effects
            print(row(str(start), effects), flush=True)
    print(row("all", every))
    cost = 1 - math.exp(statistics.fmean(each.throughput for each in every))
    return 0 if cost <= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
