"""What a server does in the moments in which its transactions are dear: why starts of a load scatter.

    python benchmarks/phases.py MARIADBD --workload oltp_update_index --functions row_purge_step,btr_compress

One server and its clients on the first core, nothing else. The load's ticks (20 in a second) and perf's samples of the
server (2,000 a second of its CPU, taken on the other core) have the same clock. Each line of `--out` is a tick: when,
s; transactions and server CPU, s, since the tick before; samples, and those that have each of the functions in their
stack. The table compares the dearest and the cheapest quarter of slices of 0.1 s, per transaction; below it stand the
spread of a slice's cost and the period at which it is most like itself. `--set NAME=VALUE` is a setting of the server;
`--read FILE` computes from such a file. Needs perf (Debian's linux-perf), as root, and a program with symbols.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import itertools
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from prepared import prepare, setting

from burnish.base.paths import home
from burnish.bench.pairs import Contestant
from burnish.bench.trials import run_start
from burnish.engines.ticks import TickFile
from burnish.model.condition import Condition
from burnish.model.workload import Design

Floats = npt.NDArray[np.float64]

FIELDS = ("at", "done", "cpu", "samples")
"""Columns of the file before those of the functions."""

FREQUENCY = 2000
"""Samples in a second of the server's CPU time."""

TICKS = 2
"""Ticks in a slice."""

LONGEST_S = 3.0
"""Longest period that is looked for."""


def stacks(script: Iterable[str]) -> Iterator[tuple[float, set[str]]]:
    """Time and functions of each sample, from `perf script -F tid,time,ip,sym`."""
    at, names = None, set[str]()
    for line in script:
        if begin := re.match(r"\s*\d+\s+(\d+\.\d+):", line):
            at, names = float(begin[1]), set()
        elif at is not None and not line.strip():
            yield at, names
            at = None
        elif at is not None:
            names.add(line.split(maxsplit=1)[-1].strip())
    if at is not None:
        yield at, names


def table(ticks: Floats, samples: Sequence[tuple[float, set[str]]], functions: Sequence[str]) -> list[list[float]]:
    """The lines of the file.

    Args:
        ticks: time, transactions and server CPU so far, shape (ticks, 3).
        samples: time and functions of each, in order.
        functions: names that are counted.
    """
    times = np.array([at for at, _ in samples])
    inside = ticks[(ticks[:, 0] >= times[0]) & (ticks[:, 0] <= times[-1])]
    lines = []
    for before, after in itertools.pairwise(inside):
        first, last = np.searchsorted(times, [before[0], after[0]])
        within = [names for _, names in samples[first:last]]
        counts = [sum(function in names for names in within) for function in functions]
        lines.append([after[0] - inside[0, 0], *(after - before)[1:], len(within), *counts])
    return lines


