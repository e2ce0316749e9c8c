"""What a user asks for, looked up in the catalogue: every name that is not there is reported at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from burnish.catalogue import load
from burnish.errors import UserError, together, unknown
from burnish.study.model import EngineSpec, Variant, Workload

if TYPE_CHECKING:
    from burnish.run.verbs import Options

_T = TypeVar("_T")


@dataclass(frozen=True)
class Request:
    """A request whose names are all known.

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


def read_request(engine: str, options: Options) -> Request:
    """The request in the catalogue's terms.

    Raises:
        UserError: names that are not there (each with the nearest one), a source that is not there, an own file
            that can't be read; all of them in one error, a line each.
    """
    problems: list[UserError] = []

    def attempt(look: Callable[[], _T]) -> _T | None:
        try:
            return look()
        except UserError as error:
            problems.append(error)
            return None

    spec = load.engine(engine)  # nothing can be looked up without it
    own = attempt(lambda: load.read_variants(options.recipes) if options.recipes else {}) or {}
    named = options.variants or (*spec.ladder, *own)
    variants = [found for name in named if (found := attempt(lambda name=name: load.variant(name, own)))]
    if not variants or variants[0].name != "baseline":
        variants.insert(0, load.variant("baseline"))
    workloads = [
        found
        for name in options.workloads or spec.workloads
        if (found := attempt(lambda name=name: load.workload(spec, name)))
    ]
    features = options.features or spec.default_features
    sets = dict.fromkeys((features, *(v.recipe.features for v in variants if v.recipe.features)))
    problems += [
        unknown(f"feature set of {spec.name}", name, spec.features) for name in sets if name not in spec.features
    ]
    if options.source is not None and not options.source.exists():
        problems.append(
            UserError(f"--source {options.source}: there is no such file or folder; give a tarball or a source tree")
        )
    if problems:
        raise together(problems)
    return Request(spec, tuple(variants), tuple(workloads), features)
