"""`tune`: variants of one engine against its baseline, on every load."""

from __future__ import annotations

from dataclasses import replace

from burnish.builds.evidence import Portable
from burnish.catalogue.deployment import deployment
from burnish.catalogue.instructions import demanded
from burnish.model.recipe import Variant
from burnish.model.workload import Workload
from burnish.study.comparison import Comparison
from burnish.study.request.definition import definition_of
from burnish.study.request.options import Options
from burnish.study.request.placing import placing
from burnish.study.request.request import read_request
from burnish.study.study import Confirmation, Study
from burnish.study.trials.timing import factors_of, layouts_of, rule_of
from burnish.workload.deployment import choices_of


def tune_study(engine: str, options: Options) -> Study:
    """The study of an engine's ladder, or of the variants that were named.

    Raises:
        UserError: everything that is wrong with the request, one line each.
    """
    request = read_request(engine, options)
    variants, workloads = request.variants, request.workloads
    names = [variant.name for variant in variants]
    choices = choices_of(options.deploy, request.spec, deployment(request.spec.name))
    return Study(
        definition=definition_of("tune", request.spec, options, names, workloads, request.features, variants),
        engine=request.spec,
        comparisons=comparisons_of(variants, workloads, options),
        variants={variant.name: variant for variant in variants},
        features=request.features,
        workloads=workloads,
        rule=rule_of(options),
        replicates=factors_of(options),
        layouts=layouts_of(options),
        portable=portable_of(options),
        explore=options.explore,
        confirmation=replace(confirmation_of(options), simplest=True),
        named=frozenset(options.variants),
        sample=options.why,
        sample_seconds=options.seconds,
        deploy=choices,
    )


def comparisons_of(
    variants: tuple[Variant, ...], workloads: tuple[Workload, ...], options: Options
) -> tuple[Comparison, ...]:
    """Every variant compared with the first, the baseline, on every load."""
    baseline, *candidates = variants
    asked = placing(options)
    return tuple(
        Comparison(
            row=variant.name,
            series="",
            reading="",
            load=workload.name,
            threads=None,
            base=baseline.name,
            candidate=variant.name,
            given=options.settings,
            workload=workload,
            quantity=None,
            design=asked.design,
            placement=asked.placement,
        )
        for variant in candidates
        for workload in workloads
    )


def confirmation_of(options: Options) -> Confirmation:
    """How the winner is measured again: in the design and placement that were asked for, else apart."""
    return Confirmation(apart=placing(options).placement is None)


def portable_of(options: Options) -> Portable:
    """What is required of the builds' portability; a `UserError` for an unknown level or processor."""
    if options.portable is not None:
        demanded(options.portable)
    return Portable(options.portable, options.portability)
