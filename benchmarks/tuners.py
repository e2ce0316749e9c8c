"""Burnish's search, OpenTuner and random search on the same simulated engines, with the same host and budget.

    nice python benchmarks/tuners.py --opentuner /tmp/opentuner/bin/python [--repetitions 10] [--seed 1] [--hours 3]

Engines, hosts and costs are those of `benchmarks/search.py`. OpenTuner runs in an environment of its own, through its
ask and tell API (`benchmarks/opentuner_asks.py` says how to make it). It begins with the same known-good builds, is
told the geometric mean of a build's first three starts, and announces what is best by these. A configuration that
breaks a rule of the space is made allowed, as random search's are; one that it asks for again costs nothing. It may
use the whole budget, while Burnish and random search keep some for fresh starts of their winner.

Prints a Markdown table: for each engine how far the announced build is truly below the best of the whole space.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import IO

from burnish.search.asks import Ask
from burnish.search.space import Point
from search import BUDGET, NEAR, Simulated, gap, measured, planted, run

STARTS = 3
"""Starts of each configuration that OpenTuner is told of: as many as Burnish's first look."""

REPEATED = 500
"""Configurations in a row that are known already, after which OpenTuner is at its end."""


class Asker:
    """OpenTuner in its own process.

    Args:
        python: the interpreter of its environment.
        engine: the simulated engine.
        seed: of its random numbers.
    """

    def __init__(self, python: Path, engine: Simulated, seed: int) -> None:
        script = Path(__file__).with_name("opentuner_asks.py")
        self._process = subprocess.Popen(
            [python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        space = engine.space
        self._say(
            {
                "choices": {choice.name: choice.levels for choice in space.choices},
                "known": [space.levels(point) for point in space.rungs.values()],
                "seed": seed,
            }
        )

    def ask(self) -> dict[str, str]:
        """The next configuration that it wants measured."""
        line = self._stream(self._process.stdout).readline()
        if not line:
            sys.exit(f"OpenTuner ended:\n{self._stream(self._process.stderr).read()}")
        return dict(json.loads(line))

    def tell(self, seconds: float) -> None:
        """Says how long its last configuration took."""
        self._say(seconds)

    def end(self) -> None:
        """Ends it."""
        self._stream(self._process.stdin).close()
        self._process.kill()
        self._process.wait()

    def _say(self, value: object) -> None:
        stream = self._stream(self._process.stdin)
        stream.write(json.dumps(value) + "\n")
        stream.flush()

    @staticmethod
    def _stream(stream: IO[str] | None) -> IO[str]:
        assert stream is not None
        return stream


@contextmanager
def asking(python: Path, engine: Simulated, seed: int) -> Iterator[Asker]:
    """OpenTuner on a simulated engine, ended afterwards."""
    asker = Asker(python, engine, seed)
    try:
        yield asker
    finally:
        asker.end()


def opentuner(python: Path, engine: Simulated, seed: int, budget: float) -> tuple[Point, int]:
    """The best build by OpenTuner's own account within a budget, and the number of builds that it had made."""
    random, built, known = Random(f"host {seed}"), set[Point](), dict[Point, float]()
    left, again = budget, 0
    with asking(python, engine, seed) as asker:
        while again < REPEATED:
            point = engine.space.repaired(engine.space.point(asker.ask()))
            if point in known or not point.settings:
                again += 1
                asker.tell(math.exp(-known.get(point, 0.0)))
                continue
            told = measured(engine, Ask(len(known) + 1, point, STARTS, "opentuner", ""), random, built)
            left, again = left - told.seconds, 0
            if left < 0.0:
                break
            known[point] = statistics.fmean(told.readings["load"])
            asker.tell(math.exp(-known[point]))
    return max(known, key=lambda one: known[one], default=Point()), len(known)


def row(engine: Simulated, seed: int, python: Path, budget: float) -> tuple[list[float], list[int], bool]:
    """Gaps of the three on one engine, how many builds each made, and whether ours made one near the best."""
    ours, drawn = (run(engine, strategy, seed, budget) for strategy in ("default", "random"))
    theirs, builds = opentuner(python, engine, seed, budget)
    gaps = [gap(engine, ours), engine.best - engine.truth(theirs), gap(engine, drawn)]
    near = any(engine.best - engine.truth(arm.point) <= NEAR for arm in ours.arms)
    return gaps, [len(ours.arms), builds, len(drawn.arms)], near


def _line(cells: Sequence[object]) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def table(engines: Mapping[int, Simulated], python: Path, budget: float) -> None:
    """Prints what the three find within a budget (seconds) on engines, by their seeds."""
    names = ("Burnish", "OpenTuner", "random")
    _line(["seed", *names, *(f"builds: {name}" for name in names)])
    _line(["---"] * 7)
    gaps, builds, nears = [], [], 0
    for seed, engine in engines.items():
        own, made, near = row(engine, seed, python, budget)
        nears += near
        gaps.append(own)
        builds.append(made)
        _line([seed, *(f"{100 * one:.2f} %" for one in own), *made])
    columns = list(zip(*gaps, strict=True))
    medians = [f"{100 * statistics.median(column):.2f} %" for column in columns]
    _line(["median", *medians, *(f"{statistics.median(column):.0f}" for column in zip(*builds, strict=True))])
    for number, name in enumerate(names[1:], 1):
        ahead = sum(own[0] < own[number] and not math.isclose(own[0], own[number]) for own in gaps)
        behind = sum(own[0] > own[number] and not math.isclose(own[0], own[number]) for own in gaps)
        print(f"\nBurnish's build is truly faster than {name}'s in {ahead} of {len(gaps)}, slower in {behind}.")
    within = ", ".join(
        f"{name}'s in {sum(one <= NEAR for one in column)}" for name, column in zip(names, columns, strict=True)
    )
    print(f"\nWithin 1 % of the best: {within}; Burnish measured such a build in {nears}.")
    best = ", ".join(
        f"{name}'s in {sum(math.isclose(one, 0.0, abs_tol=1e-9) for one in column)}"
        for name, column in zip(names, columns, strict=True)
    )
    print(f"\nThe best itself: {best}: of two that found it none is ahead.")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opentuner", type=Path, required=True, help="Python with OpenTuner")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1, help="first seed; the others follow it")
    parser.add_argument("--hours", type=float, default=BUDGET / 3600.0, help="budget of each")
    words = parser.parse_args()
    seeds = range(words.seed, words.seed + words.repetitions)
    table({seed: planted(seed) for seed in seeds}, words.opentuner, 3600.0 * words.hours)


if __name__ == "__main__":
    main()
