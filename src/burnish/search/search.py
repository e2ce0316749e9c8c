"""Ask and tell: what is measured next, from what was told so far; pure.

A search is a function of its space, its settings and what it was told. Strategies are generators that yield what they
want to know, so whoever tells the same gets the same decisions again: a search that was killed is made anew from its
record. What is asked together may be told in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from burnish.base.durations import duration
from burnish.base.errors import UserError, unknown
from burnish.search.asks import STRATEGIES, Ask, Settings, Told
from burnish.search.book import Book
from burnish.search.desk import MARGIN, Desk
from burnish.search.space import Point, Space
from burnish.search.strategies import strategy


class Search:
    """A search under way.

    Args:
        space: what may be built.
        settings: how it is searched.
        begun: whether its run has begun: where less is left of the budget than was expected, it ends by itself.

    Raises:
        UserError: the space is empty, the strategy is unknown, or the budget is too small for one candidate.
    """

    def __init__(self, space: Space, settings: Settings, *, begun: bool = False) -> None:
        if settings.strategy not in STRATEGIES:
            raise unknown("strategy", settings.strategy, STRATEGIES)
        if not space.choices:
            raise UserError("the space is empty: no choice is left that this host can build; see `burnish space`")
        book = Book(settings.objective, settings.rule)
        self.desk = Desk(space, settings, book, Random(settings.seed))
        if not begun:
            check_budget(self.desk)
        self._strategy = strategy(settings.strategy)(self.desk)
        self._open: dict[int, Ask] = {}
        self._told: dict[int, Told] = {}
        self.asked = 0
        self._advance()

    def ask(self) -> tuple[Ask, ...]:
        """What is to be measured now, in any order; empty: the search is at its end."""
        return tuple(ask for number, ask in self._open.items() if number not in self._told)

    def tell(self, number: int, told: Told) -> None:
        """Says what came of an ask."""
        if number not in self._open or number in self._told:
            raise ValueError(f"ask {number} is not open")
        self._told[number] = told
        if len(self._told) == len(self._open):
            self._enter()
            self._advance()

    def knows(self, digest: str, point: Point) -> bool:
        """Whether it was told of a build with this code that was made for another point."""
        told = {one.digest for number, one in self._told.items() if self._open[number].point != point}
        arms = {arm.digest for arm in self.desk.book.arms.values() if arm is not self.desk.book.arms.get(point)}
        return bool(digest) and digest in told | arms

    def _enter(self) -> None:
        """Enters what was asked together in the order in which it was asked, whatever came first."""
        for number, ask in self._open.items():
            told = self._told[number]
            step = self.desk.step_of(ask.point)
            if step is not None and told.making > 0.0 and ask.point not in self.desk.settings.costs.kept:
                gate = 0.0 if ask.tested else self.desk.settings.costs.gate
                self.desk.making.setdefault(step, []).append(told.making + gate)
            self.desk.book.enter(ask, told)

    def _advance(self) -> None:
        self._open, self._told = {}, {}
        try:
            wants = next(self._strategy)
        except StopIteration:
            return
        for want in wants:
            self.asked += 1
            asked = (want.point, want.starts, want.stage, want.why, want.fresh, want.tested)
            self._open[self.asked] = Ask(self.asked, *asked)


def replayed(space: Space, settings: Settings, told: Mapping[int, Told], *, begun: bool = False) -> Search:
    """The search as it was when it had been told this, by number of the ask; the others are the arguments of `Search`.

    Raises:
        UserError: it asks for another build than was told of, so another version of Burnish began it.
    """
    search = Search(space, settings, begun=begun)
    while known := [ask for ask in search.ask() if ask.number in told]:
        for ask in known:
            was = told[ask.number].settings
            if was is not None and (point := space.point(was)) != ask.point:
                raise UserError(
                    f"step {ask.number} of this search was {point.words}, and would be {ask.point.words} now: another "
                    "version of Burnish began it; --fresh begins a new run, for which all that it built is kept"
                )
            search.tell(ask.number, told[ask.number])
    return search


def check_budget(desk: Desk) -> None:
    """Checks that a budget is enough for the baseline, the cheapest candidate and measuring that again.

    Raises:
        UserError: it is not; the message says what is needed.
    """
    budget = desk.settings.budget
    if budget is not None and desk.left < (candidate := cheapest(desk)):
        raise UserError(
            f"--budget {duration(budget)}: too small: the baseline takes about "
            f"{duration(desk.settings.costs.baseline)}, the cheapest candidate {duration(candidate)}, and measuring it "
            f"again {duration(desk.again)}; give at least {-int(-least_budget(desk) // 60)}m"
        )


def cheapest(desk: Desk) -> float:
    """Expected seconds of the cheapest candidate that a search may begin with, and of its first starts."""
    first = desk.settings.rule.looks[0]
    points = [*desk.space.rungs.values()] or [
        desk.space.changed(Point(), {choice.name: choice.levels[1]}) for choice in desk.space.choices
    ]
    return min(desk.cost(point, first) for point in points)


def least_budget(desk: Desk) -> float:
    """The smallest budget that is enough for a search that is at its beginning, seconds."""
    return (desk.settings.costs.baseline + cheapest(desk) + desk.again) / (1.0 - MARGIN)
