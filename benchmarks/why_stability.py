"""Whether two `burnish why` runs of the same pair agree on the ten heaviest functions of each build.

    python benchmarks/why_stability.py BASELINE/mariadbd WINNER/mariadbd [--workload oltp_read_only] [--runs 2]

Each run has servers and data of its own. Prints the ten heaviest functions outside of the kernel of each build and run,
and how many of them each two runs have in common; ends with 1 when that is ever fewer than nine.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys

WANTED = 9


def main() -> int:
    """Runs them; ends with 1 when two runs agree on fewer than nine of ten."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs=2, help="programs, or variants with --study")
    parser.add_argument("--workload", default="oltp_read_only")
    parser.add_argument("--study")
    parser.add_argument("--seconds", type=float, default=100.0)
    parser.add_argument("--runs", type=int, default=2)
    arguments = parser.parse_args()
    words = ["why", *arguments.names, "--workload", arguments.workload, "--seconds", arguments.seconds]
    words += ["--json", "--yes", *(["--run", arguments.study] if arguments.study else [])]
    heaviest: dict[str, list[list[str]]] = {}
    for run in range(1, arguments.runs + 1):
        said = subprocess.run(
            [sys.executable, "-m", "burnish", *map(str, words)], stdout=subprocess.PIPE, text=True, check=True
        )
        found = json.loads(said.stdout)["explanation"]
        for label, functions in found["heaviest"].items():
            heaviest.setdefault(label, []).append([name for name, _ in functions])
            told = ", ".join(f"{name} {cost * 1e6:.2f}" for name, cost in functions)
            print(f"run {run}, {label} ({found['samples'][label]} samples), us: {told}", flush=True)
    worst = 10
    for label, runs in heaviest.items():
        for (one, first), (other, second) in itertools.combinations(enumerate(runs, 1), 2):
            common = len({*first} & {*second})
            worst = min(worst, common)
            print(f"{label}: runs {one} and {other} have {common} of 10 in common")
    return 0 if worst >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
