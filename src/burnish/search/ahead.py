"""What a search is expected to do: its stages with their times, and the smallest budget that is enough; pure.

The strategy itself is asked, and told what is usual: known-good builds gain what they are expected to, nothing else
gains anything. What it asks then is what it would do first; a real one goes another way as soon as it measures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from burnish.record.events.searches import PriorTaken
from burnish.search.asks import Ask, Settings, Told
from burnish.search.search import Search, least_budget, replayed
from burnish.search.space import Point, Space

SPREAD = 0.01
"""Standard deviation of a start's log-ratio that is told."""


@dataclass(frozen=True)
class StageAhead:
    """A stage of a search as it is expected.

    Attributes:
        name: of the stage, as in `Ask`.
        builds: number of builds that are made in it.
        starts: number of starts of one load that are taken in it.
        seconds: expected time.
    """

    name: str
    builds: int
    starts: int
    seconds: float


@dataclass(frozen=True)
class PriorAhead:
    """The prior that a search takes.

    Attributes:
        asked: words of ``--prior``; empty: it was not given, which means the runs of the home.
        runs: names of the runs of whose results something is of use.
        taken: what they say of the space.
        begun: whether an interrupted run began with it, and goes on with it.
    """

    asked: tuple[str, ...]
    runs: tuple[str, ...]
    taken: PriorTaken
    begun: bool


@dataclass(frozen=True)
class Ahead:
    """What a search is expected to do.

    Attributes:
        strategy: the strategy's name.
        choices: number of choices.
        size: number of builds that are allowed.
        budget: seconds for everything; None: no bound.
        least: the smallest budget that is enough, seconds: baseline, cheapest candidate, measuring that again.
        baseline: seconds that come before the first candidate.
        steps: by what must be made again, the expected seconds.
        start: expected seconds of one start of one load.
        after: expected seconds of what comes after the search: ways to deploy its winner.
        later: expected seconds of later sittings of its finalist.
        told: number of steps that an interrupted run of the same search has done already.
        stages: the stages in order.
        prior: the earlier results that it begins with; None: not looked up.
    """

    strategy: str
    choices: int
    size: int
    budget: float | None
    least: float
    baseline: float
    steps: Mapping[str, float]
    start: float
    after: float
    later: float
    told: int
    stages: tuple[StageAhead, ...]
    prior: PriorAhead | None = None

    @property
    def seconds(self) -> float:
        """Expected time of all that is still to be done."""
        return (0.0 if self.told else self.baseline) + sum(one.seconds for one in self.stages) + self.after + self.later

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for machines."""
        return {**asdict(self), "seconds": self.seconds}


def ahead(space: Space, settings: Settings, told: Mapping[int, Told], *, begun: bool = False) -> Ahead:
    """What a search is expected to do.

    Args:
        space: what may be built.
        settings: how it is searched.
        told: what an interrupted run of it was told, by number of the ask.
        begun: whether there is such a run.

    Raises:
        UserError: as from `Search`.
    """
    search = replayed(space, settings, told, begun=begun)
    least = least_budget(Search(space, settings, begun=begun).desk)
    random, usual = Random(settings.seed), _usual(space)
    stages: list[StageAhead] = []
    while asks := search.ask():
        for stage in _told(search, asks, usual, random):
            stages = _added(stages, stage)
    costs = settings.costs
    return Ahead(
        strategy=settings.strategy,
        choices=len(space.choices),
        size=space.size,
        budget=settings.budget,
        least=least,
        baseline=costs.baseline,
        steps={step.word: seconds for step, seconds in sorted(costs.steps.items())},
        start=costs.start,
        after=costs.after,
        later=costs.later,
        told=len(told),
        stages=tuple(stages),
    )


@dataclass(frozen=True)
class Rungs:
    """The known-good builds of a search, by name.

    Attributes:
        fitting: those that it begins with.
        late: those that its budget has no time for.
        deferred: those that it leaves for its end, as another one has all that they have.
    """

    fitting: tuple[str, ...]
    late: tuple[str, ...]
    deferred: tuple[str, ...] = ()


def rungs_ahead(space: Space, settings: Settings, told: Mapping[int, Told], *, begun: bool = False) -> Rungs:
    """The known-good builds that a search is expected to measure first, and those that it leaves out or for its end.

    Arguments and errors are those of `ahead`, which goes on after them.
    """
    search = replayed(space, settings, told, begun=begun)
    random, usual = Random(settings.seed), _usual(space)
    while (asks := search.ask()) and all(ask.stage == "ladder" for ask in asks):
        _told(search, asks, usual, random)
    arms, late, deferred = search.desk.book.arms, search.desk.late, search.desk.deferred
    rest = {name: point for name, point in space.rungs.items() if point not in arms}
    return Rungs(
        tuple(name for name in space.rungs if name not in rest),
        tuple(name for name, point in rest.items() if point in late),
        tuple(name for name, point in rest.items() if point in deferred and point not in late),
    )


def _told(
    search: Search, asks: Sequence[Ask], usual: Mapping[tuple[str, str], float], random: Random
) -> list[StageAhead]:
    """Tells a search what is usual of its asks; returns what each of them takes."""
    stages = []
    for number, ask in enumerate(asks):
        before = [one.point for one in asks[:number]]
        expected, new = _expected(search, ask, before, usual, random)
        taken = ask.starts * len(search.desk.settings.objective.loads)
        stages.append(StageAhead(ask.stage, int(new), taken, expected.seconds))
        search.tell(ask.number, expected)
    return stages


def _usual(space: Space) -> Mapping[tuple[str, str], float]:
    """By (choice, level), what a level of a known-good build is expected to gain, a log-ratio."""
    pairs = {pair for point in space.rungs.values() for pair in point.settings}
    return {pair: space.choice(pair[0]).expected for pair in pairs}


def _expected(
    search: Search, ask: Ask, before: Sequence[Point], usual: Mapping[tuple[str, str], float], random: Random
) -> tuple[Told, bool]:
    """What is usually told of an ask, others having been made before it, and whether its build has to be made."""
    desk, costs = search.desk, search.desk.settings.costs
    step = desk.step_of(ask.point, before)
    making = desk.making_for(ask.point, before, tested=ask.tested)
    loads = desk.settings.objective.loads
    start = costs.confirmation or costs.start if ask.fresh else costs.start
    truth = sum(usual.get(pair, 0.0) for pair in ask.point.settings)
    readings = {load: tuple(random.gauss(truth, SPREAD) for _ in range(ask.starts)) for load in loads}
    return Told(readings, making, making + ask.starts * len(loads) * start, ask.point.words), step is not None


def _added(stages: list[StageAhead], more: StageAhead) -> list[StageAhead]:
    """The stages with another one, which is joined to the last if that is of the same name."""
    if stages and stages[-1].name == more.name:
        last = stages.pop()
        more = StageAhead(more.name, last.builds + more.builds, last.starts + more.starts, last.seconds + more.seconds)
    return [*stages, more]
