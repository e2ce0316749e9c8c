"""What a search knows of the builds that it tried, and how two of them are told apart; pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from burnish.search.asks import Ask, Objective, Told
from burnish.search.host_cost import Group, HostCost
from burnish.search.space import Point
from burnish.statistics.sequential import Rule
from burnish.statistics.verdicts import Judgement, Kind, judge


@dataclass
class Arm:
    """A build that was tried.

    Attributes:
        point: the first point that it was made for.
        readings: by load, its log-ratios to the baseline.
        costs: for each of them, the logarithm of what the baseline's transactions cost; not a number if unknown.
        scores: the objective of each start, corrected for the host (`burnish.search.host_cost`).
        digest: names its code.
        tested: whether it passed the server's tests; until then it is measured for the effects of choices alone.
        failed: why it can't be had; '' if it can.
        disturbed: whether that is no fault of its own: the host was disturbed while it was measured.
        fresh: scores of its confirmation.
        fresh_readings: readings of its confirmation.
        making: seconds that it took to make.
    """

    point: Point
    readings: dict[str, tuple[float, ...]] = field(default_factory=dict)
    costs: dict[str, tuple[float, ...]] = field(default_factory=dict)
    scores: tuple[float, ...] = ()
    digest: str = ""
    tested: bool = False
    failed: str = ""
    disturbed: bool = False
    fresh: tuple[float, ...] = ()
    fresh_readings: dict[str, tuple[float, ...]] = field(default_factory=dict)
    making: float = 0.0

    @property
    def starts(self) -> dict[str, Group]:
        """By load, its starts with their costs."""
        return {load: tuple(zip(self.costs[load], found, strict=True)) for load, found in self.readings.items()}

    @property
    def mean(self) -> float:
        """Mean of its scores, a log-ratio to the baseline; minus infinity before the first start."""
        return statistics.fmean(self.scores) if self.scores else float("-inf")


@dataclass
class Book:
    """Every build that was tried, by its point; builds with the same code share one arm.

    Attributes:
        objective: what is searched for.
        rule: when two builds are told apart.
        arms: by point.
        spent: seconds so far.
        host: how readings go with what the baseline's transactions cost, by all starts so far.
    """

    objective: Objective
    rule: Rule
    arms: dict[Point, Arm] = field(default_factory=dict)
    spent: float = 0.0
    host: HostCost = field(default_factory=HostCost.unknown)

    def enter(self, ask: Ask, told: Told) -> None:
        """Notes what came of an ask."""
        self.spent += told.seconds
        arm = self.arms.setdefault(ask.point, Arm(ask.point))
        if told.digest and not arm.digest:
            arm.digest = told.digest
            twin = next((one for one in self.arms.values() if one is not arm and one.digest == told.digest), None)
            if twin is not None:
                self.arms[ask.point] = arm = twin
        arm.making = arm.making or told.making
        if told.failed:
            arm.failed, arm.disturbed = told.failed, told.disturbed
            return
        arm.tested = arm.tested or ask.tested
        kept = arm.fresh_readings if ask.fresh else arm.readings
        for load, ratios in told.readings.items():
            kept[load] = (*kept.get(load, ()), *ratios)
        if ask.fresh:
            arm.fresh = self._scores(kept)
            return
        for load, ratios in told.readings.items():
            arm.costs[load] = (*arm.costs.get(load, ()), *told.costs.get(load, (math.nan,) * len(ratios)))
        self._correct()

    def _correct(self) -> None:
        """Scores all starts anew: one more tells more of the host in all others."""
        arms = {id(arm): arm for arm in self.arms.values()}.values()
        groups: dict[str, list[Group]] = {}
        for arm in arms:
            for load, starts in arm.starts.items():
                groups.setdefault(load, []).append(starts)
        self.host = HostCost.of(groups)
        for arm in arms:
            arm.scores = self._scores({load: self.host.corrected(load, starts) for load, starts in arm.starts.items()})

    def _scores(self, readings: dict[str, tuple[float, ...]]) -> tuple[float, ...]:
        """The objective of each start that every load has."""
        loads = list(self.objective.weights)
        starts = min((len(readings.get(load, ())) for load in loads), default=0)
        return tuple(self.objective.score({load: readings[load][number] for load in loads}) for number in range(starts))

    def starts(self, point: Point) -> int:
        """Starts that a build has, 0 if it is not tried."""
        return len(self.arms[point].scores) if point in self.arms else 0

    @property
    def measured(self) -> list[Arm]:
        """The builds that have starts and did not fail, each once, the best first."""
        arms = {id(arm): arm for arm in self.arms.values() if arm.scores and not arm.failed}
        return sorted(arms.values(), key=lambda arm: (-arm.mean, len(arm.point.settings), arm.point))

    @property
    def allowed(self) -> list[Arm]:
        """The measured builds that are slower on no guarded load, the best mean first."""
        return [arm for arm in self.measured if not self.slower_on(arm)]

    def slower_on(self, arm: Arm) -> tuple[str, ...]:
        """The guarded loads on which a build is shown to be slower than the baseline."""
        return tuple(
            load for load in self.objective.guards if judge(arm.readings.get(load, ()), self.rule).kind is Kind.SLOWER
        )

    def against_baseline(self, arm: Arm) -> Judgement:
        """The verdict of the race on a build and the baseline."""
        return judge(arm.scores, self.rule)

    def against(self, one: Arm, other: Arm) -> Judgement:
        """The verdict of the race on two builds: their starts are compared one by one, in the order of taking."""
        return judge(differences(one.scores, other.scores), self.rule)


def differences(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """Start by start, how much better the first is; both were read against the baseline."""
    return [first - second for first, second in zip(one, other, strict=False)]
