"""What a search gains by not testing the builds of its screens: simulated engines, each searched both ways.

    nice python benchmarks/untested.py [--repetitions 40] [--seed 1] [--gate 60] [--hours 1,1.5,2,3]

Engines, hosts and costs are those of `benchmarks/search.py`, and testing a build takes `--gate` seconds more. Once
every build is tested before it is measured; once, as a search does it, those of a screen are not, and what it goes on
with is tested before. Every build would pass. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from burnish.search.asks import Costs
from burnish.search.report import Outcome, outcome
from burnish.search.search import Search
from burnish.search.space import Point
from search import NEAR, SECONDS, START, Planted, gap, measured, planted, settings_of


def run(engine: Planted, seed: int, budget: float, gate: float, *, deferred: bool) -> Outcome:
    """One search on a simulated engine whose builds are tested for `gate` seconds."""
    steps = {step: seconds + gate for step, seconds in SECONDS.items()}
    settings = settings_of("default", seed, budget, Costs(steps, START, gate=gate if deferred else 0.0))
    search, random = Search(engine.space, settings), Random(f"host {seed}")
    built, tested = set[Point](), set[Point]()
    while asks := search.ask():
        for ask in asks:
            new = ask.point not in built
            told = measured(engine, ask, random, built)
            spent = gate if ask.tested and ask.point not in tested else 0.0
            tested |= {ask.point} if ask.tested else set()
            making = told.making + spent if new else told.making
            search.tell(ask.number, replace(told, making=making, seconds=told.seconds + spent))
    return outcome(search)


def row(seeds: Sequence[int], hours: float, gate: float, *, deferred: bool) -> list[str]:
    """A line of the table."""
    budget = 3600.0 * hours
    engines = [planted(seed) for seed in seeds]
    found = [run(engine, seed, budget, gate, deferred=deferred) for engine, seed in zip(engines, seeds, strict=True)]
    gaps = [gap(engine, one) for engine, one in zip(engines, found, strict=True)]
    nothing = [run(planted(seed, nothing=True), seed, budget, gate, deferred=deferred) for seed in seeds]
    return [
        f"{hours:g} h",
        "when it goes on" if deferred else "every build",
        f"{sum(each <= NEAR for each in gaps)} of {len(seeds)}",
        f"{100 * statistics.median(gaps):.2f} %",
        f"{100 * statistics.fmean(gaps):.2f} %",
        f"{sum(one.winner is not None for one in nothing)} of {len(seeds)}",
        f"{statistics.fmean(len(one.arms) for one in found):.0f}",
        f"{100 * max(one.spent for one in (*found, *nothing)) / budget:.0f} %",
    ]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1, help="first seed; the others follow it")
    parser.add_argument("--gate", type=float, default=60.0, help="seconds of testing a build")
    parser.add_argument("--hours", default="1,1.5,2,3", help="budgets")
    words = parser.parse_args()
    seeds = range(words.seed, words.seed + words.repetitions)
    head = [
        "budget",
        "tested",
        "within 1 %",
        "median gap",
        "mean gap",
        "winner where nothing is",
        "builds",
        "most used",
    ]
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for hours in map(float, words.hours.split(",")):
        for deferred in (False, True):
            print("| " + " | ".join(row(seeds, hours, words.gate, deferred=deferred)) + " |", flush=True)


if __name__ == "__main__":
    main()
