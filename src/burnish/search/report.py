"""What a search found, as values: winner, path, effects, what was not tried, what another hour may bring; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from burnish.base.errors import cause
from burnish.search.book import Arm
from burnish.search.effects import Effect
from burnish.search.search import Search
from burnish.search.space import Choice, Point
from burnish.search.strategies.screen import factors_around
from burnish.statistics.intervals import Interval
from burnish.statistics.sequential import Rule
from burnish.statistics.verdicts import Judgement, Kind, judge

HOUR = 3600.0

NOT_REACHED = "the search did not come to it"


@dataclass(frozen=True)
class Outcome:
    """What came of a search.

    Attributes:
        winner: the build that is shown to be faster than the baseline on fresh starts; None: there is none.
        finalist: the build that was measured again; None: none was worth it.
        verdict: the verdict of its fresh starts; None without any.
        loads: by load, the ratio of the fresh starts to the baseline.
        slower_on: guarded loads on which the fresh starts do not exclude that it is slower by more than a delta.
        arms: every build that was tried, the best first, those that failed last.
        effects: main effects, the largest first.
        path: what was decided, in order.
        untried: by (choice, level), why a change of the finalist was not tried.
        another_hour: what another hour is expected to bring, a log-ratio.
        hour: names of the choices that it has time for, the most promising first.
        common_failure: why every build failed, where all of them did for one reason; '' otherwise.
        spent: seconds, without what came before the first candidate.
    """

    winner: Point | None
    finalist: Point | None
    verdict: Judgement | None
    loads: Mapping[str, Interval]
    slower_on: tuple[str, ...]
    arms: tuple[Arm, ...]
    effects: tuple[Effect, ...]
    path: tuple[str, ...]
    untried: Mapping[tuple[str, str], str]
    another_hour: float
    hour: tuple[str, ...]
    common_failure: str
    spent: float


def outcome(search: Search) -> Outcome:
    """What a search found so far."""
    desk = search.desk
    book, finalist = desk.book, desk.finalist
    arm = book.arms.get(finalist) if finalist is not None else None
    verdict = (
        judge(arm.fresh, Rule.fixed(len(arm.fresh), delta=book.rule.delta)) if arm and len(arm.fresh) > 1 else None
    )
    slower = tuple(load for load in book.objective.guards if arm is not None and not _kept(arm, load, book.rule.delta))
    won = verdict is not None and verdict.kind is Kind.FASTER and not slower
    failed = {id(one): one for one in book.arms.values() if one.failed}
    base = finalist or Point()
    tried = {pair for point in book.arms for pair in point.settings}
    open_ = [
        (name, level)
        for name, level in factors_around(desk, base, desk.space.choices)
        if (name, level) not in {*tried, *desk.effects}
    ]
    gain, hour = _another_hour(search, open_)
    return Outcome(
        winner=finalist if won else None,
        finalist=finalist,
        verdict=verdict,
        loads={load: found for load in book.objective.loads if (found := _on(arm, load)) is not None},
        slower_on=slower,
        arms=(*book.measured, *failed.values()),
        effects=tuple(sorted(desk.effects.values(), key=lambda one: -one.effect)),
        path=(*desk.path, *([book.host.words] if book.host.words else [])),
        untried={one: desk.untried.get(one, NOT_REACHED) for one in open_},
        another_hour=gain,
        hour=hour,
        common_failure=common_failure(list(failed.values())) if not book.measured else "",
        spent=book.spent,
    )


def _on(arm: Arm | None, load: str) -> Interval | None:
    """What the fresh starts of a build say of a load; None without any."""
    readings = arm.fresh_readings.get(load, ()) if arm is not None else ()
    return judge(readings, Rule.fixed(len(readings))).difference if len(readings) > 1 else None


def _kept(arm: Arm, load: str, delta: float) -> bool:
    """Whether the fresh starts of a guarded load exclude that the build is slower by more than a delta."""
    found = _on(arm, load)
    return found is not None and found.low >= 1.0 - delta


def common_failure(failed: list[Arm]) -> str:
    """The reason that all builds failed for; '' if they have different ones."""
    reasons = {cause(arm.failed) for arm in failed}
    return reasons.pop() if len(reasons) == 1 else ""


def _another_hour(search: Search, open_: list[tuple[str, str]]) -> tuple[float, tuple[str, ...]]:
    """What trying the most promising untried changes for an hour is expected to bring, each by a race of its own.

    Returns:
        The log-ratio, and the choices that an hour has time for.
    """
    desk, left, taken = search.desk, HOUR, list[Choice]()
    choices = {name: desk.space.choice(name) for name, _ in open_}
    for choice in sorted(choices.values(), key=lambda one: -one.expected / desk.seconds_of(one.step)):
        cost = desk.seconds_of(choice.step) + 2 * desk.settings.rule.looks[0] * desk.start
        if cost > left:
            continue
        left -= cost
        taken.append(choice)
    return desk.promise(taken), tuple(choice.name for choice in taken)
