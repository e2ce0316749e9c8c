"""The two verbs that run a study: `tune` (from source) and `compare` (programs that exist already)."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rich.console import Console

from burnish import netns, process, system
from burnish.bench import datasets
from burnish.bench.host import HostFacts, read_host
from burnish.bench.pairs import Contestant
from burnish.bench.topology import duet_core_sets
from burnish.build import ccache, emulation, linking, patchsets, sources
from burnish.build.builder import Builder
from burnish.build.toolchains import find_toolchains
from burnish.catalogue import load
from burnish.catalogue.instructions import demanded
from burnish.engines import sql_bench
from burnish.engines.base import Built, Engine, Identity
from burnish.engines.registry import create
from burnish.errors import UserError
from burnish.paths import Home
from burnish.record.record import Record
from burnish.record.store import Entry, Store
from burnish.run import calibration, conditions, forecast, studies
from burnish.run import workloads as workload_choice
from burnish.run.cells import Cell
from burnish.run.contest import CANARIES, Contest
from burnish.run.evidence import Examiner, Portable
from burnish.run.making import Chain, Made, Maker, resolve
from burnish.run.plan import summary
from burnish.run.replicates import Factors, expand, gather
from burnish.run.request import read_request
from burnish.run.studies import Definition
from burnish.statistics.calibration import Calibration, pairs_for
from burnish.statistics.verdicts import HostPrior, Rule
from burnish.study.conditions import difference
from burnish.study.model import Condition, Design, EngineSpec, Recipe, Timing, Variant, Workload
from burnish.workbench import Bench, duration

Ask = Callable[[str], bool]


@dataclass(frozen=True)
class Options:
    """What a user may say to `tune` and `compare`.

    Attributes:
        variants: names; empty for the engine's ladder and the user's own.
        recipes: TOML file with the user's own variants.
        workloads: names; empty for the engine's default.
        features: feature set; None for the engine's default.
        source: None for Debian's package, a version of it, or a path.
        source_version: version to pin of Debian's package.
        sha256: expected digest of a tarball.
        threads: client threads.
        precision: half-width to reach; None to stop at the first verdict.
        max_starts: most starts of a cell.
        pairs: pairs in a start.
        turns: turns in a pair.
        starts: a number of starts fixed in advance, for figures to be published; None: as many as it takes.
        design: trial design of every cell; None: each workload's own.
        explore: look through many cells rather than claim them together.
        layouts: layout replicates of every variant; 0: each is linked once, in the build system's order.
        trainings: training replicates, likewise.
        force: give verdicts although this host's calibration failed; marked in the report.
        seed: decides slots and keys.
        jobs: parallel compile jobs; None for all cores.
        fresh: begin a new study even when an unfinished one would fit.
        yes: install what is missing without asking.
        ladder: numbers of client threads, each a load of its own; empty: one number for each load.
        settings: what every server is set to, ``NAME=VALUE`` each (see `burnish.study.conditions`).
        versus: likewise, what sets the second program's condition apart (`compare`).
        data: a user's dump or data folder for the user's loads.
        database: the database in it to work in; None: the only one.
        defaults_file: a user's my.cnf.
        strict: refuse what routine tuning left undone.
        portable: level or processor that every build must run on; None: none is demanded.
        portability: try every build on the catalogue's processors.
    """

    variants: tuple[str, ...] = ()
    recipes: Path | None = None
    workloads: tuple[str, ...] = ()
    features: str | None = None
    source: Path | None = None
    source_version: str | None = None
    sha256: str | None = None
    threads: int | None = None
    precision: float | None = 0.01
    max_starts: int = 12
    pairs: int | None = None
    turns: int | None = None
    starts: int | None = None
    design: str | None = None
    explore: bool = False
    layouts: int = 0
    trainings: int = 0
    force: bool = False
    seed: int = 1
    jobs: int | None = None
    fresh: bool = False
    yes: bool = False
    ladder: tuple[int, ...] = ()
    settings: tuple[str, ...] = ()
    versus: tuple[str, ...] = ()
    data: Path | None = None
    database: str | None = None
    defaults_file: Path | None = None
    strict: bool = False
    portable: str | None = None
    portability: bool = False


@dataclass
class Setting:
    """What both verbs work with, once the home is held."""

    home: Home
    store: Store
    spec: EngineSpec
    engine: Engine
    host: HostFacts
    core_sets: tuple[frozenset[int], frozenset[int]]
    twin_cores: bool
    record: Record
    bench: Bench
    scratch: Path
    workloads: tuple[Workload, ...]
    rule: Rule
    options: Options
    ask: Ask | None


def tune(home: Home, engine: str, options: Options, console: Console, ask: Ask | None) -> Path:
    """From source to verdicts; returns the study's folder."""
    request = read_request(engine, options)
    spec, variants, workloads, features = request.spec, request.variants, request.workloads, request.features
    count = Factors(options.layouts, options.trainings).count
    portable = Portable(options.portable, options.portability)
    if options.portable is not None:
        demanded(options.portable)  # an unknown name is found before anything is begun
    definition = definition_of("tune", spec, options, [v.name for v in variants], workloads, features, variants)
    with studies.lock(home):
        check_disk(home, spec, len(variants) * count)
        install(spec, variants, options, ask)
        if portable.needs_emulator and emulation.find(emulation.host_architecture()) is None:
            ensure(["portability"], "trying builds on other processors", options, ask)
        setting = begin(home, spec, definition, options, console, workloads, ask)
        hold_all(setting, make(setting, variants, features))
        return finish(setting)


