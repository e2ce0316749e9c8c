"""The loads of a study: the catalogue's, a user's own scripts and statements, mixes of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from burnish.base.errors import UserError, together
from burnish.base.workbench import Workbench
from burnish.catalogue import load
from burnish.engines.contract import Engine
from burnish.engines.load import own_script, sql_bench
from burnish.engines.mariadb import own_data
from burnish.engines.sqlite import side
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.model.workload import Design, Workload
from burnish.study import mixes
from burnish.study.options import Options
from burnish.workload import defaults_file, loads
from burnish.workload.loads import Asked, Parameter
from burnish.workload.sql import statements

OWN_THREADS = 4
_NOTHING = ("nothing",)  # of a load's parameters, none says what a user's own data are


@dataclass(frozen=True)
class OwnData:
    """A user's data for the user's loads.

    Attributes:
        place: a dump or a data folder.
        database: the one to work in; None: the only one there is.
    """

    place: Path
    database: str | None = None


def read_defaults(spec: EngineSpec, options: Options) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """The settings of the user's configuration file, and what is to be said of it; nothing where there is none."""
    if options.defaults_file is None:
        return (), ()
    path = options.defaults_file
    return defaults_file.parse(defaults_file.content(path), str(path), "" if options.source else spec.series)


def chosen(spec: EngineSpec, options: Options) -> tuple[Workload, ...]:
    """The workloads of a request, or the engine's default ones; see `choose`."""
    settings, told = read_defaults(spec, options)
    for line in told:
        Console(stderr=True).print(f"{options.defaults_file}: {line}", markup=False, highlight=False, soft_wrap=True)
    return choose(
        spec,
        options.workloads or spec.workloads,
        ladder=options.ladder,
        data=OwnData(options.data, options.database) if options.data else None,
        settings=settings,
    )


def choose(
    spec: EngineSpec,
    words: Sequence[str],
    *,
    ladder: Sequence[int] = (),
    data: OwnData | None = None,
    settings: tuple[tuple[str, str], ...] = (),
) -> tuple[Workload, ...]:
    """The workloads that were asked for, each at every step of the ladder.

    Args:
        spec: the engine.
        words: as split by `loads.split`; names, files and mixes with parameters.
        ladder: numbers of client threads; empty: each load's own.
        data: the user's data for the user's loads.
        settings: server settings of the user's configuration file; they replace those of every load.

    Raises:
        UserError: unknown loads, files that can't be read (all of them, a line each), a load asked for twice.
    """
    found, problems = [], []
    for word in words:
        try:
            found += _each(spec, loads.asked(word), data)
        except UserError as error:
            problems.append(error)
    if problems:
        raise together(problems)
    if data is not None and not any(workload.own_data for workload in found):
        raise UserError(f"--data {data.place}: no load of your own works on it; name one (.lua or .sql) in --workload")
    if settings:
        found = [replace(workload, settings=settings) for workload in found]
    every = loads.at_each(found, ladder)
    for workload in every:
        if workload.program == sql_bench.PROGRAM:
            sql_bench.check_clients(workload.threads)
        if spec.name == "sqlite":
            side.one_thread(workload.threads, workload.name)
        mixes.check_shares(workload)
        if workload.dataset == mixes.BULK and workload.threads > workload.prepare_threads:
            raise UserError(
                f"{workload.name}: each client thread has a table of its own, and there are {workload.prepare_threads} "
                "of them; take no more threads"
            )
        if sum(other.name == workload.name for other in every) > 1:
            raise UserError(f"{workload.name!r} is named twice; name each once")
    return every


def _each(spec: EngineSpec, wanted: Asked, data: OwnData | None) -> list[Workload]:
    """The load of one word; a suite's are its tests."""
    entry = load.workloads().get((spec.name, wanted.name))
    if entry is not None and entry.program == sql_bench.PROGRAM:
        return sql_bench.each_test(entry, wanted)
    return [_one(spec, wanted, data)]


def _one(spec: EngineSpec, wanted: Asked, data: OwnData | None) -> Workload:
    own_file, mix = wanted.name.endswith(loads.FILES), wanted.name.replace("-", "_") in mixes.MIXINGS
    if (own_file or mix) and spec.name != "mariadb":
        mine = sorted(name for engine, name in load.workloads() if engine == spec.name)
        raise UserError(
            f"{wanted.name}: {'a mix' if mix else 'a file of your own'} is run by sysbench, on mariadb; {spec.name} "
            f"has {', '.join(mine)}"
        )
    if own_file:
        return loads.applied(own(spec, Path(wanted.name), data), wanted)
    if mix:
        return mixes.mixed(spec, wanted, lambda path: own(spec, path, data))
    return loads.applied(load.workload(spec, wanted.name), wanted)


def own(spec: EngineSpec, path: Path, data: OwnData | None = None) -> Workload:
    """A user's script or file of statements as a workload; a `UserError` when it can't be read or parsed."""
    try:
        content, digest = path.read_bytes(), own_script.digest(path)
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    scripted = path.suffix == ".lua"
    if not scripted:
        statements.parse(_decoded(content, path), str(path))
        if data is None:
            raise UserError(f"{path}: statements need data to work on; name a dump or a data folder in --data")
    base = Workload(
        name=path.name,
        engine=spec.name,
        reason=f"A load of the user's own: {path.name}.",
        program=str(path.resolve()) if scripted else "statements.lua",
        threads=OWN_THREADS,
        writes=True,  # what it does is not known, so its data are restored before each start
        dataset=f"own-{digest}",
        design=Design.INTERLEAVED,
        file=str(path.resolve()),
        content=digest,
    )
    if data is None:
        return base
    return replace(
        base,
        dataset=f"data-{own_data.identity(data.place, data.database)}",
        own_data=str(data.place.resolve()),
        database=own_data.database_of(data.place, data.database),
        shape=_NOTHING,
    )


def _decoded(content: bytes, path: Path) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})") from None


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


def groups(words: Iterable[str]) -> list[str]:
    """Groups of system packages that loads, as they were asked for, need beside their engine's."""
    names = {loads.asked(word).name for word in words}
    suites = {name for (_, name), each in load.workloads().items() if each.program == sql_bench.PROGRAM}
    return ["sql-bench"] if names & suites else []


def check(engine: Engine, workloads: Sequence[Workload], bench: Workbench) -> tuple[Workload, ...]:
    """The workloads with their parameters checked against what their programs take.

    Raises:
        UserError: a script does not load, a parameter is none of its program's, or its value is of another kind.
    """

    def known(workload: Workload) -> dict[str, Parameter]:
        return _known(engine, workload, bench)

    return tuple(
        mixes.check(workload, known) if workload.parts else loads.check(workload, known(workload))
        for workload in workloads
    )


def _known(engine: Engine, workload: Workload, bench: Workbench) -> dict[str, Parameter]:
    told = engine.parameters(workload, bench)
    if told is not None:
        return dict(told)
    entry = load.workload(engine.spec, workload.entry)
    return {name: Parameter("text") for name, _ in entry.parameters}
