"""Facts from a finished build's objects, before they are removed: the compiler's own record, memory, time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burnish.builds import switches
from burnish.builds.effective import C_SUFFIXES
from burnish.engines.contract import BuildJob
from burnish.program.built import CompiledObject
from burnish.record.store import Store
from burnish.toolchain import compile_costs
from burnish.toolchain.compile_costs import Cost


def facts(objects: Sequence[CompiledObject], job: BuildJob, store: Store, server: str) -> dict[str, Any]:
    """Facts for the build's description.

    Args:
        objects: objects of the measured program.
        job: the build, whose folder still exists.
        store: keeps compile costs, for objects that came from the cache.
        server: path of the measured program in the build folder.

    Returns:
        ``record`` (one line), ``disagree`` (flag, objects, example), ``unrecorded`` (why, objects), and, where
        there is GNU time, ``costs`` (`compile_costs.summary`).
    """
    agreement = switches.examine(
        [(item, switches.read(job.place / item.path)) for item in objects], job.flags.c, job.flags.cxx, C_SUFFIXES
    )
    description: dict[str, Any] = {
        "record": agreement.summary,
        "disagree": agreement.disagree,
        "unrecorded": agreement.missing,
    }
    if job.meter is not None:
        noted = compile_costs.parse(job.meter.notes.read_text(encoding="utf-8"))
        if job.in_two_steps:
            once = {
                compile_costs.reading_key(item, job.place): item.path
                for item in objects
                if item.path in noted and compile_costs.bitcode(item) not in noted
            }
            noted = compile_costs.in_one(objects, noted, _earlier(once, store))
        made = compile_costs.fresh(objects, noted, job.place)
        store.costs.note_compiles(
            {key: (cost.peak_bytes, cost.seconds, cost.cpu_seconds) for key, cost in made.items()}
        )
        cached = {compile_costs.command_key(item, job.place): item.path for item in objects if item.path not in noted}
        earlier = _earlier(cached, store)
        description["costs"] = compile_costs.summary(objects, noted, earlier, server)
    return description


def _earlier(paths: Mapping[str, str], store: Store) -> dict[str, Cost]:
    """Costs by path, of those that the store knows by these keys."""
    return {paths[key]: Cost(*values) for key, values in store.costs.compiles(paths).items()}
