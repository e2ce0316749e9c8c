"""A study that ships before it is run, for people: what there is, what each row stands for, what it will cost; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from burnish.catalogue.published import SAMPLES
from burnish.catalogue.study_model import Study as BundledFile
from burnish.report.bundled import patches
from burnish.study.comparison import Comparison
from burnish.study.extras import extras
from burnish.study.planning.costs import minutes
from burnish.study.planning.plan import amount
from burnish.study.planning.study_plan import StudyPlan
from burnish.study.selection import unit_words
from burnish.study.study import Study


def listing(studies: Sequence[BundledFile]) -> RenderableType:
    """All studies with title, reason and number of rows."""
    parts: list[RenderableType] = []
    for each in studies:
        title = Text(each.name, style="bold")
        title.append(f"  {each.title}; {len(each.rows)} rows, {each.engine}", style="not bold")
        parts += [title, Padding(Text(each.reason), (0, 0, 0, 4))]
    return Group(*parts)


def render(table: Study, plan: StudyPlan) -> RenderableType:
    """One bundled study before it is run.

    Args:
        table: the study.
        plan: what a session would do of it.
    """
    study, found, selection = table.bundled, plan.forecast, plan.selection
    assert study is not None  # noqa: S101 - a bundled study
    parts: list[RenderableType] = [
        Text(f"{study.name}: {study.title}", style="bold"),
        Text(study.reason),
        Text(f"on {table.engine.title}; published: {', '.join(study.sources) or 'nothing'}"),
    ]
    if study.delivery is not None:
        parts.append(Text(f"first delivery: {study.delivery.reason}"))
    for name, reading in study.readings.items():
        if name:
            parts.append(Text(f"reading {name}: {reading.reason}"))
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    longest = max((len(each.row) for each in table.comparisons), default=0)
    for name in ("row", "what it is", "published", "cells", "builds", "trials", "GB"):
        figure = name in ("cells", "builds", "trials", "GB")
        grid.add_column(
            name,
            overflow="fold",
            justify="right" if figure else "left",
            no_wrap=figure,
            min_width=min(_ROW, longest) if name == "row" else None,
        )
    costs = {cost.unit: cost for cost in found.costs}
    series = ""
    for unit in dict.fromkeys(each.unit for each in table.comparisons):
        mine = [each for each in table.comparisons if each.unit == unit]
        if all(each.key in selection.cut for each in mine) and unit not in costs:
            continue
        cost = costs.get(unit)
        cells = ("-", "-", "-", "-")
        if cost is not None:
            cells = (str(cost.cells), minutes(cost.making), minutes(cost.trials), f"{cost.kept / 1e9:.1f}")
        if unit[0] != series:
            series = unit[0]
            grid.add_row(Text(f"{series}:", style="bold"))
        title = _title(table, mine[0])
        grid.add_row(Text(unit[1]), Text(title), Text(_published(mine)), *cells)
    parts += [Text(""), grid, Text(""), *(Text(line) for line in _remarks(table, plan))]
    return Group(*parts)


_ROW = 22
"""Room for the name of a row before it is folded."""


def _title(table: Study, comparison: Comparison) -> str:
    """What a row is; of a patch, which way it goes and what can be shown of it."""
    row = table.row(comparison.row)
    if row.patch is None or row.patch.direction == "none":
        return row.title
    return f"{row.title} ({row.patch.direction}; {comparison.shows})"


def _published(comparisons: Sequence[Comparison]) -> str:
    said = dict.fromkeys(each.published.words for each in comparisons if each.published is not None)
    return ", ".join(said) if len(said) <= 2 else f"{len(said)} figures"


def _remarks(table: Study, plan: StudyPlan) -> list[str]:
    """Sums, then what is not measured and why."""
    found, selection = plan.forecast, plan.selection
    chosen = [each for each in selection.chosen if each.reason is None]
    mine = {each.unit for each in chosen}
    costs = [cost for cost in found.costs if cost.unit in mine]
    lines = [
        *extras.sums(costs, *plan.beyond),
        f"disk: {amount(found.plan.kept, 1e9)} GB kept, {amount(found.plan.tree, 1e9)} GB build folder",
    ]
    if any(each.shows for each in table.comparisons):
        lines += [f"{patches.RATIOS}: {patches.DIRECTIONS}", patches.ABILITIES]
    if any(each.published.unit == SAMPLES for each in table.comparisons if each.published):
        lines.append(patches.SHARES)
    lines += [f"can't be built here: {name}: {why}" for name, why in found.missing.items()]
    for reason, names in _by_reason([each for each in table.comparisons if each.reason is not None]):
        lines.append(f"{names}: {reason}")
    cut: dict[str, list[str]] = {}
    for each in table.comparisons:
        if each.key in selection.cut:
            cut.setdefault(selection.cut[each.key], []).append(unit_words(each.unit))
    lines += [f"{_few(dict.fromkeys(names))}: {reason}" for reason, names in cut.items()]
    return lines


def _by_reason(comparisons: Sequence[Comparison]) -> list[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for each in comparisons:
        found.setdefault(each.reason or "", []).append(unit_words(each.unit))
    return [(reason, _few(dict.fromkeys(names))) for reason, names in found.items()]


def _few(names: Any) -> str:
    every = list(names)
    return ", ".join(every) if len(every) <= 4 else f"{len(every)} rows"


def as_dict(table: Study, plan: StudyPlan) -> dict[str, Any]:
    """Plain values, for machines."""
    assert table.bundled is not None  # noqa: S101 - a bundled study
    return {
        "study": table.bundled.name,
        "title": table.bundled.title,
        "engine": table.engine.name,
        **plan.as_dict(),
        "comparisons": [
            {
                "key": each.key,
                "row": each.row,
                "title": table.row(each.row).title,
                "row_reason": table.row(each.row).reason,
                "published": each.published.words if each.published else None,
                "base": each.base,
                "candidate": each.label,
                "workload": each.workload.name if each.workload else None,
                "reason": each.reason,
                "shows": each.shows,
            }
            for each in table.comparisons
        ],
    }