def slices(lines: Floats) -> Floats:
    """Sums over slices of `TICKS` ticks in which something was finished; the time is the last tick's."""
    whole = lines[: len(lines) // TICKS * TICKS].reshape(-1, TICKS, lines.shape[1])
    summed: Floats = whole.sum(axis=1)
    summed[:, 0] = whole[:, -1, 0]
    return summed[summed[:, 1] > 0]


def period(lines: Floats) -> tuple[float, float]:
    """The lag in seconds, from half of one on, at which progress is most like itself, and that correlation."""
    done, step = lines[:, 1], float(np.median(np.diff(lines[:, 0])))
    lags = np.arange(max(2, round(0.5 / step)), min(len(done) // 2, round(LONGEST_S / step)))
    alike = [float(np.corrcoef(done[:-lag], done[lag:])[0, 1]) for lag in lags]
    best = int(np.argmax(alike))
    return float(lags[best]) * step, alike[best]


def print_table(lines: Floats, functions: Sequence[str]) -> None:
    """What was found, as Markdown."""
    parts = slices(lines)
    cost = parts[:, 2] / parts[:, 1]
    dear, cheap = cost >= np.quantile(cost, 0.75), cost <= np.quantile(cost, 0.25)
    print("| of a transaction | dearest quarter | cheapest quarter | all |\n| --- | --- | --- | --- |")
    everything = np.ones(len(cost), bool)
    rows = {"server CPU": parts[:, 2]}
    rows |= {name: parts[:, len(FIELDS) + at] / FREQUENCY for at, name in enumerate(functions)}
    for name, spent in rows.items():
        cells = [f"{1e6 * spent[some].sum() / parts[some, 1].sum():.1f} us" for some in (dear, cheap, everything)]
        print(f"| {name} | {' | '.join(cells)} |")
    lag, alike = period(lines)
    print(
        f"\n{len(parts)} slices; the logarithm of a slice's cost has a standard deviation of {np.log(cost).std():.2f}; "
        f"progress repeats itself after {lag:.2f} s (r = {alike:.2f})"
    )


def read(path: Path) -> tuple[Floats, list[str]]:
    """The lines of such a file, and its functions."""
    with path.open(newline="") as file:
        titles, *lines = csv.reader(file)
    return np.array(lines, dtype=np.float64), titles[len(FIELDS) :]


@contextlib.contextmanager
def sampled(pids: Iterable[int], core: int, output: Path) -> Iterator[None]:
    """Samples these processes while it is active; perf itself has another core than they."""
    words = ["perf", "record", "-q", "-k", "mono", "-e", "cpu-clock", "-F", str(FREQUENCY), "-g"]
    words += ["-p", ",".join(map(str, pids)), "-o", str(output)]
    perf = subprocess.Popen(["taskset", "-c", str(core), *words])
    time.sleep(0.5)  # until it samples
    try:
        yield
    finally:
        perf.send_signal(signal.SIGINT)
        perf.wait()


def measure(arguments: argparse.Namespace, functions: Sequence[str]) -> Floats:
    """The lines of one start."""
    if shutil.which("perf") is None:
        sys.exit("needs perf: apt-get install linux-perf")
    condition = Condition(settings=tuple(map(setting, arguments.set)))
    with tempfile.TemporaryDirectory(prefix="phases-", dir=home().root) as place:
        folder = Path(place)
        found = prepare(arguments.engine, arguments.workload, arguments.program, folder)
        of_server, of_perf = found.core_sets
        timing = replace(dict(found.spec.times)[Design.SOLO], pairs=1, turns=2, window=arguments.seconds)
        start = folder / "start"
        start.mkdir()

        def observe(number: int, pids: Mapping[str, Sequence[int]]) -> contextlib.AbstractContextManager[None]:  # noqa: ARG001
            return sampled(pids["one"], min(of_perf), folder / "perf.data")

        result = run_start(
            found.engine,
            found.workload,
            [Contestant("one", found.built, condition)],
            design=Design.SOLO,
            core_sets=[of_server],
            data=found.copies.clean(found.workload, 1),
            scratch=start,
            timing=timing,
            seed="phases",
            number=1,
            bench=found.bench,
            on_pair=lambda *_: None,
            observe=observe,
        )
        if result.invalid:
            sys.exit(result.invalid)
        script = subprocess.run(
            ["perf", "script", "-i", folder / "perf.data", "-F", "tid,time,ip,sym"],
            capture_output=True,
            text=True,
            errors="replace",
            check=True,
        )
        (file,) = start.rglob("ticks.jsonl")
        ticks = np.array([[tick.at, tick.done, tick.server_cpu] for tick in TickFile(file).ticks()])
        return np.array(table(ticks, list(stacks(script.stdout.splitlines())), functions))


def main() -> int:
    """Measures, or reads what was measured, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, nargs="?")
    parser.add_argument("--engine", default="mariadb")
    parser.add_argument("--workload", default="oltp_update_index")
    parser.add_argument("--functions", default="")
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--read", type=Path)
    arguments = parser.parse_args()
    if arguments.read is not None:
        print_table(*read(arguments.read))
        return 0
    if arguments.program is None:
        parser.error("a program to measure, or --read")
    functions = [name for name in arguments.functions.split(",") if name]
    lines = measure(arguments, functions)
    if arguments.out is not None:
        with arguments.out.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*FIELDS, *functions])
            writer.writerows(
                [[f"{line[0]:.3f}", int(line[1]), f"{line[2]:.6f}", *map(int, line[3:])] for line in lines]
            )
    print_table(lines, functions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
