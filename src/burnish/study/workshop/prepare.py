"""Prepares a workshop: checks loads, unpacks the source, plans every build's stages; or examines two programs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from burnish.base.errors import UserError
from burnish.bench import datasets
from burnish.builds.builder import Builder
from burnish.program.built import Built
from burnish.record.codec import plain, value_of
from burnish.record.events.builds import BuildsPlanned, FoundToolchain, ProgramsDiffer, SourceObtained, ToolchainsFound
from burnish.study.builds.chains import chains_of
from burnish.study.builds.make import Maker
from burnish.study.builds.programs import (
    differences,
    known_program,
    note_variant,
    of_one_format,
    of_one_product,
    older,
    several_versions,
)
from burnish.study.builds.source import obtain_source, source_obtained
from burnish.study.bundled.record import record_table
from burnish.study.comparison import Comparison
from burnish.study.kept.scatter import Load, scatter_of, sentence
from burnish.study.kept.sittings import settled
from burnish.study.planning import forecast
from burnish.study.planning.study_plan import StudyPlan
from burnish.study.request import conditions
from burnish.study.request import workloads as workload_choice
from burnish.study.request.selection import is_decided, needed
from burnish.study.session import Session
from burnish.study.study import Study
from burnish.study.workshop import older_data
from burnish.study.workshop.workshop import NotMeasured, Workshop
from burnish.toolchain import ccache
from burnish.toolchain.toolchains import find_toolchains
from burnish.workload.conditions import merged


def prepare(session: Session, study: Study, plan: StudyPlan, shown: Sequence[str]) -> Workshop:
    """The workshop as it is before the first build.

    Args:
        session: the session.
        study: the study.
        plan: its plan.
        shown: the plan in the lines that are shown when builds are about to begin.

    Raises:
        UserError: the request is impossible, or this host can give no verdicts.
    """
    workshop = Workshop(session, study, plan.selection)
    if study.bundled is not None:
        record_table(session.record, study, plan.selection)
    for event in study.opening:
        session.record.append(event)
    chosen = open_comparisons(workshop)
    # A host whose calibration failed is refused now, not after an hour of builds.
    workshop.calibrations([comparison for comparison in chosen if comparison.cell is not None])
    workshop.check_loads()
    if not study.tolerant:
        _check_conditions(workshop, chosen)
    _probe_flushes(workshop, chosen)
    if study.programs:
        _programs(workshop, chosen)
    else:
        _builds(workshop, shown, chosen)
    return workshop


def open_comparisons(workshop: Workshop) -> list[Comparison]:
    """The comparisons of this session that have neither a verdict nor a reason not to be measured."""
    session = workshop.session
    chosen = workshop.selection.chosen
    have = settled(workshop.record, session.options.schedule, session.host.boot, chosen)
    return [comparison for comparison in chosen if comparison.reason is None and not is_decided(comparison, have)]


def _check_conditions(workshop: Workshop, chosen: Sequence[Comparison]) -> None:
    """Prepares every condition and adapts the loads to them."""
    sides = dict.fromkeys(
        side for comparison in chosen for side in ((comparison.given, ()), (comparison.given, comparison.versus))
    )
    pair = [workshop.condition(given, versus) for given, versus in sides]
    if pair:
        workshop.session.workloads = conditions.loads_under(workshop.session.workloads, pair)


def _probe_flushes(workshop: Workshop, chosen: Sequence[Comparison]) -> None:
    """Times flushes where loads that change their data will have them, and says what a quarter of an hour will give.

    Both before anything is built, so that an uneven disk is known at once.
    """
    places: dict[str, None] = {}
    loads: dict[Load, None] = {}
    for comparison in chosen:
        if comparison.workload is not None and comparison.workload.writes:
            for versus in dict.fromkeys([(), comparison.versus]):
                with contextlib.suppress(NotMeasured):
                    place = workshop.condition(comparison.given, versus).place
                    places[place] = None
                    if comparison.cell is not None:
                        cell = workshop.cell(comparison)
                        base = workshop.condition(comparison.given, ())
                        settings = merged(cell.workload.settings, base.settings)
                        loads[cell.workload.name, cell.design, place, settings] = None
    workshop.storing.probe(places)
    session = workshop.session
    for (name, *_), known in scatter_of(session.home, session.spec.name, session.host, loads).items():
        session.bench.say(sentence(name, known))


def _builds(workshop: Workshop, shown: Sequence[str], chosen: Sequence[Comparison]) -> None:
    """Prepares source, toolchains and stages, before the first build."""
    session, study = workshop.session, workshop.study
    spec, record, options = session.spec, session.record, session.options
    pinned = record.last(SourceObtained)
    source, tree = obtain_source(session, pinned.event.version if pinned else None)
    session.workloads = workload_choice.located(spec, session.workloads, tree)
    if pinned is None:
        record.append(source_obtained(source))
    elif pinned.event.digest != source.digest:
        raise UserError(
            f"{source.origin}: the source has changed since this run began "
            f"({pinned.event.digest[:12]}, now {source.digest[:12]}); --fresh begins a new run"
        )
    toolchains = find_toolchains()
    record.append(ToolchainsFound(tuple(value_of(FoundToolchain, plain(toolchain)) for toolchain in toolchains)))
    cores = len(session.host.cores_allowed)
    builder = Builder(
        engine=session.engine,
        store=session.store,
        work=session.home.work(spec.name),
        source=tree,
        bench=session.bench,
        jobs=options.jobs or cores,
        wide=forecast.widths(spec, session.store, cores, options.jobs),
        cache_gb=ccache.size_gb(),
        origin=source,
    )
    workshop.chains = chains_of(
        study, needed(study, chosen), source_digest=source.digest, home=session.home, store=session.store
    )
    possible = [chain.variant for chain in workshop.chains.values() if chain.missing is None]
    training = workload_choice.training_workloads(spec, possible, session.workloads)
    located = workload_choice.located(spec, training.values(), tree)
    workshop.maker = Maker(
        engine=session.engine,
        builder=builder,
        store=session.store,
        record=record,
        bench=session.bench,
        cores=frozenset(session.host.cores_allowed),
        scratch=session.scratch,
        workloads={workload.name: workload for workload in session.workloads},
        training=dict(zip(training, located, strict=True)),
        version=source.version,
        portable=study.portable,
        look=partial(_possible, workshop),
    )
    builds = forecast.plan_of(
        list(workshop.chains.values()),
        spec=spec,
        store=session.store,
        source=source,
        workloads=workshop.maker.loads,
    )
    builder.expected.update(builds.expected)
    record.append(value_of(BuildsPlanned, plain(builds.as_dict())))
    for line in shown:
        session.bench.say(line)
    session.bench.total = len(builds.building)
    workshop.maker.data_ahead = sum(step.kind == "dataset" for step in builds.building)


def _possible(workshop: Workshop, baseline: Built) -> None:
    """Examines loads on the baseline as far as possible without data, before data sets are made.

    In a tolerant study rows have conditions of their own and are examined one by one; only a requested ladder that
    exceeds the server's connections is refused before any.
    """
    session = workshop.session
    if workshop.study.tolerant:
        most = tuple(sorted(session.workloads, key=lambda workload: workload.threads)[-1:])
        asked = conditions.usual(session.spec, session.options)
        conditions.possible(replace(session, workloads=most), [(baseline, conditions.ready(session, asked))])
        return
    given = dict.fromkeys(comparison.given for comparison in workshop.selection.chosen)
    conditions.possible(session, [(baseline, workshop.condition(words)) for words in given])


def start(workshop: Workshop) -> None:
    """Makes the baseline and examines the loads on it before other builds are made, so that a load that cannot run is
    refused early."""
    chosen = open_comparisons(workshop)
    if not chosen or workshop.maker is None:
        return
    baseline = workshop.make_baseline().built
    if baseline is None:
        return
    session, study = workshop.session, workshop.study
    if study.tolerant:
        return
    given = dict.fromkeys(comparison.given for comparison in chosen)
    conditions.examine(session, [(baseline, workshop.condition(words)) for words in given], workshop.data)


def _programs(workshop: Workshop, chosen: Sequence[Comparison]) -> None:
    """Examines two existing programs, records how they differ, makes data sets for the loads."""
    session, study = workshop.session, workshop.study
    if any(map(session.engine.loads.lacks_source, session.workloads)):
        tree = obtain_source(session, None)[1]
        session.workloads = workload_choice.located(session.spec, session.workloads, tree)
    for name, built in study.programs.items():
        workshop.made[name] = known_program(session, name, built, study.portable)
    one, two = workshop.made.values()
    assert one.identity is not None and two.identity is not None  # noqa: S101, PT018 - programs that exist
    assert one.built is not None and two.built is not None  # noqa: S101, PT018
    of_one_product(one, two)
    of_one_format(session.spec, one, two)
    lines = differences(one.identity, two.identity)
    session.record.append(ProgramsDiffer(tuple(lines)))
    session.bench.say("\n    ".join(f"they differ: {line}" for line in lines) or "same version, same features")
    sides = dict.fromkeys(
        side
        for comparison in chosen
        for side in (
            (one.built, workshop.condition(comparison.given)),
            (two.built, workshop.condition(comparison.given, comparison.versus)),
        )
    )
    conditions.possible(session, list(sides))
    maker = older(one, two)
    assert maker.built is not None and maker.identity is not None  # noqa: S101, PT018 - one of the two
    for workload in (workload for workload in session.workloads if workload.dataset != "none"):
        with session.bench.step(f"dataset {workload.dataset}", f"dataset-{workload.dataset}", counts=False):
            workshop.program_data[workload.name] = datasets.obtain(
                session.engine,
                session.store,
                maker.built,
                maker.built,
                maker.identity.version,
                workload,
                session.bench,
            )
    newer = next((condition for built, condition in sides if built is not maker.built), None)
    with_data = next((workload for workload in session.workloads if workload.name in workshop.program_data), None)
    if newer is not None and with_data is not None and several_versions((one, two)):
        lay = partial(datasets.copy, workshop.program_data[with_data.name], bench=session.bench)
        older_data.check(session, (one, two), with_data, newer, lay)
    for item in workshop.made.values():
        note_variant(session.record, item, item.notes)
