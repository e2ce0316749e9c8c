"""The recipes of a run's builds, as plain values: from its record, or from the bundled study that it is of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.base.digest import digest_of
from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.catalogue.bundled.files import study as bundled_file
from burnish.catalogue.bundled.model import Study as BundledFile
from burnish.model.engine import EngineSpec
from burnish.study.bundled import patches
from burnish.study.bundled.expansion import Expanded, expand


def recipes_of(definition: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """By a build's name, its recipe; without builds that write profiles.

    A bundled study's record has the digest of its rows instead: where this Burnish has the same rows, it knows them.

    Args:
        definition: what was requested, as recorded.
    """
    recipes = definition.get("recipes") or {}
    rows = recipes.get("rows")
    if not isinstance(rows, str):
        return {name: recipe for name, recipe in recipes.items() if isinstance(recipe, Mapping)}
    try:
        own, spec = bundled_file(str(definition["verb"])), load.engine(str(definition["engine"]))
    except UserError:
        return {}
    expanded = expand(own, spec)
    if digest_of(meaning(own, expanded)) != rows:
        return {}
    variants = expanded.variants.items()
    return {name: variant.recipe.as_dict() for name, variant in variants if name not in expanded.instrumented}


def meaning(own: BundledFile, expanded: Expanded) -> list[Any]:
    """The content of a study's rows on an engine, by which runs of it are told apart."""
    spec: EngineSpec = expanded.engine
    rows = own.rows_for(spec.name)
    content: list[Any] = [
        [(row.name, row.base, row.build, row.recipe, row.given, row.versus, row.loads) for row in rows],
        {name: variant.recipe.as_dict() for name, variant in own.builds.items()},
        {name: series.overlay for name, series in own.series.items()},
        {name: (reading.against, reading.overlay) for name, reading in own.readings.items()},
        own.robust_for(spec.name),
    ]
    placements = [
        (kind, item.name, str(item.placement))
        for kind, items in (("row", rows), ("reading", own.readings.values()), ("series", own.series.values()))
        for item in items
        if item.placement is not None
    ]
    if placements:
        content.append(placements)
    if named := patches.words(rows):
        content.append([named, expanded.architecture])
    return content
