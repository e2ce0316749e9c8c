"""How far ratios move between sittings where nothing else is known: an engine's own figure, or the shipped one."""

from __future__ import annotations

from burnish.catalogue import load
from burnish.model.sittings import Spread


def shipped(engine: str) -> Spread:
    """The spread between sittings that is assumed for an engine; the general one if the engine has none."""
    known = load.engines().get(engine)
    own = known.between_sittings if known else None
    return own or Spread(0.009, 18.0, "the records in docs/results")
