"""How a study measures, as its record has it: rule, times, loads, cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from burnish.bench.pairs import Contestant
from burnish.model.workload import Design, Timing
from burnish.statistics.calibration import Calibration
from burnish.study.cells import Cell
from burnish.study.merge import same_plan
from burnish.study.trials.starts import begun_otherwise
from burnish.study.workshop.workshop import Workshop


def note_contest(
    workshop: Workshop,
    base: Contestant,
    candidate: Contestant,
    cells: Sequence[Cell],
    times: Mapping[Design, Timing],
    known: Sequence[Calibration],
) -> None:
    """Records how the cells are measured; all cells of the study so far are in it.

    Args:
        workshop: the study.
        base: the side that ratios are against.
        candidate: one of the other sides.
        cells: what is tried now.
        times: of a start, by design.
        known: the host's calibrations that verdicts lean on.

    Raises:
        UserError: a load or a design's times are not what they were when the record's earlier starts were taken.
    """
    session, study = workshop.session, workshop.study
    earlier = workshop.record.last("contest")
    before = earlier.body if earlier else {}
    loads = {cell.workload.name: cell for cell in cells}
    now: dict[str, dict[str, Any]] = {
        "timings": {cell.design: asdict(times[cell.design]) for cell in cells},
        "workloads": {name: asdict(cell.workload) for name, cell in loads.items()},
    }
    if (found := same_plan.otherwise(before, now)) is not None:
        where, was, asked = found
        raise begun_otherwise(workshop.record, where, repr(was), repr(asked))
    usual = {} if study.bundled else {"condition": base.condition.as_dict(), "versus": None}
    if usual and candidate.condition != base.condition:
        usual["versus"] = candidate.condition.as_dict()
    designs = {name: cell.design for name, cell in loads.items()}
    headlines = {name: cell.headline for name, cell in loads.items()}
    forced = [each.name for each in known if not each.passes]
    workshop.record.append(
        "contest",
        designs={} if study.calibrates else {**before.get("designs", {}), **designs},
        headlines={} if study.calibrates or study.bundled else {**before.get("headlines", {}), **headlines},
        cells=list(dict.fromkeys([*before.get("cells", ()), *(cell.name for cell in cells)])),
        rule=asdict(study.rule),
        timings={**before.get("timings", {}), **now["timings"]},
        **usual,
        workloads={**before.get("workloads", {}), **now["workloads"]},
        core_sets=[sorted(cores) for cores in session.core_sets],
        calibrations=_calibrations(before, known),
        forced=list(dict.fromkeys([*before.get("forced", ()), *forced])),
        replicates={name: [built.key for built in builds] for name, builds in workshop.replicates.items()},
    )


def _calibrations(before: Mapping[str, Any], known: Sequence[Calibration]) -> list[dict[str, Any]]:
    """Those of earlier groups and of this one, each load and design once."""
    every = [*before.get("calibrations", ()), *(each.as_dict() for each in known)]
    return list({(each["workload"], str(each["design"])): each for each in every}.values())
