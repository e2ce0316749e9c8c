"""Throughput per second of run time of a study's builds, one server at a time; and the contents of their profiles."""

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
from burnish.catalogue.bundled.model import Timeline
from burnish.engines.contract import SideSpec, Tick
from burnish.model.condition import Condition
from burnish.model.histogram import together
from burnish.model.workload import Design, Workload
from burnish.profiles import inspecting
from burnish.program.built import Built
from burnish.record.codec import plain, value_of
from burnish.record.events.builds import VariantSettled
from burnish.record.events.bundled import ProfileInspected, Second, TimelineRead
from burnish.study.extras.extras import CONTENTS
from burnish.study.request import workloads as workload_choice
from burnish.toolchain.toolchains import find_toolchains

if TYPE_CHECKING:
    from burnish.study.workshop.workshop import Workshop

HOTTEST = 10
"""Number of a profile's hottest functions that are recorded."""


def by_second(ticks: Sequence[Tick], begin: float, seconds: int) -> list[dict[str, float]]:
    """Throughput and 95th percentile of each whole second after `begin`; seconds without two ticks are left out.

    Args:
        ticks: of the load, in order.
        begin: when the first second begins, CLOCK_MONOTONIC.
        seconds: number of seconds.
    """
    rows = []
    for number in range(seconds):
        start = begin + number
        before = [tick for tick in ticks if tick.at <= start + 1e-3]
        until = [tick for tick in ticks if tick.at <= start + 1.0 + 1e-3]
        if not before or not until or until[-1].at <= before[-1].at:
            continue
        inside = until[len(before) :]
        latencies = [tick.latency["p95"] for tick in inside if "p95" in tick.latency]
        known = together(tick.times for tick in inside).percentiles()
        rows.append(
            {
                "second": number + 1,
                "rate": (until[-1].done - before[-1].done) / (until[-1].at - before[-1].at),
                "p95": known.get("p95", statistics.median(latencies) if latencies else 0.0),
            }
        )
    return rows


def record_timeline(workshop: Workshop, timeline: Timeline) -> None:
    """Runs each of the timeline's builds once and records its seconds, except those that are already recorded."""
    session, bundled = workshop.session, workshop.study.bundled
    assert bundled is not None  # noqa: S101 - a bundled study's own
    name = bundled.loads[timeline.load].named.get(session.spec.name)
    if name is None:
        return
    (workload,) = workload_choice.choose(session.spec, [name], ladder=(timeline.threads,))
    chosen = [
        comparison
        for comparison in workshop.selection.chosen
        if comparison.row in timeline.rows and comparison.load == timeline.load and comparison.reason is None
    ]
    wanted = {comparison.base: "original" for comparison in chosen} | {
        comparison.candidate: comparison.row for comparison in chosen
    }
    workshop.make(list(wanted))
    for build, row in wanted.items():
        built = workshop.made[build].built
        if built is None or session.record.last(TimelineRead, build=build) is not None:
            continue
        if workload.dataset != "none" and workload.name not in workshop.data:
            continue  # its row was left out, so its data set was not made
        seconds = _run(workshop, built, workload, timeline.seconds_on.get(session.spec.name, timeline.seconds))
        session.record.append(
            TimelineRead(build, row, workload.name, tuple(value_of(Second, second) for second in seconds))
        )


def _run(workshop: Workshop, built: Built, workload: Workload, seconds: int) -> list[dict[str, float]]:
    session = workshop.session
    folder = session.scratch / "timeline"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "side").mkdir(mode=0o700, parents=True)
    data = folder / "data"
    entry = workshop.data.get(workload.name)
    if entry is not None:
        datasets.copy(entry, data, session.bench)
    else:
        data.mkdir(mode=0o700)
    side = session.engine.side(
        SideSpec(
            label="timeline",
            built=built,
            condition=Condition(),
            workload=workload,
            data=data,
            folder=folder / "side",
            seed=session.seed,
            cores=frozenset(session.host.cores_allowed),
        )
    )
    ticks: list[Tick] = []
    with session.bench.step(f"{built.name}: {seconds} s by the second", "timeline", counts=False):
        try:
            side.boot()
            side.load()
            begin = time.monotonic() + session.spec.times[Design.SOLO].warmup
            while time.monotonic() < begin + seconds + 0.5:
                time.sleep(0.2)
                ticks += side.ticks()
                if (trouble := side.trouble()) is not None:
                    raise InfrastructureError(f"{built.name} by the second: {trouble}")
                done = by_second(ticks, begin, seconds)
                if done:
                    session.bench.live(f"second {done[-1]['second']}: {done[-1]['rate']:,.0f} a second")
        finally:
            side.stop()
    shutil.rmtree(folder, ignore_errors=True)
    return by_second(ticks, begin, seconds)


def record_profiles(workshop: Workshop) -> None:
    """Records the contents of the profile of every build that was made with one, in earlier sessions too."""
    session = workshop.session
    done = {recorded.event.variant for recorded in session.record.events(ProfileInspected)}
    built = {
        recorded.event.variant: recorded.event.failure is None for recorded in session.record.events(VariantSettled)
    }
    names = [name for name, good in built.items() if good and name not in done and name in workshop.study.variants]
    workshop.find_chains([name for name in names if name not in workshop.chains])
    for name in names:
        chain = workshop.chains.get(name)
        used = [stage.profile for stage in chain.stages if isinstance(stage, Compile)] if chain else []
        entry = session.store.find("profiles", used[-1]) if used and used[-1] else None
        if entry is None:
            continue
        began = time.monotonic()
        try:
            contents = inspecting.inspect(entry, session.store, session.engine, find_toolchains(), HOTTEST)
        except UserError as error:
            session.bench.say(f"{name}: its profile cannot be read: {error}")
            continue
        session.store.note_cost(session.spec.name, CONTENTS, name, time.monotonic() - began)
        facts = plain(asdict(contents))
        facts["profile_kind"] = facts.pop("kind")
        session.record.append(value_of(ProfileInspected, {"variant": name, **facts}))