@dataclass(frozen=True)
class Makings:
    """A study's builds, and what its trials need besides.

    Attributes:
        made: what became of every variant, the baseline first.
        replicates: each variant's builds where it has several.
        data: dataset entries by workload name.
        condition: every side's.
    """

    made: list[Made]
    replicates: Mapping[str, Sequence[Built]]
    data: Mapping[str, Entry]
    condition: Condition


def make(setting: Setting, variants: Sequence[Variant], features: str) -> Makings:
    """Builds and gates all variants; one whose program is the baseline's has nothing to measure."""
    factors = Factors(setting.options.layouts, setting.options.trainings)
    with nothing_half_made(setting.record):
        setting.workloads = workload_choice.check(setting.engine, setting.workloads, setting.bench)
        condition = conditions.ready(setting, conditions.usual(setting.options))
        setting.workloads = conditions.loads_under(setting.workloads, [condition])
        chains, maker = prepare(setting, expand(variants, factors), features)
    made, replicates = gather(variants, maker.make(chains), factors)
    for item in made[1:]:
        item.built = None if item.same else item.built
    return Makings(made, replicates, maker.data, condition)


def hold_all(setting: Setting, ready: Makings) -> None:
    """The contest of all candidates that have a build, on every workload."""
    baseline, *candidates = ready.made
    pair = (ready.condition, ready.condition)
    _hold(setting, baseline, candidates, ready.data, _cells(setting, ready.made), pair, ready.replicates)


def compare(
    home: Home, engine: str, programs: Sequence[Path], options: Options, console: Console, ask: Ask | None
) -> Path:
    """Trials and verdicts for two programs that exist already; returns the study's folder."""
    spec = load.engine(engine)
    behaviour = create(spec)
    workloads = workload_choice.chosen(spec, options)
    built = [behaviour.existing(program) for program in programs]
    asked = conditions.usual(options)
    other = conditions.versus(options)
    names = short_names(programs)
    if other is not None and len(set(programs)) == 1:
        names = [programs[0].name, difference(asked, other)]
    definition = definition_of(
        "compare", spec, options, [f"{b.server}={b.key}" for b in built], workloads, spec.default_features, ()
    )
    with studies.lock(home):
        groups = [group for group in spec.system_packages if "build" not in group] + conditions.groups(options)
        ensure(groups, "the load on the server", options, ask)
        setting = begin(home, spec, definition, options, console, workloads, ask)
        with nothing_half_made(setting.record):
            setting.workloads = workload_choice.check(setting.engine, setting.workloads, setting.bench)
            pair = (conditions.ready(setting, asked), conditions.ready(setting, other or asked))
            setting.workloads = conditions.loads_under(setting.workloads, pair)
            if any(sql_bench.is_nowhere(workload) for workload in setting.workloads):
                setting.workloads = sql_bench.located(setting.workloads, obtain_source(setting, None)[1])
            made = [known_program(setting, name, item) for name, item in zip(names, built, strict=True)]
        found = differences(*(_identity(item) for item in made))
        setting.record.append("difference", found=found)
        setting.bench.say("\n    ".join(f"they differ: {line}" for line in found) or "same version, same features")
        first = made[0].built
        assert first is not None  # noqa: S101 - existing() gave it
        data: dict[str, Entry] = {}
        version = _identity(made[0]).version
        with nothing_half_made(setting.record):
            for workload in (w for w in setting.workloads if w.dataset != "none"):
                with setting.bench.step(f"dataset {workload.dataset}", f"dataset-{workload.dataset}", counts=False):
                    data[workload.name] = datasets.obtain(
                        setting.engine, setting.store, first, first, version, workload, setting.bench
                    )
        _hold(setting, made[0], made[1:], data, _cells(setting, made), pair)
        return finish(setting)


