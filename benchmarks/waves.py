"""What a study's own turns say when its starts are read by transactions and when they are read by statements.

    python benchmarks/waves.py RECORD.jsonl.xz...

Each file is an exported record (`burnish record export STUDY`) whose turns hold both counts. Prints a row for each cell
with two starts or more: spread of the starts' log-ratios of throughput both ways, and, of canaries, how far off 1 each
start was. Reading is all that differs: the turns are the same.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from burnish.bench.readings import Reading, pair_ratio
from burnish.model.cell import AA
from burnish.record import lines


def turns_of(recorded: list[list[float]]) -> list[Reading]:
    """A side's turns as the record has them: seconds, transactions, server and client CPU, statements."""
    return [Reading(seconds, done, 0, server, client, steps=steps) for seconds, done, server, client, steps in recorded]


def by_transactions(turns: list[Reading]) -> list[Reading]:
    """The same turns as if no statements had been counted."""
    return [replace(turn, steps=0.0) for turn in turns]


def ratios(pair: Mapping[str, Any]) -> tuple[float, float]:
    """A pair's log-ratio of throughput by transactions and by statements; nan where a turn saw none finish."""
    one, other = (turns_of(recorded) for _, recorded in sorted(pair["turns"].items()))
    coarse = pair_ratio(by_transactions(one), by_transactions(other), pair["places"])
    return coarse.throughput, pair_ratio(one, other, pair["places"]).throughput


def main() -> None:
    """Reads the records and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, nargs="+")
    print("| cell | starts | spread by transactions | by statements | A/A off by transactions | by statements |")
    print("| --- | --- | --- | --- | --- | --- |")
    for path in parser.parse_args().records:
        cells: dict[str, dict[int, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
        for pair in (line.body for line in lines.read(path) if line.kind == "pair"):
            if pair["invalid"] is None and all(len(turn) == 5 for turn in _turns(pair)):
                cells[pair["cell"]][pair["start"]].append(ratios(pair))
        for cell, starts in cells.items():
            # As a start's reading is made: the median of its pairs.
            both = [[statistics.median(way) for way in zip(*pairs, strict=True)] for pairs in starts.values()]
            if len(both) < 2:
                continue
            ways = list(zip(*both, strict=True))
            spread = " | ".join(f"{statistics.stdev(way):.1%}" for way in ways)
            canary = cell.startswith(f"{AA} ")
            off = (", ".join(f"{abs(math.expm1(value)):.1%}" for value in way) if canary else "-" for way in ways)
            print(f"| {cell} | {len(both)} | {spread} | {' | '.join(off)} |")


def _turns(pair: Mapping[str, Any]) -> list[list[float]]:
    return [turn for side in pair["turns"].values() for turn in side]


if __name__ == "__main__":
    main()
