"""A study's begin and end: what it is asked to do, its record opened or gone on with, and closed again."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from burnish.base import netns, process
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.bench.host import read_host
from burnish.bench.topology import duet_core_sets
from burnish.engines.registry import create
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.model.workload import Design, Workload
from burnish.record.record import Record
from burnish.record.store import Store
from burnish.record.workbench import Bench
from burnish.source.patches import patch_set
from burnish.study import conditions, studies
from burnish.study.options import Ask, Options, Setting
from burnish.study.studies import Definition
from burnish.study.trials.timing import rule_of


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
        patches=patch_set.pins(recipes),
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


def finish(setting: Setting) -> Path:
    """Closes the record for good; returns the study's folder."""
    setting.record.append("finished")
    return leave(setting)


def leave(setting: Setting) -> Path:
    """Closes the record as it is, so that the same command goes on; returns the study's folder."""
    folder = setting.record.folder
    setting.record.close()
    shutil.rmtree(setting.scratch, ignore_errors=True)
    return folder
