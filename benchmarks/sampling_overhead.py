"""What sampling costs the servers that are sampled: throughput and CPU of the sampled core against the other one.

    python benchmarks/sampling_overhead.py mariadbd --engine mariadb --workload oltp_read_only [--starts 6]

One build on both sides of a duet. In each pair only one of the two core sets is sampled, by exactly the recording that
`burnish why` makes, perf itself bound to the cores that it samples. The sides change places within a pair and the
sampled cores from pair to pair, so that neither a side nor a core is worth anything. Every third pair samples nothing:
its figure has to be 1. Prints a row for each start and the mean with its interval; ends with 1 above 2 %.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from scipy import stats

from burnish.bench import datasets
from burnish.bench.host import read_host
from burnish.bench.pairs import Contestant, Pair
from burnish.bench.sampling import FREQUENCY_HZ, Sampling, Stacks, find_ability, find_perf
from burnish.bench.topology import duet_core_sets
from burnish.bench.trials import run_start
from burnish.catalogue import load
from burnish.engines.registry import create
from burnish.paths import home
from burnish.record.store import Store
from burnish.run.copies import Copies
from burnish.study.model import Condition, Design
from burnish.workbench import Bench

BOUND = 0.02


def effect(pair: Pair, sampled: frozenset[int]) -> tuple[float, float]:
    """Log-ratios of throughput and of CPU per transaction, side on the sampled cores over the other one."""
    rates, costs = [], []
    for turn in pair.turns:
        inside = next(reading for reading in turn.values() if set(reading.cores) == set(sampled))
        outside = next(reading for reading in turn.values() if set(reading.cores) != set(sampled))
        rates.append(math.log(inside.throughput / outside.throughput))
        costs.append(math.log(outside.capacity / inside.capacity))
    return statistics.fmean(rates), statistics.fmean(costs)


def interval(values: Sequence[float]) -> str:
    """Mean of log-ratios as a ratio with its 95 % interval."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return f"{math.exp(mean):.4f}"
    half = stats.t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return f"{math.exp(mean):.4f} [{math.exp(mean - half):.4f}, {math.exp(mean + half):.4f}]"


def main() -> int:
    """Measures; ends with 1 when sampling costs more than 2 % of throughput."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--engine", default="mariadb")
    parser.add_argument("--workload", default="oltp_read_only")
    parser.add_argument("--starts", type=int, default=6)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--frequency", type=int, default=FREQUENCY_HZ)
    parser.add_argument("--stacks", choices=list(Stacks), default=Stacks.POINTERS)
    arguments = parser.parse_args()
    spec = load.engine(arguments.engine)
    engine, workload = create(spec), load.workload(spec, arguments.workload)
    host, perf = read_host(), find_perf()
    ability = find_ability(perf, pmu=bool(host.pmu), lbr=bool(host.lbr))
    sets = duet_core_sets(host)
    if sets is None or not ability.by_core:
        sys.exit("needs two cores for a duet and permission to sample a core")
    print(f"{ability.event} at {arguments.frequency} Hz, stacks: {arguments.stacks}, {workload.name}\n")
    print("| start | throughput, sampled / not | CPU a transaction | nothing sampled | perf's own CPU |")
    print("| --- | --- | --- | --- | --- |")
    timing = replace(spec.times[Design.DUET], pairs=arguments.pairs)
    every: list[tuple[float, float]] = []
    idle: list[float] = []
    with tempfile.TemporaryDirectory(prefix="overhead-", dir=home().root) as name:
        folder = Path(name)
        bench = Bench(None, folder / "logs", Console(stderr=True))
        built = engine.existing(arguments.program)
        data = {}
        if workload.dataset != "none":
            version, store = engine.identity(built, bench).version, Store(home().store)
            data[workload.name] = datasets.obtain(engine, store, built, built, version, workload, bench)
        places = Copies(data, folder, bench).clean(workload, len(sets))
        for start in range(1, arguments.starts + 1):
            shutil.rmtree(folder / "start", ignore_errors=True)
            (folder / "start").mkdir()
            own: list[float] = []

            @contextlib.contextmanager
            def observe(number: int, pids: Mapping[str, Sequence[int]], own: list[float] = own) -> Iterator[None]:
                if number % 3 == 0:
                    yield
                    return
                sampled = sets[number % 3 - 1]
                processes = {label: tuple(each) for label, each in pids.items()}
                stacks = Stacks(arguments.stacks)
                sampling = Sampling(
                    perf, ability, stacks, processes, sampled, folder / "perf.data", arguments.frequency
                )
                sampling.begin(sampled)
                try:
                    yield
                finally:
                    done = sampling.end()
                    own.append(done.perf_cpu / done.seconds)

            result = run_start(
                engine,
                workload,
                [Contestant(label, built, Condition()) for label in ("one", "other")],
                core_sets=sets,
                data=places,
                scratch=folder / "start",
                timing=timing,
                seed="overhead",
                number=start,
                bench=bench,
                on_pair=lambda *_: None,
                observe=observe,
            )
            if result.invalid:
                sys.exit(f"start {start}: {result.invalid}")
            pairs = list(enumerate(result.pairs, 1))
            mine = [effect(pair, sets[number % 3 - 1]) for number, pair in pairs if number % 3]
            still = [effect(pair, sets[number // 3 % 2])[0] for number, pair in pairs if number % 3 == 0]
            every.append((statistics.fmean(rate for rate, _ in mine), statistics.fmean(cost for _, cost in mine)))
            idle += [statistics.fmean(still)] if still else []
            calm = f"{math.exp(idle[-1]):.4f}" if still else "-"
            print(
                f"| {start} | {math.exp(every[-1][0]):.4f} | {math.exp(every[-1][1]):.4f} | {calm} | "
                f"{statistics.fmean(own):.2%} |",
                flush=True,
            )
    cost = 1 - math.exp(statistics.fmean(rate for rate, _ in every))
    print(f"\nthroughput {interval([rate for rate, _ in every])}, CPU {interval([c for _, c in every])}", end="")
    print(f", nothing sampled {interval(idle)}" if idle else "")
    return 0 if cost <= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
