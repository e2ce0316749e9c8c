"""The two verbs that run a study: `tune` (from source) and `compare` (programs that exist already)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.bench import datasets
from burnish.builds.evidence import Portable
from burnish.catalogue import load
from burnish.catalogue.instructions import demanded
from burnish.engines.load import sql_bench
from burnish.engines.registry import create
from burnish.program import emulation
from burnish.record.store import Entry
from burnish.study import conditions, holding, preparing, session, studies
from burnish.study import workloads as workload_choice
from burnish.study.builds import needs
from burnish.study.builds.programs import differences, known_program, short_names
from burnish.study.builds.source import obtain_source
from burnish.study.options import Ask, Options
from burnish.study.preparing import Makings
from burnish.study.request import read_request
from burnish.study.trials.replicates import Factors
from burnish.workload.conditions import difference


def tune(home: Home, engine: str, options: Options, console: Console, ask: Ask | None) -> Path:
    """From source to verdicts; returns the study's folder."""
    request = read_request(engine, options)
    spec, variants, workloads, features = request.spec, request.variants, request.workloads, request.features
    count = Factors(options.layouts, options.trainings).count
    portable = Portable(options.portable, options.portability)
    if options.portable is not None:
        demanded(options.portable)  # an unknown name is found before anything is begun
    definition = session.definition_of("tune", spec, options, [v.name for v in variants], workloads, features, variants)
    with studies.lock(home):
        needs.check_disk(home, spec, len(variants) * count)
        needs.install(spec, variants, options, ask)
        if portable.needs_emulator and emulation.find(emulation.host_architecture()) is None:
            needs.ensure(["portability"], "trying builds on other processors", options, ask)
        setting = session.begin(home, spec, definition, options, console, workloads, ask)
        holding.check_host(setting)
        holding.hold(setting, preparing.make(setting, variants, features))
        return session.finish(setting)


def compare(
    home: Home,
    engine: str,
    programs: Sequence[Path],
    options: Options,
    console: Console,
    ask: Ask | None,
    labels: Sequence[str | None] = (None, None),
) -> Path:
    """Trials and verdicts for two programs that exist already; returns the study's folder.

    Args:
        home: where it happens.
        engine: whose programs they are.
        programs: the two.
        options: what the user said.
        console: for progress.
        ask: puts a question to the user.
        labels: the user's names for the two; None: as much of the path as tells them apart.
    """
    spec = load.engine(engine)
    behaviour = create(spec)
    workloads = workload_choice.chosen(spec, options)
    built = [behaviour.existing(program) for program in programs]
    asked = conditions.usual(options)
    other = conditions.versus(options)
    names = short_names(programs)
    if other is not None and len(set(programs)) == 1:
        names = [programs[0].name, difference(asked, other)]
    names = [label or name for label, name in zip(labels, names, strict=True)]
    if len(set(names)) < len(names):
        raise UserError(f"both programs are called {names[0]!r}; give names that differ, as in old=PATH new=PATH")
    # A label names cells, so it belongs to what is asked for.
    sides = [
        f"{label}={item.server}={item.key}" if label else f"{item.server}={item.key}"
        for label, item in zip(labels, built, strict=True)
    ]
    definition = session.definition_of("compare", spec, options, sides, workloads, spec.default_features, ())
    with studies.lock(home):
        groups = [group for group in spec.system_packages if "build" not in group] + conditions.groups(options)
        needs.ensure(groups, "the load on the server", options, ask)
        setting = session.begin(home, spec, definition, options, console, workloads, ask)
        holding.check_host(setting)
        with session.nothing_half_made(setting.record):
            setting.workloads = workload_choice.check(setting.engine, setting.workloads, setting.bench)
            pair = (conditions.ready(setting, asked), conditions.ready(setting, other or asked))
            setting.workloads = conditions.loads_under(setting.workloads, pair)
            if any(sql_bench.is_nowhere(workload) for workload in setting.workloads):
                setting.workloads = sql_bench.located(setting.workloads, obtain_source(setting, None)[1])
            made = [known_program(setting, name, item) for name, item in zip(names, built, strict=True)]
        one, two = (item.identity for item in made)
        server, second = (item.built for item in made)
        assert server is not None and second is not None  # noqa: S101, PT018 - programs that exist
        assert one is not None and two is not None  # noqa: S101, PT018 - likewise
        found = differences(one, two)
        setting.record.append("difference", found=found)
        setting.bench.say("\n    ".join(f"they differ: {line}" for line in found) or "same version, same features")
        data: dict[str, Entry] = {}
        with session.nothing_half_made(setting.record):
            conditions.possible(setting, [(server, pair[0]), (second, pair[1])])
            for workload in (w for w in setting.workloads if w.dataset != "none"):
                with setting.bench.step(f"dataset {workload.dataset}", f"dataset-{workload.dataset}", counts=False):
                    data[workload.name] = datasets.obtain(
                        setting.engine, setting.store, server, server, one.version, workload, setting.bench
                    )
        holding.hold(setting, Makings(made, {}, data, pair))
        return session.finish(setting)
