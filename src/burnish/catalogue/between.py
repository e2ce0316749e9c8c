"""How far ratios move between sittings where nothing else is known: an engine's own figure, or the shipped one."""

from __future__ import annotations

from functools import lru_cache

from burnish.catalogue import load
from burnish.catalogue.edge import ROOT, read_toml, validated
from burnish.catalogue.engines import BetweenSittings
from burnish.model.sittings import Spread

FILE = "between_sittings.toml"


def shipped(engine: str) -> Spread:
    """The spread between sittings that is assumed for an engine; the general one if the engine has none."""
    known = load.engines().get(engine)
    return known.between_sittings if known and known.between_sittings else _general()


@lru_cache(maxsize=1)
def _general() -> Spread:
    ((name, values),) = read_toml(ROOT / FILE).items()
    return validated(BetweenSittings, values, f"{FILE}: {name}").spread