def known_program(setting: Setting, name: str, built: Built) -> Made:
    """An existing program under its short name, with what it says of itself, noted in the record."""
    renamed = replace(built, name=name)
    identity = setting.engine.identity(renamed, setting.bench)
    setting.record.append("program", variant=name, path=str(built.server), key=built.key, identity=asdict(identity))
    facts = Examiner(setting.engine, setting.store, setting.bench, setting.scratch).look(renamed)
    setting.record.append("evidence", variant=name, key=built.key, tried={}, **facts)
    return Made(Variant(name, Recipe(), "an existing program"), renamed, identity)


def differences(one: Identity, other: Identity) -> list[str]:
    """What sets two programs apart besides speed: version and features, a line each."""
    found = []
    if one.version != other.version:
        found.append(f"version: {one.version} against {other.version}")
    mine, theirs = dict(one.features), dict(other.features)
    found += [
        f"{name}: {mine.get(name, 'absent')} against {theirs.get(name, 'absent')}"
        for name in sorted({*mine, *theirs})
        if mine.get(name) != theirs.get(name)
    ]
    return found


def _identity(made: Made) -> Identity:
    assert made.identity is not None  # noqa: S101 - only asked of what was built
    return made.identity


def short_names(programs: Sequence[Path]) -> list[str]:
    """Short names for two programs: the file names, or as much of the path as tells them apart."""
    parts = [program.resolve().parts for program in programs]
    for length in range(1, max(len(each) for each in parts) + 1):
        names = ["/".join(each[-length:]) for each in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{program.name}#{number}" for number, program in enumerate(programs, start=1)]


def definition_of(
    verb: str,
    spec: EngineSpec,
    options: Options,
    variants: Sequence[str],
    workloads: Sequence[Workload],
    features: str,
    recipes: Sequence[Variant],
) -> Definition:
    """What the study is asked to do, in the form that finds it again."""
    return Definition(
        verb=verb,
        engine=spec.name,
        variants=tuple(variants),
        workloads=tuple(workload.identity for workload in workloads),
        features=features,
        source=str(options.source.resolve()) if options.source else f"debian={options.source_version or 'newest'}",
        threads=options.threads,
        precision=options.precision,
        max_starts=options.max_starts,
        pairs=options.pairs,
        turns=options.turns,
        starts=options.starts,
        design=options.design,
        explore=options.explore,
        layouts=options.layouts,
        trainings=options.trainings,
        seed=options.seed,
        recipes={variant.name: variant.recipe.as_dict() for variant in recipes},
        conditions=conditions.words(options),
        patches=patchsets.pins(recipes),
        portable=options.portable,
    )


def begin(
    home: Home,
    spec: EngineSpec,
    definition: Definition,
    options: Options,
    console: Console,
    workloads: tuple[Workload, ...],
    ask: Ask | None,
) -> Setting:
    """Opens the record, clears what a killed run left, reads the host."""
    process.sweep()
    netns.sweep()
    store = Store(home.store)
    store.sweep()
    scratch = home.scratch / spec.name
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700, parents=True)
    facts = read_host(home.root)
    sets = duet_core_sets(facts)
    if sets is None and options.design == Design.DUET:
        raise UserError(
            f"--design duet: needs two physical cores for this process, found {len(facts.cores_allowed)}; "
            "run on a host (or with an affinity) that has two, or leave the option out"
        )
    every = frozenset(facts.cores_allowed)
    record, resumed = studies.begin_or_resume(home, definition, fresh=options.fresh)
    bench = Bench(record, record.folder / "logs", console)
    record.append("run", host=facts.as_record(), resumed=resumed)
    word = "going on with" if resumed else "study"
    console.print(f"{word} {record.folder.name} (record: {record.path})", markup=False, highlight=False, soft_wrap=True)
    if sets is None:
        bench.say("no two physical cores alike for a duet: one side at a time instead, which is noisier")
    return Setting(
        home=home,
        store=store,
        spec=spec,
        engine=create(spec),
        host=facts,
        core_sets=sets or (every, every),
        twin_cores=sets is not None,
        record=record,
        bench=bench,
        scratch=scratch,
        workloads=workloads,
        rule=rule_of(options),
        options=options,
        ask=ask,
    )


