"""The loads of a study: the catalogue's, a user's own scripts and statements, mixes of these."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console

from burnish.base.errors import UserError, together
from burnish.base.workbench import Workbench
from burnish.catalogue import load
from burnish.engines.contract import Engine, Loads, OwnData
from burnish.engines.registry import create
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.model.workload import Workload
from burnish.study.request.options import Options
from burnish.workload import defaults_file, loads


def read_defaults(
    spec: EngineSpec, options: Options, *, existing: bool = False
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """The settings of the user's configuration file, and notes on it; both empty without a file.

    Args:
        spec: the engine.
        options: the request.
        existing: whether the study is of programs that exist already, which may be of any release.
    """
    if options.defaults_file is None:
        return (), ()
    path, series = options.defaults_file, "" if options.source or existing else spec.series
    if not spec.settings.option_groups:
        raise UserError(f"--defaults-file {path}: {spec.title} reads no option file; leave it out")
    return defaults_file.parse(defaults_file.content(path), str(path), spec.settings, series)


def chosen(spec: EngineSpec, options: Options, *, existing: bool = False) -> tuple[Workload, ...]:
    """The workloads of a request, or the engine's default ones; see `choose`, and `read_defaults` for `existing`."""
    settings, notes = read_defaults(spec, options, existing=existing)
    for line in notes:
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
    """The requested workloads, each with every number of threads of the ladder.

    Args:
        spec: the engine.
        words: as split by `loads.split`; names, files and mixes with parameters.
        ladder: numbers of client threads; empty: each load's own.
        data: the user's data for the user's loads.
        settings: server settings of the user's configuration file; they replace those of every load.

    Raises:
        UserError: unknown loads, files that cannot be read (all of them, one line each), a load that is named twice, a
            parameter that is known to be none of the load's.
    """
    known = create(spec).loads
    workloads, problems = [], []
    for word in words:
        try:
            workloads += known.resolve(loads.asked(word), data)
        except UserError as error:
            problems.append(error)
    if problems:
        raise together(problems)
    if data is not None and not any(workload.own_data for workload in workloads):
        raise UserError(
            f"--data {data.place}: none of the loads uses it; name one of your own (.lua or .sql) in --workload"
        )
    if settings:
        workloads = [replace(workload, settings=settings) for workload in workloads]
    chosen_loads = loads.at_each(workloads, ladder)
    for workload in chosen_loads:
        known.check(workload)
        _check_known(known, workload)
        if sum(other.name == workload.name for other in chosen_loads) > 1:
            raise UserError(f"{workload.name!r} is named twice; name each once")
    return chosen_loads


class _ProgramNeededError(Exception):
    """Only a load's program itself can tell which parameters it takes."""


class _NoWorkbench:
    """A workbench for a request that is read: on it no program is run, and nothing is printed or written."""

    def run(self, *_: Any, **__: Any) -> NoReturn:
        """See `Workbench.run`; here refused."""
        raise _ProgramNeededError

    def say(self, text: str) -> None:
        """See `Workbench.say`; here nothing is printed."""

    def live(self, text: str, share: float = 0.0) -> None:
        """See `Workbench.live`; here nothing is printed."""

    def log_path(self, name: str) -> NoReturn:  # noqa: ARG002
        """See `Workbench.log_path`; here refused."""
        raise _ProgramNeededError


def _check_known(known: Loads, workload: Workload) -> None:
    """Refuses parameters of which the engine knows by itself that the load does not take them, so that a plan does too.

    What only the load's program can tell is checked when the study is run (`check`).
    """
    with contextlib.suppress(_ProgramNeededError):
        known.checked(workload, _NoWorkbench())


def training_workloads(
    spec: EngineSpec, variants: Sequence[Variant], measured: Sequence[Workload] = ()
) -> dict[str, Workload]:
    """The workloads of the engine's training and of the recipes' own.

    Args:
        spec: the engine.
        variants: the builds.
        measured: the study's loads, which a training may name by their identity: a user's own, or with parameters.

    Raises:
        UserError: names variant and workload.
    """
    by_name = {name: load.workload(spec, name) for name, _ in spec.training}
    own = {workload.identity: workload for workload in measured}
    for variant in variants:
        for name, _ in variant.recipe.training:
            try:
                by_name[name] = load.training(spec, name)
            except UserError as error:
                if name not in own:
                    raise UserError(f"variant {variant.name}: training: {error}") from None
                by_name[name] = _without_file(spec, own[name])
    return by_name


def _without_file(spec: EngineSpec, measured: Workload) -> Workload:
    """The load under its own settings and, of a configuration file's, those that its data need: no key has others."""
    try:
        settings = dict(load.workload(spec, measured.entry).settings)
    except UserError:  # the user's file, or a mix
        settings = {}
    settings |= dict(measured.data_settings(spec.settings.shaping))
    return replace(measured, settings=tuple(settings.items()))


def groups(spec: EngineSpec, words: Iterable[str]) -> list[str]:
    """Groups of system packages that these loads need beside their engine's."""
    return create(spec).loads.packages(loads.asked(word).name for word in words)


def located(spec: EngineSpec, workloads: Iterable[Workload], source: Path) -> tuple[Workload, ...]:
    """The workloads, with the paths of files that they use from the source tree `source`."""
    known = create(spec).loads
    return tuple(known.located(workload, source) for workload in workloads)


def check(engine: Engine, workloads: Sequence[Workload], bench: Workbench) -> tuple[Workload, ...]:
    """The workloads with their parameters checked against what their programs take.

    Raises:
        UserError: a script does not load, its program has no such parameter, or a value has the wrong type.
    """
    return tuple(engine.loads.checked(workload, bench) for workload in workloads)
