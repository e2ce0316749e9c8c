"""The stages after the link that there are, in the order in which they work on a program."""

from __future__ import annotations

from burnish.builds.after_link.preload import preload_of
from burnish.builds.after_link.stage import AfterLink, StageOf
from burnish.builds.after_link.strip import strip_of
from burnish.model.recipe import Recipe
from burnish.toolchain.link_parts import Parts
from burnish.toolchain.toolchains import Toolchain

AFTER_LINK: tuple[StageOf, ...] = (strip_of, preload_of)
"""A stage is one module and its place here."""


def after_link(
    recipe: Recipe, build: str, toolchain: Toolchain, bolt: Toolchain | None, parts: Parts
) -> tuple[AfterLink, ...]:
    """The stages that a recipe asks for after its link.

    Args:
        recipe: the recipe.
        build: key of the build as it was linked, or as BOLT wrote it.
        toolchain: the recipe's compilers.
        bolt: the toolchain whose BOLT wrote the program; None if none did.
        parts: what this machine has for the recipe's link.
    """
    chain: list[AfterLink] = []
    for stage_of in AFTER_LINK:
        stage = stage_of(recipe, chain[-1].key if chain else build, toolchain, bolt, parts)
        chain += [stage] if stage is not None else []
    return tuple(chain)
