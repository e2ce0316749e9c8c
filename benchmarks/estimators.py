"""How far starts scatter by how a pair is made of its turns: the same turns of kept records, read in several ways.

    python benchmarks/estimators.py docs/results/mariadb-{deploy,five,pgo,arm-2020}.jsonl.xz [--workload LOAD]

Each file is an exported record; interleaved starts of the loads are taken. A start's reading is the median of its
valid pairs', as in verdicts. The ways: `middle`, the mean of the middle rounds' log-ratios, which verdicts use;
`median` of the rounds; `totals`, of all turns; `faster half`, each side's mean log-rate over the faster half of its
turns, whichever those are. Prints for each load and way the standard deviation of a start within its cell in capacity
and in throughput, its degrees of freedom, and how far the cells' means lie from those of `middle`, with the standard
error of that.

A second table compares a start's ratio (`middle`) with that of the log that its servers wrote for a transaction, in
records that have it: the slope within cells, the standard deviation of a start with and without what the log explains,
and how much more or less of it candidates wrote than their bases, by cell.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from burnish.bench.quantities import FEWEST_TURNS, faster_half
from burnish.bench.readings import Reading, pair_ratio, total
from burnish.record.by_type import ByType
from burnish.record.events.trials import PairRead
from burnish.record.exchange import read_events
from burnish.statistics.intervals import start_reading

Floats = npt.NDArray[np.float64]

LOADS = "oltp_update_index,oltp_update_non_index,oltp_read_write,oltp_write_only"

QUANTITIES = ("capacity", "throughput")

Ratios = tuple[float, float]
"""Log-ratios of capacity and of throughput."""


def by_middle(one: Sequence[Reading], other: Sequence[Reading]) -> Ratios:
    """The mean of the middle rounds."""
    found = pair_ratio(one, other, 1)
    return found.capacity, found.throughput


def by_median(one: Sequence[Reading], other: Sequence[Reading]) -> Ratios:
    """The median of the rounds."""
    rounds = [by_middle([b], [c]) for b, c in zip(one, other, strict=True)]
    capacity, throughput = (statistics.median(values) for values in zip(*rounds, strict=True))
    return capacity, throughput


def by_faster_half(one: Sequence[Reading], other: Sequence[Reading]) -> Ratios:
    """The faster half of each side's turns, as starts record it."""
    found = faster_half(one, other, 1)
    return found["capacity"], found["throughput"]


def by_totals(one: Sequence[Reading], other: Sequence[Reading]) -> Ratios:
    """All turns together."""
    return by_middle([total(one)], [total(other)])


WAYS: Mapping[str, Callable[[Sequence[Reading], Sequence[Reading]], Ratios]] = {
    "middle": by_middle,
    "median": by_median,
    "faster half": by_faster_half,
    "totals": by_totals,
}
"""Ways from the two sides' turns to a pair's log-ratios."""


def worked_in(turn: Reading) -> bool:
    """Whether something was finished in a turn, for CPU time that was counted."""
    return max(turn.steps, turn.done) > 0 and turn.server_cpu > 0


def base_first(pair: PairRead) -> list[str]:
    """The labels of a pair's two sides, the candidate's last."""
    return sorted(pair.turns, key=lambda side: side == pair.cell.label)


def readings(pair: PairRead) -> dict[str, Ratios]:
    """By way, a pair's log-ratios, candidate over base; empty without turns enough in which both sides worked."""
    if pair.invalid is not None or pair.turns is None or len(pair.turns) != 2:
        return {}
    one, other = (
        [
            Reading(seconds, done, 0, server, client, steps=steps)
            for seconds, done, server, client, steps in pair.turns[side]
        ]
        for side in base_first(pair)
    )
    rounds = [turns for turns in zip(one, other, strict=True) if all(map(worked_in, turns))]
    if len(rounds) < FEWEST_TURNS:
        return {}
    one, other = ([turns[place] for turns in rounds] for place in (0, 1))
    return {name: way(one, other) for name, way in WAYS.items()}


