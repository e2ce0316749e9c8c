"""How far starts of loads that commit scatter in kept records: the figures of the catalogue's committing.toml.

    python benchmarks/committing.py docs/results/mariadb-*.jsonl.xz [--workload oltp_update_index,oltp_read_write]

Each file is an exported record. Valid starts of interleaved cells with data on the disk are taken, each less its cell's
mean. Prints for each load the standard deviation of a start in throughput and in capacity, degrees of freedom, the mean
wall time of a start, and which records have any; then the line that a study says before it begins.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from burnish.model.workload import Design
from burnish.record.by_type import ByType
from burnish.record.events.trials import StartBegun, StartDone
from burnish.record.exchange import read_events
from burnish.study.kept.scatter import groups_of, pooled, sentence

WORKLOADS = "oltp_read_write,oltp_update_index,oltp_update_non_index,oltp_write_only"


def main() -> None:
    """Reads the records and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, nargs="+")
    parser.add_argument("--workload", default=WORKLOADS)
    arguments = parser.parse_args()
    loads: dict[str, dict[str, list[list[StartDone]]]] = {name: {} for name in arguments.workload.split(",")}
    for path in arguments.records:
        by = ByType(read_events(path, turns=False))
        for name, found in loads.items():
            groups = groups_of(by.of(StartBegun), by.of(StartDone), name, Design.INTERLEAVED)
            if pooled(groups) is not None:
                found[path.name.partition(".")[0]] = groups
    print("| load | throughput | capacity | df | a start | records |\n|" + " --- |" * 6)
    for name, found in loads.items():
        if (known := pooled([group for groups in found.values() for group in groups])) is not None:
            spreads = f"{known.throughput:.4f} | {known.capacity:.4f}"
            print(f"| {name} | {spreads} | {known.df} | {known.seconds:.1f} s | {', '.join(sorted(found))} |")
            print(f"\n{sentence(name, known)}\n")


if __name__ == "__main__":
    main()
