"""A study's contest as it is held: what became of every variant, the cells, what is known of the host, the trials."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from burnish.base.durations import duration
from burnish.base.errors import UserError
from burnish.bench.pairs import Contestant
from burnish.model.condition import Condition
from burnish.model.workload import Design, Timing, Workload
from burnish.program.built import Built
from burnish.record.record import Record
from burnish.record.store import Entry
from burnish.statistics.calibration import Calibration
from burnish.statistics.verdicts import HostPrior, Rule
from burnish.study import calibration, conditions
from burnish.study.builds.make import Made
from burnish.study.builds.programs import differences
from burnish.study.cells import AA, Cell, own_design
from burnish.study.options import Setting
from burnish.study.preparing import Makings
from burnish.study.session import nothing_half_made
from burnish.study.trials.contest import Contest
from burnish.study.trials.timing import priors_of, start_seconds, timings


def hold(setting: Setting, makings: Makings) -> None:
    """Notes what became of every variant, then holds the contest of those that have a build, on every workload."""
    baseline, *candidates = makings.made
    for item in makings.made:
        notes = list(item.notes)
        told = setting.record.last("program") is not None  # `compare` names differences once, at the top
        if item.identity and baseline.identity and not told and item.variant.recipe.features is None:
            found = differences(baseline.identity, item.identity)
            notes += [f"differs from {baseline.variant.name}: {line}" for line in found]
        note_variant(setting.record, item, notes)
    cells = [
        cell_for(setting, item.variant.name, load) for item in candidates if item.built for load in setting.workloads
    ]
    if not cells:
        return
    condition, other = makings.pair
    assert baseline.built is not None  # noqa: S101 - there are cells
    if not makings.examined:
        with nothing_half_made(setting.record):
            others = [(item.built, other) for item in candidates if item.built]
            conditions.examine(setting, [(baseline.built, condition), *others], makings.data)
    known = known_calibrations(setting, cells)
    times = timings(setting, known)
    setting.record.append(
        "contest",
        designs={cell.workload.name: cell.design for cell in cells},
        headlines={cell.workload.name: cell.headline for cell in cells},
        cells=[cell.name for cell in cells],
        rule=asdict(setting.rule),
        timings={design: asdict(times[design]) for design in {cell.design for cell in cells}},
        condition=condition.as_dict(),
        versus=other.as_dict() if other != condition else None,
        workloads={workload.name: asdict(workload) for workload in setting.workloads},
        core_sets=[sorted(cores) for cores in setting.core_sets],
        calibrations=[each.as_dict() for each in known],
        forced=[each.name for each in known if not each.passes],
        replicates={name: [built.key for built in builds] for name, builds in makings.replicates.items()},
    )
    expected = setting.rule.minimum * sum(start_seconds(times[cell.design]) for cell in cells)
    setting.bench.say(f"trials: {len(cells)} cells, about {duration(expected)} at the least number of starts")
    began = time.monotonic()
    contest(
        setting,
        contestant(baseline, condition),
        {item.variant.name: contestant(item, other) for item in candidates if item.built},
        cells,
        times,
        makings.data,
        priors=priors_of(known, times),
        replicates=makings.replicates,
    ).run()
    setting.store.note_cost(setting.spec.name, "trials", f"{len(cells)} cells", time.monotonic() - began)


def cell_for(setting: Setting, candidate: str, workload: Workload, design: Design | None = None) -> Cell:
    """A cell in the design that was asked for, that fits the workload, or that the host has cores for."""
    named = setting.options.design
    usual = own_design(workload, conditions=bool(setting.options.versus))
    chosen = design or (Design(named) if named else usual)
    if chosen is Design.DUET and not setting.twin_cores:
        chosen = Design.INTERLEAVED
    shared = chosen is Design.DUET or not setting.twin_cores
    return Cell(candidate, workload, chosen, "capacity" if shared else "throughput")


def note_variant(record: Record, item: Made, notes: Sequence[str]) -> None:
    """Puts on record what became of a variant.

    Args:
        record: the study's.
        item: the variant.
        notes: what a reader should know of it, a sentence each.
    """
    record.append(
        "variant",
        variant=item.variant.name,
        reason=item.variant.reason,
        weakens_security=item.variant.weakens_security,
        changes_results=item.variant.changes_results,
        narrows_portability=item.variant.narrows_portability,
        failure=item.failure,
        same=item.same,
        notes=notes,
    )


def check_host(setting: Setting) -> None:
    """Refuses, before any work is done, a host on which `known_calibrations` would give no verdicts."""
    with nothing_half_made(setting.record):
        known_calibrations(setting, [cell_for(setting, AA, load) for load in setting.workloads])


def known_calibrations(setting: Setting, cells: Sequence[Cell]) -> list[Calibration]:
    """What this host's calibrations say of the cells' workloads; a `UserError` where one says: no verdicts here."""
    found: list[Calibration] = []
    if conditions.words(setting.options):
        return found  # they were made under the usual condition
    for workload, design in dict.fromkeys((cell.workload.name, cell.design) for cell in cells):
        each = calibration.find(setting.home, setting.spec.name, workload, design, setting.host)
        if each is None or not each.fits(timings(setting)[design]):
            continue
        if not each.passes and not setting.options.force:
            raise UserError(
                f"{each.name}: this host's calibration of {each.at} found the baseline different from itself "
                f"({each.words}); mend the host (`burnish doctor`) and calibrate again, or say --force"
            )
        found.append(each)
    return found


def contest(
    setting: Setting,
    baseline: Contestant,
    candidates: Mapping[str, Contestant],
    cells: Sequence[Cell],
    times: Mapping[Design, Timing],
    data: Mapping[str, Entry],
    *,
    priors: Mapping[tuple[str, Design], HostPrior] | None = None,
    rule: Rule | None = None,
    replicates: Mapping[str, Sequence[Built]] | None = None,
) -> Contest:
    """A contest of these sides in this setting.

    Args:
        setting: the study.
        baseline: the side that every ratio is against.
        candidates: the other sides by name.
        cells: what is compared.
        times: of a start, by design.
        data: dataset entries by workload name.
        priors: the host's calibration by (workload's name, design).
        rule: when a cell is decided; None: the study's.
        replicates: builds of each side by its name, where it has several.
    """
    return Contest(
        engine=setting.engine,
        record=setting.record,
        bench=setting.bench,
        baseline=baseline,
        candidates=candidates,
        cells=cells,
        rule=rule or setting.rule,
        times=times,
        core_sets=setting.core_sets,
        data=data,
        scratch=setting.scratch,
        seed=setting.options.seed,
        priors=priors or {},
        count_events=bool(setting.host.pmu),
        explore=setting.options.explore,
        replicates=replicates or {},
    )


def contestant(made: Made, condition: Condition) -> Contestant:
    """A build as a side of every start, under this condition."""
    assert made.built is not None  # noqa: S101 - only builds become contestants
    return Contestant(made.variant.name, made.built, condition)
