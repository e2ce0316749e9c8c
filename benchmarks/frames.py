"""How the pages of two servers lie in memory, and what that does to their ratio: ways to start them, in turn.

    python benchmarks/frames.py BASE OTHER [--ways after,together,planted-after,planted-together] [--rounds 8]

In a virtual machine a page walk goes through the hypervisor's table too, which is ordered by the page's own address.
Eight pages in a row share a line of a cache there, pages that lie far apart do not. A server's *scatter* is the number
of such lines for each page of its own memory (`burnish.bench.page_scatter`): 0.125 where all lie in a row, 1 where none
do. It is read (as root) before the first pair; studies record it at the end of each start.

A way is made of words:

* `after`: the second server is started when the first has read its data; `together`: both at the same time, as a study
  does;
* `planted`: before it, 150 MB of memory are freed in lone pages, which the kernel hands out first.

Programs are dropped from the page cache before each start, and each round has a start of each way in random order.
Prints for each way the spread of a start, by how much the side is better that is launched first, and how scattered the
sides' memory is; then what the ratio loses for a side that is scattered more, over all starts. The starts go to `--out`
as CSV; `--read FILE` computes from such a file.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import mmap
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from copies import PAGE, Duets, add_duet

from burnish.base.paths import home
from burnish.bench.page_scatter import page_scatter
from burnish.bench.slots import draw_slots
from burnish.engines.contract import Side, SideSpec

SIDES = ("base", "other")
PLANTED_BYTES = 150 << 20


@dataclass(frozen=True)
class Start:
    """A start.

    Attributes:
        round: its round.
        way: how its servers were started.
        first: the side that was launched first.
        capacity: log-ratio of the other side's capacity over the base's.
        base: scatter of the base's own memory.
        other: of the other side's.
    """

    round: int
    way: str
    first: str
    capacity: float
    base: float
    other: float

    @property
    def had_first(self) -> float:
        """1 if the other side was launched first, else -1."""
        return 1.0 if self.first == "other" else -1.0


def after(side: Side) -> Side:
    """A side that is started, and has read its data, before the next one begins."""
    boot, fingerprint, found = side.boot, side.fingerprint, list[str]()

    def launch() -> None:
        boot()
        found.append(fingerprint())

    side.launch, side.boot, side.fingerprint = launch, lambda: None, lambda: found[0]  # type: ignore[method-assign]
    return side


def own_scatter(pid: int) -> float:
    """Scatter of a process's own memory; ends the program where the kernel does not tell."""
    heap = page_scatter(pid).heap
    if heap is None:
        sys.exit("frames.py: the kernel gives no frame numbers (it takes root, with CAP_SYS_ADMIN)")
    return heap


