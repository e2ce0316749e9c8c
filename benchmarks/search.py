"""How well a search finds a planted optimum: a simulated engine, repeated with many seeds; nothing is built.

    nice python benchmarks/search.py [--repetitions 40] [--seed 1] [--strategies default,random] [--hours 3]

An engine of 30 choices is drawn for each repetition: 4 that known-good builds are made of, and 26 of which 6 help by
1.5 to 4 %, 6 harm by as much, and 14 do nothing; two of those that help gain half as much together. A start reads the
truth with a standard deviation of 2 %. Steps take what they take for a small server, 20 % more or less each. Prints a
Markdown table: how often the announced winner is within 1 % of the best build of the whole space, how far it is from
it, how often a winner is announced where nothing was planted, how much of the budget was used, and in how many of ten
repetitions the default's winner is truly faster than that of the same budget spent otherwise.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from burnish.search.asks import Ask, Costs, Objective, Settings, Told
from burnish.search.report import Outcome, outcome
from burnish.search.search import Search
from burnish.search.space import Choice, Forbidden, Point, Space, Step

NOISE = 0.02
NEAR = 0.01
BUDGET = 3 * 3600.0
SECONDS = {Step.REWRITE: 8.0, Step.RELINK: 20.0, Step.COMPILE: 100.0}
START = 10.0


class Simulated(Protocol):
    """An engine whose builds' true speed is known, and which is read with noise."""

    @property
    def space(self) -> Space:
        """Its choices."""

    @property
    def costs(self) -> Costs:
        """Seconds of a build by its step, and of a start."""

    @property
    def best(self) -> float:
        """The true log-ratio of the best build of the whole space."""

    def truth(self, point: Point) -> float:
        """The true log-ratio of a build to the baseline."""

    def read(self, point: Point, random: Random) -> float:
        """The log-ratio that one start reads."""


@dataclass(frozen=True)
class Planted:
    """A simulated engine: its space, what each choice is worth (log-ratios), which two overlap."""

    space: Space
    worth: Mapping[str, float]
    overlap: tuple[str, str]
    costs: Costs = field(default=Costs(SECONDS, START))

    def truth(self, point: Point) -> float:
        """The true log-ratio of a build to the baseline."""
        on = dict(point.settings)
        both = all(name in on for name in self.overlap)
        return sum(self.worth[name] for name in on) - (
            0.5 * min(self.worth[name] for name in self.overlap) if both else 0.0
        )

    def read(self, point: Point, random: Random) -> float:
        """The log-ratio that one start reads."""
        return random.gauss(self.truth(point), NOISE)

    @property
    def best(self) -> float:
        """The true log-ratio of the best build of the whole space."""
        return max(
            self.truth(self.space.repaired(self.space.point({**dict.fromkeys(names, "on")}))) for names in self._sets()
        )

    def _sets(self) -> list[list[str]]:
        good = [name for name, worth in self.worth.items() if worth > 0.0]
        return [good, *([name for name in good if name != other] for other in self.overlap)]


def planted(seed: int, *, nothing: bool = False) -> Planted:
    """An engine drawn from a seed; of `nothing`, every build is as fast as the baseline."""
    random = Random(f"engine {seed}")
    steps = [Step.COMPILE] * 14 + [Step.RELINK] * 6 + [Step.REWRITE] * 6
    effects = (
        [random.uniform(0.015, 0.04) for _ in range(6)] + [-random.uniform(0.015, 0.04) for _ in range(6)] + [0.0] * 14
    )
    random.shuffle(effects)
    choices = [
        Choice("profile", ("off", "on")),
        Choice("lto", ("off", "on")),
        Choice("bolt", ("off", "on"), Step.RELINK),
        Choice("huge", ("off", "on"), Step.RELINK),
        *(Choice(f"c{number:02}", ("off", "on"), step) for number, step in enumerate(steps)),
    ]
    worth = {"profile": 0.15, "lto": 0.04, "bolt": 0.03, "huge": 0.0}
    worth |= {f"c{number:02}": effect for number, effect in enumerate(effects)}
    needs_bolt = [
        Forbidden({choice.name: ("on",), "bolt": ("off",)}) for choice in choices if choice.step is Step.REWRITE
    ]
    ladder = (("profile",), ("profile", "lto"), ("profile", "lto", "bolt"))
    space = Space(tuple(choices), tuple(needs_bolt))
    rungs = {"+".join(names): space.point(dict.fromkeys(names, "on")) for names in ladder}
    good = [name for name, effect in worth.items() if effect > 0.0 and name.startswith("c")]
    if nothing:
        worth = dict.fromkeys(worth, 0.0)
    return Planted(Space(space.choices, space.forbidden, rungs), worth, (good[0], good[1]))


