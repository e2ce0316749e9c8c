"""How far byte-equal copies of one program differ, each written once and kept, beside how far starts of a pair scatter.

    python benchmarks/copies.py PROGRAM [--ways whole,whole,whole,whole,whole,whole] [--rounds 3]

A program's file is held in memory in pages of its own, which are drawn when it is written, or read after it had left
memory. Copies that differ in nothing else tell what that draw does to a ratio, and so what it can add to the spread
between sittings. Every pair of copies has a start in each round, in random order, and in each round one copy is
measured against itself. A way says how a copy gets into memory:

* `whole`: written in one piece, so that the kernel takes pages as large as it has;
* `small`: written in pieces of 4 KiB, each a page of its own;
* `read`: as `whole`, then dropped from memory and read again where a process needs it, as after a reboot.

Pairs that a study would exclude, because something else on the host took a part of the cores, are in: it hits all
copies alike. Prints each copy's difference from the mean of all with how it lies in memory (as root), the spread of
copies with its 95 % interval, and the spread of a start. The starts go to `--out` as CSV; `--read FILE` computes from
such a file.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import mmap
import os
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from prepared import prepare
from scipy import stats

from burnish.base.paths import home
from burnish.bench.pairs import Contestant
from burnish.bench.trials import Observer, run_start, unobserved
from burnish.model.condition import Condition
from burnish.program.built import Built
from burnish.program.cached import drop, resident

PAGE = 4096
TAIL = 1 << 16
"""Bit of /proc/kpageflags: a page that is part of a larger one, and not its first."""


@dataclass(frozen=True)
class Start:
    """A start of copy `two` against copy `one`; both are the same for a copy against itself.

    Attributes:
        one: number of the first copy.
        two: number of the second copy.
        reading: log-ratio of capacity.
        rate: transactions per second of both sides together: a start on a host that is busy with other work has fewer.
    """

    one: int
    two: int
    reading: float
    rate: float


@dataclass(frozen=True)
class Spread:
    """A spread with its 95 % interval; 0 where what is seen is no more than starts explain.

    Attributes:
        sd: standard deviation of log-ratios.
        low: lower end of its interval.
        high: upper end.
        p: of there being none.
    """

    sd: float
    low: float
    high: float
    p: float

    def times(self, factor: float) -> str:
        """For people, in per cent."""
        return f"{factor * self.sd:.2%} [{factor * self.low:.2%}, {factor * self.high:.2%}]"


@dataclass(frozen=True)
class Found:
    """What starts of different copies tell.

    Attributes:
        copies: each copy's log-capacity less the mean of all.
        error: standard error of one of these.
        start: standard deviation of a start of two copies.
        every: the spread of all copies.
        alike: the spread of copies that were made in one way, about their way's mean; None if no way has two.
    """

    copies: tuple[float, ...]
    error: float
    start: float
    every: Spread
    alike: Spread | None


def examine(starts: Sequence[Start], ways: Sequence[str]) -> Found:
    """The variance components of copies and of starts, from starts of different copies.

    Of N starts of k copies, the sum of squares that copies explain has k - 1 degrees of freedom and the expectation
    (k - 1) times the variance of a start + 2 N times that of a copy. Intervals are those of the F ratio.
    """
    count = len(ways)
    design = np.zeros((len(starts), count))
    for row, start in enumerate(starts):
        design[row, start.two], design[row, start.one] = 1.0, -1.0
    y = np.array([start.reading for start in starts])
    copies, *_ = np.linalg.lstsq(design, y, rcond=None)  # the shortest solution: its sum is 0
    within = len(starts) - count + 1
    variance = float(np.sum((y - design @ copies) ** 2)) / within
    weight = 2 * len(starts) / (count - 1)  # of the square of a copy's value in the sum of squares

    def component(values: Sequence[float], between: int) -> Spread:
        ratio = weight * sum(value * value for value in values) / between / variance
        low, high = (ratio / float(stats.f.ppf(q, between, within)) for q in (0.975, 0.025))
        sd, lower, upper = (math.sqrt(max(0.0, variance * (of - 1) / weight)) for of in (ratio, low, high))
        return Spread(sd, lower, upper, float(stats.f.sf(ratio, between, within)))

    means = {way: float(np.mean([copies[n] for n, of in enumerate(ways) if of == way])) for way in ways}
    off = [float(value) - means[way] for value, way in zip(copies, ways, strict=True)]
    return Found(
        copies=tuple(map(float, copies)),
        error=math.sqrt(variance / weight * (count - 1) / count),
        start=math.sqrt(variance),
        every=component([float(value) for value in copies], count - 1),
        alike=component(off, count - len(means)) if count > len(means) else None,
    )


def write(source: Path, place: Path, way: str) -> None:
    """A copy of a program by one of the ways."""
    content = source.read_bytes()
    piece = PAGE if way == "small" else len(content)
    with place.open("wb", buffering=0) as file:
        for offset in range(0, len(content), piece):
            file.write(content[offset : offset + piece])
        os.fsync(file.fileno())
        if way == "read":
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    place.chmod(0o755)
    if way == "read":
        subprocess.run([place, "--version"], check=True, stdout=subprocess.DEVNULL)


def lies(path: Path) -> str:
    """How a file lies in memory: how much of it, on pages of which sizes, in how many pieces; '' if that can't be seen.

    Nothing is read that is not in memory already.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        there = resident(file.fileno()) or []
        mapped.madvise(mmap.MADV_RANDOM)
        numbers = [number for number, here in enumerate(there) if here]
        for number in numbers:
            mapped[number * PAGE]
        place = next(line for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith(str(path)))
        try:
            with Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
                pagemap.seek(int(place.partition("-")[0], 16) // PAGE * 8)
                entries = struct.unpack(f"{len(there)}Q", pagemap.read(8 * len(there)))
            frames = [entries[number] & ((1 << 55) - 1) for number in numbers]
            flags = []
            with Path("/proc/kpageflags").open("rb", buffering=0) as kpageflags:
                for frame in frames:
                    kpageflags.seek(8 * frame)
                    flags.append(int.from_bytes(kpageflags.read(8), sys.byteorder))
        except OSError:
            return ""
    follows = [here == before + 1 for before, here in itertools.pairwise(frames)]
    sizes: dict[int, int] = {}
    length = 1
    for tail in [*(flag & TAIL and joined for flag, joined in zip(flags[1:], follows, strict=True)), 0]:
        if tail:
            length += 1
        else:
            sizes[length] = sizes.get(length, 0) + length
            length = 1
    shares = [(4 * pages, number / len(frames)) for pages, number in sorted(sizes.items())]
    words = ", ".join(f"{kib} KiB {share:.0%}" for kib, share in shares if share > 0.02)
    return f"{len(frames) / len(there):.0%} in memory: {words}; {follows.count(False) + 1} pieces"


@dataclass(frozen=True)
class Reading:
    """A start's figures: log-ratio of capacity, transactions per second of both sides, and its own wall time in s."""

    capacity: float
    rate: float
    seconds: float


class Duets:
    """Takes starts of two programs against each other.

    Args:
        engine: engine's name.
        workload: the load's name.
        program: the program that makes the data and says where its messages are.
        pairs: pairs in a start.
        folder: private folder.
    """

    def __init__(self, engine: str, workload: str, program: Path, pairs: int, folder: Path) -> None:
        self.found = prepare(engine, workload, program, folder)
        self.engine, self.built = self.found.engine, self.found.built
        self.timing = replace(self.found.spec.times[self.found.workload.design], pairs=pairs)

    def start(
        self,
        sides: Mapping[str, Built],
        seed: str,
        number: int,
        *,
        dropped: bool = False,
        observe: Observer = unobserved,
    ) -> Reading | None:
        """A start of the second side against the first; None, and a line, if it is invalid.

        Args:
            sides: two programs by label.
            seed: for slots and keys.
            number: of the start.
            dropped: whether the programs are dropped from memory before, as a study does.
            observe: see `burnish.bench.trials.Observer`.
        """
        data = self.found.copies.clean(self.found.workload, len(sides))
        left = [drop([built.server]) for built in sides.values()] if dropped else []
        if any(left):
            print(f"start {number}: {left} of the programs is still in memory", file=sys.stderr)
        scratch = Path(tempfile.mkdtemp(dir=self.found.folder))
        result = run_start(
            self.engine,
            self.found.workload,
            [Contestant(label, built, Condition()) for label, built in sides.items()],
            core_sets=self.found.core_sets,
            data=data,
            scratch=scratch,
            timing=self.timing,
            seed=seed,
            number=number,
            bench=self.found.bench,
            on_pair=lambda *_: None,
            observe=observe,
        )
        shutil.rmtree(scratch)
        if result.invalid:
            print(f"start {number} of {' and '.join(sides)}: {result.invalid}", file=sys.stderr)
            return None
        totals = [pair.total(label) for pair in result.pairs for label in sides]
        rate = 2 * sum(total.done for total in totals) / sum(total.seconds for total in totals)
        capacity = statistics.fmean(pair.ratio(*sides).capacity for pair in result.pairs)
        return Reading(capacity, rate, result.seconds)


def measure(arguments: argparse.Namespace, ways: Sequence[str], folder: Path) -> tuple[list[Start], list[str]]:
    """The starts, and how each copy lay in memory."""
    duets = Duets(arguments.engine, arguments.workload, arguments.program, arguments.pairs, folder)
    programs = []
    for number, way in enumerate(ways):
        place = folder / f"copy{number}" / duets.built.server.name
        place.parent.mkdir()
        write(duets.built.server, place, way)
        programs.append(replace(duets.built, server=place))
    memory = [lies(program.server) for program in programs]
    chance = random.Random(arguments.seed)
    starts: list[Start] = []
    for number in range(1, arguments.rounds + 1):
        pairs = [chance.choice((pair, pair[::-1])) for pair in itertools.combinations(range(len(ways)), 2)]
        pairs.append((number % len(ways), number % len(ways)))
        for one, two in chance.sample(pairs, len(pairs)):
            seed = f"copies {arguments.seed} {min(one, two)} {max(one, two)}"
            reading = duets.start({"one": programs[one], "two": programs[two]}, seed, number)
            if reading is not None:
                starts.append(Start(one, two, reading.capacity, reading.rate))
                figures = f"{reading.capacity:+.2%}, {reading.rate:,.0f}/s, {reading.seconds:.1f} s"
                print(f"round {number}: {two} against {one} {figures}", file=sys.stderr)
    for program in programs:
        print(f"{program.server.parent.name}, at the end: {lies(program.server)}", file=sys.stderr)
    return starts, memory


def print_tables(starts: Sequence[Start], ways: Sequence[str], memory: Sequence[str]) -> None:
    """What was found, as Markdown."""
    between = [start for start in starts if start.one != start.two]
    same = [start.reading for start in starts if start.one == start.two]
    found = examine(between, ways)
    print("| copy | way | capacity, off the mean of all | in memory at first |\n" + "| --- " * 4 + "|")
    for number, (way, value, lay) in enumerate(zip(ways, found.copies, memory, strict=True)):
        print(f"| {number} | {way} | {value:+.2%} ± {found.error:.2%} | {lay} |")
    ratio = f"{found.every.times(1)}, so of a ratio of two {found.every.times(math.sqrt(2))}"
    print(f"\n{len(between)} starts of two copies. Spread of a copy {ratio} (p = {found.every.p:.2g})")
    if found.alike is not None:
        print(f"Spread of copies made in one way {found.alike.times(1)} (p = {found.alike.p:.2g})")
    print(f"Spread of a start of two copies {found.start:.2%}")
    if len(same) > 1:
        about_0 = math.sqrt(statistics.fmean(value * value for value in same))
        print(f"Spread of a start of a copy against itself {about_0:.2%} ({len(same)} starts)")


def add_duet(parser: argparse.ArgumentParser, *, workload: str, ways: str, pairs: int) -> None:
    """Adds the options of a script that measures ways in duets, with the script's own defaults."""
    parser.add_argument("--engine", default="mariadb")
    parser.add_argument("--workload", default=workload)
    parser.add_argument("--ways", default=ways)
    parser.add_argument("--pairs", type=int, default=pairs)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)


