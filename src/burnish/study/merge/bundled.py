"""Merging of records of a bundled study: one table with the cells of all, and what is reported beside it (pure).

The records have the rows of one study file, each its own selection of them. The merged table has every comparison once.
A cell that only one run has measured keeps its verdict; a cell that several have measured is judged again with the
host as a block (`burnish.study.merge.merged`).
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from burnish.base.errors import UserError
from burnish.model.cell import CellId, ComparisonId
from burnish.record.codec import plain
from burnish.record.events.bundled import (
    ConfirmationBegun,
    FigureMeasured,
    HostFigure,
    LayoutsBegun,
    Omission,
    PlannedComparison,
    SearchRound,
    TablePlanned,
)
from burnish.record.events.trials import StartBegun, TrialsPlanned
from burnish.record.events.verdicts import Interval, VerdictReached
from burnish.study.builds import peaks
from burnish.study.merge import same_plan
from burnish.study.merge.merged import about
from burnish.study.merge.parts import About, OfHost, Part, StartName, Step, canonical

_V = TypeVar("_V")


def asked(part: Part) -> dict[str, Any]:
    """What must be equal beside the definition, keyed by words that name the differing part of the study's file."""
    assert part.table is not None  # noqa: S101 - only asked of bundled studies
    table = part.table
    by_word = {"series": table.series, "readings": table.readings, "rows": table.rows}
    names: dict[str, Any] = {f"its {word}": dict.fromkeys(titled, "there") for word, titled in by_word.items()}
    patched = {"architecture": table.architecture or None} if table.patches else {}
    return {**names, **patched}


def planned(part: Part) -> dict[str, Any]:
    """The planned part of the trials, with designs by cell: a load has one for builds and another for conditions."""
    trials = plain(part.trials) if part.trials else {}
    loads = {name: same_plan.without_conditions(load) for name, load in trials.get("workloads", {}).items()}
    # Canaries are left out: they may have the design of any row, and no verdict is based on them.
    planned_designs = {cell.name: design for cell, design in designs(part.starts).items() if not cell.is_canary}
    # A cell in another placement than its load's usual one has that in its name.
    return {**trials, "designs": planned_designs, "placements": {}, "workloads": loads}


def designs(starts: Mapping[StartName, Sequence[Step]]) -> dict[CellId, str]:
    """The design of each cell, from its starts."""
    by_cell = {}
    for name, steps in starts.items():
        begun = steps[0].event
        if isinstance(begun, StartBegun) and begun.design is not None:
            by_cell[name.cell] = begun.design
    return by_cell


def check_tried(parts: Sequence[Part]) -> None:
    """Refuses parts that measured different programs in one cell of the table.

    Raises:
        UserError: names the cell and both programs.
    """
    tried = [(part, part.tried, {name.cell for name in part.starts}) for part in parts]
    for (one, cells, begun), (other, other_cells, other_begun) in itertools.combinations(tried, 2):
        for key in sorted(cells.keys() & other_cells.keys(), key=lambda key: key.key):
            if cells[key] != other_cells[key] and cells[key] in begun and other_cells[key] in other_begun:
                raise UserError(
                    f"merge: {one.name} and {other.name} have different programs in one cell: {cells[key].name!r} in "
                    f"the one, {other_cells[key].name!r} in the other; measure its row again with the same --release "
                    "and --second-compiler"
                )


def table(parts: Sequence[Part]) -> TablePlanned:
    """The merged table: each comparison once, with the reason for those that no part has measured."""
    tables = sorted((part.table for part in parts if part.table is not None), key=_largest_first)
    first = min(tables, key=lambda study_table: canonical(plain(replace(study_table, comparisons=(), cut=()))))
    ranked: dict[ComparisonId, list[tuple[tuple[bool, bool, str], PlannedComparison]]] = {}
    for part in parts:
        tried = part.tried
        for comparison in part.table.comparisons if part.table else ():
            rank = (comparison.id not in tried, comparison.reason is not None, canonical(plain(comparison)))
            ranked.setdefault(comparison.id, []).append((rank, comparison))
    builds = sorted({name for study_table in tables for name in study_table.builds} - {"baseline"})
    cuts = [{omission.comparison: omission.why for omission in study_table.cut} for study_table in tables]
    cut = []
    for key in sorted(ranked, key=lambda comparison_id: comparison_id.key):
        pairs = zip(cuts, tables, strict=True)
        answers = [
            omitted.get(key)
            for omitted, study_table in pairs
            if any(comparison.id == key for comparison in study_table.comparisons)
        ]
        reasons = [why for why in answers if why is not None]
        if len(reasons) == len(answers):
            cut.append(Omission(key, min(reasons)))
    chosen = [min(entries, key=lambda entry: entry[0])[1] for entries in ranked.values()]
    comparisons = tuple(_in_order(chosen, tables))
    return replace(first, builds=("baseline", *builds), comparisons=comparisons, cut=tuple(cut))


