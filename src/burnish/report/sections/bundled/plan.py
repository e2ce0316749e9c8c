"""A bundled study before it is run: the list of studies, and for one what each row is and what it will cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from burnish.base.durations import duration
from burnish.base.reasons import by_reason
from burnish.catalogue.bundled.model import Study as BundledFile
from burnish.catalogue.bundled.published import SAMPLES
from burnish.report.compose import dropping, points, row
from burnish.report.document import Column, Document, Entry, Points, Role, Row, Section, Span
from burnish.report.document import Table as Grid
from burnish.report.sections.bundled import claims, patches
from burnish.report.words import plural
from burnish.study.comparison import Comparison
from burnish.study.extras import extras
from burnish.study.extras.weights import file_of
from burnish.study.planning.costs import Forecast, minutes
from burnish.study.planning.order import Order
from burnish.study.planning.plan import amount
from burnish.study.planning.study_plan import StudyPlan
from burnish.study.request.selection import Selection, unit_words
from burnish.study.study import Study

_COLUMNS = ("row", "what it is", "published", "cells", "builds", "trials", "GB")
_FIGURES = ("cells", "builds", "trials", "GB")


def listing(studies: Sequence[tuple[BundledFile, Sequence[str]]]) -> Document:
    """All bundled studies with title, number of rows, reason, and the engines that they can be run on."""
    entries = tuple(
        Entry(study.name, f"  {study.title}; {len(study.rows)} rows, {_on(engines)}", (study.reason,))
        for study, engines in studies
    )
    return Document("bundled studies", (Section("studies", entries),))


def _on(engines: Sequence[str]) -> str:
    """``mariadb, with --engine also mysql, sqlite``; the study's own engine is the first."""
    own, *others = engines
    return f"{own}, with --engine also {', '.join(others)}" if others else own


def document(table: Study, plan: StudyPlan) -> Document:
    """A bundled study before it is run.

    Args:
        table: the study.
        plan: what a session would do.
    """
    study = file_of(table)
    return Document(
        f"{study.name}: {study.title}",
        (
            Section("heading", (_about(table),)),
            Section("rows", (_rows(table, plan.forecast, plan.selection),)),
            Section("remarks", (points(_remarks(table, plan)),)),
        ),
    )


def _about(table: Study) -> Points:
    """What the study replicates, and what is special about its deliveries and readings."""
    study = file_of(table)
    lines = [study.reason, f"on {table.engine.title}; published: {', '.join(study.sources) or 'nothing'}"]
    if study.delivery is not None:
        lines.append(f"first delivery: {study.delivery.reason}")
    lines += [f"reading {name}: {reading.reason}" for name, reading in study.readings.items() if name]
    return Points((Span(f"{study.name}: {study.title}", Role.STRONG), *map(Span, lines)))


def _rows(table: Study, forecast: Forecast, selection: Selection) -> Grid:
    """A row for each row of the study, under its series."""
    columns = tuple(
        Column(
            name,
            right=name in _FIGURES,
            whole=name in _FIGURES,
        )
        for name in _COLUMNS
    )
    columns = dropping(columns, "GB", "builds", "cells", "published")
    return Grid("rows", columns, tuple(_unit_rows(table, forecast, selection)))


def _unit_rows(table: Study, forecast: Forecast, selection: Selection) -> Iterable[Row]:
    costs = {cost.unit: cost for cost in forecast.costs}
    series = ""
    for unit in dict.fromkeys(comparison.unit for comparison in table.comparisons):
        comparisons = [comparison for comparison in table.comparisons if comparison.unit == unit]
        cost = costs.get(unit)
        if all(comparison.key in selection.cut for comparison in comparisons) and cost is None:
            continue
        figures = ("-", "-", "-", "-")
        if cost is not None:
            figures = (str(cost.cells), minutes(cost.making), minutes(cost.trials), f"{cost.kept / 1e9:.1f}")
        if unit[0] != series:
            series = unit[0]
            yield row(Span(f"{series}:", Role.STRONG))
        yield row(unit[1], _title(table, comparisons[0]), _published(comparisons), *figures)


def _title(table: Study, comparison: Comparison) -> str:
    """A row's title; for a patch, also its direction and what can be shown of it."""
    row = table.row(comparison.row)
    if row.patch is None or row.patch.direction == "none":
        return row.title
    return f"{row.title} ({row.patch.direction}; {comparison.shows})"


def _published(comparisons: Sequence[Comparison]) -> str:
    figures = dict.fromkeys(
        f"{comparison.published.words}{_mark(comparison)}"
        for comparison in comparisons
        if comparison.published is not None
    )
    return ", ".join(figures) if len(figures) <= 2 else f"{len(figures)} figures"


def _mark(comparison: Comparison) -> str:
    """The short mark of how a comparison relates to what was published."""
    return f" {claims.MARKS[comparison.likeness.kind]}" if comparison.likeness else ""


def _unlike(table: Study, shown: Sequence[Comparison]) -> list[str]:
    """What is not as published, one sentence for all rows that share it, and what has no counterpart at all."""
    compared = [each for each in shown if each.likeness is not None and each.published is not None]
    lines = [claims.LEGEND] if compared else []
    lines += claims.unlike((each.row, why) for each in compared if each.likeness for why in each.likeness.unlike)
    parts = file_of(table).not_replicated
    if parts:
        lines.append(
            f"{plural(len(parts), 'part')} of the published tables without a counterpart here; the report lists them"
        )
    return lines


def _remarks(table: Study, plan: StudyPlan) -> list[str]:
    """Totals, then what is not measured and why."""
    forecast, selection = plan.forecast, plan.selection
    # What was not asked for has one line of its own, and nothing else is said of it.
    shown = [comparison for comparison in table.comparisons if comparison.key not in selection.cut]
    chosen = [comparison for comparison in selection.chosen if comparison.reason is None]
    units = {comparison.unit for comparison in chosen}
    costs = [cost for cost in forecast.costs if cost.unit in units]
    lines = [
        *extras.sums(costs, *plan.beyond),
        *([_order(plan.order)] if plan.order is not None else []),
        *plan.trials,
        f"disk: {amount(forecast.plan.kept, 1e9)} GB kept, {amount(forecast.plan.tree, 1e9)} GB build folder",
    ]
    if any(comparison.shows for comparison in shown):
        lines += [f"{patches.RATIOS}: {patches.DIRECTIONS}", patches.ABILITIES]
    if any(comparison.published.unit == SAMPLES for comparison in shown if comparison.published):
        lines.append(patches.SHARES)
    lines += _unlike(table, shown)
    missing = by_reason(forecast.missing.items())
    lines += [f"can't be built here: {_few(names, 'builds')}: {why}" for why, names in missing.items()]
    left = by_reason((unit_words(one.unit), one.reason) for one in shown if one.reason is not None)
    every = [(unit_words(comparison.unit), comparison) for comparison in table.comparisons]
    cut = by_reason((name, selection.cut[one.key]) for name, one in every if one.key in selection.cut)
    lines += [f"{_few(names)}: {reason}" for reasons in (left, cut) for reason, names in reasons.items()]
    return lines


def _order(order: Order) -> str:
    names = ", ".join(map(unit_words, order.units))
    return (
        f"order: {names}, then rows without a published change: most changes for their time first; "
        f"{(order.changes + 1) // 2} of the {order.changes} after about {duration(order.half)}"
    )


def _few(names: Sequence[str], what: str = "rows") -> str:
    return ", ".join(names) if len(names) <= 4 else f"{len(names)} {what}"
