"""A user's request, looked up in the catalogue; all unknown names are reported at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from burnish.base.errors import UserError, together, unknown
from burnish.catalogue import load
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.model.workload import Workload
from burnish.source.revisions import is_revision
from burnish.study.request.conditions import usual
from burnish.study.request.options import Options
from burnish.study.request.workloads import chosen
from burnish.study.trials.replicates import trains

_T = TypeVar("_T")


@dataclass(frozen=True)
class Request:
    """A request with all names resolved.

    Attributes:
        spec: the engine.
        variants: the variants, the baseline first.
        workloads: the workloads.
        features: the feature set of all variants that name none of their own.
    """

    spec: EngineSpec
    variants: tuple[Variant, ...]
    workloads: tuple[Workload, ...]
    features: str


def _own(recipes: Path | None) -> Mapping[str, Variant]:
    return load.read_variants(recipes) if recipes else {}


def _of_replicates(options: Options, variants: Sequence[Variant]) -> list[UserError]:
    """What is wrong with the request for replicates: another number of starts, or nothing to train."""
    problems, layouts = [], options.layouts or 0
    most = max(layouts, options.trainings)
    if options.starts is not None and most and options.starts != most:
        factor = "--layouts" if layouts == most else "--trainings"
        problems.append(
            UserError(
                f"--starts {options.starts}: {factor} {most} gives each start a fresh pair of builds, so there are "
                f"{most} starts; leave --starts out, or use {factor} {options.starts}"
            )
        )
    if options.trainings and not any(trains(variant.recipe) for variant in variants):
        names = ", ".join(variant.name for variant in variants)
        problems.append(
            UserError(
                f"--trainings {options.trainings}: nothing is trained for {names}; leave it out (--layouts shuffles "
                "links), or name a variant that trains a profile, as gcc-pgo does"
            )
        )
    return problems


def read_request(engine: str, options: Options) -> Request:
    """Looks up everything that a request names.

    Raises:
        UserError: unknown names (each with the nearest one), a missing source, a user's file that cannot be read; all
            in one error, one line each.
    """
    spec = load.engine(engine)  # everything else depends on it
    problems: list[UserError] = []

    def attempt(look: Callable[..., _T], *words: object) -> list[_T]:
        try:
            return [look(*words)]
        except UserError as error:
            problems.append(error)
            return []

    read = attempt(_own, options.recipes)
    own = read[0] if read else {}
    named = options.variants or tuple(dict.fromkeys((*spec.ladder, *own)))
    # If the recipe file cannot be read, its variants are not known, so an unknown name may not be an error.
    named = tuple(name for name in named if read or name in load.variants())
    variants = [variant for name in named for variant in attempt(load.variant, name, own)]
    if not variants or variants[0].name != "baseline":
        variants.insert(0, load.variant("baseline"))
    workloads = chain.from_iterable(attempt(chosen, spec, options))
    attempt(usual, spec, options)
    features = options.features or spec.default_features
    sets = dict.fromkeys((features, *(v.recipe.features for v in variants if v.recipe.features)))
    problems += [
        unknown(f"feature set of {spec.name}", name, spec.features) for name in sets if name not in spec.features
    ]
    if options.source is not None and not (options.source.exists() or is_revision(options.source)):
        problems.append(
            UserError(
                f"--source {options.source}: there is no such file or folder; give a tarball, a source tree, or "
                "FOLDER:REVISION of git"
            )
        )
    if not problems:  # otherwise the variants may be incomplete
        problems += _of_replicates(options, variants)
    if problems:
        raise together(problems)
    return Request(spec, tuple(variants), tuple(workloads), features)
