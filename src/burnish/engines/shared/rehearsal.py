"""A load that was not run like this before is run for a moment, on a copy of its data, before anything is measured."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from burnish.base.errors import InfrastructureError, UserError
from burnish.base.workbench import Workbench
from burnish.catalogue import load
from burnish.engines.shared.server_side import ServerSide
from burnish.engines.side import SideSpec
from burnish.model.condition import Condition
from burnish.model.workload import Workload
from burnish.program.built import Built

REHEARSAL_S = 1.5
"""How long a user's load, or one under a condition of a user's, runs to see whether it runs at all."""

SideT = TypeVar("SideT", bound=ServerSide[Any])


def unusual(workload: Workload, condition: Condition) -> bool:
    """Whether this load is none of the catalogue's as it stands there, or is run under a condition."""
    shipped = load.workloads().get((workload.engine, workload.entry))
    if shipped is None or (shipped.settings, shipped.parameters) != (workload.settings, workload.parameters):
        return True
    return bool(condition.settings or condition.allocator or condition.heap_pages) or condition.transport != "unix"


def rehearse(
    new_side: Callable[[SideSpec], SideT],
    built: Built,
    workload: Workload,
    condition: Condition,
    data: Path,
    place: Path,
    bench: Workbench,
    *,
    first: Callable[[SideT], None] = lambda _: None,
) -> None:
    """Runs a load for a moment, and says that it runs.

    Args:
        new_side: a side, not yet booted.
        built: see `Engine.examine`, as are `workload`, `condition` and `bench`.
        workload: see there.
        condition: see there.
        data: the dataset's data, of which a copy is used.
        place: private scratch folder.
        bench: see above.
        first: called with the side once its server is up, before the load begins.

    Raises:
        UserError: the server does not start, or the load fails, in the words of the one that says so.
    """
    copy, folder = place / "data", place / "side"
    bench.run("copy data", ["cp", "-a", "--reflink=auto", data, copy]).check(f"copying the data to {copy}")
    folder.mkdir(mode=0o700)
    spec = SideSpec(
        label="rehearsal",
        built=built,
        condition=condition,
        workload=workload,
        data=copy,
        folder=folder,
        seed=1,
        cores=frozenset(os.sched_getaffinity(0)),
    )
    side = new_side(spec)
    try:
        try:
            side.boot()
        except InfrastructureError as error:
            why = next(iter(side.complaints()), str(error))
            raise UserError(f"{workload.name}: the server does not start under this condition: {why}") from None
        first(side)
        side.load()
        end = time.monotonic() + REHEARSAL_S
        while time.monotonic() < end:
            time.sleep(0.05)
            if (trouble := side.trouble()) is not None:
                # A user's script is run by one of ours, which is not the one that lacks something.
                message = trouble.removeprefix("rehearsal: ").replace("report.lua", workload.name)
                raise UserError(f"{workload.name}: {message}")
        facts = side.facts()
        bench.say(f"{workload.name}: runs" + "".join(f", {name} {value}" for name, value in facts.items() if value))
    finally:
        side.stop()
        shutil.rmtree(copy, ignore_errors=True)
