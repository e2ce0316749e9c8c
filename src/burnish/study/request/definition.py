"""The identity of a study: what decides whether two calls ask for the same one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from burnish.base.digest import digest_of
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.model.workload import Design, Placement, Workload
from burnish.source.patches import patch_set
from burnish.study.request import conditions
from burnish.study.request.options import Options
from burnish.study.request.placing import Placing, placing


@dataclass(frozen=True)
class Definition:
    """What a study is asked to do; equal definitions are the same study as long as it is not finished.

    Attributes:
        verb: ``tune``, ``compare``, ``calibrate``, ``why`` or ``patch``; of a bundled study, its name.
        engine: engine's name.
        variants: names of variants, baseline first (``tune``, ``patch``), or the two programs' paths (``compare``).
        workloads: names of workloads.
        features: feature set of all variants.
        source: the source as requested: ``debian``, ``debian=VERSION`` or a path.
        precision: half-width to reach (0.01 = ±1 %); None stops at the first verdict.
        max_starts: maximum number of starts per cell.
        pairs: pairs in a start; None: the calibration's or the engine's.
        turns: turns in a pair; None: the engine's.
        starts: number of starts fixed in advance, or None.
        design: trial design of every cell; None: each workload's own.
        explore: whether the false-discovery rate is controlled rather than the family-wise error.
        layouts: layout replicates of every variant.
        trainings: training replicates of every variant.
        seed: random seed of slots and keys as requested; None: drawn when the run begins.
        recipes: each variant's recipe, as plain values.
        conditions: the conditions and data as requested.
        patches: by variant that has any, the digests of its patches' content.
        portable: level or processor that every build must run on, or None.
        placement: placement of every cell if the design does not imply it; '' otherwise.
        search: how builds are searched for; empty: they are named.
        keep_cached: whether programs are launched as their files lie in the page cache.
    """

    verb: str
    engine: str
    variants: tuple[str, ...]
    workloads: tuple[str, ...]
    features: str
    source: str
    precision: float | None
    max_starts: int
    pairs: int | None
    turns: int | None
    starts: int | None
    design: str | None
    explore: bool
    layouts: int
    trainings: int
    seed: int | None
    recipes: Mapping[str, Any]
    conditions: tuple[str, ...] = ()
    patches: Mapping[str, Sequence[str]] = field(default_factory=dict)
    portable: str | None = None
    placement: str = ""
    deploy: tuple[str, ...] = ()
    search: Mapping[str, Any] = field(default_factory=dict)
    keep_cached: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Plain values; without what is implied or not asked for, so that older unfinished runs are found."""
        optional = ("placement", "deploy", "search", "keep_cached")
        return {name: value for name, value in asdict(self).items() if name not in optional or value}

    @property
    def placing(self) -> Placing:
        """Design and placement as asked for, of a study with one design."""
        design = Design(self.design) if self.design else None
        usual = design.usual if design is not None else None
        return Placing(design, Placement(self.placement) if self.placement else usual)

    @property
    def digest(self) -> str:
        """Digest that names the definition."""
        return digest_of(self.as_dict())

    @property
    def older(self) -> str | None:
        """Its digest in Burnish 0.1.0, which had the seed 1 unless another was requested; None if one is."""
        return digest_of({**self.as_dict(), "seed": 1}) if self.seed is None else None


def definition_of(
    verb: str,
    spec: EngineSpec,
    options: Options,
    variants: Sequence[str],
    workloads: Sequence[Workload],
    features: str,
    recipes: Sequence[Variant],
) -> Definition:
    """The definition of a study, from a verb's options."""
    asked = placing(options)
    return Definition(
        verb=verb,
        engine=spec.name,
        variants=tuple(variants),
        workloads=tuple(workload.identity for workload in workloads),
        features=features,
        source=str(options.source.resolve()) if options.source else f"debian={options.source_version or 'newest'}",
        precision=options.precision,
        max_starts=options.max_starts,
        pairs=options.pairs,
        turns=options.turns,
        starts=options.starts,
        design=str(asked.design) if asked.design is not None else None,
        explore=options.explore,
        layouts=options.layouts or 0,
        trainings=options.trainings,
        seed=options.seed,
        recipes={variant.name: variant.recipe.as_dict() for variant in recipes},
        conditions=conditions.words(options),
        patches=patch_set.pins(recipes),
        portable=options.portable,
        placement=asked.identity,
        deploy=options.deploy,
        keep_cached=options.keep_cached,
    )
