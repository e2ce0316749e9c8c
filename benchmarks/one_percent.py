"""How often a known extra cost of some 1 % of CPU is called slower, and how long that takes.

    python benchmarks/one_percent.py BASELINE/mariadbd SPINNING/mariadbd [--studies 20] [--seed 1]

BASELINE is a build of Burnish's, SPINNING the same with benchmarks/spin.patch. Both are in the store (`./burnish
builds`) after

    ./burnish patch mariadb benchmarks/spin.patch

Each study is `burnish compare` with a seed of its own, stopping at its first verdict, on oltp_read_only. Its bench
time is what its starts took, canaries included. Prints a row for each study as it ends, and the count.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from burnish.base import paths
from burnish.record.events.trials import StartDone
from burnish.record.record import Record

LOAD = "oltp_read_only"


def bench_minutes(study: str) -> float:
    """Minutes that a study's starts took."""
    with closing(Record(paths.home().studies / study)) as record:
        return sum(each.event.seconds for each in record.events(StartDone)) / 60


def main() -> int:
    """Runs the studies; ends with 1 when fewer than nine in ten saw the cost within five minutes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("baseline", type=Path)
    parser.add_argument("spinning", type=Path)
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print("| study | verdict | capacity | starts | minutes |\n| --- | --- | --- | --- | --- |")
    good, minutes, ratios = 0, [], []
    for number in range(arguments.studies):
        words = ["compare", arguments.baseline, arguments.spinning, "--engine", "mariadb", "--workload", LOAD]
        words += ["--precision", "none", "--seed", arguments.seed + number, "--fresh", "--json", "--yes"]
        said = subprocess.run(
            [sys.executable, "-m", "burnish", *map(str, words)], stdout=subprocess.PIPE, text=True, check=True
        )
        found = json.loads(said.stdout)
        (row,) = found["rows"]
        spent, value = bench_minutes(found["name"]), row["capacity"]
        minutes.append(spent)
        words = "none"
        if value is not None:  # an invalid cell has none
            ratios.append(value["ratio"])
            words = f"{value['ratio']:.4f} [{value['low']:.4f}, {value['high']:.4f}]"
        good += row["verdict"] == "slower" and spent <= 5
        print(f"| {number + 1} | {row['verdict']} | {words} | {row['starts']} | {spent:.1f} |", flush=True)
    print(
        f"\n{good} of {arguments.studies} called slower within 5 minutes; median {statistics.median(minutes):.1f} min; "
        f"mean ratio {statistics.fmean(ratios):.4f}"
    )
    return 0 if good >= 0.9 * arguments.studies else 1


if __name__ == "__main__":
    sys.exit(main())
