"""How far starts of a build against itself scatter under designs and turns: which way to read a load decides soonest.

    python benchmarks/turns.py MARIADBD --workload oltp_update_non_index --ways duet:20x0.1,interleaved:2x2 [--starts 8]

A way is a design with its turns in a pair and the seconds of a turn; `@FOLDER` behind it puts the data there (a file
system in memory, another disk), `+still` suspends the server of the side that rests, `+NAME=VALUE` is a setting of
both servers. Ways take turns start by start, in an order drawn for each round, so that the host's moods are shared.
Prints a row for each way: wall time of a start, standard deviation of a start's ratio and how far off 1 the mean is
(both of capacity, in per cent), what a transaction costs, the minutes of starts that +-1 % would take at that spread,
and the share of the time in which the server's cores waited for a device. With `--other PROGRAM` the second side is
another program, and `off 1` is their ratio; `--set NAME=VALUE` is a setting for all ways. The starts go to `--out` as
CSV, each as soon as it is read; `--read FILE` computes from such a file.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import math
import random
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from prepared import prepare, setting
from scipy import stats

from burnish.base.paths import home
from burnish.bench.pairs import Contestant, StartResult
from burnish.bench.trials import run_start
from burnish.model.condition import Condition
from burnish.model.workload import Design, Timing
from burnish.statistics.planning import starts_needed

SIDES = ("one", "other")
TITLES = (
    "way",
    "starts",
    "a start",
    "spread",
    "off 1",
    "of throughput",
    "a transaction",
    "minutes for 1 %",
    "throughput off 1",
    "waits",
)


@dataclass(frozen=True)
class Start:
    """A start.

    Attributes:
        round: its round.
        way: its way, as on the command line.
        capacity: log-ratio of capacity.
        throughput: log-ratio of throughput.
        seconds: wall time.
        cost: server CPU of a transaction, s.
        wait: share of its time in which a server's cores waited for a device.
    """

    round: int
    way: str
    capacity: float
    throughput: float
    seconds: float
    cost: float
    wait: float


@dataclass(frozen=True)
class Way:
    """A design with its turns.

    Attributes:
        name: as on the command line.
        design: the design.
        timing: its times.
        folder: where the data are; None: in Burnish's home.
        still: whether a side that rests has its server suspended.
        settings: names and values of both servers' settings.
    """

    name: str
    design: Design
    timing: Timing
    folder: Path | None = None
    still: bool = False
    settings: tuple[tuple[str, str], ...] = ()


def start_of(number: int, way: str, result: StartResult) -> Start:
    """What a valid start gave."""
    found = [pair.ratio(*SIDES) for pair in result.pairs]
    totals = [pair.total(label) for pair in result.pairs for label in SIDES]
    return Start(
        round=number,
        way=way,
        capacity=statistics.fmean(ratio.capacity for ratio in found),
        throughput=statistics.fmean(ratio.throughput for ratio in found),
        seconds=result.seconds,
        cost=statistics.fmean(1 / total.capacity for total in totals),
        wait=sum(total.device for total in totals) / sum(total.seconds for total in totals),
    )


def row(way: str, starts: Sequence[Start]) -> str:
    """The row of the table: of a way's starts."""
    ratios, seconds = [start.capacity for start in starts], statistics.fmean(start.seconds for start in starts)
    if len(starts) < 2:
        return f"| {way} | {len(starts)} |{' - |' * (len(TITLES) - 2)}"
    spread, rough = statistics.stdev(ratios), statistics.stdev(start.throughput for start in starts)
    half = stats.t.ppf(0.975, len(starts) - 1) * spread / math.sqrt(len(starts))
    minutes = starts_needed(spread, 0.01) * seconds / 60
    return (
        f"| {way} | {len(starts)} | {seconds:.1f} s | {spread:.2%} | "
        f"{statistics.fmean(ratios):+.2%} ± {half:.2%} | {rough:.2%} | "
        f"{1e6 * statistics.fmean(start.cost for start in starts):.1f} us | {minutes:.0f} | "
        f"{statistics.fmean(start.throughput for start in starts):+.2%} | "
        f"{statistics.fmean(start.wait for start in starts):.0%} |"
    )


