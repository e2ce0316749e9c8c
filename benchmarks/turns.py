"""How far starts of a build against itself scatter under designs and turns: which way to read a load decides soonest.

    python benchmarks/turns.py MARIADBD --workload oltp_update_non_index --ways duet:20x0.1,interleaved:2x2 [--starts 8]

A way is a design with its turns in a pair and the seconds of a turn; `@FOLDER` behind it puts the data there (a file
system in memory, another disk), `+still` suspends the server of the side that rests. Ways take turns start by
start, in an order drawn
for each round, so that the host's moods are shared. Prints a row for each way: wall time of a start, standard deviation
of a start's ratio and how far off 1 the mean is (both of capacity, in per cent), what a transaction costs, the
minutes of starts that +-1 % would take at that spread, and the share of the time in which the server's cores waited for
a device. With `--other PROGRAM` the second side is another program, and `off 1` is their ratio.
"""

from __future__ import annotations

import argparse
import math
import random
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from scipy import stats

from burnish.base.paths import home
from burnish.bench import datasets
from burnish.bench.host import read_host
from burnish.bench.pairs import Contestant, StartResult
from burnish.bench.topology import duet_core_sets
from burnish.bench.trials import run_start
from burnish.catalogue import load
from burnish.engines.registry import create
from burnish.model.condition import Condition
from burnish.model.workload import Design, Timing
from burnish.record.store import Store
from burnish.record.workbench import Bench
from burnish.statistics.planning import starts_needed
from burnish.study.trials.copies import Copies

SIDES = ("one", "other")


@dataclass
class Way:
    """A design with its turns; what its starts gave.

    Attributes:
        name: as on the command line.
        design: the design.
        timing: its times.
        ratios: log-ratio of capacity of each start.
        throughputs: log-ratio of throughput of each start.
        seconds: wall time of each start.
        costs: server CPU of a transaction in each start, s.
        waits: share of its time in which a server's cores waited for a device, for each start.
        folder: where the data are; None: in Burnish's home.
        still: whether a side that rests has its server suspended.
    """

    name: str
    design: Design
    timing: Timing
    ratios: list[float] = field(default_factory=list)
    throughputs: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    folder: Path | None = None
    still: bool = False

    def take(self, result: StartResult) -> None:
        """Adds a start."""
        found = [pair.ratio(*SIDES) for pair in result.pairs]
        self.ratios.append(statistics.fmean(ratio.capacity for ratio in found))
        self.throughputs.append(statistics.fmean(ratio.throughput for ratio in found))
        self.seconds.append(result.seconds)
        totals = [pair.total(label) for pair in result.pairs for label in SIDES]
        self.costs.append(statistics.fmean(1 / total.capacity for total in totals))
        self.waits.append(sum(total.device for total in totals) / sum(total.seconds for total in totals))

    def row(self) -> str:
        """The row of the table."""
        spread, rough = statistics.stdev(self.ratios), statistics.stdev(self.throughputs)
        half = stats.t.ppf(0.975, len(self.ratios) - 1) * spread / math.sqrt(len(self.ratios))
        minutes = starts_needed(spread, 0.01) * statistics.fmean(self.seconds) / 60
        return (
            f"| {self.name} | {len(self.ratios)} | {statistics.fmean(self.seconds):.1f} s | {spread:.2%} | "
            f"{statistics.fmean(self.ratios):+.2%} ± {half:.2%} | {rough:.2%} | "
            f"{1e6 * statistics.fmean(self.costs):.1f} us | {minutes:.0f} | "
            f"{statistics.fmean(self.throughputs):+.2%} | {statistics.fmean(self.waits):.0%} |"
        )


def read_way(word: str, times: dict[Design, Timing], pairs: int | None) -> Way:
    """A way as it stands on the command line: DESIGN[:TURNSxSECONDS][@FOLDER][+still]."""
    plain, _, still = word.partition("+")
    plain, _, folder = plain.partition("@")
    design, _, turns = plain.partition(":")
    timing = times[Design(design)]
    if turns:
        count, _, seconds = turns.partition("x")
        timing = replace(timing, turns=int(count), window=float(seconds), settle=min(0.25, 0.3 * float(seconds)))
    place = Path(folder) if folder else None
    return Way(word, Design(design), replace(timing, pairs=pairs or timing.pairs), folder=place, still=still == "still")


def main() -> int:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--engine", default="mariadb")
    parser.add_argument("--workload", default="oltp_read_only")
    parser.add_argument("--ways", default="duet,interleaved")
    parser.add_argument("--starts", type=int, default=8)
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--other", type=Path)
    arguments = parser.parse_args()
    spec = load.engine(arguments.engine)
    engine, workload = create(spec), load.workload(spec, arguments.workload)
    sets = duet_core_sets(read_host())
    if sets is None:
        sys.exit("needs two cores for a duet")
    ways = [read_way(word, dict(spec.times), arguments.pairs) for word in arguments.ways.split(",")]
    order = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="turns-", dir=home().root) as name:
        folder = Path(name)
        bench = Bench(None, folder / "logs", Console(stderr=True))
        built = engine.existing(arguments.program)
        version = engine.identity(built, bench).version
        data = {}
        if workload.dataset != "none":
            store = Store(home().store)
            data[workload.name] = datasets.obtain(engine, store, built, built, version, workload, bench)
        programs = [built, engine.existing(arguments.other) if arguments.other else built]
        for number in range(1, arguments.starts + 1):
            for way in order.sample(ways, len(ways)):
                shutil.rmtree(folder / "start", ignore_errors=True)
                (folder / "start").mkdir()
                result = run_start(
                    engine,
                    workload,
                    [Contestant(label, one, Condition()) for label, one in zip(SIDES, programs, strict=True)],
                    design=way.design,
                    core_sets=sets,
                    data=Copies(data, way.folder or folder, bench).clean(workload, len(SIDES)),
                    scratch=folder / "start",
                    timing=way.timing,
                    seed=f"turns {way.name}",
                    number=number,
                    bench=bench,
                    on_pair=lambda *_: None,
                    still=way.still,
                )
                if result.invalid:
                    print(f"{way.name}, start {number}: {result.invalid}", file=sys.stderr)
                    continue
                way.take(result)
                figures = f"capacity {way.ratios[-1]:+.2%}, throughput {way.throughputs[-1]:+.2%}"
                print(f"start {number}: {way.name}: {figures}", file=sys.stderr, flush=True)
    print(
        "| way | starts | a start | spread | off 1 | of throughput | a transaction | minutes for 1 % | throughput "
        "off 1 | waits |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for way in ways:
        print(way.row())
    return 0


if __name__ == "__main__":
    sys.exit(main())
