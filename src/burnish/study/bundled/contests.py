"""The contests of a study that ships: what each notes for the reports, and what its cells' conditions mean for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from burnish.bench.pairs import Contestant
from burnish.model.workload import Design, Timing
from burnish.study import conditions
from burnish.study.cells import Cell
from burnish.study.merge import same_plan
from burnish.study.options import Setting
from burnish.study.trials.starts import begun_otherwise


def note_contest(setting: Setting, cells: Sequence[Cell], times: Mapping[Design, Timing]) -> None:
    """The contest as every study notes it, so that its reports can be read; all cells so far are in it.

    Raises:
        UserError: a load or a design's times are not what they were when the record's earlier starts were taken.
    """
    earlier = setting.record.last("contest")
    before = earlier.body if earlier else {}
    loads = {cell.workload.name: cell for cell in cells}
    now: dict[str, dict[str, Any]] = {
        "timings": {cell.design: asdict(times[cell.design]) for cell in cells},
        "workloads": {name: asdict(cell.workload) for name, cell in loads.items()},
    }
    if (found := same_plan.otherwise(before, now)) is not None:
        where, was, asked = found
        raise begun_otherwise(setting.record, where, repr(was), repr(asked))
    setting.record.append(
        "contest",
        designs={**before.get("designs", {}), **{name: cell.design for name, cell in loads.items()}},
        headlines={},
        cells=list(dict.fromkeys([*before.get("cells", ()), *(cell.name for cell in cells)])),
        rule=asdict(setting.rule),
        timings={**before.get("timings", {}), **now["timings"]},
        workloads={**before.get("workloads", {}), **now["workloads"]},
        core_sets=[sorted(cores) for cores in setting.core_sets],
        calibrations=[],
        forced=[],
    )


def under(cell: Cell, base: Contestant, candidate: Contestant) -> Cell:
    """A cell whose load waits for the network, or for clients, where its sides' conditions make it wait."""
    (workload,) = conditions.loads_under([cell.workload], [base.condition, candidate.condition])
    return replace(cell, workload=workload)


def is_usual(cell: Cell) -> bool:
    """Whether a cell's sides run under the usual condition: its name tells any other behind a comma."""
    return "," not in f"{cell.tag}{cell.candidate}"