def print_table(starts: Sequence[Start]) -> None:
    """What was found, as Markdown; the ways in the order of their first starts."""
    print(f"| {' | '.join(TITLES)} |\n|{' --- |' * len(TITLES)}")
    for way in dict.fromkeys(start.way for start in starts):
        print(row(way, [start for start in starts if start.way == way]))


def written(start: Start) -> list[str]:
    """A start as a line of the file: every digit, so that the table computed from it is the table printed."""
    return [str(value) for value in vars(start).values()]


def read(path: Path) -> list[Start]:
    """The starts of such a file."""
    rows = csv.DictReader(path.read_text().splitlines())
    numbers = ("capacity", "throughput", "seconds", "cost", "wait")
    return [Start(int(line["round"]), line["way"], **{name: float(line[name]) for name in numbers}) for line in rows]


def read_way(word: str, times: dict[Design, Timing], pairs: int | None) -> Way:
    """A way as it stands on the command line: DESIGN[:TURNSxSECONDS][@FOLDER][+still][+NAME=VALUE]."""
    plain, *extras = word.split("+")
    plain, _, folder = plain.partition("@")
    design, _, turns = plain.partition(":")
    timing = times[Design(design)]
    if turns:
        count, _, seconds = turns.partition("x")
        timing = replace(timing, turns=int(count), window=float(seconds), settle=min(0.25, 0.3 * float(seconds)))
    place = Path(folder) if folder else None
    timing = replace(timing, pairs=pairs or timing.pairs)
    settings = tuple(setting(extra) for extra in extras if extra != "still")
    return Way(word, Design(design), timing, folder=place, still="still" in extras, settings=settings)


def measure(arguments: argparse.Namespace) -> list[Start]:
    """The valid starts of all ways; each goes to the file as soon as it is read."""
    order = random.Random(1)
    starts: list[Start] = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="turns-", dir=home().root)))
        found = prepare(arguments.engine, arguments.workload, arguments.program, folder)
        ways = [read_way(word, dict(found.spec.times), arguments.pairs) for word in arguments.ways.split(",")]
        programs = [found.built, found.engine.existing(arguments.other) if arguments.other else found.built]
        common = tuple(map(setting, arguments.set))
        file = stack.enter_context(arguments.out.open("w", newline="")) if arguments.out is not None else None
        writer = None if file is None else csv.writer(file, lineterminator="\n")
        if writer is not None:
            writer.writerow(field.name for field in fields(Start))
        for number in range(1, arguments.starts + 1):
            for way in order.sample(ways, len(ways)):
                shutil.rmtree(folder / "start", ignore_errors=True)
                (folder / "start").mkdir()
                condition = Condition(settings=common + way.settings)
                result = run_start(
                    found.engine,
                    found.workload,
                    [Contestant(label, one, condition) for label, one in zip(SIDES, programs, strict=True)],
                    design=way.design,
                    core_sets=found.core_sets,
                    data=replace(found.copies, scratch=way.folder or folder).clean(found.workload, len(SIDES)),
                    scratch=folder / "start",
                    timing=way.timing,
                    seed=f"turns {way.name}",
                    number=number,
                    bench=found.bench,
                    on_pair=lambda *_: None,
                    still=way.still,
                )
                if result.invalid:
                    print(f"{way.name}, start {number}: {result.invalid}", file=sys.stderr)
                    continue
                starts.append(start_of(number, way.name, result))
                if file is not None and writer is not None:
                    writer.writerow(written(starts[-1]))
                    file.flush()
                figures = f"capacity {starts[-1].capacity:+.2%}, throughput {starts[-1].throughput:+.2%}"
                print(f"start {number}: {way.name}: {figures}", file=sys.stderr, flush=True)
    return starts


def main() -> int:
    """Measures, or reads what was measured, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, nargs="?")
    parser.add_argument("--engine", default="mariadb")
    parser.add_argument("--workload", default="oltp_read_only")
    parser.add_argument("--ways", default="duet,interleaved")
    parser.add_argument("--starts", type=int, default=8)
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--other", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--read", type=Path)
    arguments = parser.parse_args()
    if arguments.read is None and arguments.program is None:
        parser.error("a program to measure, or --read")
    print_table(measure(arguments) if arguments.read is None else read(arguments.read))
    return 0


if __name__ == "__main__":
    sys.exit(main())
