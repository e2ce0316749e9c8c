"""What it was worth to a side to be launched first, to begin on the first cores, to have the first copy of the data.

    python benchmarks/slots.py RECORD.jsonl.xz...

Each file is an exported record (`burnish record export STUDY`). Slots are drawn for each start, so that what they are
worth averages out of every ratio; here it is what is asked for. Starts of all cells with two starts or more are taken
together, each less its cell's mean, by design and by whether the load has many client threads; an effect is half of
the difference between having a slot and leaving it to the other side. Prints a row for each slot and group: effect on
throughput and on capacity, with its standard error. More than three of these is no chance: the slot is a bias.
"""

from __future__ import annotations

import argparse
import math
import re
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from burnish.record.record import import_events

MANY = 64
"""From so many client threads on a load is a group of its own."""
SLOTS = ("launch", "cores", "data")

Points = list[tuple[float, float]]
"""Log-ratio less its cell's mean; 1 where the candidate had the slot, -1 where the other side had it."""


def effect(points: Sequence[tuple[float, float]]) -> str:
    """Slope of the log-ratios over the slot, in per cent, with its standard error."""
    n = len(points)
    centre = statistics.fmean(slot for _, slot in points)
    spread = sum((slot - centre) ** 2 for _, slot in points)
    if n < 4 or spread == 0:
        return "-"
    slope = sum(value * (slot - centre) for value, slot in points) / spread
    rest = sum((value - slope * (slot - centre)) ** 2 for value, slot in points)
    return f"{slope:+.2%} ± {math.sqrt(rest / (n - 2) / spread):.2%}"


def main() -> None:
    """Reads the records and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, nargs="+")
    groups: dict[tuple[str, str, str], dict[str, Points]] = defaultdict(lambda: defaultdict(list))
    for path in parser.parse_args().records:
        cells: dict[tuple[str, str], list[tuple[dict[str, float], dict[str, int]]]] = defaultdict(list)
        with tempfile.TemporaryDirectory() as folder, closing(import_events(path, Path(folder) / "study")) as record:
            designs = {}
            for event in record.events("start", "start_done"):
                body = event.body
                if event.kind == "start":
                    designs[body["cell"]] = body.get("design", "?")
                elif body["invalid"] is None and len(body["slots"]) == 2:
                    candidates = [label for label in body["slots"] if body["cell"].split(" / ")[0].endswith(label)]
                    if len(candidates) == 1:
                        figures = {name: body[name] for name in ("throughput", "capacity")}
                        cells[designs[body["cell"]], body["cell"]].append((figures, body["slots"][candidates[0]]))
        for (design, cell), starts in cells.items():
            threads = re.search(r"threads=(\d+)", cell)
            size = "many threads" if threads and int(threads[1]) >= MANY else "few threads"
            for quantity in ("throughput", "capacity") if len(starts) > 1 else ():
                mean = statistics.fmean(figures[quantity] for figures, _ in starts)
                for figures, slots in starts:
                    for slot in SLOTS:
                        had = 1.0 if slots[slot] == 0 else -1.0
                        groups[design, size, slot][quantity].append((figures[quantity] - mean, had))
    print("| design | load | slot | starts | throughput | capacity |")
    print("| --- | --- | --- | --- | --- | --- |")
    for (design, size, slot), found in sorted(groups.items()):
        words = (design, size, slot, str(len(found["throughput"])), effect(found["throughput"]))
        print(f"| {' | '.join(words)} | {effect(found['capacity'])} |")


if __name__ == "__main__":
    main()