def main() -> int:
    """Measures, or reads what was measured, and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, nargs="?")
    add_duet(parser, workload="oltp_point_select", ways=",".join(["whole"] * 6), pairs=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--read", type=Path)
    arguments = parser.parse_args()
    if arguments.read is not None:
        rows = list(csv.DictReader(arguments.read.read_text().splitlines()))
        starts = [
            Start(int(row["one"]), int(row["two"]), float(row["capacity"]), float(row["rate"] or "nan")) for row in rows
        ]
        known = {int(row[side]): (row[f"way_{side}"], "") for row in rows for side in ("one", "two")}
        print_tables(starts, *zip(*(known[number] for number in sorted(known)), strict=True))
        return 0
    if arguments.program is None:
        parser.error("a program to copy, or --read")
    ways = arguments.ways.split(",")
    with tempfile.TemporaryDirectory(prefix="copies-", dir=home().root) as name:
        starts, memory = measure(arguments, ways, Path(name))
    if arguments.out is not None:
        with arguments.out.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["one", "way_one", "two", "way_two", "capacity", "rate"])
            for start in starts:
                sides_of_start = (start.one, ways[start.one], start.two, ways[start.two])
                writer.writerow([*sides_of_start, f"{start.reading:.6f}", f"{start.rate:.0f}"])
    print_tables(starts, ways, memory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
