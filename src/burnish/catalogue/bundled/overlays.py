"""What a study puts on top of a recipe: a row's, a series', a reading's overlay; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from burnish.base.errors import UserError, unknown
from burnish.catalogue import load
from burnish.catalogue.bundled.model import Study
from burnish.catalogue.edge import ROOT
from burnish.model.recipe import Recipe

FOLDER = ROOT / "studies"

_JOINED = ("c", "cxx", "link", "remove", "flags", "patches", "bolt_options")
"""Fields of a recipe that an overlay adds to; the others it replaces."""


ROLE = "@"
"""Before the role of a load in an overlay's training, instead of an engine's name for it."""


def named(overlay: Mapping[str, Any], study: Study, engine: str) -> Mapping[str, Any]:
    """An overlay whose trainings name this engine's loads; a `UserError` for a role that it has none for."""
    if "training" not in overlay:
        return overlay
    training = []
    for word, weight in overlay["training"]:
        role = str(word).removeprefix(ROLE)
        if word == role:
            training.append([word, weight])
            continue
        if role not in study.loads:
            raise unknown(f"load of {study.name}", role, study.loads)
        name = study.loads[role].named.get(engine)
        if name is None:
            raise UserError(f"{engine} has no load for {role}, which the row is trained on")
        training.append([name, weight])
    return {**overlay, "training": training}


def overlaid(recipe: Recipe, overlay: Mapping[str, Any], where: str) -> Recipe:
    """A recipe with what an overlay says on top; paths of patches relative to the studies' folder."""
    if not overlay:
        return recipe
    added = load.recipe_of(overlay, where, FOLDER)
    changes: dict[str, Any] = {name: getattr(added, name) for name in overlay}
    for name in _JOINED:
        if name in changes:
            mine = getattr(recipe, name)
            changes[name] = (*mine, *(word for word in changes[name] if word not in mine))
    if "options" in changes:
        changes["options"] = tuple({**dict(recipe.options), **dict(changes["options"])}.items())
    return replace(recipe, **changes)
