"""From variants to builds: source, toolchains and stages, then every build made and tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from burnish.base.errors import UserError
from burnish.builds.builder import Builder
from burnish.builds.evidence import Portable
from burnish.model.condition import Condition
from burnish.model.recipe import Variant
from burnish.program.built import Built
from burnish.record.store import Entry
from burnish.study import conditions
from burnish.study import workloads as workload_choice
from burnish.study.builds.make import Chain, Made, Maker, resolve
from burnish.study.builds.source import obtain_source
from burnish.study.options import Setting
from burnish.study.planning import forecast
from burnish.study.planning.plan import summary
from burnish.study.session import nothing_half_made
from burnish.study.trials.replicates import Factors, expand, gather
from burnish.toolchain import ccache
from burnish.toolchain.toolchains import find_toolchains


def prepare(
    setting: Setting, variants: Sequence[Variant], features: str, ahead: Sequence[str] | None = None
) -> tuple[list[Chain], Maker]:
    """Source, toolchains, stages: everything before the first build.

    Args:
        setting: what is studied, and where.
        variants: whose stages these are.
        features: name of the feature set.
        ahead: lines that say what is ahead; None: the plan of these variants.
    """
    spec, bench, options = setting.spec, setting.bench, setting.options
    work = setting.home.work(spec.name)
    training = workload_choice.training_workloads(spec, variants)
    pinned = setting.record.last("source")
    source, tree = obtain_source(setting, pinned.body["version"] if pinned else None)
    setting.workloads = workload_choice.located(spec, setting.workloads, tree)
    training = {each.name: each for each in workload_choice.located(spec, training.values(), tree)}
    if pinned is None:
        setting.record.append("source", **asdict(source))
    elif pinned.body["digest"] != source.digest:
        raise UserError(
            f"{source.origin}: the source is no longer the one this study began with "
            f"({pinned.body['digest'][:12]}, found {source.digest[:12]}); --fresh begins a new study"
        )
    toolchains = find_toolchains()
    setting.record.append("toolchains", found=[asdict(toolchain) for toolchain in toolchains])
    builder = Builder(
        engine=setting.engine,
        store=setting.store,
        work=work,
        source=tree,
        bench=bench,
        jobs=options.jobs or len(setting.host.cores_allowed),
        wide=forecast.widths(spec, setting.store, len(setting.host.cores_allowed), options.jobs),
        cache_gb=ccache.size_gb(),
        origin=source,
    )
    chains = resolve(
        variants,
        spec=spec,
        source_digest=source.digest,
        source=tree,
        toolchains=toolchains,
        features=features,
        profile_place=builder.profile_place,
        store=setting.store,
        lbr=bool(setting.host.lbr),
    )
    maker = Maker(
        engine=setting.engine,
        builder=builder,
        store=setting.store,
        record=setting.record,
        bench=bench,
        cores=frozenset(setting.host.cores_allowed),
        scratch=setting.scratch,
        workloads=training | {workload.name: workload for workload in setting.workloads},
        version=source.version,
        portable=Portable(options.portable, options.portability),
    )
    plan = forecast.plan_of(
        chains, spec=spec, store=setting.store, source=source, workloads=tuple(maker.workloads.values())
    )
    builder.expected.update(plan.expected)
    setting.record.append("plan", **plan.as_dict())
    for line in summary(plan) if ahead is None else ahead:
        bench.say(line)
    bench.total = len(plan.building)
    return chains, maker


@dataclass(frozen=True)
class Makings:
    """A study's sides, and what its trials need besides.

    Attributes:
        made: what became of every variant or program, the baseline first.
        replicates: each variant's builds where it has several.
        data: dataset entries by workload name.
        pair: the baseline's condition and the candidates'.
        examined: whether the loads were looked at under these conditions.
    """

    made: list[Made]
    replicates: Mapping[str, Sequence[Built]]
    data: Mapping[str, Entry]
    pair: tuple[Condition, Condition]
    examined: bool = False


def make(setting: Setting, variants: Sequence[Variant], features: str) -> Makings:
    """Builds and gates all variants; one whose program is the baseline's has nothing to measure."""
    factors = Factors(setting.options.layouts, setting.options.trainings)
    with nothing_half_made(setting.record):
        setting.workloads = workload_choice.check(setting.engine, setting.workloads, setting.bench)
        condition = conditions.ready(setting, conditions.usual(setting.spec, setting.options))
        setting.workloads = conditions.loads_under(setting.workloads, [condition])
        chains, maker = prepare(setting, expand(variants, factors), features)
        maker.look = lambda built: conditions.possible(setting, [(built, condition)])
        baseline = maker.make(chains[:1])
        if baseline[0].built is not None:
            # Before the others are built: a load that can't run is not worth them.
            conditions.examine(setting, [(baseline[0].built, condition)], maker.data)
    made, replicates = gather(variants, [*baseline, *maker.make(chains[1:], more=True)], factors)
    for item in made[1:]:
        item.built = None if item.same else item.built
    return Makings(made, replicates, maker.data, (condition, condition), examined=True)