def _largest_first(study_table: TablePlanned) -> tuple[int, str]:
    return -len(study_table.comparisons), canonical(plain(study_table))


def _in_order(comparisons: Iterable[PlannedComparison], tables: Sequence[TablePlanned]) -> list[PlannedComparison]:
    """The comparisons in the order of the study's file: by series, row, reading, load, threads, test."""
    first = tables[0]
    series, rows, readings = (
        {name: n for n, name in enumerate(names)} for names in (first.series, first.rows, first.readings)
    )
    loads: dict[tuple[str, str], int] = {}
    tests: dict[tuple[str, str, str], int] = {}
    for comparison_id in (comparison.id for study_table in tables for comparison in study_table.comparisons):
        loads.setdefault((comparison_id.row, comparison_id.load), len(loads))
        tests.setdefault((comparison_id.row, comparison_id.load, comparison_id.test), len(tests))

    def place(planned_one: PlannedComparison) -> tuple[int, int, int, int, int, int, str]:
        its = planned_one.id
        return (
            series.get(its.series, len(series)),
            rows.get(its.row, len(rows)),
            readings.get(its.reading, len(readings)),
            loads[its.row, its.load],
            its.threads or 0,
            tests[its.row, its.load, its.test],
            its.key,
        )

    return sorted(comparisons, key=place)


def tried_as(parts: Sequence[Part], merged_table: TablePlanned) -> dict[ComparisonId, CellId]:
    """By comparison, the cell of its trial; first those of the table, in its order."""
    cells: dict[ComparisonId, CellId] = {}
    for part in parts:
        begun = {name.cell for name in part.starts}
        cells |= {key: cell for key, cell in part.tried.items() if cell in begun}
    keys = [comparison.id for comparison in merged_table.comparisons]
    others = sorted(cells.keys() - set(keys), key=lambda comparison_id: comparison_id.key)
    return {key: cells[key] for key in (*keys, *others) if key in cells}


def trials(parts: Sequence[Part], cells: Iterable[CellId]) -> TrialsPlanned | None:
    """How the cells were measured: the common part, and each record's loads; None if there were no trials.

    Args:
        parts: the records.
        cells: the cells that have starts, in the table's order.
    """
    plans = [part.trials for part in parts if part.trials]
    if not plans:
        return None
    common = [
        replace(
            plan,
            cells=(),
            calibrations=(),
            forced=(),
            designs={},
            placements={},
            timings={},
            workloads={},
            headlines={},
        )
        for plan in plans
    ]
    return replace(
        min(common, key=lambda plan: canonical(plain(plan))),
        designs=_by_name([plan.designs for plan in plans]),
        placements=_by_name([plan.placements for plan in plans]),
        timings=_by_name([plan.timings for plan in plans]),
        workloads=_by_name([plan.workloads for plan in plans]),
        headlines=_by_name([plan.headlines for plan in plans]),
        cells=tuple(dict.fromkeys(cells)),
        forced=tuple(sorted({name for plan in plans for name in plan.forced})),
    )


def _by_name(mappings: Sequence[Mapping[str, _V]]) -> dict[str, _V]:
    """The union of the mappings; if values differ, the one whose text sorts first."""
    return {
        name: min((mapping[name] for mapping in mappings if name in mapping), key=lambda value: canonical(plain(value)))
        for name in sorted({name for mapping in mappings for name in mapping})
    }


def about_cells(
    merged_table: TablePlanned,
    tried: Mapping[ComparisonId, CellId],
    again: Mapping[CellId, ComparisonId],
    of_starts: Mapping[CellId, str],
    planned_trials: TrialsPlanned,
) -> dict[CellId, About]:
    """By cell, design and headline where no verdict has them.

    Args:
        whole: the table.
        tried: by comparison, its cell.
        again: by cell of a confirmation, its comparison.
        of_starts: by cell, its design.
        planned_trials: how it was measured.
    """
    quantities = {comparison.id: comparison.quantity for comparison in merged_table.comparisons}
    cells = {cell: key for key, cell in tried.items()} | dict(again)
    return {
        cell: about(cell, planned_trials, design=of_starts[cell], headline=quantities.get(key, "capacity"))
        for cell, key in cells.items()
        if cell in of_starts
    }