def by_start(pairs: Sequence[PairRead]) -> list[list[tuple[PairRead, dict[str, Ratios]]]]:
    """Of a cell, each start's pairs that can be read, with their log-ratios by way."""
    found: dict[int, list[tuple[PairRead, dict[str, Ratios]]]] = defaultdict(list)
    for pair in pairs:
        if ratios := readings(pair):
            found[pair.start].append((pair, ratios))
    return list(found.values())


def starts(each: Sequence[Sequence[tuple[PairRead, dict[str, Ratios]]]]) -> dict[str, Floats]:
    """By way, the readings of a cell's starts (`by_start`), shape (starts, 2)."""
    return {
        name: np.array(
            [[start_reading([ratios[name][at] for _, ratios in of]) for at in range(len(QUANTITIES))] for of in each]
        )
        for name in WAYS
        if each
    }


def log_ratio(pair: PairRead) -> float | None:
    """The log-ratio of the bytes of log that the two servers wrote for a transaction; None where it is not known."""
    each = []
    for side in base_first(pair):
        written = (pair.writes or {}).get(side, {}).get("log_bytes")
        done = sum(turn[1] for turn in pair.turns[side])
        if not written or not done:
            return None
        each.append(math.log(written / done))
    return each[1] - each[0] if len(each) == 2 else None


def with_log(each: Sequence[Sequence[tuple[PairRead, dict[str, Ratios]]]]) -> Floats:
    """Of a cell's starts (log-ratio of capacity, of throughput, of the log for a transaction), shape (starts, 3)."""
    known = [[(*ratios["middle"], log) for pair, ratios in of if (log := log_ratio(pair)) is not None] for of in each]
    return np.array([list(map(start_reading, zip(*of, strict=True))) for of in known if of]).reshape(-1, 3)


def print_log_table(cells: Mapping[str, Sequence[Floats]]) -> None:
    """What the log that was written explains, of each load's cells with starts enough."""
    print("\n| load | quantity | slope | spread | at equal log | df | log of a transaction |\n|" + " --- |" * 7)
    for load, found in cells.items():
        several = [cell for cell in found if len(cell) > 2]  # two lie on any line
        if not several:
            continue
        off = np.vstack([cell - cell.mean(axis=0) for cell in several])
        df = len(off) - len(several)
        means = np.array([cell[:, 2].mean() for cell in several])
        for at, quantity in enumerate(QUANTITIES):
            slope = float(off[:, 2] @ off[:, at] / (off[:, 2] @ off[:, 2]))
            spread = math.sqrt(float((off[:, at] ** 2).sum()) / df)
            left = math.sqrt(float(((off[:, at] - slope * off[:, 2]) ** 2).sum()) / (df - 1))
            written = f"{math.expm1(means.min()):+.0%} to {math.expm1(means.max()):+.0%}" if at == 0 else ""
            print(f"| {load} | {quantity} | {slope:.2f} | {spread:.2%} | {left:.2%} | {df} | {written} |")


def print_table(cells: Mapping[str, Sequence[Mapping[str, Floats]]]) -> None:
    """The table, of the cells of each load."""
    print("| load | way | capacity | throughput | df | off `middle` |\n|" + " --- |" * 6)
    for load, found in cells.items():
        for name in WAYS:
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
    logs: dict[str, list[Floats]] = {load: [] for load in loads}
    for path in arguments.records:
        of: dict[tuple[str, str], list[PairRead]] = defaultdict(list)
        for pair in ByType(read_events(path, turns=True)).of(PairRead):
            if pair.places == 1 and pair.cell.workload.partition(":")[0] in loads:
                of[pair.cell.workload.partition(":")[0], str(pair.cell)].append(pair)
        for (load, _), pairs in of.items():
            if each := by_start(pairs):
                cells[load].append(starts(each))
                logs[load].append(with_log(each))
    print_table(cells)
    print_log_table(logs)


if __name__ == "__main__":
    main()
