"""Whether what a host's cores were seen to do explains how a start's ratio differs from others of the same comparison.

    python benchmarks/host_state.py docs/results/*.jsonl.xz

Each start of some seconds records a probe of its cores (`burnish.record.events.trials.HostState`). For each quantity of
the probe: the slope of the start's log-ratio of capacity on the logarithm of the quantity, both less their means

* within a comparison and sitting: what moves within minutes;
* over all sittings of a comparison: the same with what moves from hour to hour.

The p-value is of the correlation, with one degree of freedom less for each mean; it takes starts as independent, which
within a sitting they are and between sittings are not: there it is too small. A/A starts are left out.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from burnish.model.cell import AA
from burnish.record.events.trials import HostState, PairRead, StartBegun, StartDone
from burnish.record.exchange import read_events

QUANTITIES: dict[str, Callable[[HostState], float | None]] = {
    "nanoseconds of a multiplication and addition": lambda state: state.spin_ns,
    "nanoseconds of a system call": lambda state: state.call_ns,
    "nanoseconds of a switch of processes": lambda state: state.switch_ns,
    "nanoseconds of a page walk": lambda state: state.page_ns,
    "nanoseconds of a load, 256 KiB": lambda state: state.latency_ns.get(256),
    "nanoseconds of a load, 2 MiB": lambda state: state.latency_ns.get(2048),
    "nanoseconds of a load, 128 MiB": lambda state: state.latency_ns.get(131072),
    "bytes a second read in order": lambda state: state.read_bytes_s,
    "bytes a second copied": lambda state: state.copy_bytes_s,
}


@dataclass(frozen=True)
class Start:
    """A start: which comparison and record it is of, its mean log-ratio of capacity, and its cores' state."""

    comparison: tuple[str, ...]
    sitting: str
    reading: float
    state: tuple[HostState, ...]

    def of(self, quantity: Callable[[HostState], float | None]) -> float | None:
        """The logarithm of the cores' mean; None if a core has none."""
        found = [quantity(state) for state in self.state]
        return math.log(statistics.fmean(filter(None, found))) if all(found) else None


def starts_of(path: Path) -> Iterable[Start]:
    """A record's starts that have a state and two different builds."""
    begun: dict[tuple[str, int], StartBegun] = {}
    pairs: dict[tuple[str, int], list[PairRead]] = defaultdict(list)
    for line in read_events(path):
        match line.event:
            case StartBegun() as event:
                begun[str(event.cell), event.start] = event
            case PairRead() as event:
                pairs[str(event.cell), event.start].append(event)
            case StartDone() as event:
                key = (str(event.cell), event.start)
                first = begun.get(key)
                if first is None or not first.state or event.cell.candidate == AA or len(first.builds) != 2:
                    continue
                base, other = first.builds
                ratios = [math.log(_capacity(pair, other) / _capacity(pair, base)) for pair in pairs[key]]
                if ratios:
                    name = (*first.builds.values(), event.cell.workload, str(first.placed))
                    yield Start(name, path.name, statistics.fmean(ratios), first.state)


def _capacity(pair: PairRead, label: str) -> float:
    side = pair.sides[label]
    return side.done / side.server_cpu


def line(groups: Iterable[Sequence[tuple[float, float]]]) -> str:
    """The table's cells of one quantity: correlation, p-value and slope over groups, each less its means."""
    x: list[float] = []
    y: list[float] = []
    means = 0
    for group in groups:
        if len(group) < 2:
            continue
        means += 1
        for values, into in zip(zip(*group, strict=True), (x, y), strict=True):
            into += list(np.subtract(values, statistics.fmean(values)))
    freedom = len(x) - means - 1
    if freedom < 1 or not any(x):
        return "- | - | -"
    slope, r = float(np.dot(x, y) / np.dot(x, x)), float(np.corrcoef(x, y)[0, 1])
    p = 2 * float(stats.t.sf(abs(r) * math.sqrt(freedom / max(1 - r * r, 1e-12)), freedom))
    return f"{r:+.2f} | {p:.2g} | {100 * slope * math.log(1.1):+.2f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", type=Path)
    starts = [start for path in parser.parse_args().records for start in starts_of(path)]
    for placement in sorted({start.comparison[-1] for start in starts}):
        placed = [start for start in starts if start.comparison[-1] == placement]
        sittings = len({start.sitting for start in placed})
        print(f"\nplacement {placement}: {len(placed)} starts of {sittings} records; slope for 10 % more\n")
        print("| quantity | within: r | p | slope | over sittings: r | p | slope |\n|" + " --- |" * 7)
        for name, quantity in QUANTITIES.items():
            within: dict[tuple[str, ...], list[tuple[float, float]]] = defaultdict(list)
            over: dict[tuple[str, ...], list[tuple[float, float]]] = defaultdict(list)
            for start in placed:
                if (value := start.of(quantity)) is not None:
                    within[*start.comparison, start.sitting].append((value, start.reading))
                    over[start.comparison].append((value, start.reading))
            print(f"| {name} | {line(within.values())} | {line(over.values())} |")


if __name__ == "__main__":
    main()
