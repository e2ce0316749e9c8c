"""What a strategy works with: the space, the book, what things cost, and what is left of the budget; pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from burnish.search.asks import Settings
from burnish.search.book import Book
from burnish.search.effects import Effect
from burnish.search.space import Choice, Point, Space, Step

MARGIN = 0.02
"""Share of the budget that is kept for steps that take longer than expected."""

LATE = "the budget lacks the time"
"""Why a change was not tried that may be tried later."""

BELIEF = 8
"""Measured effects for which the expected size of effects counts."""

SCREEN_STARTS = (2, 6)
"""Fewest and most starts of a build of which effects are read."""


@dataclass(frozen=True)
class Want:
    """What a strategy wants to know next; `Ask` is the same with a number.

    Attributes:
        tested: whether the build passes the server's tests first. Of one that is not, only effects of choices are read;
            it is tested before anything else is.
    """

    point: Point
    starts: int
    stage: str
    why: str
    fresh: bool = False
    tested: bool = True


_T = TypeVar("_T")

Strategy = Generator[tuple[Want, ...], None, _T]
"""A strategy yields what it wants, and finds it in the book when it goes on."""


@dataclass
class Desk:
    """The state of a search.

    Attributes:
        space: what may be built.
        settings: how it is searched.
        book: what is known.
        random: numbers from the seed, for strategies that draw.
        effects: by (choice, level), what a screen found last.
        path: what was decided, for people.
        untried: by (choice, level), why it was not tried.
        late: builds that were passed over because they would take too long.
        deferred: known-good builds that are left for the end, and the build that has all that each of them has.
        finalist: the build that is measured again; None: none was worth it.
        making: by step, the seconds that builds of it took.
    """

    space: Space
    settings: Settings
    book: Book
    random: Random
    effects: dict[tuple[str, str], Effect] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    untried: dict[tuple[str, str], str] = field(default_factory=dict)
    late: list[Point] = field(default_factory=list)
    deferred: dict[Point, Point] = field(default_factory=dict)
    finalist: Point | None = None
    making: dict[Step, list[float]] = field(default_factory=dict)

    @property
    def reserve(self) -> float:
        """Seconds that are kept for measuring the winner again, and for steps that take longer than expected."""
        return self.again + MARGIN * (self.settings.budget or 0.0)

    @property
    def again(self) -> float:
        """Expected seconds of measuring the winner again, and of what comes after that, in later sittings too."""
        costs, loads = self.settings.costs, len(self.settings.objective.loads)
        fresh = self.settings.confirmation * loads * (costs.confirmation or costs.start)
        return fresh + costs.after + costs.later

    @property
    def left(self) -> float:
        """Seconds that may still be used before the winner is measured again."""
        if self.settings.budget is None:
            return math.inf
        return self.settings.budget - self.settings.costs.baseline - self.book.spent - self.reserve

    @property
    def start(self) -> float:
        """Expected seconds of one start of every load."""
        return self.settings.costs.start * len(self.settings.objective.loads)

    def step_of(self, point: Point, before: Sequence[Point] = ()) -> Step | None:
        """What must be made for a build when these others have been made; None if it is there."""
        had = [*before, *(one for one, arm in self.book.arms.items() if arm.digest or arm.failed)]
        if point in had or not point.settings:
            return None
        steps = [step for other in (*had, Point()) if (step := self.space.step(point, other)) is not None]
        return min(steps)

    def seconds_of(self, step: Step) -> float:
        """Expected seconds of making a build: the median of those made so far, or what was known before."""
        had = self.making.get(step)
        return statistics.median(had) if had else self.settings.costs.steps[step]

    def untested_seconds(self, step: Step) -> float:
        """Expected seconds of making a build, without its tests."""
        return max(0.0, self.seconds_of(step) - self.settings.costs.gate)

    def seconds_for(self, point: Point, before: Sequence[Point] = ()) -> float:
        """Expected seconds of making a build when these others have been made; 0 if it is there."""
        step = self.step_of(point, before)
        return 0.0 if step is None else min(self.seconds_of(step), self.settings.costs.kept.get(point, math.inf))

    def making_for(self, point: Point, before: Sequence[Point] = (), *, tested: bool = True) -> float:
        """Expected seconds of making a build when these others have been made, and of its tests if they are wanted."""
        seconds, gate = self.seconds_for(point, before), self.settings.costs.gate
        if self.step_of(point, before) is not None:
            return seconds if tested else max(0.0, seconds - gate)
        arm = self.book.arms.get(point)
        return gate if tested and arm is not None and not arm.tested else 0.0

    def cost(self, point: Point, starts: int, before: Sequence[Point] = (), *, tested: bool = True) -> float:
        """Expected seconds of making a build, if need be, and of taking so many starts of every load."""
        return self.making_for(point, before, tested=tested) + starts * self.start

    def screen_starts(self, step: Step | None) -> int:
        """Starts of a build of which effects are read: the more, the longer it takes to make by this step.

        Of n builds with k starts each, which cost n (m + k s) seconds, an effect's variance is (own + scatter / k) / n;
        it is least for k = √(m / s) where builds' own parts are as large as a start's scatter.
        """
        making = 0.0 if step is None else self.untested_seconds(step)
        least, most = SCREEN_STARTS
        return min(most, max(least, round(math.sqrt(making / self.start))))

    def fitting(self, wants: Sequence[Want]) -> tuple[Want, ...]:
        """The first of these that fit together."""
        left, kept = self.left, list[Want]()
        for want in wants:
            cost = self.cost(want.point, want.starts, [one.point for one in kept], tested=want.tested)
            if cost > left:
                break
            left -= cost
            kept.append(want)
        return tuple(kept)

    def note(self, words: str) -> None:
        """Adds a line to the path."""
        self.path.append(words)

    def spread_of_effects(self) -> float:
        """Standard deviation of choices' true effects: of those measured, less their error, and as is expected.

        What is expected counts for as many effects as `BELIEF`: three that were measured tell little of forty others.
        """
        expected = statistics.fmean(choice.expected for choice in self.space.choices) if self.space.choices else 0.0
        known = [effect for effect in self.effects.values() if effect.error > 0.0]
        squares = sum(one.effect**2 - one.error**2 for one in known)
        variance = (BELIEF * expected**2 + squares) / (BELIEF + len(known))
        return math.sqrt(max(variance, (0.2 * expected) ** 2))

    def promise(self, choices: Sequence[Choice]) -> float:
        """What trying these choices is expected to bring (a log-ratio): a choice is kept only where it gains.

        The mean of the positive part of a normal effect with mean 0 is its standard deviation over √(2π).
        """
        typical = statistics.fmean(choice.expected for choice in self.space.choices)
        scale = self.spread_of_effects() / typical if typical > 0.0 else 0.0
        return sum(choice.expected * scale for choice in choices) / math.sqrt(2.0 * math.pi)