def rule_of(options: Options) -> Rule:
    """When a cell's trial ends."""
    replicates = Factors(options.layouts, options.trainings).count
    most = options.max_starts if replicates == 1 else replicates
    if options.starts is not None:
        return Rule.fixed(options.starts)
    return Rule(cap=most, precision=options.precision, minimum=min(8, most))


def optional_groups(variants: Sequence[Variant]) -> list[str]:
    """Groups of system packages that some of the variants need and that are not there."""
    wanted = []
    if any(v.recipe.toolchain.startswith("clang") for v in variants) and not _have_clang():
        wanted.append("clang")
    if any(v.recipe.bolt for v in variants) and not any(t.bolt_can_instrument for t in find_toolchains()):
        wanted.append("bolt")
    return wanted + sorted({group for variant in variants for group in linking.groups(variant.recipe)})


def install(spec: EngineSpec, variants: Sequence[Variant], options: Options, ask: Ask | None) -> None:
    """Installs what building and loading need; a variant whose tools are refused is left out later on."""
    ensure([*spec.system_packages, *conditions.groups(options)], f"building and loading {spec.title}", options, ask)
    wanted = optional_groups(variants)
    if wanted:
        names = ", ".join(
            v.name
            for v in variants
            if v.recipe.toolchain.startswith("clang") or v.recipe.bolt or linking.groups(v.recipe)
        )
        try:
            ensure(wanted, f"the variants {names}", options, ask)
        except UserError as error:
            Console(stderr=True).print(f"going on without: {error}", markup=False, highlight=False, soft_wrap=True)


def _have_clang() -> bool:
    return any(t.family == "clang" and t.linker and t.profdata and t.has_profile_runtime for t in find_toolchains())


def ensure(groups: Sequence[str], why: str, options: Options, ask: Ask | None) -> None:
    """Installs what is missing of these groups of system packages, after asking."""
    known = system.groups()
    names = [name for group in groups for name in known[group].packages]
    if names:
        system.ensure_packages(names, why=why, yes=options.yes, ask=ask)


def prepare(setting: Setting, variants: Sequence[Variant], features: str) -> tuple[list[Chain], Maker]:
    """Source, toolchains, stages: everything before the first build."""
    spec, bench, options = setting.spec, setting.bench, setting.options
    work = setting.home.work(spec.name)
    training = training_workloads(spec, variants)
    pinned = setting.record.last("source")
    source, tree = obtain_source(setting, pinned.body["version"] if pinned else None)
    setting.workloads = sql_bench.located(setting.workloads, tree)
    training = {each.name: each for each in sql_bench.located(tuple(training.values()), tree)}
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
    builder.expected.update((step.key, step.seconds.value) for step in plan.ahead)
    setting.record.append("plan", **plan.as_dict())
    for line in summary(plan):
        bench.say(line)
    bench.total = len(plan.building)
    return chains, maker


def obtain_source(setting: Setting, pinned: str | None) -> tuple[sources.Source, Path]:
    """The source that was asked for, and its tree at the engine's constant place.

    Args:
        setting: the study.
        pinned: version of the package that the study began with, if it has begun.
    """
    request = source_request(setting.spec, setting.options, pinned)
    cache, place = setting.home.downloads, setting.home.work(setting.spec.name) / "source"
    with setting.bench.step("source", "source", counts=False):
        source = sources.resolve(request, cache=cache, say=setting.bench.say)
        return source, sources.unpack(source, request, cache=cache, place=place)


def training_workloads(spec: EngineSpec, variants: Sequence[Variant]) -> dict[str, Workload]:
    """The workloads that the engine's training and the recipes' own need; a `UserError` names variant and workload."""
    found = {name: load.workload(spec, name) for name, _ in spec.training}
    for variant in variants:
        for name, _ in variant.recipe.training:
            try:
                found[name] = load.workload(spec, name)
            except UserError as error:
                raise UserError(f"variant {variant.name}: training: {error}") from None
    return found


