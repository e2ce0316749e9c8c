"""The contests of a study that ships: what each notes for the reports, and what its cells' conditions mean for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from burnish.bench.pairs import Contestant
from burnish.run import conditions
from burnish.run.cells import Cell
from burnish.run.setting import Setting
from burnish.study.model import Design, Timing


def note_contest(setting: Setting, cells: Sequence[Cell], times: Mapping[Design, Timing]) -> None:
    """The contest as every study notes it, so that its reports can be read; all cells so far are in it."""
    earlier = setting.record.last("contest")
    before = earlier.body if earlier else {}
    loads = {cell.workload.name: cell for cell in cells}
    setting.record.append(
        "contest",
        designs={**before.get("designs", {}), **{name: cell.design for name, cell in loads.items()}},
        headlines={},
        cells=list(dict.fromkeys([*before.get("cells", ()), *(cell.name for cell in cells)])),
        rule=asdict(setting.rule),
        timings={**before.get("timings", {}), **{cell.design: asdict(times[cell.design]) for cell in cells}},
        workloads={**before.get("workloads", {}), **{name: asdict(cell.workload) for name, cell in loads.items()}},
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
