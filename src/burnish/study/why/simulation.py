"""What `why` counts on a simulated processor: one unit of an embedded engine's load, or a server's transactions."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from burnish.base.errors import InfrastructureError, UserError
from burnish.bench import simulation
from burnish.builds.training import TRAINING_THREADS
from burnish.engines.contract import SideSpec
from burnish.model.condition import Condition
from burnish.model.workload import Workload
from burnish.program.built import Built
from burnish.record.codec import plain, value_of
from burnish.record.events.why import BuildSimulated
from burnish.study import needs
from burnish.study.request import conditions
from burnish.study.session import Session
from burnish.study.workshop.launching import launched
from burnish.why import cachegrind
from burnish.why.cachegrind import Counted

UNIT_S = 900.0
"""Time limit for one unit of the load in the simulated processor, which is some 50 times slower."""


def simulate(
    session: Session, workload: Workload, builts: Mapping[str, Built], lay: Callable[[Path], None], *, asked: bool
) -> list[str]:
    """Records the events of each build.

    Args:
        session: the study's.
        workload: the load.
        builts: the builds, by label.
        lay: puts a clean copy of the load's data into a folder that is not there.
        asked: by ``--simulate``; otherwise only an embedded engine is simulated, where the host has no counters.

    Returns:
        what went wrong, one sentence each; errors do not stop the rest.
    """
    specs = {label: _spec(session, workload, built) for label, built in builts.items()}
    units = [session.engine.unit(spec) for spec in specs.values()]
    embedded = all(units)
    if not asked and (session.host.pmu or not embedded):
        return []
    try:
        needs.ensure(["valgrind"], "a simulated processor", session.options, session.ask)
        for (label, spec), unit in zip(specs.items(), units, strict=True):
            folder = spec.folder.parent
            shutil.rmtree(folder, ignore_errors=True)
            spec.folder.mkdir(mode=0o700, parents=True)
            what = f"one {workload.unit}" if embedded else "under load"
            with session.bench.step(f"{label}: {what} on a simulated processor", "why-simulation", counts=False):
                counted = _unit(session, spec, unit) if embedded else _served(session, spec, label, lay)
            session.record.append(counted)
    except UserError as error:
        return [f"no simulated caches: {error}"]
    except InfrastructureError as error:
        log = session.bench.log_path("why-simulation-failed.log")  # the server's own goes with its folder
        log.write_text(f"{error.explain(lines=40)}\n")
        return [f"no simulated caches: {str(error).splitlines()[0]} (logs/{log.name})"]
    return []


def _unit(session: Session, spec: SideSpec, words: Sequence[str | Path]) -> BuildSimulated:
    """One unit of an embedded engine's load."""
    out = spec.folder / "cachegrind.out"
    argv = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes", f"--cachegrind-out-file={out}"]
    done = session.bench.run(
        "cachegrind", [*argv, *words], cwd=spec.folder, env=dict(spec.built.environment), timeout=UNIT_S
    )
    if not done.ok or not out.is_file():
        raise InfrastructureError(f"valgrind could not run {spec.label} (why-simulation.log)")
    return _event(spec.label, cachegrind.parse(out.read_text(encoding="utf-8")))


def _served(session: Session, spec: SideSpec, label: str, lay: Callable[[Path], None]) -> BuildSimulated:
    """A server under load, on a copy of the data that no other one has written to."""
    data = spec.folder.parent / "data"
    lay(data)
    condition = conditions.ready(session, conditions.usual(session.spec, session.options))
    workload = replace(spec.workload, threads=min(spec.workload.threads, TRAINING_THREADS))
    caches = simulation.of_this_core()
    built = launched(spec.built, condition)
    given = replace(spec, built=built, data=data, condition=condition, workload=workload)
    counted, done = simulation.count(session.engine, given, caches)
    return replace(_event(label, counted), transactions=done, second_level=caches.second[0] if caches.second else None)


def _event(label: str, counted: Counted) -> BuildSimulated:
    return value_of(BuildSimulated, {"label": label, **plain(counted.as_dict())})


def _spec(session: Session, workload: Workload, built: Built) -> SideSpec:
    return SideSpec(
        label=built.name,
        built=built,
        condition=Condition(),
        workload=workload,
        data=session.scratch / "data0",
        folder=session.scratch / "simulated" / "side",
        seed=session.seed,
        cores=session.core_sets[0],
    )