def source_request(spec: EngineSpec, options: Options, pinned: str | None) -> sources.SourceRequest:
    """The source that was asked for, or the engine's own in the version that the study began with."""
    local = options.source or load.shipped_source(spec)
    debian = None
    if local is None:
        if spec.debian_package is None:
            raise UserError(f"{spec.name} has no source of its own; name one with --source")
        debian = sources.DebianSource(package=spec.debian_package, version=options.source_version or pinned)
    return sources.SourceRequest(engine=spec.name, debian=debian, local=local, sha256=options.sha256)


def disk_needed(spec: EngineSpec, variants: int) -> int:
    """Bytes that a study with so many variants takes at its fullest: source, one build tree, what is kept."""
    costs = spec.costs
    return 1_000_000 * (costs.source_mb + costs.build_mb + 3 * variants * costs.kept_mb + 4 * costs.dataset_mb)


@contextlib.contextmanager
def nothing_half_made(record: Record) -> Iterator[None]:
    """Takes the study's folder away again when the request turns out to be impossible before any work was done."""
    try:
        yield
    except UserError:
        if record.last("build") is None and record.last("start") is None:
            record.close()
            shutil.rmtree(record.folder, ignore_errors=True)
        raise


def check_disk(home: Home, spec: EngineSpec, variants: int) -> None:
    """Refuses a plan that the disk can't hold, before anything is made."""
    need, free = disk_needed(spec, variants), shutil.disk_usage(home.root).free
    if free < need:
        raise UserError(
            f"{home.root}: {free / 1e9:.1f} GB free, the plan needs about {need / 1e9:.1f} GB; "
            "`burnish clean` frees space, or name a larger disk in BURNISH_HOME"
        )


def _cells(setting: Setting, made: Sequence[Made]) -> list[Cell]:
    """Every measurable candidate on every workload, workloads innermost."""
    return [
        cell(setting, item.variant.name, workload) for item in made[1:] if item.built for workload in setting.workloads
    ]


def cell(setting: Setting, candidate: str, workload: Workload, design: Design | None = None) -> Cell:
    """A cell in the design that was asked for, that fits the workload, or that the host has cores for."""
    chosen = design or (Design(setting.options.design) if setting.options.design else workload.design)
    if setting.options.versus and not (design or setting.options.design):
        chosen = Design.SOLO  # conditions move work to the client, the kernel, the network: as a user will see it
    if chosen is Design.DUET and not setting.twin_cores:
        chosen = Design.INTERLEAVED
    shared = chosen is Design.DUET or not setting.twin_cores
    return Cell(candidate, workload, chosen, "capacity" if shared else "throughput")


def timings(setting: Setting, calibrations: Sequence[Calibration] = ()) -> dict[Design, Timing]:
    """Times of a start under each design: as asked, as the host's calibration recommends, or the engine's own."""
    options, rule = setting.options, setting.rule
    found = {}
    for design, own in setting.spec.times.items():
        mine = [each for each in calibrations if each.design is design]
        recommended = max((pairs_for(each, rule.precision, rule.minimum) for each in mine), default=own.pairs)
        found[design] = replace(own, pairs=options.pairs or recommended, turns=options.turns or own.turns)
    return found


