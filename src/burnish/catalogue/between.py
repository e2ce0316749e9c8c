"""How far ratios move between sittings where nothing else is known: an engine's own figure, or the shipped ones."""

from __future__ import annotations

from functools import lru_cache

from pydantic import Field

from burnish.catalogue import load
from burnish.catalogue.edge import ROOT, Entry, read_toml, validated
from burnish.catalogue.engines import BetweenSittings
from burnish.model.sittings import Spread, Spreads

FILE = "between_sittings.toml"


class _File(Entry):
    profiled: BetweenSittings
    alike: BetweenSittings
    committing: BetweenSittings
    superseded: dict[str, BetweenSittings] = Field(default_factory=dict)


def shipped(engine: str) -> Spreads:
    """The spreads between sittings that are assumed for an engine; the general ones if the engine has none.

    An engine's own figure is of every kind of comparison.
    """
    known = load.engines().get(engine)
    if known and known.between_sittings:
        return Spreads.of_all(known.between_sittings)
    file = _file()
    return Spreads(file.profiled.spread, file.alike.spread, file.committing.spread)


def superseded(spread: Spread) -> bool:
    """Whether a spread that a record assumed was shipped once, for all comparisons, and is known to be too rough."""
    return spread in [one.spread for one in _file().superseded.values()]


@lru_cache(maxsize=1)
def _file() -> _File:
    return validated(_File, read_toml(ROOT / FILE), FILE)