@contextlib.contextmanager
def planted(size: int) -> Iterator[None]:
    """While it is active, so many bytes are free in lone pages: each one's neighbour is taken."""
    with mmap.mmap(-1, 2 * size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        for offset in range(0, 2 * size, PAGE):
            memory[offset] = 1
        for offset in range(0, 2 * size, 2 * PAGE):
            memory.madvise(mmap.MADV_DONTNEED, offset, PAGE)
        yield


def measure(arguments: argparse.Namespace, folder: Path) -> list[Start]:
    """The starts of all ways."""
    duets = Duets(arguments.engine, arguments.workload, arguments.base, arguments.pairs, folder)
    sides = dict(zip(SIDES, (duets.built, duets.engine.existing(arguments.other)), strict=True))
    usual = duets.engine.side

    def one_by_one(spec: SideSpec) -> Side:
        return after(usual(spec))

    chance = random.Random(arguments.seed)
    ways = arguments.ways.split(",")
    starts: list[Start] = []
    for number in range(1, arguments.rounds + 1):
        for way in chance.sample(ways, len(ways)):
            words, seen, seed = way.split("-"), dict[str, float](), f"frames {arguments.seed}"

            @contextlib.contextmanager
            def look(pair: int, pids: Mapping[str, Sequence[int]], seen: dict[str, float] = seen) -> Iterator[None]:
                if pair == 1:
                    seen.update({label: own_scatter(numbers[0]) for label, numbers in pids.items()})
                yield

            duets.engine.side = one_by_one if "after" in words else usual  # type: ignore[method-assign]
            with contextlib.ExitStack() as stack:
                if "planted" in words:
                    stack.enter_context(planted(PLANTED_BYTES))
                reading = duets.start(sides, seed, number, dropped=True, observe=look)
            if reading is not None:
                slots = draw_slots(SIDES, seed, number)
                first = min(SIDES, key=lambda label: slots[label]["launch"])
                starts.append(Start(number, way, first, reading.capacity, **seen))
                print(f"round {number}: {starts[-1]}", file=sys.stderr)
    return starts


def slope(x: Sequence[float], y: Sequence[float], groups: Sequence[str]) -> tuple[float, float, float]:
    """Slope of y on x, both less the means of their groups, with its standard error, and the spread that it leaves."""
    names = sorted(set(groups))
    design = np.array(
        [[float(group == name) for name in names] + [value] for group, value in zip(groups, x, strict=True)]
    )
    fitted, *_ = np.linalg.lstsq(design, np.array(y), rcond=None)
    freedom = len(y) - design.shape[1]
    left = float(np.sum((np.array(y) - design @ fitted) ** 2)) / freedom
    error = float(np.linalg.pinv(design.T @ design)[-1, -1] * left) ** 0.5
    return float(fitted[-1]), error, left**0.5


def print_tables(starts: Sequence[Start]) -> None:
    """What was found, as Markdown."""
    titles = (
        "way",
        "starts",
        "spread of a start",
        "launched first",
        "scatter of the first",
        "of the second",
        "spread of the difference",
    )
    print(f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}")
    for way in dict.fromkeys(start.way for start in starts):
        some = [start for start in starts if start.way == way]
        if len(some) < 4:
            continue
        values = [start.capacity for start in some]
        effect, error, _ = slope([start.had_first for start in some], values, [way] * len(some))
        first = statistics.fmean(getattr(start, start.first) for start in some)
        second = statistics.fmean(start.base + start.other - getattr(start, start.first) for start in some)
        differ = statistics.stdev(start.other - start.base for start in some)
        words = (
            f"{statistics.stdev(values):.2%}",
            f"{effect:+.2%} ± {error:.2%}",
            f"{first:.3f}",
            f"{second:.3f}",
            f"{differ:.3f}",
        )
        print(f"| {' | '.join((way, str(len(some)), *words))} |")
    differences = [start.other - start.base for start in starts]
    effect, error, left = slope(differences, [start.capacity for start in starts], [start.way for start in starts])
    print(
        f"\nlog-ratio of capacity for 0.1 more scatter: {effect / 10:+.2%} ± {error / 10:.2%}; spread that is left: "
        f"{left:.2%}"
    )


def main() -> int:
    """Measures, or reads what was measured, and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", type=Path, nargs="?")
    parser.add_argument("other", type=Path, nargs="?")
    add_duet(parser, workload="oltp_read_only", ways="after,together,planted-after,planted-together", pairs=1)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--read", type=Path)
    arguments = parser.parse_args()
    if arguments.read is not None:
        rows = csv.DictReader(arguments.read.read_text().splitlines())
        numbers = ("capacity", "base", "other")
        print_tables(
            [
                Start(int(row["round"]), row["way"], row["first"], **{name: float(row[name]) for name in numbers})
                for row in rows
            ]
        )
        return 0
    if arguments.other is None:
        parser.error("two programs to compare, or --read")
    with tempfile.TemporaryDirectory(prefix="frames-", dir=home().root) as name:
        starts = measure(arguments, Path(name))
    if arguments.out is not None:
        with arguments.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, [field.name for field in fields(Start)], lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(start) | {"capacity": f"{start.capacity:.6f}"} for start in starts)
    print_tables(starts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
