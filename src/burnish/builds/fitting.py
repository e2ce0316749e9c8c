"""A variant as it can be made here: flags and BOLT's options that are missing, replaced by the next best ones."""

from __future__ import annotations

from dataclasses import replace

from burnish.base.processor import this_processor
from burnish.builds.stages import PackageFlags, base_flags
from burnish.model.recipe import Variant
from burnish.toolchain import bolt_options, fitting
from burnish.toolchain.spelling import spell
from burnish.toolchain.toolchains import Toolchain


def fitted(variant: Variant, toolchain: Toolchain, package: PackageFlags) -> tuple[Variant, tuple[str, ...]]:
    """The variant with what there is here, and a line about each part that is not as asked for.

    A recipe without such parts stays as it is, so that its build has the same name everywhere.

    Args:
        variant: as asked for.
        toolchain: the one chosen for it.
        package: the package's flags.

    Raises:
        UserError: its flags contradict each other or the toolchain.
    """
    processor = this_processor()
    recipe, notes = fitting.fitted(variant.recipe, toolchain, processor, fitting.accepts)
    if recipe.bolt_options and toolchain.bolt is not None:
        known = bolt_options.options_of(toolchain.bolt, toolchain.bolt_version)
        link = base_flags(recipe, package, spell(recipe, toolchain, processor, f"variant {variant.name}")).link
        options, of_bolt = bolt_options.fitted(
            recipe.bolt_options, known, processor.architecture, bound=bolt_options.binds(link)
        )
        recipe, notes = replace(recipe, bolt_options=options), (*notes, *of_bolt)
    return replace(variant, recipe=recipe), notes
