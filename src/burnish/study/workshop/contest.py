"""How a study measures, for its record: rule, times, loads, cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from burnish.bench.pairs import Contestant
from burnish.model.workload import Design, Timing
from burnish.record.codec import plain
from burnish.record.events.trials import StoppingRule, TrialsPlanned
from burnish.record.events.verdicts import HostNoise
from burnish.record.record import Record
from burnish.statistics.calibration import Calibration
from burnish.statistics.verdicts import Rule
from burnish.study.calibration import host_noise
from burnish.study.cells import Cell
from burnish.study.merge import same_plan
from burnish.study.trials.starts import begun_with_other
from burnish.study.workshop.workshop import Workshop
from burnish.workload.conditions import durability_of


def note_contest(
    workshop: Workshop,
    base: Contestant,
    candidate: Contestant,
    cells: Sequence[Cell],
    times: Mapping[Design, Timing],
    known: Sequence[Calibration],
) -> None:
    """Records how cells are measured; the event lists all cells of the study so far.

    Args:
        workshop: the study.
        base: the side that ratios are against.
        candidate: one of the other sides.
        cells: the cells that are measured now.
        times: of a start, by design.
        known: the host's calibrations that verdicts use.

    Raises:
        BegunOtherwiseError: a load, or a design's times, have changed since the record's earlier starts were taken.
    """
    session, study = workshop.session, workshop.study
    earlier = workshop.record.last(TrialsPlanned)
    before = earlier.event if earlier else TrialsPlanned((), _rule(study.rule), ())
    loads = {cell.workload.name: cell for cell in cells}
    now = TrialsPlanned(
        cells=tuple(dict.fromkeys((*before.cells, *(cell.id for cell in cells)))),
        rule=_rule(study.rule),
        core_sets=tuple(tuple(sorted(cores)) for cores in session.sets_of(cells[0].design)),
        designs={} if study.calibrates else {name: str(cell.design) for name, cell in loads.items()},
        placements={} if study.calibrates else {name: str(cell.placement) for name, cell in loads.items()},
        headlines={} if study.calibrates or study.bundled else {name: cell.headline for name, cell in loads.items()},
        timings={str(cell.design): times[cell.design] for cell in cells},
        workloads={name: cell.workload for name, cell in loads.items()},
        condition=None if study.bundled else base.condition,
        versus=None if study.bundled or candidate.condition == base.condition else candidate.condition,
        calibrations=_calibrations(before, known),
        forced=tuple(
            dict.fromkeys((*before.forced, *(calibration.name for calibration in known if not calibration.passes)))
        ),
        storages={name: base.condition.place for name, cell in loads.items() if cell.workload.writes},
        durability={
            name: word
            for name, cell in loads.items()
            if cell.workload.writes and (word := _durability(workshop, cell, base))
        },
        replicates={name: tuple(built.key for built in builds) for name, builds in workshop.replicates.items()},
    )
    _check(workshop.record, before, now)
    workshop.record.append(
        replace(
            now,
            designs={**before.designs, **now.designs},
            placements={**before.placements, **now.placements},
            headlines={**before.headlines, **now.headlines},
            timings={**before.timings, **now.timings},
            workloads={**before.workloads, **now.workloads},
            storages={**before.storages, **now.storages},
            durability={**before.durability, **now.durability},
        )
    )


def check_contest(record: Record, cells: Sequence[Cell], times: Mapping[Design, Timing]) -> None:
    """Refuses cells that would be measured otherwise than the record's earlier ones; nothing need be made for it.

    Args:
        record: the study's.
        cells: the cells that are to be measured.
        times: of a start, by design.

    Raises:
        BegunOtherwiseError: a load, or a design's times, have changed since the record's earlier starts were taken.
    """
    earlier = record.last(TrialsPlanned)
    if earlier is not None:
        now = replace(
            earlier.event,
            timings={str(cell.design): times[cell.design] for cell in cells},
            workloads={cell.workload.name: cell.workload for cell in cells},
        )
        _check(record, earlier.event, now)


def _check(record: Record, before: TrialsPlanned, now: TrialsPlanned) -> None:
    if (differing := same_plan.changed(plain(before), plain(now))) is not None:
        where, was, asked = differing
        raise begun_with_other(record, where, repr(was), repr(asked))


def _durability(workshop: Workshop, cell: Cell, base: Contestant) -> str:
    settings = (*cell.workload.settings, *base.condition.settings)
    return durability_of(settings, workshop.session.spec.settings)


def note_times(record: Record, times: Mapping[Design, Timing]) -> None:
    """Records the times of designs in which cells are measured again and that no other cell had."""
    planned = record.last(TrialsPlanned)
    if planned is not None and (new := _new(planned.event.timings, times)):
        record.append(replace(planned.event, timings={**planned.event.timings, **new}))


def _new(known: Mapping[str, Timing], times: Mapping[Design, Timing]) -> dict[str, Timing]:
    return {str(design): timing for design, timing in times.items() if str(design) not in known}


def _rule(rule: Rule) -> StoppingRule:
    return StoppingRule(**asdict(rule))


def _calibrations(before: TrialsPlanned, known: Sequence[Calibration]) -> tuple[HostNoise, ...]:
    """The calibrations of earlier groups and of this one, one for each load, design and placement."""
    calibrations = [*before.calibrations, *(host_noise(calibration) for calibration in known)]
    return tuple({noise.manner: noise for noise in calibrations}.values())
