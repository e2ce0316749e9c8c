"""How the ratio of two programs depends on how their files lie in memory: ways in turn, within one sitting.

    python benchmarks/states.py BASE OTHER [--ways kept,dropped] [--starts 20] [--workload oltp_read_only]

A way says what is launched on both sides:

* `kept`: the programs' own files, as they lie in memory now; nothing is done to them;
* `dropped`: copies that are dropped from memory before each start, so that each launch reads them anew, as a study
  does;
* `whole`, `small`, `read`: copies that are written once, as `copies.py` has it.

Each round has a start of each way in random order; as in `copies.py`, no pair is excluded. Prints the ratio of
capacity by way with its 95 % interval, and each way's difference from the first, round by round; the starts go to
`--out` as CSV.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from copies import Duets, add_duet, lies, write
from scipy import stats

from burnish.base.paths import home
from burnish.program.built import Built

SIDES = ("base", "other")


def interval(values: Sequence[float]) -> str:
    """Mean with half of its 95 % interval, in per cent."""
    half = float(stats.t.ppf(0.975, len(values) - 1)) * statistics.stdev(values) / math.sqrt(len(values))
    return f"{100 * statistics.fmean(values):+.2f} ± {100 * half:.2f} %"


def sides_of(way: str, programs: Sequence[Built], folder: Path) -> dict[str, Built]:
    """Both programs as a way launches them, by label."""
    if way == "kept":
        return dict(zip(SIDES, programs, strict=True))
    made = {}
    for label, program in zip(SIDES, programs, strict=True):
        place = folder / way / label / program.server.name
        place.parent.mkdir(parents=True)
        write(program.server, place, way)
        made[label] = replace(program, server=place)
    return made


def measure(arguments: argparse.Namespace, ways: Sequence[str], folder: Path) -> list[dict[str, float]]:
    """For each round the log-ratio of capacity by way."""
    duets = Duets(arguments.engine, arguments.workload, arguments.base, arguments.pairs, folder)
    programs = [duets.built, duets.engine.existing(arguments.other)]
    sides = {way: sides_of(way, programs, folder) for way in ways}

    def describe(when: str) -> None:
        for way, both in sides.items():
            for label, program in both.items():
                print(f"{way}, {label}, {when}: {lies(program.server)}")

    describe("at first")
    chance = random.Random(arguments.seed)
    rounds: list[dict[str, float]] = []
    for number in range(1, arguments.starts + 1):
        found: dict[str, float] = {}
        for way in chance.sample(ways, len(ways)):
            # Slots and keys are the same for all ways.
            reading = duets.start(sides[way], f"states {arguments.seed}", number, dropped=way == "dropped")
            if reading is not None:
                found[way] = reading.capacity
                print(f"round {number}: {way} {found[way]:+.2%}, {reading.seconds:.1f} s", file=sys.stderr)
        rounds.append(found)
    describe("at the end")
    return rounds


def main() -> int:
    """Measures and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", type=Path)
    parser.add_argument("other", type=Path)
    add_duet(parser, workload="oltp_read_only", ways="kept,dropped", pairs=2)
    parser.add_argument("--starts", type=int, default=20)
    arguments = parser.parse_args()
    ways = arguments.ways.split(",")
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC")
    with tempfile.TemporaryDirectory(prefix="states-", dir=home().root) as name:
        rounds = measure(arguments, ways, Path(name))
    if arguments.out is not None:
        with arguments.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, ["round", *ways], lineterminator="\n")
            writer.writeheader()
            for number, found in enumerate(rounds, start=1):
                writer.writerow({"round": number} | {way: f"{value:.6f}" for way, value in found.items()})
    print("\n| way | starts | log-ratio of capacity | spread of a start | off the first way |\n" + "| --- " * 5 + "|")
    for way in ways:
        values = [found[way] for found in rounds if way in found]
        off = [found[way] - found[ways[0]] for found in rounds if way in found and ways[0] in found]
        beside = interval(off) if way != ways[0] else "-"
        print(f"| {way} | {len(values)} | {interval(values)} | {statistics.stdev(values):.2%} | {beside} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
