"""Faults on a single host: what becomes of a study that is killed, starved or lied to.

    python benchmarks/faults PART ... [--seed N] [--points N] [--study NAME ...] [--place FOLDER]
    python benchmarks/faults table --place FOLDER ...

Each part disturbs small studies on the fake engine, each in a home of its own, and holds what came of them against the
same study left alone. A campaign that is stopped goes on where it was: its cases are in FOLDER/ledger.jsonl. Two may
run at once, in folders of their own and with other seeds. The part `table` prints what is there as Markdown.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import disk
import kills
import others
import records
import store
import table
from asked import NAMES
from ledger import Ledger

_USUAL = "/tmp/burnish-faults"  # noqa: S108 - a folder of the caller's, named on the command line

PARTS = {
    "kills": (kills.disturb, 200),
    "disk": (disk.disturb, 20),
    "store": (store.disturb, 999),
    "records": (records.disturb, 50),
    "others": (others.disturb, 999),
}


def main() -> int:
    """Does the parts that are asked for; exit code 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", choices=[*PARTS, "table"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--points", type=int, default=0, help="faults of each part; 0: as many as the table has")
    parser.add_argument("--study", nargs="+", choices=NAMES, default=NAMES, help="studies that are disturbed")
    parser.add_argument("--place", nargs="+", type=Path, default=[Path(_USUAL)], help="a folder; of a table, several")
    given = parser.parse_args()
    os.environ.pop("BURNISH_HOME", None)
    ledgers = []
    for folder in given.place:
        folder.mkdir(parents=True, exist_ok=True)
        ledgers.append(Ledger(folder.absolute() / "ledger.jsonl"))
    for part in given.parts:
        if part == "table":
            print(table.markdown([case for ledger in ledgers for case in ledger.cases]))
            continue
        disturb, usual = PARTS[part]
        disturb(ledgers[0], given.place[0].absolute(), given.seed, given.points or usual, given.study)
    return int(any(case.problems for case in ledgers[0].cases if case.part in given.parts))


if __name__ == "__main__":
    sys.exit(main())
