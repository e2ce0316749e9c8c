"""Where the scatter of starts comes from: pairs within a start, slots, what is left between starts; record by record.

    python benchmarks/scatter.py RECORD.jsonl.xz|STUDY... [--design duet] [--quantity capacity]

Starts of all cells with two valid starts or more are taken together, each less its cell's mean. A row has

* the standard deviation of a start's reading, that of a pair within its start, and the part of the former that pairs do
  not explain (the root of the difference of variances, pairs of a start averaged);
* by how much a side is better for having a slot (launched first, the first cores, the first copy of the data), with its
  standard error, all three together in one regression, so that slots that were drawn alike are told apart;
* the standard deviation of a start that slots leave.

Slots are balanced, so that they are in no ratio; but a slot that is worth much is a cause that can be looked for.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.trials import StartBegun, StartDone
from burnish.record.exchange import read_events, study_events

SLOTS = ("launch", "cores", "data")


@dataclass(frozen=True)
class Start:
    """A valid start of two sides.

    Attributes:
        cell: the cell's name.
        reading: its log-ratio, the candidate's over the other side's.
        pairs: those of its valid pairs; empty in the oldest records.
        had: by slot, 1 where the candidate had the first one, else -1.
        dropped: whether the programs were dropped from the page cache before it.
    """

    cell: str
    reading: float
    pairs: tuple[float, ...]
    had: tuple[float, ...]
    dropped: bool


@dataclass(frozen=True)
class Scatter:
    """What the starts of a record tell; standard deviations and effects of log-ratios.

    Attributes:
        starts: how many.
        start: standard deviation of a start.
        pair: of a pair within its start; nan where no start has two.
        between: the part of a start's that pairs do not explain, 0 where they explain all of it; nan as `pair`.
        slots: effect of each slot with its standard error.
        left: standard deviation of a start less the effects of its slots.
    """

    starts: int
    start: float
    pair: float
    between: float
    slots: tuple[tuple[float, float], ...]
    left: float


def starts_of(events: Iterable[Recorded[Event]], design: str, quantity: str) -> list[Start]:
    """The valid starts of a design whose candidate is told by the cell's label."""
    by = ByType(events)
    begun = {(event.cell, event.start): event for event in by.of(StartBegun)}
    found = []
    for done in by.of(StartDone):
        first, label = begun.get((done.cell, done.start)), done.cell.label
        if done.invalid is not None or first is None or first.design != design or quantity not in done.readings:
            continue
        if len(done.slots) != 2 or label not in done.slots:
            continue
        own, (other,) = done.slots[label], [slots for name, slots in done.slots.items() if name != label]
        had = tuple(1.0 if own[slot] < other[slot] else -1.0 for slot in SLOTS)
        pairs = (done.pair_ratios or {}).get(quantity, ())
        found.append(Start(done.cell.name, done.readings[quantity], tuple(pairs), had, first.cached is not None))
    return found


def scatter(starts: Sequence[Start]) -> Scatter | None:
    """The decomposition of starts; None if there are too few for the slots' effects."""
    cells: dict[str, list[Start]] = defaultdict(list)
    for start in starts:
        cells[start.cell].append(start)
    groups = [group for group in cells.values() if len(group) > 1]
    count = sum(map(len, groups))
    freedom = count - len(groups) - len(SLOTS)
    if freedom < 2:
        return None
    y = np.concatenate([_centred([start.reading for start in group]) for group in groups])
    x = np.vstack([_centred([start.had for start in group]) for group in groups])
    effects, *_ = np.linalg.lstsq(x, y, rcond=None)
    left = float(np.sum((y - x @ effects) ** 2)) / freedom
    errors = np.sqrt(left * np.diag(np.linalg.pinv(x.T @ x)))
    several = [start.pairs for group in groups for start in group if len(start.pairs) > 1]
    within = freedom_within = 0.0
    for pairs in several:
        within += (len(pairs) - 1) * statistics.variance(pairs)
        freedom_within += len(pairs) - 1
    variance = float(y @ y) / (count - len(groups))
    of_pair = within / freedom_within if freedom_within else math.nan
    of_means = of_pair * statistics.fmean(1 / len(start.pairs) for group in groups for start in group if start.pairs)
    return Scatter(
        starts=count,
        start=math.sqrt(variance),
        pair=math.sqrt(of_pair),
        between=math.sqrt(max(0.0, variance - of_means)) if freedom_within else math.nan,
        slots=tuple(zip(map(float, effects), map(float, errors), strict=True)),
        left=math.sqrt(left),
    )


def _centred(values: Sequence[float] | Sequence[Sequence[float]]) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    return array - array.mean(axis=0)  # type: ignore[no-any-return]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, nargs="+")
    parser.add_argument("--design", default="duet")
    parser.add_argument("--quantity", default="capacity")
    arguments = parser.parse_args()
    titles = ("record", "programs", "starts", "a start", "a pair", "between starts", "launched first", "first cores")
    print(f"| {' | '.join((*titles, 'first data', 'left'))} |\n|{' --- |' * (len(titles) + 2)}")
    for path in arguments.records:
        events = study_events(path) if path.is_dir() else read_events(path)
        every = starts_of(events, arguments.design, arguments.quantity)
        for dropped, words in ((False, "as they lay"), (True, "read anew")):
            found = scatter([start for start in every if start.dropped is dropped])
            if found is None:
                continue
            effects = [f"{value:+.2%} ± {error:.2%}" for value, error in found.slots]
            sizes = [f"{size:.2%}" for size in (found.start, found.pair, found.between)]
            name = path.name.removesuffix(".jsonl.xz")
            print(f"| {' | '.join((name, words, str(found.starts), *sizes, *effects, f'{found.left:.2%}'))} |")


if __name__ == "__main__":
    main()
