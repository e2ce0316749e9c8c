"""Strategies by name: each is a generator that yields what it wants to know."""

from __future__ import annotations

from collections.abc import Callable

from burnish.base.errors import unknown
from burnish.search.desk import Desk, Strategy
from burnish.search.strategies import bayes, chain, ladder, sampling

_BY_NAME: dict[str, Callable[[Desk], Strategy[None]]] = {
    "default": chain.default,
    "ladder": ladder.alone,
    "screen": chain.screen_alone,
    "eliminate": chain.eliminate_alone,
    "bayes": bayes.alone,
    "random": sampling.alone,
}


def strategy(name: str) -> Callable[[Desk], Strategy[None]]:
    """The strategy of that name; a `UserError` if there is none."""
    if name not in _BY_NAME:
        raise unknown("strategy", name, _BY_NAME)
    return _BY_NAME[name]
