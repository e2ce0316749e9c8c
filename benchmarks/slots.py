"""What it was worth to a side to be launched first, to begin on the first cores, to have the first copy of the data.

    python benchmarks/slots.py RECORD.jsonl.xz...

Each file is an exported record (`burnish record export STUDY`). Slots are drawn for each start, so that what they are
worth averages out of every ratio; here it is what is asked for. Starts of all cells with two starts or more are taken
together, each less its cell's mean, by design (and of any) and by whether the load has many client threads; an effect
is half of the difference between having a slot and leaving it to the other side. Starts of a record's load that scatter
less count for more, by the inverse of their variance. Prints a row for each slot and group: effect on throughput and on
capacity, with its standard error, and how busy the cores were with server and load while the side that had the slot was
on them, and while the other was (means over pairs; duets alone, whose sides have cores of their own). An effect of more
than three standard errors is no chance: the slot is a bias.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from burnish.model.cell import CellId
from burnish.model.workload import Design
from burnish.record.by_type import ByType
from burnish.record.events.trials import PairRead, StartBegun, StartDone
from burnish.record.exchange import read_events

MANY = 64
"""From so many client threads on a load is a group of its own."""
ANY = "any"
"""Starts of all designs together; how much they scatter is each design's own."""
SLOTS = ("launch", "cores", "data")
QUANTITIES = ("throughput", "capacity")
KNOWN = 8
"""Degrees of freedom from which the variance of a record's load is its own; fewer have that of all."""

Floats = npt.NDArray[np.float64]


@dataclass
class Start:
    """One start of a cell.

    Attributes:
        figures: the candidate's log-ratios over the other side, by quantity.
        had: by slot, 1 where the candidate had the first one, -1 where the other side had it.
        busy: by slot, busy shares of the cores of the side that had the first one and of the other, a pair an entry.
    """

    figures: dict[str, float]
    had: dict[str, float]
    busy: dict[str, list[tuple[float, float]]]


@dataclass
class Group:
    """What starts of one design, one size of load, say about one slot.

    Attributes:
        cells: by quantity and by record and load, of each cell the starts' log-ratios less their mean, and 1 where the
            candidate had the slot, else -1, less their mean.
        busy: as in `Start`, of all its starts.
        starts: their number.
    """

    cells: dict[str, dict[tuple[Path, str], list[tuple[Floats, Floats]]]] = field(
        default_factory=lambda: {name: defaultdict(list) for name in QUANTITIES}
    )
    busy: list[tuple[float, float]] = field(default_factory=list)
    starts: int = 0


def starts(path: Path) -> Iterator[tuple[str, str, Start]]:
    """Valid starts of two sides whose candidate is told by the cell's label, with their design and cell."""
    by = ByType(read_events(path))
    begun = {(event.cell, event.start): event for event in by.of(StartBegun)}
    pairs: dict[tuple[CellId, int], list[Mapping[str, float]]] = defaultdict(list)
    for pair in by.of(PairRead):
        if pair.invalid is None and pair.busy:  # the oldest records do without
            pairs[pair.cell, pair.start].append(pair.busy)
    for done in by.of(StartDone):
        slots, candidate, read = done.slots, done.cell.label, done.readings
        if done.invalid is not None or len(slots) != 2 or candidate not in slots or not set(QUANTITIES) <= set(read):
            continue
        start = begun.get((done.cell, done.start))
        design = str(start.design) if start else "?"
        order = {slot: sorted(slots, key=lambda label: slots[label][slot]) for slot in SLOTS}
        shared = pairs[done.cell, done.start] if design == Design.DUET else ()
        yield (
            design,
            done.cell.name,
            Start(
                {name: read[name] for name in QUANTITIES},
                {slot: 1.0 if order[slot][0] == candidate else -1.0 for slot in SLOTS},
                {slot: [(busy[order[slot][0]], busy[order[slot][1]]) for busy in shared] for slot in SLOTS},
            ),
        )


def grouped(paths: Sequence[Path]) -> dict[tuple[str, str, str], Group]:
    """All starts of cells with two starts or more, by design, size of load and slot."""
    groups: dict[tuple[str, str, str], Group] = defaultdict(Group)
    for path in paths:
        cells: dict[tuple[str, str], list[Start]] = defaultdict(list)
        for design, cell, start in starts(path):
            cells[design, cell].append(start)
        for (design, cell), found in cells.items():
            if len(found) < 2:
                continue
            threads = re.search(r"threads=(\d+)", cell)
            size = "many threads" if threads and int(threads[1]) >= MANY else "few threads"
            load = cell.rpartition("/")[2].strip()
            for slot, among in itertools.product(SLOTS, (design, ANY)):
                group = groups[among, size, slot]
                group.starts += len(found)
                group.busy += [shares for start in found for shares in start.busy[slot]]
                had = np.array([start.had[slot] for start in found])
                for name in QUANTITIES:
                    figures = np.array([start.figures[name] for start in found])
                    group.cells[name][path, f"{design} {load}"].append((figures - figures.mean(), had - had.mean()))
    return groups


def effect(cells: Mapping[tuple[Path, str], Sequence[tuple[Floats, Floats]]]) -> str:
    """Slope of the log-ratios over the slot within cells, in per cent, with its standard error.

    Weighted least squares; the standard error is of White (1980), which does not rest on the weights' being right,
    with a factor for the means that were taken off.
    """
    figures, had = ([np.concatenate([cell[at] for cell in found]) for found in cells.values()] for at in (0, 1))
    freedom = np.array([sum(len(cell[0]) - 1 for cell in found) for found in cells.values()])
    squares = np.array([float(values @ values) for values in figures])
    pooled = squares.sum() / freedom.sum()
    weights = 1 / np.where((freedom >= KNOWN) & (squares > 0), squares / freedom, pooled)
    information = sum(w * float(x @ x) for w, x in zip(weights, had, strict=True))
    starts = sum(map(len, had))
    if starts < 4 or not information:
        return "-"
    slope = sum(w * float(x @ y) for w, x, y in zip(weights, had, figures, strict=True)) / information
    scores = sum(
        w**2 * float(((x * (y - slope * x)) ** 2).sum()) for w, x, y in zip(weights, had, figures, strict=True)
    )
    error = math.sqrt(scores * starts / freedom.sum()) / information
    return f"{slope:+.2%} ± {error:.2%}"


def main() -> None:
    """Reads the records and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, nargs="+")
    print("| design | load | slot | starts | throughput | capacity | busy with it | without |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for (design, size, slot), group in sorted(grouped(parser.parse_args().records).items()):
        words = (design, size, slot, str(group.starts))
        effects = [effect(group.cells[name]) for name in QUANTITIES]
        busy = [f"{statistics.fmean(shares):.2%}" for shares in zip(*group.busy, strict=True)] or ["-", "-"]
        print(f"| {' | '.join((*words, *effects, *busy))} |")


if __name__ == "__main__":
    main()
