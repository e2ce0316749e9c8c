"""What a search asks for and is told, and what it was given beforehand; values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.search.space import Point, Step
from burnish.statistics.sequential import Rule

STRATEGIES = ("default", "ladder", "screen", "eliminate", "bayes", "random")
"""Names of strategies; `burnish.search.strategies` has them."""


@dataclass(frozen=True)
class Objective:
    """What is to become large.

    Attributes:
        weights: by load, its weight in the mean of log-ratios to the baseline.
        guards: loads on which the winner must not be slower than the baseline; they may have a weight too.
    """

    weights: Mapping[str, float]
    guards: tuple[str, ...] = ()

    @property
    def loads(self) -> tuple[str, ...]:
        """Every load that is measured."""
        return (*self.weights, *(load for load in self.guards if load not in self.weights))

    def score(self, readings: Mapping[str, float]) -> float:
        """The weighted mean of one start's log-ratios, by load."""
        total = sum(self.weights.values())
        return sum(weight * readings[load] for load, weight in self.weights.items()) / total


@dataclass(frozen=True)
class Costs:
    """What things take on this host, in seconds, as known before the search.

    Attributes:
        steps: by step, making and testing a build that differs by it from one that is there.
        start: one start of one load.
        gate: testing a build, a part of `steps`.
        baseline: what comes before the first candidate (the baseline's build, data sets, canaries).
        confirmation: one fresh start of one load, as the winner is measured again.
        after: what comes after the search within the same budget: ways to deploy its winner.
        later: what later sittings of its finalist take, within the same budget.
        kept: by known-good build of which the store has a part (the build, its profile), making the rest of it.
    """

    steps: Mapping[Step, float]
    start: float
    gate: float = 0.0
    baseline: float = 0.0
    confirmation: float = 0.0
    after: float = 0.0
    later: float = 0.0
    kept: Mapping[Point, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """How a search is done; recorded when it begins.

    Attributes:
        strategy: one of `STRATEGIES`.
        budget: seconds for everything; None: until the strategy has nothing left to try.
        seed: of everything random.
        costs: what things take.
        objective: what is searched for.
        rule: when two builds are told apart in the race; its looks are the numbers of starts that are taken.
        confirmation: fresh starts of the winner; 0: it is not measured again.
    """

    strategy: str
    budget: float | None
    seed: int
    costs: Costs
    objective: Objective
    rule: Rule = field(default_factory=lambda: Rule(cap=12, delta=0.005))
    confirmation: int = 8


@dataclass(frozen=True)
class Ask:
    """What is to be measured next.

    Attributes:
        number: from 1, in the order in which things are asked.
        point: the build.
        starts: how many more starts of it, of every load.
        stage: part of the search: ``ladder``, ``screen``, ``eliminate``, ``refine``, ``race``, ``bayes``, ``random``,
            ``confirm``.
        why: the reason, for people.
        fresh: whether these starts are a confirmation, which is not mixed with what the build was picked by.
        tested: whether the build passes the server's tests first (`burnish.search.desk.Want`).
    """

    number: int
    point: Point
    starts: int
    stage: str
    why: str
    fresh: bool = False
    tested: bool = True


@dataclass(frozen=True)
class Told:
    """What came of an ask.

    Attributes:
        readings: by load, one log-ratio to the baseline for each valid start.
        making: seconds that making and testing the build took, 0 if it was there.
        seconds: all seconds that it took, making included.
        digest: names the program's code: equal ones are measured once; '' if unknown.
        failed: why it could not be built, tested or measured; '' if it could.
        disturbed: whether only because the host was disturbed from outside, which is no fault of the build.
        settings: choices of the build that this is of, as recorded; None: told by whoever was asked.
        costs: by load, the logarithm of the baseline's CPU seconds per transaction in each of these starts; a load
            without them is not known.
    """

    readings: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    making: float = 0.0
    seconds: float = 0.0
    digest: str = ""
    failed: str = ""
    disturbed: bool = False
    settings: Mapping[str, str] | None = None
    costs: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