def _hold(
    setting: Setting,
    baseline: Made,
    candidates: Sequence[Made],
    data: Mapping[str, Entry],
    cells: Sequence[Cell],
    pair: tuple[Condition, Condition],
    replicates: Mapping[str, Sequence[Built]] | None = None,
) -> None:
    """Notes what became of every variant, then holds the contest.

    Args:
        setting: the study.
        baseline: what ratios are against.
        candidates: the others.
        data: dataset entries by workload name.
        cells: what is compared.
        pair: the baseline's condition and the candidates'.
        replicates: each variant's builds where it has several.
    """
    for item in (baseline, *candidates):
        notes = list(item.notes)
        told = setting.record.last("program") is not None  # `compare` names differences once, at the top
        if item.identity and baseline.identity and not told and item.variant.recipe.features is None:
            found = differences(baseline.identity, item.identity)
            notes += [f"differs from {baseline.variant.name}: {line}" for line in found]
        setting.record.append(
            "variant",
            variant=item.variant.name,
            reason=item.variant.reason,
            weakens_security=item.variant.weakens_security,
            changes_results=item.variant.changes_results,
            narrows_portability=item.variant.narrows_portability,
            failure=item.failure,
            same=item.same,
            notes=notes,
        )
    if not cells:
        return
    condition, other = pair
    assert baseline.built is not None  # noqa: S101 - there are cells
    with nothing_half_made(setting.record):
        conditions.examine(setting, baseline.built, list(dict.fromkeys(pair)), data)
    known = known_calibrations(setting, cells)
    times = timings(setting, known)
    setting.record.append(
        "contest",
        designs={cell.workload.name: cell.design for cell in cells},
        headlines={cell.workload.name: cell.headline for cell in cells},
        cells=[cell.name for cell in cells],
        rule=asdict(setting.rule),
        timings={design: asdict(times[design]) for design in {cell.design for cell in cells}},
        condition=condition.as_dict(),
        versus=other.as_dict() if other != condition else None,
        workloads={workload.name: asdict(workload) for workload in setting.workloads},
        core_sets=[sorted(cores) for cores in setting.core_sets],
        calibrations=[each.as_dict() for each in known],
        forced=[each.name for each in known if not each.passes],
        replicates={name: [built.key for built in builds] for name, builds in (replicates or {}).items()},
    )
    expected = setting.rule.minimum * sum(start_seconds(times[cell.design]) for cell in cells)
    setting.bench.say(f"trials: {len(cells)} cells, about {duration(expected)} at the least number of starts")
    began = time.monotonic()
    contest(
        setting,
        contestant(baseline, condition),
        {item.variant.name: contestant(item, other) for item in candidates if item.built},
        cells,
        times,
        data,
        priors={(each.workload, each.design): each.prior(times[each.design].pairs) for each in known},
        replicates=replicates,
    ).run()
    setting.store.note_cost(setting.spec.name, "trials", f"{len(cells)} cells", time.monotonic() - began)


def known_calibrations(setting: Setting, cells: Sequence[Cell]) -> list[Calibration]:
    """What this host's calibrations say of the cells' workloads; a `UserError` where one says: no verdicts here."""
    found: list[Calibration] = []
    if conditions.words(setting.options):
        return found  # they were made under the usual condition
    for workload, design in dict.fromkeys((cell.workload.name, cell.design) for cell in cells):
        each = calibration.find(setting.home, setting.spec.name, workload, design, setting.host)
        if each is None or not each.fits(timings(setting)[design]):
            continue
        if not each.passes and not setting.options.force:
            raise UserError(
                f"{each.name}: this host's calibration of {each.at} found the baseline different from itself "
                f"({each.words}); mend the host (`burnish doctor`) and calibrate again, or say --force"
            )
        found.append(each)
    return found


def contest(
    setting: Setting,
    baseline: Contestant,
    candidates: Mapping[str, Contestant],
    cells: Sequence[Cell],
    times: Mapping[Design, Timing],
    data: Mapping[str, Entry],
    *,
    priors: Mapping[tuple[str, Design], HostPrior] | None = None,
    rule: Rule | None = None,
    canaries: int = CANARIES,
    replicates: Mapping[str, Sequence[Built]] | None = None,
) -> Contest:
    """A contest of these sides in this setting."""
    return Contest(
        engine=setting.engine,
        record=setting.record,
        bench=setting.bench,
        baseline=baseline,
        candidates=candidates,
        cells=cells,
        rule=rule or setting.rule,
        times=times,
        core_sets=setting.core_sets,
        data=data,
        scratch=setting.scratch,
        seed=setting.options.seed,
        priors=priors or {},
        canaries=canaries,
        count_events=bool(setting.host.pmu),
        explore=setting.options.explore,
        replicates=replicates or {},
    )


def start_seconds(timing: Timing) -> float:
    """Rough wall time of a start: boot and stop, warm-up, then a settle and a window for each turn."""
    return 4.0 + timing.warmup + timing.pairs * timing.turns * (timing.settle + 1.1 * timing.window)


def contestant(made: Made, condition: Condition) -> Contestant:
    """A build as a side of every start, under this condition."""
    assert made.built is not None  # noqa: S101 - only builds become contestants
    return Contestant(made.variant.name, made.built, condition)


def finish(setting: Setting) -> Path:
    """Closes the record; returns the study's folder."""
    setting.record.append("finished")
    folder = setting.record.folder
    setting.record.close()
    shutil.rmtree(setting.scratch, ignore_errors=True)
    return folder
