"""Replicates: every variant built several times, each time with another layout or training.

A binary is one sample of what its flags can produce. A study with replicates judges the flags, because each start has
a fresh pair of builds (docs/METHODOLOGY.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.base.digest import digest_of
from burnish.base.errors import InfrastructureError
from burnish.model.recipe import Recipe, Variant
from burnish.program.built import Built
from burnish.study.builds.make import Made


@dataclass(frozen=True)
class Factors:
    """What differs between the replicates of one variant.

    Attributes:
        layouts: number of shuffled link orders; 0: the build system's own order.
        trainings: number of trainings, each with keys of its own; 0: the usual one.
    """

    layouts: int = 0
    trainings: int = 0

    @property
    def count(self) -> int:
        """Number of builds of each variant; both factors change together, so the larger one counts."""
        return max(1, self.layouts, self.trainings)

    @property
    def words(self) -> str:
        """The factors in words; empty without replicates."""
        parts = [
            f"{number} {name}" for number, name in ((self.layouts, "layouts"), (self.trainings, "trainings")) if number
        ]
        return " and ".join(parts)


def trains(recipe: Recipe) -> bool:
    """Whether a build of this recipe has a training of its own."""
    return (recipe.pgo or recipe.bolt) and recipe.profile is None


def expand(variants: Sequence[Variant], factors: Factors) -> list[Variant]:
    """The replicates of every variant, in order; the variants themselves without replicates."""
    if factors.count == 1:
        return list(variants)
    return [_replicate(variant, number, factors) for variant in variants for number in range(factors.count)]


def _replicate(variant: Variant, number: int, factors: Factors) -> Variant:
    """The variant's replicate `number`, from 0; a factor with fewer levels repeats them."""
    recipe = variant.recipe
    if factors.layouts:
        recipe = replace(recipe, layout=recipe.layout + 1 + number % factors.layouts)
    if factors.trainings and trains(recipe):
        recipe = replace(recipe, training_seed=recipe.training_seed + 1 + number % factors.trainings)
    return replace(variant, name=f"{variant.name}#{number + 1}", recipe=recipe)


def replicate_names(name: str, factors: Factors) -> list[str]:
    """The names of a variant's replicates; its own name without replicates."""
    if factors.count == 1:
        return [name]
    return [f"{name}#{number + 1}" for number in range(factors.count)]


def gathered(variant: Variant, made: Sequence[Made], *, baseline: bool) -> tuple[Made, tuple[Built, ...]]:
    """A variant's first replicate, and all of its builds; no builds if it was built once.

    If one replicate cannot be measured, the variant is not measured at all: the remaining ones would be a selection.

    Args:
        variant: the variant.
        made: the results for its replicates, in order.
        baseline: whether it is the baseline.

    Raises:
        InfrastructureError: a replicate of the baseline cannot be measured.
    """
    if len(made) == 1:
        return made[0], ()
    notes = list(dict.fromkeys(note for item in made for note in item.notes))
    failed = next((item for item in made if item.built is None), None)
    if failed is not None:
        failure = f"{failed.variant.name}: {failed.failure}"
        if baseline:
            raise InfrastructureError(f"a replicate of the baseline can't be measured: {failure}")
        return Made(variant, failure=failure, notes=notes), ()
    same = all(item.same for item in made)
    first = made[0]
    result = Made(variant, built=first.built, identity=first.identity, same=same, notes=notes)
    return result, tuple(item.built for item in made if item.built is not None)


def fresh(builds: Mapping[str, Sequence[Built]], name: str, start: int) -> Built | None:
    """The build of a variant for start number `start` (from 0); None without replicates."""
    replicates = builds.get(name)
    return replicates[start % len(replicates)] if replicates else None


def program(builds: Mapping[str, Sequence[Built]], name: str, built: Built) -> str:
    """Digest of the program of a side's every start; '' if it is not known.

    Starts take the replicates in turn, so what must not change from start to start is all of them in their order.

    Args:
        builds: builds of each side by its name; empty without replicates.
        name: the side's name.
        built: its build without replicates.
    """
    replicates = builds.get(name)
    if not replicates:
        return built.program
    programs = [one.program for one in replicates]
    return digest_of(programs) if all(programs) else ""
