"""`calibrate`: the baseline against itself under each design, then a known difference under those of duet and solo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.model.cell import AA, Role
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.model.workload import Design, Placement, Workload
from burnish.record.events.verdicts import DifferenceKnown
from burnish.statistics.sequential import CALIBRATION_STARTS
from burnish.statistics.verdicts import Rule
from burnish.study.comparison import BASELINE, Comparison
from burnish.study.constructors.tune import portable_of
from burnish.study.request.definition import definition_of
from burnish.study.request.options import Options
from burnish.study.request.workloads import chosen
from burnish.study.study import Confirmation, Study

DIFFERENT_STARTS = {Design.DUET: 4, Design.SOLO: 8}
"""Starts of the known-different pair by design; solo is noisier by far."""

DIFFERENT = "known-different"


def calibrate_study(engine: str, designs: Sequence[Design], options: Options, *, twin_cores: bool) -> Study:
    """A/A starts under all designs in turn, so that all are measured in the same hour, then a known difference.

    The known difference shows how much a duet dilutes beside solo; it is read under those two where they are requested.

    Args:
        engine: the engine.
        designs: whose noise is measured.
        options: how it is measured.
        twin_cores: whether the host has two cores alike, which a duet needs.

    Raises:
        UserError: unknown names; what a calibration can't have: replicates, as one build is compared with itself, and
            an explanation, as nothing differs; further sittings; no design that this host can measure.
    """
    for option, number in (("--layouts", options.layouts), ("--trainings", options.trainings)):
        if number:
            raise UserError(f"{option} {number}: a calibration compares one build with itself; leave it out")
    seconds = "" if options.seconds is None else f"--seconds {options.seconds:g}"
    if refused := "--why" if options.why else seconds:
        raise UserError(f"{refused}: a calibration compares one build with itself, so nothing differs; leave it out")
    if options.sittings > 1:
        raise UserError(f"--sittings {options.sittings}: a calibration is of one sitting of the host; leave it out")
    spec = load.engine(engine)
    variants = [load.variant(BASELINE)]
    if spec.different is not None and spec.different.recipe is not None:
        variants.append(Variant(DIFFERENT, spec.different.recipe, spec.different.reason))
    workloads = chosen(spec, options)
    features = options.features or spec.default_features
    names = [variant.name for variant in variants]
    definition = definition_of("calibrate", spec, options, names, workloads, features, variants)
    starts = max(CALIBRATION_STARTS, options.starts or 0)
    placement = Placement(options.placement) if options.placement else None
    asked = [design for design in designs if placement is None or design.allows(placement)]
    if not asked:
        other = "duet" if placement is Placement.SHARED else "interleaved or solo"
        raise UserError(
            f"--design {','.join(designs)} --placement {placement}: they don't go together; add {other}, or leave one "
            "of the options out"
        )
    usable = [design for design in asked if twin_cores or design is not Design.DUET]
    if not usable:
        raise UserError("--design duet: this host has no two cores alike for it; leave it out, or add interleaved")
    equal = [_equal(workload, design, starts, options) for workload in workloads for design in usable]
    return Study(
        definition=replace(definition, design=",".join(asked)),
        engine=spec,
        comparisons=(*equal, *_different(spec, workloads, usable, options)),
        variants={variant.name: variant for variant in variants},
        features=features,
        workloads=workloads,
        rule=Rule.fixed(starts),
        portable=portable_of(options),
        confirmation=Confirmation(more_than=None),
        opening=(DifferenceKnown(spec.different.reason),) if spec.different is not None else (),
        calibrates=True,
    )


def _equal(workload: Workload, design: Design, starts: int, options: Options) -> Comparison:
    """The baseline against itself on a load under a design."""
    return Comparison(
        row=str(design),
        series="",
        reading="",
        load=workload.name,
        threads=None,
        base=BASELINE,
        candidate=AA,
        given=options.settings,
        workload=workload,
        quantity=None,
        design=design,
        placement=Placement(options.placement) if options.placement else None,
        role=Role.CANARY,
        starts=starts,
        by_design=True,
    )


def _different(
    spec: EngineSpec, workloads: Sequence[Workload], designs: Sequence[Design], options: Options
) -> list[Comparison]:
    """The known difference on the first load, under duet and solo as far as they are requested."""
    different = spec.different
    if different is None:
        return []
    built = different.recipe is not None
    return [
        replace(
            _equal(workload, design, DIFFERENT_STARTS[design], options),
            row=f"{DIFFERENT}, {design}",
            candidate=DIFFERENT if built else BASELINE,
            versus=() if built else tuple(f"{name}={value}" for name, value in different.settings),
            candidate_name=DIFFERENT,
            role=Role.CONFIRMATION,
        )
        for workload in workloads[:1]
        for design in DIFFERENT_STARTS
        if design in designs
    ]