def kept(parts: Sequence[Part], starts: Iterable[StartName]) -> dict[CellId, VerdictReached]:
    """The verdicts that are kept: of cells whose starts were all taken by one run on one host."""
    sources: dict[CellId, set[tuple[str, str]]] = {}
    counts: dict[CellId, int] = {}
    for name in starts:
        sources.setdefault(name.cell, set()).add((name.host, name.study))
        counts[name.cell] = counts.get(name.cell, 0) + 1
    verdicts = {}
    for cell, own in sources.items():
        reached = [part.verdicts[cell] for part in parts if cell in part.verdicts]
        complete = [verdict for verdict in reached if verdict.starts + verdict.invalid_starts == counts[cell]]
        if len(own) == 1 and complete:
            verdicts[cell] = min(complete, key=lambda verdict: canonical(plain(verdict)))
    return verdicts


def facts(seen: Iterable[tuple[str, OfHost]], labels: Mapping[str, str]) -> list[Step]:
    """Events that report what one host observed, with the host's label if there are several hosts."""
    steps = []
    for at, event in seen:
        assert event.origin is not None  # noqa: S101 - every one has its origin
        label = labels[event.origin.host] if len(labels) > 1 else None
        steps.append(Step(at, replace(event, origin=replace(event.origin, label=label))))
    return steps


def figures(seen: Iterable[FigureMeasured], labels: Mapping[str, str]) -> list[FigureMeasured]:
    """Means over hosts of figures without an interval, with each host's own figure.

    Args:
        seen: in order of time; the last figure of each host counts.
        labels: hosts' labels by key.
    """
    by_comparison: dict[ComparisonId, dict[str, FigureMeasured]] = {}
    for figure in seen:
        assert figure.origin is not None  # noqa: S101 - every one has its origin
        by_comparison.setdefault(figure.comparison, {})[labels[figure.origin.host]] = figure
    means = []
    for comparison, by in by_comparison.items():
        if len(by) < 2:
            continue
        hosts = [HostFigure(label, by[label].value, by[label].base) for label in sorted(by)]
        value, base = statistics.fmean(host.value for host in hosts), statistics.fmean(host.base for host in hosts)
        parts = ", ".join(f"{host.host} {peaks.words(host.value, host.base)}" for host in hosts)
        note = f"mean of these hosts: {parts}; read off the compiles, so it has no interval"
        words = peaks.words(value, base)
        means.append(FigureMeasured(comparison, value, base, peaks.UNIT, words, note, tuple(hosts)))
    return means


def rounds(
    parts: Sequence[Part], verdicts: Mapping[CellId, VerdictReached], hosts: Mapping[CellId, Sequence[str]]
) -> list[SearchRound]:
    """The rounds of all searches for weights: one for equal weights, with the merged intervals of its cells.

    Args:
        parts: the records.
        verdicts: by cell, those of the merged record.
        hosts: by cell, the labels of the hosts that it was measured on.
    """
    by_weights: dict[str, list[SearchRound]] = {}
    for search_round in (search_round for part in parts for search_round in part.rounds):
        by_weights.setdefault(canonical(search_round.weights), []).append(search_round)
    merged_rounds = []
    for same in by_weights.values():
        first = min(same, key=lambda search_round: (search_round.round, canonical(plain(search_round))))
        cells = {role: cell for role, cell in first.cells.items() if cell is not None}
        intervals = {
            role: _interval(verdicts.get(cells[role]) if role in cells else None, own)
            for role, own in first.intervals.items()
        }
        on = sorted({label for cell in cells.values() for label in hosts.get(cell, ())})
        robust = all(interval.low >= 1.0 - first.delta for interval in intervals.values())
        merged_rounds.append(replace(first, intervals=intervals, robust=robust, on=tuple(on)))
    return sorted(merged_rounds, key=lambda search_round: (search_round.round, canonical(search_round.weights)))


def _interval(verdict: VerdictReached | None, own: Interval) -> Interval:
    """The interval of a verdict's headline; the round's own if there is no verdict."""
    interval = verdict.ratios.get(verdict.headline) if verdict is not None else None
    return own if interval is None else interval


def confirmations(parts: Sequence[Part]) -> dict[CellId, ComparisonId]:
    """By cell of a confirmation, or of starts with other link orders, its comparison."""
    winners = {begun.cell: begun.comparison for part in parts for begun in part.of(ConfirmationBegun)}
    return winners | {begun.cell: begun.comparison for part in parts for begun in part.of(LayoutsBegun)}
