"""Records of a bundled study, put together: one table of the cells of all, and what stands beside it (pure).

Pieces of such a study have one file's rows and each its own selection of them. Of every comparison the table keeps one
entry; a cell that one study alone has measured keeps the verdict that it had there, and one that several have is said
anew with the host as a block (`burnish.study.merge.merged`).
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
    """What must be equal beside the definition, in words that tell which part of the study's file is another."""
    assert part.table is not None  # noqa: S101 - only asked of bundled studies
    table = part.table
    by_word = {"series": table.series, "readings": table.readings, "rows": table.rows}
    names: dict[str, Any] = {f"its {word}": dict.fromkeys(each, "there") for word, each in by_word.items()}
    patched = {"architecture": table.architecture or None} if table.patches else {}
    return {**names, **patched}


def planned(part: Part) -> dict[str, Any]:
    """The trials as far as they are planned: designs by cell, as a load has one for builds, another for conditions."""
    trials = plain(part.trials) if part.trials else {}
    loads = {name: same_plan.without_conditions(load) for name, load in trials.get("workloads", {}).items()}
    # A baseline against itself is one cell, whichever row's design it was mixed in with; no verdict rests on it.
    planned_designs = {cell.name: design for cell, design in designs(part.starts).items() if not cell.is_canary}
    return {**trials, "designs": planned_designs, "workloads": loads}


def designs(starts: Mapping[StartName, Sequence[Step]]) -> dict[CellId, str]:
    """The design of each cell, as its starts had it."""
    found = {}
    for name, steps in starts.items():
        begun = steps[0].event
        if isinstance(begun, StartBegun) and begun.design is not None:
            found[name.cell] = begun.design
    return found


def check_tried(parts: Sequence[Part]) -> None:
    """Refuses parts that compare different programs with each other in one cell of the table.

    Raises:
        UserError: names the cell, and what either has in it.
    """
    tried = [(part, part.tried, {name.cell for name in part.starts}) for part in parts]
    for (one, mine, begun), (other, its, there) in itertools.combinations(tried, 2):
        for key in sorted(mine.keys() & its.keys(), key=lambda each: each.key):
            if mine[key] != its[key] and mine[key] in begun and its[key] in there:
                raise UserError(
                    f"merge: {one.name} and {other.name} have different programs in one cell: {mine[key].name!r} in "
                    f"the one, {its[key].name!r} in the other; measure its row again with the same --release and "
                    "--second-compiler"
                )


def table(parts: Sequence[Part]) -> TablePlanned:
    """The table of all: each comparison once, and why those that no part has measured are not among them."""
    tables = sorted((part.table for part in parts if part.table is not None), key=_largest_first)
    first = min(tables, key=lambda each: canonical(plain(replace(each, comparisons=(), cut=()))))
    ranked: dict[ComparisonId, list[tuple[tuple[bool, bool, str], PlannedComparison]]] = {}
    for part in parts:
        tried = part.tried
        for each in part.table.comparisons if part.table else ():
            rank = (each.id not in tried, each.reason is not None, canonical(plain(each)))
            ranked.setdefault(each.id, []).append((rank, each))
    builds = sorted({name for each in tables for name in each.builds} - {"baseline"})
    cuts = [{each.comparison: each.why for each in found.cut} for found in tables]
    cut = []
    for key in sorted(ranked, key=lambda each: each.key):
        found = zip(cuts, tables, strict=True)
        said = [mine.get(key) for mine, its in found if any(each.id == key for each in its.comparisons)]
        reasons = [why for why in said if why is not None]
        if len(reasons) == len(said):
            cut.append(Omission(key, min(reasons)))
    chosen = [min(each, key=lambda ranked_one: ranked_one[0])[1] for each in ranked.values()]
    comparisons = tuple(_in_order(chosen, tables))
    return replace(first, builds=("baseline", *builds), comparisons=comparisons, cut=tuple(cut))


def _largest_first(found: TablePlanned) -> tuple[int, str]:
    return -len(found.comparisons), canonical(plain(found))


def _in_order(comparisons: Iterable[PlannedComparison], tables: Sequence[TablePlanned]) -> list[PlannedComparison]:
    """As a study's file has them: by series, row, reading, load, threads, test."""
    first = tables[0]
    series, rows, readings = (
        {name: n for n, name in enumerate(names)} for names in (first.series, first.rows, first.readings)
    )
    loads: dict[tuple[str, str], int] = {}
    tests: dict[tuple[str, str, str], int] = {}
    for each in (each.id for found in tables for each in found.comparisons):
        loads.setdefault((each.row, each.load), len(loads))
        tests.setdefault((each.row, each.load, each.test), len(tests))

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


def tried_as(parts: Sequence[Part], whole: TablePlanned) -> dict[ComparisonId, CellId]:
    """By comparison, the cell that it was tried as, those of the table in its order first."""
    found: dict[ComparisonId, CellId] = {}
    for part in parts:
        begun = {name.cell for name in part.starts}
        found |= {key: cell for key, cell in part.tried.items() if cell in begun}
    keys = [each.id for each in whole.comparisons]
    others = sorted(found.keys() - set(keys), key=lambda each: each.key)
    return {key: found[key] for key in (*keys, *others) if key in found}


def trials(parts: Sequence[Part], cells: Iterable[CellId]) -> TrialsPlanned | None:
    """How it was measured: what all have in common, and what each says of the loads that it has run; None of figures.

    Args:
        parts: the records.
        cells: the cells that have starts, in the table's order.
    """
    every = [part.trials for part in parts if part.trials]
    if not every:
        return None
    common = [
        replace(each, cells=(), calibrations=(), forced=(), designs={}, timings={}, workloads={}, headlines={})
        for each in every
    ]
    return replace(
        min(common, key=lambda each: canonical(plain(each))),
        designs=_by_name([each.designs for each in every]),
        timings=_by_name([each.timings for each in every]),
        workloads=_by_name([each.workloads for each in every]),
        headlines=_by_name([each.headlines for each in every]),
        cells=tuple(dict.fromkeys(cells)),
        forced=tuple(sorted({name for each in every for name in each.forced})),
    )


