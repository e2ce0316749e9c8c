"""Overlays: changes to a recipe by a study's rows, series and readings; pure."""

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
"""Fields of a recipe to which an overlay adds; it replaces the others."""


ROLE = "@"
"""Prefix of a load's role in an overlay's training, where an engine's name for the load may stand instead."""


def named(overlay: Mapping[str, Any], study: Study, engine: str) -> Mapping[str, Any]:
    """An overlay with the roles in its training replaced by this engine's loads.

    Raises:
        UserError: the study has no such role, or the engine has no load for it.
    """
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
    """A recipe with an overlay applied; paths of patches are relative to the studies' folder."""
    if not overlay:
        return recipe
    added = load.recipe_of(overlay, where, FOLDER, whole=False)
    changes: dict[str, Any] = {name: getattr(added, name) for name in overlay}
    for name in _JOINED:
        if name in changes:
            own = getattr(recipe, name)
            changes[name] = (*own, *(word for word in changes[name] if word not in own))
    if "options" in changes:
        changes["options"] = tuple({**dict(recipe.options), **dict(changes["options"])}.items())
    return replace(recipe, **changes)
