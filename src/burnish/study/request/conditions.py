"""The conditions that a study's sides run under: as requested, prepared, examined before anything is measured."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from burnish.base.digest import digest_of
from burnish.base.errors import UserError
from burnish.engines.registry import create
from burnish.model.condition import Condition
from burnish.model.engine import EngineSpec
from burnish.model.workload import Placement, Workload
from burnish.program.built import Built
from burnish.record.events.builds import TuningExamined
from burnish.record.store import Entry
from burnish.study.cells import own_placement
from burnish.study.request import workloads
from burnish.study.request.options import Options
from burnish.study.request.placing import placing
from burnish.toolchain.link_parts import catalogue, installed_allocator
from burnish.workload import defaults_file
from burnish.workload.conditions import condition_of, difference
from burnish.workload.loads import idle

if TYPE_CHECKING:
    from burnish.study.session import Session


def usual(spec: EngineSpec, options: Options) -> Condition:
    """The condition of every side, as requested."""
    return condition_of(options.settings, spec.settings)


def versus(spec: EngineSpec, options: Options) -> Condition | None:
    """The second program's condition, or None if it has none of its own.

    Raises:
        UserError: it is the same as the first one's.
    """
    if not options.versus:
        return None
    first = usual(spec, options)
    second = condition_of(options.versus, spec.settings, over=first, option="--versus")
    if not difference(first, second):
        raise UserError(
            f"--versus {' '.join(options.versus)}: that is already the condition of A; name a setting that differs"
        )
    return second


def check(spec: EngineSpec, options: Options) -> None:
    """Refuses a condition that the engine has on no host; runs nothing, so that a plan refuses it as the run does.

    Raises:
        UserError: another transport than the engine's, or a setting of an engine without a server.
    """
    engine = create(spec)
    for asked in filter(None, (usual(spec, options), versus(spec, options))):
        engine.check_condition(asked)


def groups(spec: EngineSpec, options: Options) -> list[str]:
    """Groups of system packages that the conditions and the loads need beside their engine's.

    That of the allocators only where the one that is asked for is not there, since a host needs no other.
    """
    needed = {"tls": "tls", "remote": "remote"}
    asked = [condition for condition in (usual(spec, options), versus(spec, options)) if condition]
    wanted = [needed[condition.transport] for condition in asked if condition.transport in needed]
    names = {condition.allocator for condition in asked}
    wanted += ["allocators" for name in catalogue().allocators if name in names and not installed_allocator(name)]
    return list(dict.fromkeys([*wanted, *workloads.groups(spec, options.workloads)]))


def words(options: Options) -> tuple[str, ...]:
    """What was requested of conditions and data, as part of the study's identity."""
    requested = [*options.settings, *(f"versus {word}" for word in options.versus)]
    if options.defaults_file is not None:
        requested.append(f"defaults {digest_of(defaults_file.content(options.defaults_file))}")
    return tuple(requested)


def ready(session: Session, asked: Condition) -> Condition:
    """The condition, with the certificates that it needs made in the study's folder."""
    return session.engine.ready(asked, session.record.folder, session.bench)


def loads_under(loads: Sequence[Workload], pair: Sequence[Condition]) -> tuple[Workload, ...]:
    """The loads as they are expected to be under these conditions.

    Where the network is limited, or two conditions are compared by throughput, a server may have to wait for the
    network or for a client with more work. That waiting is what is measured, so it makes no pair invalid.
    """
    waits = any(condition.limited for condition in pair) or len(set(pair)) > 1
    return tuple(replace(workload, saturated=False) if waits else workload for workload in loads)


def possible(session: Session, sides: Sequence[tuple[Built, Condition]]) -> None:
    """Checks every load on each server under its condition as far as possible without data, before any are made.

    Raises:
        UserError: something cannot work: a variable that the server does not know, too many client threads.
    """
    # The most client threads first: what a refusal asks for then is enough for the whole ladder.
    loads = sorted(session.workloads, key=lambda workload: -workload.threads)
    _untuned(session, loads, sides, {})


def examine(session: Session, sides: Sequence[tuple[Built, Condition]], data: Mapping[str, Entry]) -> None:
    """Examines every load on each server under its condition; records and reports what is poorly tuned.

    Raises:
        UserError: something cannot work; or, under ``--strict``, something is poorly tuned.
    """
    warnings = _untuned(session, session.workloads, sides, data)
    session.record.append(TuningExamined(tuple(warnings)))
    for line in warnings:
        session.bench.say(f"untuned: {line}")
    if warnings and session.options.strict:
        count = f"{len(warnings)} setting{'s' * (len(warnings) > 1)}"
        raise UserError(f"--strict: {count} to fix before builds are compared: {'; '.join(warnings)}")


def _untuned(
    session: Session,
    loads: Sequence[Workload],
    sides: Sequence[tuple[Built, Condition]],
    data: Mapping[str, Entry],
) -> list[str]:
    """What is poorly tuned, one line each."""
    warnings: list[str] = []
    for workload in loads:
        entry = data.get(workload.name)
        for built, condition in dict.fromkeys(sides):
            place = session.scratch / "examine"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(mode=0o700, parents=True)
            warnings += session.engine.examine(built, workload, condition, _data(entry), place, session.bench)
            shutil.rmtree(place, ignore_errors=True)
        warnings += filter(None, [idle(workload, session.server_cores(_placement(session, workload)))])
    return list(dict.fromkeys(warnings))


def _placement(session: Session, workload: Workload) -> Placement:
    """The placement in which a load is measured, unless a row of a bundled study names another."""
    asked = placing(session.options)
    design = asked.design or workload.design
    return asked.placement or own_placement(workload, design)


def _data(entry: Entry | None) -> Path | None:
    return entry.folder / "data" if entry else None