def measured(engine: Simulated, ask: Ask, random: Random, built: set[Point]) -> Told:
    """What a simulated host tells of an ask."""
    step = min(
        (s for other in (*built, Point()) if (s := engine.space.step(ask.point, other)) is not None), default=None
    )
    costs = engine.costs
    making = 0.0 if ask.point in built or step is None else costs.steps[step] * random.uniform(0.8, 1.2)
    built.add(ask.point)
    readings = tuple(engine.read(ask.point, random) for _ in range(ask.starts))
    seconds = making + sum(costs.start * random.uniform(0.8, 1.2) for _ in readings)
    return Told({"load": readings}, making, seconds, digest=ask.point.words)


def settings_of(strategy: str, seed: int, budget: float, costs: Costs) -> Settings:
    """The settings of one repetition."""
    return Settings(strategy, budget, seed, costs, Objective({"load": 1.0}))


def run(engine: Simulated, strategy: str, seed: int, budget: float = BUDGET) -> Outcome:
    """One search on a simulated engine."""
    search, random, built = (
        Search(engine.space, settings_of(strategy, seed, budget, engine.costs)),
        Random(f"host {seed}"),
        set[Point](),
    )
    while asks := search.ask():
        for ask in asks:
            search.tell(ask.number, measured(engine, ask, random, built))
    return outcome(search)


def gap(engine: Simulated, found: Outcome) -> float:
    """How far a search's winner is below the best build (a log-ratio); the baseline counts where there is none."""
    return engine.best - engine.truth(found.winner or Point())


def row(strategy: str, seeds: Sequence[int], budget: float = BUDGET) -> tuple[list[str], list[float]]:
    """A strategy's line of the table, and its gaps by seed."""
    engines = [planted(seed) for seed in seeds]
    found = [run(engine, strategy, seed, budget) for engine, seed in zip(engines, seeds, strict=True)]
    gaps = [gap(engine, one) for engine, one in zip(engines, found, strict=True)]
    nothing = [run(planted(seed, nothing=True), strategy, seed, budget) for seed in seeds]
    used = [one.spent / budget for one in (*found, *nothing)]
    return [
        strategy,
        f"{sum(each <= NEAR for each in gaps)} of {len(seeds)}",
        f"{100 * statistics.median(gaps):.2f} %",
        f"{100 * max(gaps):.2f} %",
        f"{sum(one.winner is not None for one in nothing)} of {len(seeds)}",
        f"{statistics.fmean(len(one.arms) for one in found):.0f}",
        f"{100 * min(used):.0f} to {100 * max(used):.0f} %",
    ], gaps


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1, help="first seed; the others follow it")
    parser.add_argument("--strategies", default="default,screen,eliminate,ladder,random")
    parser.add_argument("--hours", type=float, default=BUDGET / 3600.0, help="budget of each")
    words = parser.parse_args()
    seeds = list(range(words.seed, words.seed + words.repetitions))
    head = [
        "strategy",
        "within 1 % of the best",
        "median gap",
        "largest gap",
        "winner where nothing is",
        "builds",
        "budget used",
    ]
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    gaps: dict[str, list[float]] = {}
    for strategy in words.strategies.split(","):
        cells, gaps[strategy] = row(strategy, seeds, 3600.0 * words.hours)
        print("| " + " | ".join(cells) + " |", flush=True)
    for strategy in itertools.islice(gaps, 1, None):
        pairs = list(zip(gaps["default"], gaps[strategy], strict=True))[:10] if "default" in gaps else []
        ahead = sum(one < other and not math.isclose(one, other) for one, other in pairs)
        print(f"\nThe default's winner is truly faster than {strategy}'s in {ahead} of {len(pairs)} repetitions.")


if __name__ == "__main__":
    main()
