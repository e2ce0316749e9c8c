"""`study run`: a published study as its file in the catalogue has it, on an engine and this host."""

from __future__ import annotations

from dataclasses import replace

from burnish.base.digest import digest_of
from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.catalogue.bundled.files import study as bundled_file
from burnish.catalogue.bundled.model import Study as BundledFile
from burnish.engines.contract import OwnData
from burnish.model.engine import EngineSpec
from burnish.model.workload import Workload
from burnish.source.patches import patch_set
from burnish.study.bundled import patches
from burnish.study.bundled.expansion import Expanded, OwnLoads, expand, other_compilers
from burnish.study.bundled.recipes import meaning
from burnish.study.constructors.tune import portable_of
from burnish.study.extras.extras import robust_of, wants_timeline
from burnish.study.request import release
from burnish.study.request import workloads as workload_choice
from burnish.study.request.definition import Definition, definition_of
from burnish.study.request.options import Options
from burnish.study.request.placing import placing
from burnish.study.request.selection import Asked
from burnish.study.study import Confirmation, Study
from burnish.study.trials.timing import factors_of, layouts_of, rule_of
from burnish.toolchain.toolchains import choose, find_toolchains


def bundled_study(name: str, engine: str | None, asked: Asked, options: Options) -> Study:
    """All comparisons of a bundled study; names and budget decide which of them a session runs.

    Args:
        name: the study's.
        engine: the engine; None: the study's own.
        asked: which part; its thread counts replace those of rows that have a ladder.
        options: how it is measured.

    Raises:
        UserError: an unknown study or engine, a second compiler that is not installed, too few replicates for a
            verdict.
    """
    own = bundled_file(name)
    spec = load.engine(engine or own.engine)
    toolchains = find_toolchains()
    second = other_compilers(toolchains)
    if options.second_compiler is not None:
        second[choose(options.second_compiler, toolchains).family] = options.second_compiler
    given = asked.threads
    ladder = sorted({number for row in own.rows_for(spec.name) for number in row.threads} | set(given))
    expanded = expand(
        own,
        spec,
        threads=ladder if given else (),
        settings=options.settings,
        own=_own_loads(spec, options),
        second=second,
        unreleased=release.lacking(spec, options.release),
    )
    rows = {row.name: row for row in own.rows_for(spec.name)}
    # Thread counts that were only requested apply to rows that have a ladder; other rows keep their own.
    kept = tuple(
        comparison
        for comparison in expanded.comparisons
        if comparison.threads is None
        or comparison.threads in given
        or comparison.threads in rows[comparison.row].threads
    )
    return of_expanded(own, replace(expanded, comparisons=kept), asked, options)


def of_expanded(own: BundledFile, expanded: Expanded, asked: Asked, options: Options) -> Study:
    """The study of comparisons that a bundled study's file was expanded to.

    Args:
        own: the file.
        whole: its comparisons on an engine.
        asked: which part.
        options: how.
    """
    spec = expanded.engine
    features = options.features or spec.default_features
    study = Study(
        definition=_definition(own, expanded, features, replace(options, explore=True)),
        engine=spec,
        comparisons=tuple(comparison.as_asked(placing(options)) for comparison in expanded.comparisons),
        variants=expanded.variants,
        features=features,
        rule=rule_of(options),
        replicates=factors_of(options),
        layouts=layouts_of(options),
        portable=portable_of(options),
        explore=True,
        confirmation=_confirmation(own, options),
        in_turn=False,
        tolerant=True,
        once=True,
        sample=options.why,
        sample_seconds=options.seconds,
        instrumented=expanded.instrumented,
        bundled=own,
        architecture=expanded.architecture,
    )
    return replace(study, workloads=_analysis_loads(study, asked))


def _confirmation(own: BundledFile, options: Options) -> Confirmation:
    """The best row is measured again where one is recommended; not a single one, as a later session may bring more."""
    if not own.recommends:
        return Confirmation(more_than=None)
    return Confirmation(more_than=1, apart=placing(options).placement is None, apart_more_than=1)


def _definition(own: BundledFile, expanded: Expanded, features: str, options: Options) -> Definition:
    """The study's identity: the content of its rows and how they are measured, not which part is requested."""
    spec = expanded.engine
    pins: dict[str, list[str]] = {}
    if patches.words(own.rows_for(spec.name)):
        pins = patch_set.pins(expanded.variants.values())
    plain = definition_of(own.name, spec, options, ["baseline"], (), features, ())
    loads = tuple(
        dict.fromkeys(load_role.named[spec.name] for load_role in own.loads.values() if spec.name in load_role.named)
    )
    if options.workloads:
        loads = options.workloads
    return replace(plain, workloads=loads, recipes={"rows": digest_of(meaning(own, expanded))}, patches=pins)


def _own_loads(spec: EngineSpec, options: Options) -> OwnLoads:
    """The user's loads and data in place of the file's."""
    if options.data is not None and not options.workloads:
        raise UserError(
            f"--data {options.data}: none of the loads uses it; name one of your own (.lua or .sql) in --workload"
        )
    settings, _ = workload_choice.read_defaults(spec, options)
    data = OwnData(options.data, options.database) if options.data else None
    return OwnLoads(options.workloads, data, settings)


def _analysis_loads(study: Study, asked: Asked) -> tuple[Workload, ...]:
    """The loads that a study's analyses need in addition to those of its rows."""
    own, engine = study.bundled, study.engine
    assert own is not None  # noqa: S101 - a bundled study
    robust = robust_of(study) if not asked.rows else None
    roles: list[tuple[str, tuple[int, ...]]] = [(role, ()) for role in (robust.loads if robust else ())]
    if own.timeline is not None and wants_timeline(study, asked):
        roles.append((own.timeline.load, (own.timeline.threads,)))
    workloads: list[Workload] = []
    for role, ladder in roles:
        name = own.loads[role].named.get(engine.name)
        if name is not None:
            workloads += workload_choice.choose(engine, [name], ladder=ladder)
    return tuple(workloads)
