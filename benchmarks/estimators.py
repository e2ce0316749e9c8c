"""How far starts scatter by how a pair is made of its turns: the same turns of kept records, read in several ways.

    python benchmarks/estimators.py docs/results/mariadb-{deploy,five,pgo,arm-2020}.jsonl.xz [--workload LOAD]

Each file is an exported record; interleaved starts of the loads are taken. A start's reading is the mean of its pairs'.
The ways: `middle`, the mean of the middle rounds' log-ratios, which verdicts use; `median` of the rounds; `totals`, of
all turns; `faster half`, each side's mean log-rate over the faster half of its turns, whichever those are. Prints for
each load and way the standard deviation of a start within its cell in capacity and in throughput, its degrees of
freedom, and how far the cells' means lie from those of `middle`, with the standard error of that.
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from burnish.bench.readings import middle
from burnish.record.by_type import ByType
from burnish.record.events.trials import PairRead
from burnish.record.exchange import read_events

Floats = npt.NDArray[np.float64]

LOADS = "oltp_update_index,oltp_update_non_index,oltp_read_write,oltp_write_only"

FEWEST = 8
"""Turns of a side below which a pair is left out: a half of fewer is no half."""


def rates(work: Floats, spent: Floats) -> Floats:
    """Logarithm of each turn's work for what it took."""
    logs: Floats = np.log(work / spent)
    return logs


def by_middle(one: Floats, other: Floats) -> float:
    """The mean of the middle rounds."""
    return middle([float(value) for value in one - other], 1)


def by_median(one: Floats, other: Floats) -> float:
    """The median of the rounds."""
    return float(np.median(one - other))


def by_faster_half(one: Floats, other: Floats) -> float:
    """The faster half of each side's turns."""
    half = len(one) // 2
    return float(np.sort(one)[half:].mean() - np.sort(other)[half:].mean())


WAYS: Mapping[str, Callable[[Floats, Floats], float]] = {
    "middle": by_middle,
    "median": by_median,
    "faster half": by_faster_half,
}
"""Ways from the two sides' log-rates, round by round."""

TOTALS = "totals"


def readings(pair: PairRead) -> dict[str, tuple[float, float]]:
    """By way, a pair's log-ratios of capacity and throughput; empty without turns enough in which both sides worked."""
    if pair.turns is None or len(pair.turns) != 2:
        return {}
    # Seconds, transactions, server CPU, client CPU, and statements, which are counted where the load has them.
    sides = [
        np.array([[turn[0], turn[4] or turn[1], turn[2]] for turn in pair.turns[name]]) for name in sorted(pair.turns)
    ]
    rounds = min(map(len, sides))
    one, other = sides[0][:rounds], sides[1][:rounds]
    worked = (one > 0).all(axis=1) & (other > 0).all(axis=1)
    one, other = one[worked], other[worked]
    if len(one) < FEWEST:
        return {}
    found = {}
    for name, way in WAYS.items():
        capacity, throughput = (way(rates(one[:, 1], one[:, at]), rates(other[:, 1], other[:, at])) for at in (2, 0))
        found[name] = (capacity, throughput)
    sums = [side.sum(axis=0) for side in (one, other)]
    capacity, throughput = (float(np.log(sums[0][1] / sums[0][at]) - np.log(sums[1][1] / sums[1][at])) for at in (2, 0))
    found[TOTALS] = (capacity, throughput)
    return found


def starts(pairs: Sequence[PairRead]) -> dict[str, Floats]:
    """By way, the readings of a cell's starts, shape (starts, 2)."""
    by_start: dict[int, list[dict[str, tuple[float, float]]]] = defaultdict(list)
    for pair in pairs:
        if found := readings(pair):
            by_start[pair.start].append(found)
    return {
        name: np.array([np.mean([pair[name] for pair in of], axis=0) for of in by_start.values()])
        for name in (*WAYS, TOTALS)
        if by_start
    }


def print_table(cells: Mapping[str, Sequence[Mapping[str, Floats]]]) -> None:
    """The table, of the cells of each load."""
    print("| load | way | capacity | throughput | df | off `middle` |\n|" + " --- |" * 6)
    for load, found in cells.items():
        for name in (*WAYS, TOTALS):
            several = [cell[name] for cell in found if len(cell[name]) > 1]
            if not several:
                continue
            df = sum(len(cell) - 1 for cell in several)
            capacity, throughput = np.sqrt(sum(((cell - cell.mean(axis=0)) ** 2).sum(axis=0) for cell in several) / df)
            off = [float((cell[name] - cell["middle"])[:, 0].mean()) for cell in found]
            error = statistics.stdev(off) / len(off) ** 0.5 if len(off) > 1 else float("nan")
            where = "" if name == "middle" else f"{statistics.fmean(off):+.2%} ± {error:.2%}"
            print(f"| {load} | {name} | {capacity:.2%} | {throughput:.2%} | {df} | {where} |")


def main() -> None:
    """Reads the records and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, nargs="+")
    parser.add_argument("--workload", default=LOADS)
    arguments = parser.parse_args()
    loads = arguments.workload.split(",")
    cells: dict[str, list[dict[str, Floats]]] = {load: [] for load in loads}
    for path in arguments.records:
        of: dict[tuple[str, str], list[PairRead]] = defaultdict(list)
        for pair in ByType(read_events(path, turns=True)).of(PairRead):
            if pair.places == 1 and pair.cell.workload.partition(":")[0] in loads:
                of[pair.cell.workload.partition(":")[0], str(pair.cell)].append(pair)
        for (load, _), pairs in of.items():
            if found := starts(pairs):
                cells[load].append(found)
    print_table(cells)


if __name__ == "__main__":
    main()
