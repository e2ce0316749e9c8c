"""The loads of a study: the catalogue's, a user's own scripts and statements, mixes of these."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from rich.console import Console

from burnish.catalogue import load
from burnish.engines import own_data, sql_bench, sqlite_side
from burnish.engines.base import Engine, Workbench
from burnish.errors import UserError, together, unknown
from burnish.run.setting import Options
from burnish.study import defaults_file, loads, statements
from burnish.study.loads import Asked, Parameter
from burnish.study.model import Design, EngineSpec, Mixing, Variant, Workload

SUFFIXES = (".lua", ".sql")
"""Files that are loads: a sysbench script, or statements."""

MIXINGS: tuple[Mixing, ...] = ("together", "in_turn")
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


def chosen(spec: EngineSpec, options: Options) -> tuple[Workload, ...]:
    """The workloads of a request, or the engine's default ones; see `choose`."""
    settings, left = defaults_file.read(options.defaults_file) if options.defaults_file else ((), ())
    if left:
        told = f"{options.defaults_file}: {', '.join(left)} left out: Burnish decides these"
        Console(stderr=True).print(told, markup=False, highlight=False, soft_wrap=True)
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
        raise UserError(f"--data {data.place}: no load of your own works on it; name one (.lua or .sql) in --workloads")
    if settings:
        found = [replace(workload, settings=settings) for workload in found]
    every = loads.at_each(found, ladder)
    for workload in every:
        if workload.program == sql_bench.PROGRAM:
            sql_bench.check_clients(workload.threads)
        if spec.name == "sqlite":
            sqlite_side.one_thread(workload.threads, workload.name)
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
    if spec.name == "mariadb":
        if Path(wanted.name).suffix in SUFFIXES:
            return loads.applied(own(spec, Path(wanted.name), data), wanted)
        if wanted.name.replace("-", "_") in MIXINGS:
            return mixed(spec, wanted)
    return loads.applied(load.workload(spec, wanted.name), wanted)


def own(spec: EngineSpec, path: Path, data: OwnData | None = None) -> Workload:
    """A user's script or file of statements as a workload; a `UserError` when it can't be read or parsed."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    digest = hashlib.sha256(content).hexdigest()[:16]
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
        dataset=f"data-{own_data.identity(data.place)}",
        own_data=str(data.place.resolve()),
        database=own_data.database_of(data.place, data.database),
        shape=_NOTHING,
    )


def _decoded(content: bytes, path: Path) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})") from None


def mixed(spec: EngineSpec, wanted: Asked) -> Workload:
    """Loads of the catalogue with weights, as in ``together:oltp_read_only=3,oltp_update_index=1``.

    A parameter that is no load's name goes to every part that takes it (``table-size=10000``).

    Raises:
        UserError: fewer than two loads, a weight that is no whole number, parts whose data get in each other's way.
    """
    mixing = next(mixing for mixing in MIXINGS if mixing == wanted.name.replace("-", "_"))
    mine = {name: value for (engine, name), value in load.workloads().items() if engine == spec.name}
    weights = {name: text for name, text in wanted.parameters if name in mine}
    shared = {name: text for name, text in wanted.parameters if name not in mine and name != loads.THREADS}
    taken = {name for each in weights for name in (*dict(mine[each].parameters), *mine[each].shape)}
    for name in shared:
        if name not in taken:
            raise unknown(f"load, or parameter of one, in {wanted.name}", name, (*mine, *taken, loads.THREADS))
    parts = [(_part(mine[name], shared), _weight(wanted.name, name, text)) for name, text in weights.items()]
    if len(parts) < 2:
        raise UserError(
            f"{wanted.name}: a mix has two loads or more, as in {wanted.name}:oltp_read_only=3,oltp_insert=1"
        )
    _check_data([part for part, _ in parts], wanted.name)
    told = [*((part.name, str(weight)) for part, weight in parts), *sorted(shared.items())]
    words = ",".join(f"{name if name in mine else name.replace('_', '-')}={text}" for name, text in told)
    base = Workload(
        name=f"{mixing}:{words}",
        engine=spec.name,
        reason="A mix of loads that was asked for: " + ", ".join(part.name for part, _ in parts) + ".",
        program="mix.lua",
        threads=max(part.threads for part, _ in parts),
        writes=any(part.writes for part, _ in parts),
        dataset="+".join(sorted({part.dataset for part, _ in parts})),
        design=Design.INTERLEAVED if any(part.design is Design.INTERLEAVED for part, _ in parts) else Design.DUET,
        in_memory=all(part.in_memory for part, _ in parts),
        settings=reduce(_joined, (part.settings for part, _ in parts), ()),
        parts=tuple(parts),
        mixing=mixing,
    )
    threads = tuple(item for item in wanted.parameters if item[0] == loads.THREADS)
    return loads.applied_threads(base, loads.applied(base, Asked(base.name, threads)).threads)


def _part(workload: Workload, shared: Mapping[str, str]) -> Workload:
    """A part of a mix with those of the mix's parameters that it takes."""
    own = {*dict(workload.parameters), *workload.shape}
    given = {name: text for name, text in shared.items() if name in own}
    return replace(workload, parameters=tuple({**dict(workload.parameters), **given}.items()))


def _weight(where: str, name: str, text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise UserError(f"{where}: {name}={text}: give its weight, a whole number from 1 to 1000")
    return int(text)


def _joined(one: tuple[tuple[str, str], ...], other: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    for name, value in other:
        if dict(one).get(name, value) != value:
            raise UserError(f"a mix: its loads want different {name} ({dict(one)[name]} and {value}); run them apart")
    return one + tuple(item for item in other if item not in one)


def _check_data(parts: Iterable[Workload], where: str) -> None:
    """Loads that share a dataset must mean the same data by it."""
    seen: dict[str, tuple[tuple[str, str], ...]] = {}
    for part in parts:
        if part.program == sql_bench.PROGRAM:
            raise UserError(f"{where}: {part.name} has a client program of its own; run it apart")
        if part.dataset == "bulk":
            raise UserError(f"{where}: {part.name} makes tables of the same names as the others; run it apart")
        if seen.setdefault(part.dataset, part.data_parameters()) != part.data_parameters():
            raise UserError(
                f"{where}: {part.name} wants other data than the load before it; give both the same size, as in "
                f"{where}:...,table-size=10000"
            )


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
    return tuple(loads.check(workload, _known(engine, workload, bench)) for workload in workloads)


def _known(engine: Engine, workload: Workload, bench: Workbench) -> dict[str, Parameter]:
    told = engine.parameters(workload, bench)
    if told is not None:
        return dict(told)
    entry = load.workload(engine.spec, workload.entry)
    return {name: Parameter("text") for name, _ in entry.parameters}
