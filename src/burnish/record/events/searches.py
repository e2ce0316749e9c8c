"""What happened in a search for the fastest build: how it was asked, what each step told, what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.record.events.base import Event


@dataclass(frozen=True)
class PriorTaken:
    """What a search takes from earlier results, as a prior: it says what is tried first and counts in no verdict.

    Attributes:
        near: number of results of this host on a load that is searched for.
        elsewhere: number of results of other hosts or loads.
        expected: by choice of which something is known, how much it is expected to bring, a log-ratio.
        rungs: by name, the choices of known-good builds that are added: those that were best earlier.
        first: names of the known-good builds that are measured first.
    """

    near: int = 0
    elsewhere: int = 0
    expected: Mapping[str, float] = field(default_factory=dict)
    rungs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    first: tuple[str, ...] = ()


@dataclass(frozen=True)
class SearchBegun(Event):
    """A search begins; with what it was told since, it decides the same again.

    Attributes:
        strategy: name of its strategy.
        budget: seconds for everything; None: no bound.
        seed: of everything random in its decisions.
        space: digest of what it may build.
        choices: number of choices.
        size: number of builds that are allowed.
        steps: by what must be made again, the expected seconds.
        start: expected seconds of a start of one load.
        before: seconds that the baseline took.
        again: expected seconds of a fresh start of one load.
        weights: by load, its weight.
        guards: loads on which the winner must not be slower.
        confirmation: number of fresh starts.
        cap: starts of a build at most.
        allowed: marks that its builds may have.
        objective: what it is for, as asked (``p99@400``); '': as much work as possible.
        prior: names of earlier runs whose results are its prior.
        after: expected seconds of ways to deploy its winner, which are kept of the budget.
        later: expected seconds of later sittings of its finalist, which are kept too.
        taken: what they say; None in older records.
        kept: by name of a known-good build of which the store has a part (the build, its profile), the expected seconds
            of making the rest.
        gate: expected seconds of a build's tests, which are a part of `steps`; 0 in older records.
    """

    strategy: str
    budget: float | None
    seed: int
    space: str
    choices: int
    size: int
    steps: Mapping[str, float]
    start: float
    before: float
    again: float
    weights: Mapping[str, float]
    guards: tuple[str, ...] = ()
    confirmation: int = 8
    cap: int = 12
    allowed: tuple[str, ...] = ()
    objective: str = ""
    prior: tuple[str, ...] = ()
    after: float = 0.0
    later: float = 0.0
    taken: PriorTaken | None = None
    kept: Mapping[str, float] = field(default_factory=dict)
    gate: float = 0.0


@dataclass(frozen=True)
class SearchTold(Event):
    """What one step of a search came to.

    Attributes:
        number: the step, from 1.
        variant: the build's name.
        settings: its choices that do not have their usual level.
        stage: part of the search.
        why: why it was asked, in words.
        starts: how many more starts were asked for.
        fresh: whether they are the winner's confirmation.
        readings: by load, a log-ratio to the baseline for each valid start.
        making: seconds that making and testing the build took.
        seconds: all seconds that it took, those of a session that was killed included.
        digest: names the program's code; '' if it is not known.
        failed: why it could not be measured; '' if it could.
        recipe: how it is built, as plain values.
        costs: by load, the logarithm of the baseline's CPU seconds per transaction in each of these starts; a load that
            has none is not corrected for it, as older records are not, which have None.
        tested: whether the server's own tests were run on the build; of one that was not tested, only effects of
            choices are read.
        disturbed: whether it failed only because the host was disturbed from outside, which says nothing of its
            choices; false in older records.
    """

    number: int
    variant: str
    settings: Mapping[str, str]
    stage: str
    why: str
    starts: int
    fresh: bool
    readings: Mapping[str, tuple[float, ...]]
    making: float
    seconds: float
    digest: str = ""
    failed: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    costs: Mapping[str, tuple[float, ...]] | None = None
    tested: bool = True
    disturbed: bool = False


@dataclass(frozen=True)
class MainEffect:
    """What a choice does, on average over the builds of a screen.

    Attributes:
        choice: the choice.
        level: its new level.
        ratio: of the new level to the old one.
        low: lower end of its 95 % interval.
        high: upper end.
        builds: number of builds that it was read from.
    """

    choice: str
    level: str
    ratio: float
    low: float
    high: float
    builds: int


@dataclass(frozen=True)
class FinalistOn:
    """What the fresh starts of a search's finalist say of one load.

    Attributes:
        load: the load.
        trained: whether its profile was trained on it.
        weight: how much it counts in what was searched for; 0: it is guarded only.
        ratio: to the baseline.
        low: lower end of its 95 % interval.
        high: upper end.
    """

    load: str
    trained: bool
    weight: float
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class SearchEnded(Event):
    """A search is at its end.

    Attributes:
        winner: name of the build that was shown to be faster on fresh starts; None: there is none.
        finalist: name of the build that was measured again; None: none was worth it.
        slower_on: guarded loads on which it is not excluded that the finalist is slower.
        tried: number of builds that were tried.
        failed: number of these that could not be measured.
        common_failure: why all failed, where it is one reason; '' otherwise.
        path: what was decided, in order.
        effects: main effects, the largest first.
        untried: by level (``bolt=yes``), why it was not tried.
        another_hour: what another hour is expected to bring (0.01 = 1 %).
        hour: choices that it has time for, the most promising first; None in older records.
        seconds: all that it took.
        settings: choices of the finalist that do not have their usual level.
        trained: what the finalist's profile was trained on; empty: it has none.
        loads: what its fresh starts say of each load.
    """

    winner: str | None
    finalist: str | None
    slower_on: tuple[str, ...]
    tried: int
    failed: int
    common_failure: str
    path: tuple[str, ...]
    effects: tuple[MainEffect, ...]
    untried: Mapping[str, str]
    another_hour: float
    seconds: float
    settings: Mapping[str, str] = field(default_factory=dict)
    trained: tuple[str, ...] = ()
    loads: tuple[FinalistOn, ...] = ()
    hour: tuple[str, ...] | None = None