def _by_name(every: Sequence[Mapping[str, _V]]) -> dict[str, _V]:
    """What each says by name, together; where two say something else the first in the order of their texts."""
    return {
        name: min((each[name] for each in every if name in each), key=lambda value: canonical(plain(value)))
        for name in sorted({name for each in every for name in each})
    }


def about_cells(
    whole: TablePlanned,
    tried: Mapping[ComparisonId, CellId],
    again: Mapping[CellId, ComparisonId],
    of_starts: Mapping[CellId, str],
    planned_trials: TrialsPlanned,
) -> dict[CellId, About]:
    """By cell, what is known of it without a verdict.

    Args:
        whole: the table.
        tried: by comparison, its cell.
        again: by cell of a best row on fresh starts, its comparison.
        of_starts: by cell, its design.
        planned_trials: how it was measured.
    """
    quantities = {each.id: each.quantity for each in whole.comparisons}
    cells = {cell: key for key, cell in tried.items()} | dict(again)
    return {
        cell: about(cell, planned_trials, design=of_starts[cell], headline=quantities.get(key, "capacity"))
        for cell, key in cells.items()
        if cell in of_starts
    }


def kept(parts: Sequence[Part], starts: Iterable[StartName]) -> dict[CellId, VerdictReached]:
    """The verdicts that stay as they were said: of cells whose starts are all of one study on one host."""
    sources: dict[CellId, set[tuple[str, str]]] = {}
    counts: dict[CellId, int] = {}
    for name in starts:
        sources.setdefault(name.cell, set()).add((name.host, name.study))
        counts[name.cell] = counts.get(name.cell, 0) + 1
    found = {}
    for cell, own in sources.items():
        said = [part.said[cell] for part in parts if cell in part.said]
        whole = [each for each in said if each.starts + each.invalid_starts == counts[cell]]
        if len(own) == 1 and whole:
            found[cell] = min(whole, key=lambda each: canonical(plain(each)))
    return found


def facts(seen: Iterable[tuple[str, OfHost]], labels: Mapping[str, str]) -> list[Step]:
    """What single hosts saw, each with the label of its host where there are several."""
    found = []
    for at, event in seen:
        assert event.origin is not None  # noqa: S101 - each says where it was seen
        label = labels[event.origin.host] if len(labels) > 1 else None
        found.append(Step(at, replace(event, origin=replace(event.origin, label=label))))
    return found


def figures(seen: Iterable[FigureMeasured], labels: Mapping[str, str]) -> list[FigureMeasured]:
    """Figures without an interval that several hosts have: their mean, each host once, with what each found.

    Args:
        seen: in order of time; of each host the last figure counts.
        labels: hosts' labels by key.
    """
    by_comparison: dict[ComparisonId, dict[str, FigureMeasured]] = {}
    for each in seen:
        assert each.origin is not None  # noqa: S101 - each says where it was read
        by_comparison.setdefault(each.comparison, {})[labels[each.origin.host]] = each
    found = []
    for comparison, by in by_comparison.items():
        if len(by) < 2:
            continue
        hosts = [HostFigure(label, by[label].value, by[label].base) for label in sorted(by)]
        value, base = statistics.fmean(each.value for each in hosts), statistics.fmean(each.base for each in hosts)
        parts = ", ".join(f"{each.host} {peaks.words(each.value, each.base)}" for each in hosts)
        note = f"mean of these hosts: {parts}; read off the compiles, so it has no interval"
        words = peaks.words(value, base)
        found.append(FigureMeasured(comparison, value, base, peaks.UNIT, words, note, tuple(hosts)))
    return found


def rounds(
    parts: Sequence[Part], verdicts: Mapping[CellId, VerdictReached], hosts: Mapping[CellId, Sequence[str]]
) -> list[SearchRound]:
    """The rounds of all searches for weights: of equal weights one, with the intervals that its cells have now.

    Args:
        parts: the records.
        verdicts: by cell, as the merged record has them.
        hosts: by cell, the labels of the hosts that it was measured on.
    """
    by_weights: dict[str, list[SearchRound]] = {}
    for each in (each for part in parts for each in part.rounds):
        by_weights.setdefault(canonical(each.weights), []).append(each)
    found = []
    for same in by_weights.values():
        first = min(same, key=lambda each: (each.round, canonical(plain(each))))
        cells = {role: cell for role, cell in first.cells.items() if cell is not None}
        intervals = {
            role: _interval(verdicts.get(cells[role]) if role in cells else None, own)
            for role, own in first.intervals.items()
        }
        on = sorted({label for cell in cells.values() for label in hosts.get(cell, ())})
        robust = all(each.low >= 1.0 - first.delta for each in intervals.values())
        found.append(replace(first, intervals=intervals, robust=robust, on=tuple(on)))
    return sorted(found, key=lambda each: (each.round, canonical(each.weights)))


def _interval(verdict: VerdictReached | None, own: Interval) -> Interval:
    """The interval of a verdict's headline; a round's own where there is none."""
    found = verdict.ratios.get(verdict.headline) if verdict is not None else None
    return own if found is None else found


def confirmations(parts: Sequence[Part]) -> dict[CellId, ComparisonId]:
    """By cell of a best row on fresh starts, its comparison."""
    return {each.cell: each.comparison for part in parts for each in part.of(ConfirmationBegun)}
