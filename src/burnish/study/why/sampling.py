"""The verb `why`: samples two builds under the same load and compares the samples.

It gives no verdict: sampling slows both sides down, so trials are never sampled.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console

from burnish.base import system
from burnish.base.errors import InfrastructureError, UserError, unknown
from burnish.base.paths import Home
from burnish.bench import datasets, hardware, sampling, trials
from burnish.bench.host import HostFacts, read_host
from burnish.bench.pairs import Contestant, Pair
from burnish.bench.sampling import Ability, Recorded, Sampling, Stacks
from burnish.builds.after_link import preload
from burnish.catalogue import load
from burnish.engines import recognising
from burnish.engines.registry import create
from burnish.model.cell import BuildId, CellId
from burnish.model.engine import EngineSpec
from burnish.model.workload import Placement, Timing, Workload
from burnish.program import machine_code
from burnish.program.built import Built
from burnish.program.machine_code import Code
from burnish.record.events.builds import BuildMade, ProgramFound, ProgramsDiffer
from burnish.record.events.study import StudyBegun
from burnish.record.events.trials import StartBegun
from burnish.record.record import Record
from burnish.record.store import Store
from burnish.study import needs
from burnish.study import session as sessions
from burnish.study.builds.make import Made
from burnish.study.builds.programs import (
    differences,
    known_program,
    of_one_format,
    of_one_product,
    older,
    several_versions,
    short_names,
)
from burnish.study.builds.source import obtain_source
from burnish.study.cells import Cell, own_placement
from burnish.study.kept import runs as studies
from burnish.study.kept.lost import makes_again
from burnish.study.kept.machine import machine
from burnish.study.request import conditions
from burnish.study.request import workloads as workload_choice
from burnish.study.request.definition import definition_of
from burnish.study.request.options import Ask, Options
from burnish.study.request.placing import design_for, placing
from burnish.study.session import Session
from burnish.study.trials.readings import pair_read, start_done
from burnish.study.why.evaluation import STACKED, Sampled, evaluate
from burnish.study.why.simulation import simulate
from burnish.study.workshop import older_data
from burnish.study.workshop.launching import launched

PAIRS = 3
"""Number of pairs that are sampled; if call stacks are recorded separately, there is one more for them."""

TURN_S = 0.5
"""Minimum length of a turn: the aim is to see where time goes, not a ratio that bursts do not disturb."""


@dataclass(frozen=True)
class Request:
    """The two builds to explain.

    Attributes:
        engine: engine's name.
        names: names of the two builds in the report.
        built: the two builds.
    """

    engine: str
    names: tuple[str, str]
    built: tuple[Built, Built]


def requested(home: Home, first: str, second: str, study: str | None, engine: str | None) -> Request:
    """The two builds: programs, or variants of a finished run.

    Args:
        home: where studies and builds are.
        first: a program's path, or a variant's name.
        second: the other program's path, or the other variant's name.
        study: the variants' run; None: they are programs.
        engine: engine's name; None: the run's, or the one whose programs they are.
    """
    if study is not None:
        return _of_study(home, study, (first, second), engine)
    paths = [Path(name) for name in (first, second)]
    for option, path in zip(("A", "B"), paths, strict=True):
        if not path.is_file():
            raise UserError(
                f"{option}: {path}: there is no such file; give a server program, or a variant's name with --run"
            )
    spec = load.engine(engine) if engine else _engine_of(paths[0])
    one, other = short_names(paths)
    before, after = recognising.existing(spec, paths)
    return Request(spec.name, (one, other), (before, after))


def _engine_of(program: Path) -> EngineSpec:
    """The engine whose program it is, found by asking each engine."""
    spec = recognising.engine_of(program)
    if spec is not None:
        return spec
    names = ", ".join(sorted(spec.name for spec in load.engines().values() if not spec.hidden))
    raise UserError(f"{program}: not the program of any engine; name the engine with --engine ({names}) for the reason")


def _of_study(home: Home, name: str, variants: tuple[str, str], engine: str | None) -> Request:
    folder = studies.find(home, name)
    with contextlib.closing(Record(folder)) as record:
        begun = record.last(StudyBegun)
        builds = {recorded.event.build: recorded.event.key for recorded in record.events(BuildMade)}
        programs = {recorded.event.build.variant: recorded.event.path for recorded in record.events(ProgramFound)}
    spec = load.engine(str(begun.event.definition["engine"]) if begun else "")
    if engine not in (None, spec.name):
        raise UserError(f"--engine {engine}: study {folder.name} is of {spec.name}; leave the option out")
    if variants[0] == variants[1]:
        raise UserError(f"{variants[0]!r} is named twice; name the two variants that differ")
    behaviour, store = create(spec), Store(home.store)
    builts = []
    for variant in variants:
        if variant in programs:
            builts.append(behaviour.existing(Path(programs[variant])))
            continue
        key = builds.get(BuildId(variant)) or builds.get(BuildId(variant, 1))
        if key is None:
            raise unknown(
                f"variant of study {folder.name}",
                variant,
                [*(built.name for built in builds), *programs],
            )
        entry = store.find("builds", key)
        if entry is None:
            raise UserError(f"{variant}: its build {key} is no longer in the store; {makes_again(folder, variant)}")
        builts.append(preload.launched(behaviour.built(variant, entry.folder, key), entry))
    return Request(spec.name, variants, (builts[0], builts[1]))


def why(
    home: Home,
    request: Request,
    workload: str | None,
    seconds: float | None,
    options: Options,
    console: Console,
    ask: Ask | None,
    *,
    simulated: bool = False,
) -> Path:
    """Samples both builds under one load and records the results; returns the run's folder.

    Args:
        home: where it happens.
        request: the two builds.
        workload: the load's name; None: the engine's first.
        seconds: time under load that is sampled; None: until there are enough samples.
        options: threads, seed, design, whether to install without asking.
        console: for progress.
        ask: asks the user a question.
        simulated: whether both are counted on a simulated processor too, whatever this host can count.
    """
    spec = load.engine(request.engine)
    options = replace(options, workloads=(workload or spec.workloads[0],))
    workloads = workload_choice.chosen(spec, options, existing=True)
    if len(workloads) > 1:
        raise UserError(f"--workload {workload}: that is {len(workloads)} loads; name one, as in {workloads[0].name}")
    groups = [*spec.load_packages, *conditions.groups(spec, options)]
    say = partial(console.print, markup=False, highlight=False, soft_wrap=True)
    with studies.lock(home), machine(home, say):
        needs.ensure(groups, "the load", options, ask)
        return explain(home, request, workloads[0], seconds, options, console, ask, simulated=simulated)


def permitted(host: HostFacts, options: Options, ask: Ask | None) -> tuple[Path, Ability]:
    """perf, installed if necessary, and what it may sample here; a `UserError` if it may sample nothing."""
    if system.find_programs(["perf"])["perf"] is None:
        needs.ensure(["perf"], "the samples", options, ask)
    perf = sampling.find_perf()
    return perf, sampling.find_ability(perf, pmu=bool(host.pmu), lbr=bool(host.lbr), paranoid=host.perf_event_paranoid)


def explain(
    home: Home,
    request: Request,
    workload: Workload,
    seconds: float | None,
    options: Options,
    console: Console,
    ask: Ask | None,
    *,
    simulated: bool = False,
) -> Path:
    """As `why`, for callers that hold the home's lock; returns the run's folder."""
    spec = load.engine(request.engine)
    options = replace(options, workloads=(workload.name,), fresh=True)
    named = [f"{name}={built.key}" for name, built in zip(request.names, request.built, strict=True)]
    definition = definition_of("why", spec, options, named, [workload], spec.default_features, ())
    perf, ability = permitted(read_host(home.root), options, ask)
    session = sessions.begin(home, spec, definition, options, console, (workload,), ask)
    with sessions.removed_if_refused(session.record):
        session.workloads = workload_choice.check(session.engine, session.workloads, session.bench)
        if any(map(session.engine.loads.lacks_source, session.workloads)):
            tree = obtain_source(session, None)[1]
            session.workloads = workload_choice.located(spec, session.workloads, tree)
        (workload,) = session.workloads
        pairs = zip(request.names, request.built, strict=True)
        made = [known_program(session, name, built) for name, built in pairs]
        of_one_product(*made)
        of_one_format(spec, *made)
        lines = differences(*(side.identity for side in made if side.identity))
        conditions.possible(session, [(built, conditions.usual(spec, options)) for built in request.built])
        lay = partial(_lay, session, workload, older(*made))
        if workload.dataset != "none" and several_versions(made):
            older_data.check(session, made, workload, conditions.ready(session, conditions.usual(spec, options)), lay)
    session.record.append(ProgramsDiffer(tuple(lines)))
    with session.bench.step("reading the programs", "why-programs", counts=False):
        codes = {name: machine_code.read_code(built.server.resolve()) for name, built in _builts(made).items()}
    stacks = _stacks(ability, codes.values())
    cell = _cell(session, request.names[1], workload)
    with session.bench.step(f"{workload.name}: sampling", "why-load", counts=False):
        sampled = _sample(session, cell, made, perf, ability, stacks, seconds or _enough(ability))
    evaluate(session, workload, sampled, codes, partial(simulate, session, workload, lay=lay, asked=simulated))
    return sessions.finish(session)


def _cell(session: Session, candidate: str, workload: Workload) -> Cell:
    """The cell that is sampled, in the requested design, or in that of load and host."""
    asked = placing(session.options)
    design = asked.design or workload.design
    placement = asked.placement or own_placement(workload, design)
    if not session.twin_cores:
        design, placement = design_for(Placement.WHOLE, design), Placement.WHOLE
    return Cell(CellId(candidate, workload.name), workload, design, placement=placement)


def _builts(made: Sequence[Made]) -> dict[str, Built]:
    return {side.built.name: side.built for side in made if side.built is not None}


def _stacks(ability: Ability, codes: Iterable[Code]) -> Stacks:
    """How callers are found: the best way that the processor and both builds allow."""
    if ability.lbr:
        return Stacks.LBR
    return Stacks.POINTERS if all(code.frame_pointers for code in codes) else Stacks.DWARF


def _enough(ability: Ability) -> float:
    """Seconds under load for enough samples; samples with copies of the stack are not counted."""
    return sampling.SAMPLES / ability.frequency(Stacks.NONE)


def _timing(own: Timing, seconds: float, stacks: Stacks) -> Timing:
    """Pairs that last for the requested seconds; turns need not be as short as in a trial."""
    window = max(own.window, TURN_S)
    turns = max(2, 2 * round(seconds / PAIRS / (own.settle + window) / 2))
    return replace(own, window=window, pairs=PAIRS + (stacks is Stacks.DWARF), turns=turns)


def _sample(
    session: Session,
    cell: Cell,
    made: Sequence[Made],
    perf: Path,
    ability: Ability,
    stacks: Stacks,
    seconds: float,
) -> Sampled:
    """Takes one start of both builds and samples each of its pairs."""
    builts = _builts(made)
    folder = session.scratch / "start"
    folder.mkdir(mode=0o700, parents=True)
    group = hardware.top_down_group(str(perf)) if session.host.pmu else None
    cores = frozenset[int]().union(*session.core_sets)
    pairs: list[Pair] = []
    recorded: list[Recorded] = []
    slots: dict[str, Mapping[str, float]] = {}

    @contextlib.contextmanager
    def observe(number: int, pids: Mapping[str, Sequence[int]]) -> Iterator[None]:
        # Copying the stack with each sample is too expensive for all pairs, so one pair is used for it alone.
        kind = Stacks.NONE if stacks is Stacks.DWARF and number != STACKED else stacks
        processes = {label: tuple(ids) for label, ids in pids.items()}
        first = min(pid for ids in processes.values() for pid in ids)
        recording = Sampling(perf, ability, kind, processes, cores, session.scratch / f"{first}-{number}.data")
        counting = {}
        if group is not None and number == 1:
            counting = {label: hardware.TopDown(ids, group, str(perf)) for label, ids in processes.items()}
        recording.begin()
        try:
            yield
        finally:
            recorded.append(recording.end())
            slots.update({label: counter.stop() for label, counter in counting.items()})

    def on_pair(number: int, pair: Pair) -> None:
        pairs.append(pair)
        session.record.append(pair_read(cell.id, 1, number, pair))

    keys = {name: built.key for name, built in builts.items()}
    session.record.append(StartBegun(cell.id, 1, design=cell.design, builds=keys, placement=cell.placement))
    condition = conditions.ready(session, conditions.usual(session.spec, session.options))
    result = trials.run_start(
        session.engine,
        cell.workload,
        [Contestant(name, launched(built, condition), condition) for name, built in builts.items()],
        design=cell.design,
        placement=cell.placement,
        core_sets=session.core_sets,
        data=_data(session, cell.workload, older(*made)),
        scratch=folder,
        timing=_timing(session.spec.times[cell.design], seconds, stacks),
        seed=f"{session.seed}/why/{cell.workload.name}",
        number=1,
        bench=session.bench,
        on_pair=on_pair,
        count_events=bool(session.host.pmu),
        observe=observe,
    )
    session.record.append(start_done(cell.id, 1, result, result.invalid, at_fault=result.at_fault))
    if result.invalid is not None:
        raise InfrastructureError(f"{cell.name}: {result.invalid}", log=session.bench.log_path("why-load.log"))
    if not any(recording.stacks is stacks for recording in recorded):
        stacks = Stacks.NONE  # one pair took so long that there was no other
    return Sampled(
        builts=builts,
        perf=perf,
        ability=ability,
        stacks=stacks,
        design=cell.design,
        placement=cell.placement,
        pairs=tuple(pairs),
        recorded=tuple(recorded),
        hardware=result.hardware,
        slots=slots,
    )


def _data(session: Session, workload: Workload, maker: Made) -> list[Path]:
    """A clean copy of the load's data for each side."""
    places = [session.scratch / f"data{side}" for side in range(len(session.core_sets))]
    for place in places:
        _lay(session, workload, maker, place)
    os.sync()
    return places


def _lay(session: Session, workload: Workload, maker: Made, place: Path) -> None:
    """Makes a clean copy of the load's data, which `maker` makes if there are none; an empty folder for one without."""
    if workload.dataset == "none":
        place.mkdir(mode=0o700)
        return
    assert maker.built is not None and maker.identity is not None  # noqa: S101, PT018 - a program that exists
    version = maker.identity.version
    entry = datasets.obtain(session.engine, session.store, maker.built, maker.built, version, workload, session.bench)
    datasets.copy(entry, place, session.bench)
