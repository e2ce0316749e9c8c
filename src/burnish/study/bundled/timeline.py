"""Throughput by the second of a study's builds, one server up at a time; and what is in their profiles."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from burnish.base.errors import InfrastructureError, UserError
from burnish.bench import datasets
from burnish.builds.stages import Compile
from burnish.catalogue.study_model import Timeline
from burnish.engines.contract import SideSpec, Tick
from burnish.model.condition import Condition
from burnish.model.workload import Design, Workload
from burnish.profiles import inspecting
from burnish.program.built import Built
from burnish.study import workloads as workload_choice
from burnish.study.bundled.extras import CONTENTS
from burnish.toolchain.toolchains import find_toolchains

if TYPE_CHECKING:
    from burnish.study.bundled.work import AtWork

HOTTEST = 10
"""So many of a profile's hottest functions are told."""


def by_second(ticks: Sequence[Tick], begin: float, seconds: int) -> list[dict[str, float]]:
    """Throughput and 95th percentile of each whole second after `begin`; a second without two ticks is left out.

    Args:
        ticks: of the load, in order.
        begin: when the first second begins, CLOCK_MONOTONIC.
        seconds: how many.
    """
    found = []
    for number in range(seconds):
        start = begin + number
        before = [tick for tick in ticks if tick.at <= start + 1e-3]
        until = [tick for tick in ticks if tick.at <= start + 1.0 + 1e-3]
        if not before or not until or until[-1].at <= before[-1].at:
            continue
        inside = until[len(before) :]
        latencies = [tick.latency["p95"] for tick in inside if "p95" in tick.latency]
        found.append(
            {
                "second": number + 1,
                "rate": (until[-1].done - before[-1].done) / (until[-1].at - before[-1].at),
                "p95": statistics.median(latencies) if latencies else 0.0,
            }
        )
    return found


def record_timeline(at_work: AtWork, timeline: Timeline) -> None:
    """Runs each of the builds once and puts its seconds on record; those that are there already are left."""
    setting, table = at_work.setting, at_work.table
    name = table.study.loads[timeline.load].named.get(setting.spec.name)
    if name is None:
        return
    (workload,) = workload_choice.choose(setting.spec, [name], ladder=(timeline.threads,))
    chosen = [
        each
        for each in at_work.selection.chosen
        if each.row in timeline.rows and each.load == timeline.load and each.reason is None
    ]
    wanted = {each.base: "original" for each in chosen} | {each.candidate: each.row for each in chosen}
    at_work.make(list(wanted))
    for build, row in wanted.items():
        built = at_work.made[build].built
        if built is None or setting.record.last("timeline", build=build) is not None:
            continue
        if workload.dataset != "none" and workload.name not in at_work.maker.data:
            continue  # its row was left out, and with it its data
        seconds = _run(at_work, built, workload, timeline.seconds_on.get(setting.spec.name, timeline.seconds))
        setting.record.append("timeline", build=build, row=row, workload=workload.name, seconds=seconds)


def _run(at_work: AtWork, built: Built, workload: Workload, seconds: int) -> list[dict[str, float]]:
    setting = at_work.setting
    folder = setting.scratch / "timeline"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "side").mkdir(mode=0o700, parents=True)
    data = folder / "data"
    entry = at_work.maker.data.get(workload.name)
    if entry is not None:
        datasets.copy(entry, data, setting.bench)
    else:
        data.mkdir(mode=0o700)
    side = setting.engine.side(
        SideSpec(
            label="timeline",
            built=built,
            condition=Condition(),
            workload=workload,
            data=data,
            folder=folder / "side",
            seed=setting.options.seed,
            cores=frozenset(setting.host.cores_allowed),
        )
    )
    ticks: list[Tick] = []
    with setting.bench.step(f"{built.name}: {seconds} s by the second", "timeline", counts=False):
        try:
            side.boot()
            side.load()
            begin = time.monotonic() + setting.spec.times[Design.SOLO].warmup
            while time.monotonic() < begin + seconds + 0.5:
                time.sleep(0.2)
                ticks += side.ticks()
                if (trouble := side.trouble()) is not None:
                    raise InfrastructureError(f"{built.name} by the second: {trouble}")
                done = by_second(ticks, begin, seconds)
                if done:
                    setting.bench.live(f"second {done[-1]['second']}: {done[-1]['rate']:,.0f} a second")
        finally:
            side.stop()
    shutil.rmtree(folder, ignore_errors=True)
    return by_second(ticks, begin, seconds)


def record_profiles(at_work: AtWork) -> None:
    """Puts on record what is in the profile of every build that was made with one, in earlier sittings too."""
    setting = at_work.setting
    done = {event.body["variant"] for event in setting.record.events("profile_facts")}
    built = {event.body["variant"]: event.body["failure"] is None for event in setting.record.events("variant")}
    names = [name for name, good in built.items() if good and name not in done and name in at_work.table.variants]
    at_work.find_chains([name for name in names if name not in at_work.chains])
    for name in names:
        chain = at_work.chains.get(name)
        used = [stage.profile for stage in chain.stages if isinstance(stage, Compile)] if chain else []
        entry = setting.store.find("profiles", used[-1]) if used and used[-1] else None
        if entry is None:
            continue
        began = time.monotonic()
        try:
            found = inspecting.inspect(entry, setting.store, setting.engine, find_toolchains(), HOTTEST)
        except UserError as error:
            setting.bench.say(f"{name}: its profile can't be told: {error}")
            continue
        setting.store.note_cost(setting.spec.name, CONTENTS, name, time.monotonic() - began)
        setting.record.append("profile_facts", variant=name, **asdict(found))
