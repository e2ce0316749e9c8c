"""The verb `calibrate`: how noisy this host is under each design, and how much a duet dilutes a known difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from rich.console import Console

from burnish.base.durations import duration
from burnish.base.paths import Home
from burnish.bench.pairs import Contestant
from burnish.catalogue import load
from burnish.model.condition import Condition
from burnish.model.recipe import Variant
from burnish.model.workload import Design, Timing
from burnish.record.store import Entry
from burnish.statistics.calibration import Calibration
from burnish.statistics.calibration import calibrate as calibrate_host
from burnish.statistics.sequential import CALIBRATION_STARTS
from burnish.statistics.verdicts import Rule
from burnish.study import calibration, conditions, holding, preparing, session, studies
from burnish.study.builds import needs
from burnish.study.builds.make import Made
from burnish.study.cells import AA, Cell, Role
from burnish.study.options import Ask, Options, Setting
from burnish.study.trials.starts import cell_starts
from burnish.study.trials.timing import start_seconds, timings
from burnish.study.workloads import check, chosen

DIFFERENT_STARTS = {Design.DUET: 4, Design.SOLO: 8}
"""Starts of the known-different pair under duet and solo, which is noisier by far."""

DIFFERENT = "known-different"


def calibrate(
    home: Home, engine: str, designs: Sequence[Design], options: Options, console: Console, ask: Ask | None
) -> Path:
    """A/A starts under each design, then a known-different pair under duet and solo; returns the study's folder."""
    spec = load.engine(engine)
    variants = [load.variant("baseline")]
    if spec.different is not None and spec.different.recipe is not None:
        variants.append(Variant(DIFFERENT, spec.different.recipe, spec.different.reason))
    workloads = chosen(spec, options)
    features = options.features or spec.default_features
    names = [variant.name for variant in variants]
    definition = session.definition_of("calibrate", spec, options, names, workloads, features, variants)
    definition = replace(definition, design=",".join(designs))
    with studies.lock(home):
        needs.check_disk(home, spec, len(variants))
        needs.install(spec, variants, options, ask)
        setting = session.begin(home, spec, definition, options, console, workloads, ask)
        if not setting.twin_cores:
            designs = [design for design in designs if design is not Design.DUET]
        with session.nothing_half_made(setting.record):
            setting.workloads = check(setting.engine, setting.workloads, setting.bench)
            chains, maker = preparing.prepare(setting, variants, features)
            maker.look = lambda built: conditions.possible(setting, [(built, Condition())])
            made = maker.make(chains)
        _hold(setting, made, maker.data, designs)
        return session.finish(setting)


def _hold(setting: Setting, made: Sequence[Made], data: Mapping[str, Entry], designs: Sequence[Design]) -> None:
    options, spec = setting.options, setting.spec
    condition = Condition()
    baseline = holding.contestant(made[0], condition)
    times = timings(setting)
    starts = max(CALIBRATION_STARTS, options.starts or 0)
    equal = [
        replace(holding.cell_for(setting, AA, workload, design), role=Role.CANARY, tag=str(design))
        for workload in setting.workloads
        for design in designs
    ]
    other = _different(setting, made, baseline)
    known = [
        replace(holding.cell_for(setting, DIFFERENT, workload, design), role=Role.CONFIRMATION, tag=str(design))
        for workload in setting.workloads[:1]
        for design in (Design.DUET, Design.SOLO)
        if other is not None and (setting.twin_cores or design is Design.SOLO)
    ]
    setting.record.append(
        "contest",
        designs={},
        headlines={},
        cells=[cell.name for cell in (*equal, *known)],
        rule=asdict(Rule.fixed(starts)),
        timings={design: asdict(times[design]) for design in {cell.design for cell in (*equal, *known)}},
        condition=condition.as_dict(),
        core_sets=[sorted(cores) for cores in setting.core_sets],
        calibrations=[],
        forced=[],
    )
    counts = [*((cell, starts) for cell in equal), *((cell, DIFFERENT_STARTS[cell.design]) for cell in known)]
    expected = sum(count * start_seconds(times[cell.design]) for cell, count in counts)
    setting.bench.say(f"A/A starts: {len(equal)} x {starts}, about {duration(expected)} with the known difference")
    candidates = {DIFFERENT: other} if other else {}
    held = holding.contest(setting, baseline, candidates, (), times, data)
    held.decide(equal, Rule.fixed(starts))  # in turn, so that all designs are measured in the same hour
    for cell in equal:
        found = _calibrated(setting, times[cell.design], cell)
        if found is not None:
            calibration.save(setting.home, found)
            setting.record.append("calibration", calibration=found.as_dict())
    for cell in known:
        held.decide([cell], Rule.fixed(DIFFERENT_STARTS[cell.design]))
    if spec.different is not None:
        setting.record.append("different", reason=spec.different.reason)


def _different(setting: Setting, made: Sequence[Made], baseline: Contestant) -> Contestant | None:
    """The side that is known to differ; None where the engine has none or it could not be built."""
    different = setting.spec.different
    if different is None:
        return None
    if different.recipe is None:
        condition = replace(baseline.condition, settings=different.settings)
        return Contestant(DIFFERENT, baseline.built, condition)
    if made[1].built is None:
        setting.bench.say(f"no known-different pair: {made[1].failure}")
        return None
    return Contestant(DIFFERENT, made[1].built, baseline.condition)


def _calibrated(setting: Setting, timing: Timing, cell: Cell) -> Calibration | None:
    """What the cell's starts say; None where too many were invalid."""
    starts = cell_starts(setting.record, cell.name)
    verdict = setting.record.last("verdict", cell=cell.name)
    if len(starts.capacity) < CALIBRATION_STARTS or verdict is None:
        setting.bench.say(f"{cell.name}: no calibration, {len(starts.invalid)} starts were invalid")
        return None
    return calibrate_host(
        {name: starts.of(name) for name in ("capacity", "throughput")},
        starts.pair_ratios,
        starts.seconds,
        engine=setting.spec.name,
        workload=cell.workload.name,
        design=cell.design,
        headline=cell.headline,
        host=calibration.host_digest(setting.host),
        timing=timing,
        at=verdict.at,
    )
