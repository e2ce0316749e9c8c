"""How often code and data of a transaction miss caches of several sizes, where hosts have no counters to tell.

    python benchmarks/simulated_caches.py --engine mysql --workload oltp_point_select --out misses.csv \
        debian=/path/to/mysqld burnish=/path/to/other/mysqld

As `burnish why --simulate` does, but for processors that are not at hand: each program serves the load in callgrind
once for each of `SECOND`, second-level caches of hosts that were measured, under first-level caches of `FIRST`. The
table has events per transaction, those of the server's own code: the kernel's and the clients' are not simulated.
`--read FILE` computes it from such a file. Needs Debian's valgrind.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prepared import prepare

from burnish.base.paths import home
from burnish.bench import simulation
from burnish.bench.simulation import Caches
from burnish.engines.contract import SideSpec
from burnish.model.condition import Condition
from burnish.why.cachegrind import SECOND_LEVEL

FIRST = (32768, 8, 64)
"""Bytes, ways and bytes of a line: of Zen 3 for instructions and data, of Intel's servers for instructions."""

SECOND = {"0.5 MB": (524288, 8, 64), "1 MB": (1048576, 16, 64), "2 MB": (2097152, 16, 64)}
"""Of a core: Zen 3's, Zen 5's, and that of Intel's servers since Sapphire Rapids."""

_TITLES = ("program", "second", "transactions")


@dataclass(frozen=True)
class Row:
    """The events of one program with one second-level cache.

    Attributes:
        program: its label.
        second: key of `SECOND`.
        transactions: while the events were counted.
        events: by valgrind's short names.
    """

    program: str
    second: str
    transactions: float
    events: Mapping[str, int]

    def per_transaction(self, name: str) -> float:
        """So many of an event."""
        return self.events[name] / self.transactions


def table(rows: Sequence[Row]) -> list[str]:
    """Events per transaction as Markdown; a column for each program and second-level cache."""
    titles = [f"{row.program}, {row.second}" for row in rows]
    lines = [f"| of a transaction | {' | '.join(titles)} |", f"| --- |{' --- |' * len(titles)}"]
    for name, does in SECOND_LEVEL.items():
        lines.append(f"| {does} | {' | '.join(f'{row.per_transaction(name):,.0f}' for row in rows)} |")
    return lines


def measure(engine: str, workload: str, programs: Mapping[str, Path], seconds: float) -> Iterator[Row]:
    """One row after the other; each takes `seconds` and about as long again."""
    with tempfile.TemporaryDirectory(prefix="caches-", dir=home().root) as place:
        found = prepare(engine, workload, next(iter(programs.values())), Path(place))
        for program, path in programs.items():
            for second, sizes in SECOND.items():
                folder = Path(tempfile.mkdtemp(dir=place)) / "side"
                folder.mkdir(mode=0o700)
                spec = SideSpec(
                    label=program,
                    built=found.engine.existing(path),
                    condition=Condition(),
                    workload=found.workload,
                    data=found.copies.clean(found.workload, 1)[0],
                    folder=folder,
                    seed=1,
                    cores=found.core_sets[0],
                )
                counted, done = simulation.count(found.engine, spec, Caches(FIRST, sizes), seconds)
                yield Row(program, second, done, {name: counted.totals.get(name, 0) for name in SECOND_LEVEL})


def read(path: Path) -> list[Row]:
    """From a file of `write`."""
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    return [
        Row(
            line["program"],
            line["second"],
            float(line["transactions"]),
            {name: int(number) for name, number in line.items() if name not in _TITLES},
        )
        for line in lines
    ]


def write(rows: Sequence[Row], path: Path) -> None:
    """A line for each program and second-level cache."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*_TITLES, *SECOND_LEVEL])
        for row in rows:
            writer.writerow([row.program, row.second, f"{row.transactions:g}", *row.events.values()])


def main() -> int:
    """Counts, or reads what was counted, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="LABEL=PROGRAM")
    parser.add_argument("--engine", default="mysql")
    parser.add_argument("--workload", default="oltp_point_select")
    parser.add_argument("--seconds", type=float, default=simulation.SECONDS)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--read", type=Path)
    arguments = parser.parse_args()
    if arguments.read is not None:
        print("\n".join(table(read(arguments.read))))
        return 0
    words = [word.partition("=") for word in arguments.programs]
    if not words or not all(label and path for label, _, path in words):
        parser.error("programs as LABEL=PROGRAM, or --read")
    if shutil.which("callgrind_control") is None:
        sys.exit("needs valgrind: apt-get install valgrind")
    rows: list[Row] = []
    programs = {label: Path(path) for label, _, path in words}
    for row in measure(arguments.engine, arguments.workload, programs, arguments.seconds):
        rows.append(row)
        print(f"{row.program}, {row.second}: {row.transactions:.0f} transactions", file=sys.stderr)
        if arguments.out is not None:
            write(rows, arguments.out)
    print("\n".join(table(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
