"""One session of a study: opens or resumes its record, reads the host, closes the record again."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from burnish.base import netns, process, storage, temporary
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.bench.host import HostFacts, read_host
from burnish.bench.topology import duet_core_sets, sharing_core_sets
from burnish.engines.contract import Engine
from burnish.engines.registry import create
from burnish.model.engine import EngineSpec
from burnish.model.workload import Design, Placement, Workload
from burnish.record.events.builds import BuildMade
from burnish.record.events.study import Call, SessionBegun, StudyFinished
from burnish.record.events.trials import StartBegun
from burnish.record.record import Record
from burnish.record.store import Store
from burnish.record.workbench import Bench
from burnish.statistics.verdicts import Rule
from burnish.study.kept import runs as studies
from burnish.study.kept.sharing import store_of
from burnish.study.kept.used import used_before
from burnish.study.request.definition import Definition
from burnish.study.request.options import Ask, Options
from burnish.study.request.placing import placing
from burnish.study.trials.starts import check_machine
from burnish.study.trials.timing import rule_of


@dataclass
class Session:
    """What a study uses while it runs.

    Attributes:
        home: the home folder.
        store: builds, profiles and data that outlive the run.
        spec: the engine, as the catalogue describes it.
        engine: its behaviour.
        host: facts about the host.
        core_sets: CPU numbers of each side in a duet; all CPUs for both sides if no two cores are alike.
        sharing_sets: those of each side in a duet whose candidates may share a baseline; empty if none may, or the host
            has too few cores for it.
        twin_cores: whether two cores are alike.
        record: the study's.
        bench: recorded processes, progress.
        scratch: private folder of this session.
        workloads: the loads; after they were examined, adapted to this host and the conditions.
        rule: when a cell is decided.
        options: what the user requested.
        ask: asks the user a question; None if no user is present.
        seed: of everything random in the study.
        earlier: seconds that the run's earlier sessions used.
        began: when the session began, seconds of the monotonic clock.
    """

    home: Home
    store: Store
    spec: EngineSpec
    engine: Engine
    host: HostFacts
    core_sets: tuple[frozenset[int], frozenset[int]]
    sharing_sets: tuple[frozenset[int], ...]
    twin_cores: bool
    record: Record
    bench: Bench
    scratch: Path
    workloads: tuple[Workload, ...]
    rule: Rule
    options: Options
    ask: Ask | None
    seed: int
    earlier: float = 0.0
    began: float = field(default_factory=time.monotonic)

    @property
    def used(self) -> float:
        """Seconds that the run has used in all its sessions, this one included."""
        return self.earlier + time.monotonic() - self.began

    def sets_of(self, design: Design) -> tuple[frozenset[int], ...]:
        """The core sets of a design's starts."""
        return self.sharing_sets or self.core_sets if design is Design.DUET else self.core_sets

    def server_cores(self, placement: Placement) -> int:
        """How many cores a server of a placement has at a time."""
        if placement is Placement.WHOLE:
            return len(frozenset[int]().union(*self.core_sets))
        return len(self.sets_of(Design.DUET if placement is Placement.SHARED else Design.INTERLEAVED)[0])


def begin(
    home: Home,
    spec: EngineSpec,
    definition: Definition,
    options: Options,
    console: Console,
    workloads: tuple[Workload, ...],
    ask: Ask | None,
    rule: Rule | None = None,
    *,
    sharing: bool = False,
) -> Session:
    """Opens or resumes the record, removes what a killed run left behind, reads the host.

    Args:
        home: the home folder.
        spec: the engine.
        definition: what is measured.
        options: how.
        console: for progress.
        workloads: the loads.
        ask: asks the user; None if no user is present.
        rule: when a cell is decided; None: as the options say.
        sharing: whether candidates may share a baseline.

    Raises:
        UserError: the placement needs more cores, or the run was begun on another machine.
    """
    process.sweep()
    netns.sweep()
    storage.sweep()
    storage.sweep(home.scratch)
    temporary.sweep()
    store = store_of(home, options)
    store.sweep()
    scratch = home.scratch / spec.name
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700, parents=True)
    facts = read_host(home.root, home=home.root)
    sets = duet_core_sets(facts)
    asked = placing(options)
    halves = asked.placement is Placement.SHARED or options.placement == Placement.APART
    if sets is None and halves:
        option = f"--placement {options.placement}" if options.placement else f"--design {asked.design}"
        raise UserError(
            f"{option}: needs two physical cores for this process, found {len(facts.cores_allowed)}; "
            "run on a host (or with an affinity) that has two, or leave the option out"
        )
    all_cores = frozenset(facts.cores_allowed)
    record, resumed = studies.begin_or_resume(home, definition, fresh=options.fresh)
    if resumed:
        try:
            check_machine(record, facts.machine, facts.cpu_model)
        except UserError:
            record.close()
            raise
    bench = Bench(record, record.folder / "logs", console)
    store.say = bench.say
    words = options.command
    call = Call(words, str(Path.cwd()), options.schedule, options.configured) if words else None
    seed = seed_of(record, options)
    earlier = used_before(record) if resumed else None
    record.append(SessionBegun(facts.as_record(), resumed, call, seed, earlier))
    word = "resuming" if resumed else "run"
    console.print(f"{word} {record.folder.name} (record: {record.path})", markup=False, highlight=False, soft_wrap=True)
    if sets is None:
        bench.say(
            "no two physical cores are alike, as a duet needs: one side at a time has all cores, which is noisier"
        )
    return Session(
        home=home,
        store=store,
        spec=spec,
        engine=create(spec),
        host=facts,
        core_sets=sets or (all_cores, all_cores),
        sharing_sets=sharing_core_sets(facts) if sharing else (),
        twin_cores=sets is not None,
        record=record,
        bench=bench,
        scratch=scratch,
        workloads=workloads,
        rule=rule or rule_of(options),
        options=options,
        ask=ask,
        seed=seed,
        earlier=earlier or 0.0,
    )


def seed_of(record: Record, options: Options) -> int:
    """The study's seed: as requested, or that of its earlier sessions, or a new one.

    Slots and keys would repeat from study to study if all had the same.
    """
    if options.seed is not None:
        return options.seed
    earlier = record.last(SessionBegun)
    if earlier is None:
        return secrets.randbelow(2**31)
    return 1 if earlier.event.seed is None else earlier.event.seed  # 1: the seed of Burnish 0.1.0


@contextlib.contextmanager
def removed_if_refused(record: Record) -> Iterator[None]:
    """Removes the run's folder again if the request is refused before any work was done."""
    try:
        yield
    except UserError:
        if record.last(BuildMade) is None and record.last(StartBegun) is None:
            record.close()
            shutil.rmtree(record.folder, ignore_errors=True)
        raise


def finish(session: Session) -> Path:
    """Closes the record as finished; returns the run's folder."""
    session.record.append(StudyFinished())
    return leave(session)


def leave(session: Session) -> Path:
    """Closes the record as it is, so that the same command resumes; returns the run's folder."""
    folder = session.record.folder
    session.record.close()
    storage.release()
    shutil.rmtree(session.scratch, ignore_errors=True)
    return folder
