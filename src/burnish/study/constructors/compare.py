"""`compare`: two server programs that exist already, or one under two conditions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.engines import recognising
from burnish.study.builds.programs import short_names
from burnish.study.comparison import Comparison
from burnish.study.constructors.tune import portable_of
from burnish.study.request import conditions
from burnish.study.request import workloads as workload_choice
from burnish.study.request.definition import definition_of
from burnish.study.request.options import Options
from burnish.study.request.placing import placing
from burnish.study.study import Study
from burnish.study.trials.timing import rule_of
from burnish.workload.conditions import difference


def compare_study(engine: str, programs: Sequence[Path], options: Options) -> Study:
    """The second program against the first, on every load.

    Args:
        engine: whose programs they are.
        programs: the two programs; the same one twice if conditions are compared.
        options: how they are measured.

    Raises:
        UserError: a program of another engine or another server, unknown loads, conditions that do not differ,
            replicates of programs that are not built.
    """
    for option, number in (("--layouts", options.layouts), ("--trainings", options.trainings)):
        if number:
            raise UserError(f"{option} {number}: the programs exist already and are not built again; leave it out")
    asked, spec = placing(options), load.engine(engine)
    workloads = workload_choice.chosen(spec, options, existing=True)
    built = recognising.existing(spec, programs)
    other = conditions.versus(spec, options)
    names = short_names(programs)
    if other is not None and len(set(programs)) == 1:
        names = [programs[0].name, difference(conditions.usual(spec, options), other)]
    labels = options.labels or (None, None)
    names = [label or name for label, name in zip(labels, names, strict=True)]
    if len(set(names)) < len(names):
        raise UserError(f"both programs are called {names[0]!r}; give names that differ, as in old=PATH new=PATH")
    # A label names cells, so it is part of the study's identity.
    identities = [
        f"{label}={program.server}={program.key}" if label else f"{program.server}={program.key}"
        for label, program in zip(labels, built, strict=True)
    ]
    return Study(
        definition=definition_of("compare", spec, options, identities, workloads, spec.default_features, ()),
        engine=spec,
        comparisons=tuple(
            Comparison(
                row=workload.name,
                series="",
                reading="",
                load=workload.name,
                threads=None,
                base=names[0],
                candidate=names[1],
                given=options.settings,
                versus=options.versus,
                workload=workload,
                quantity=None,
                design=asked.design,
                placement=asked.placement,
                candidate_name=names[1],
            )
            for workload in workloads
        ),
        programs=dict(zip(names, built, strict=True)),
        features=spec.default_features,
        workloads=workloads,
        rule=rule_of(options),
        portable=portable_of(options),
        explore=options.explore,
        sample=options.why,
        sample_seconds=options.seconds,
    )
