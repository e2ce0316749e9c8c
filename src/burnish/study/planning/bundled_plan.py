"""What a study that ships will cost on this host, and what of it is run: by name, by threads, within a budget."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from burnish.base.durations import duration
from burnish.base.errors import UserError, together, unknown
from burnish.base.paths import Home
from burnish.catalogue.study_model import Study
from burnish.engines.load import sql_bench
from burnish.model.workload import Timing, Workload
from burnish.record.store import Store
from burnish.source import sources
from burnish.study.builds.make import UNKNOWN_SOURCE
from burnish.study.builds.source import source_request
from burnish.study.bundled import chains as study_chains
from burnish.study.bundled import patches
from burnish.study.bundled.cells import Comparison, Table
from burnish.study.options import Options
from burnish.study.planning import forecast
from burnish.study.planning.plan import Plan
from burnish.study.trials.contest import CANARIES
from burnish.study.trials.timing import as_asked, rule_of, start_seconds
from burnish.study.workloads import training_workloads

Unit = tuple[str, str]
"""(series, row): what a budget takes or leaves."""


OBJECTS_SHARE = 0.15
"""Configuring a tree and compiling single objects of it, as a share of a full compile (MariaDB, two cores, rough)."""


@dataclass(frozen=True)
class Need:
    """One thing that a row needs done, which another row may need too.

    Attributes:
        name: the same for all who need it.
        making: seconds to make, test or fill it.
        trials: seconds of trials at the least number of starts.
        kept: bytes that the store will grow by.
    """

    name: str
    making: float = 0.0
    trials: float = 0.0
    kept: float = 0.0


@dataclass(frozen=True)
class UnitCost:
    """What one row under one series will cost.

    Attributes:
        unit: series and row.
        cells: comparisons that are still to be measured.
        making: seconds to make, test and fill what is not there, without what an earlier row needs too.
        trials: seconds of trials at the least number of starts, likewise.
        kept: bytes that the store will grow by, likewise.
        needs: all that it needs, whoever else does.
    """

    unit: Unit
    cells: int
    making: float
    trials: float
    kept: float
    needs: tuple[Need, ...] = ()

    def after(self, had: Collection[str]) -> UnitCost:
        """What is left of it once the needs of these names are seen to."""
        if not self.needs:
            return self
        left = [need for need in self.needs if need.name not in had]
        return replace(
            self,
            making=sum(need.making for need in left),
            trials=sum(need.trials for need in left),
            kept=sum(need.kept for need in left),
        )

    @property
    def seconds(self) -> float:
        """All together."""
        return self.making + self.trials


@dataclass(frozen=True)
class Forecast:
    """A study before it is run.

    Attributes:
        plan: the builds' plan.
        costs: of every unit that has something to do, in order.
        missing: by build, why it can't be made here.
    """

    plan: Plan
    costs: tuple[UnitCost, ...]
    missing: Mapping[str, str]

    @property
    def seconds(self) -> float:
        """Of all units."""
        return sum(cost.seconds for cost in self.costs)

    @property
    def cells(self) -> int:
        """Likewise."""
        return sum(cost.cells for cost in self.costs)

    def of(self, units: Collection[Unit]) -> Forecast:
        """The same where these units alone are run: what several of them need is the first's."""
        had: set[str] = set()
        costs = []
        for cost in self.costs:
            costs.append(cost.after(had))
            if cost.unit in units:
                had |= {need.name for need in cost.needs}
        return replace(self, costs=tuple(costs))


@dataclass(frozen=True)
class Asked:
    """What of a study is asked for.

    Attributes:
        rows: names; empty: all.
        series: names; empty: the first delivery's, or all.
        threads: numbers of client threads; empty: the first delivery's, or all.
        everything: all series and threads of the file.
        budget: seconds for this sitting; None: as long as it takes.
    """

    rows: tuple[str, ...] = ()
    series: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()
    everything: bool = False
    budget: float | None = None


@dataclass(frozen=True)
class Selection:
    """What is run in this sitting.

    Attributes:
        chosen: comparisons, in order.
        cut: by a comparison's key, why it is not among them.
    """

    chosen: tuple[Comparison, ...]
    cut: Mapping[str, str] = field(default_factory=dict)


def budget_of(text: str | None) -> float | None:
    """Seconds of an option such as ``2h``, ``90m`` or ``1h30m``; a `UserError` otherwise."""
    if text is None:
        return None
    found = re.fullmatch(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?:in)?)?(?:(\d+)s)?", text.replace(" ", ""))
    if not found or not any(found.groups()):
        raise UserError(f"--budget {text}: give hours and minutes, as in 2h, 90m or 1h30m")
    hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return 3600 * hours + 60 * minutes + seconds


def unit_of(comparison: Comparison) -> Unit:
    """The row and series that a comparison belongs to."""
    return comparison.series, comparison.row


def unit_words(unit: Unit) -> str:
    """As a person reads it: ``unroll`` or ``clang: unroll``."""
    series, row = unit
    return f"{series}: {row}" if series else row


def by_name(table: Table, asked: Asked) -> Selection:
    """The comparisons that were asked for by row, series and threads; the others with the option that brings them.

    Raises:
        UserError: a row or series that the study has not, each with the nearest name.
    """
    study = table.study
    problems = [unknown(f"row of {study.name}", name, [row.name for row in study.rows]) for name in asked.rows
                if name not in {row.name for row in study.rows}]  # fmt: skip
    problems += [unknown(f"series of {study.name}", name, study.series) for name in asked.series
                 if name not in study.series]  # fmt: skip
    ladder = sorted({each.threads for each in table.comparisons if each.threads is not None})
    if asked.threads and not ladder:
        problems.append(UserError(f"--threads: no row of {study.name} has a ladder of threads; leave it out"))
    if problems:
        raise together(problems)
    series, threads = _first(study, asked)
    chosen, cut = [], {}
    for each in table.comparisons:
        if asked.rows and each.row not in asked.rows:
            cut[each.key] = "left out by --row"
        elif series and each.series not in series:
            cut[each.key] = f"not asked for: --series {each.series} brings it"
        elif threads and each.threads is not None and each.threads not in threads:
            cut[each.key] = f"not asked for: --threads {each.threads} brings it"
        else:
            chosen.append(each)
    return Selection(tuple(chosen), cut)


def _first(study: Study, asked: Asked) -> tuple[Collection[str], Collection[int]]:
    """Series and threads that are wanted; empty: all."""
    if study.delivery is None or asked.everything:
        return asked.series, asked.threads
    return asked.series or study.delivery.series, asked.threads or study.delivery.threads


def within(selection: Selection, found: Forecast, budget: float | None) -> Selection:
    """What of a selection fits into a budget: units in order, each that still fits; itself where all do; pure.

    Raises:
        UserError: not even one row fits; says what it needs.
    """
    if budget is None or not found.costs:
        return selection
    left, cut = budget, dict(selection.cut)
    had: set[str] = set()
    out: dict[Unit, UnitCost] = {}
    for each_cost in found.costs:
        cost = each_cost.after(had)
        if cost.seconds <= left:
            left -= cost.seconds
            had |= {need.name for need in cost.needs}
        else:
            out[cost.unit] = cost
    if len(out) == len(found.costs):
        least = min(out.values(), key=lambda cost: cost.seconds)
        raise UserError(
            f"--budget {duration(budget)}: too small for one row: {unit_words(least.unit)} needs about "
            f"{minutes(least.seconds)}"
        )
    if not out:
        return selection
    for each in selection.chosen:
        if unit_of(each) in out:
            cut[each.key] = f"cut by --budget: its row needs about {minutes(out[unit_of(each)].seconds)}"
    return Selection(tuple(each for each in selection.chosen if unit_of(each) not in out), cut)


def minutes(seconds: float) -> str:
    """Whole minutes, upwards, as a budget is given."""
    return f"{max(1, -int(-seconds // 60))} min"


def builds_of(comparison: Comparison) -> tuple[str, ...]:
    """The builds that a comparison needs made: where compiles are measured, not the one that they are of."""
    alone = comparison.release or comparison.measure is not None
    return (comparison.base,) if alone else (comparison.base, comparison.candidate)


def needed(comparisons: Sequence[Comparison]) -> list[str]:
    """The builds that these comparisons need, the baseline first."""
    return list(dict.fromkeys(["baseline", *(name for each in comparisons if each.reason is None
                                             for name in builds_of(each))]))  # fmt: skip


def predict(
    home: Home, table: Table, comparisons: Sequence[Comparison], options: Options, decided: Collection[str]
) -> Forecast:
    """What these comparisons will cost; nothing is fetched or made.

    Args:
        home: where the store is.
        table: the study's.
        comparisons: those that were asked for.
        options: how they are measured.
        decided: names of cells that have their verdict.
    """
    spec, store = table.engine, Store(home.store)
    open_ones = [each for each in comparisons if each.reason is None and not is_decided(each, decided)]
    request = source_request(spec, options)
    known = sources.known(request, cache=home.downloads)
    chains = study_chains.chains_of(
        table,
        needed(open_ones),
        source_digest=known.digest if known else UNKNOWN_SOURCE,
        home=home,
        store=store,
        features=options.features or spec.default_features,
        folder=sources.folder_of(request),
    )
    missing = {name: chain.missing for name, chain in chains.items() if chain.missing is not None}
    loads = {each.workload.name: each.workload for each in open_ones if each.workload is not None}
    possible = [chain.variant for chain in chains.values() if chain.missing is None]
    trained = training_workloads(spec, possible)
    every = sql_bench.located(tuple({**trained, **loads}.values()), home.work(spec.name) / "source")
    plan = forecast.plan_of(list(chains.values()), spec=spec, store=store, source=known, workloads=every)
    found = Forecast(plan, tuple(_costs(table, plan, open_ones, missing, options)), missing)
    return found.of([cost.unit for cost in found.costs])


def is_decided(comparison: Comparison, decided: Collection[str]) -> bool:
    """Whether a comparison has its verdict."""
    cell = comparison.cell
    return (cell.name if cell else comparison.key) in decided


def _costs(
    table: Table, plan: Plan, comparisons: Sequence[Comparison], missing: Mapping[str, str], options: Options
) -> list[UnitCost]:
    """All that each unit needs of the plan, its costs not yet summed (see `Forecast.of`)."""
    found = []
    for unit in dict.fromkeys(unit_of(each) for each in comparisons):
        mine = [each for each in comparisons if unit_of(each) == unit and not missing.keys() & set(builds_of(each))]
        if not mine:
            continue
        builds = {"baseline", *(name for each in mine for name in builds_of(each))}
        needs = [
            Need(step.key or step.title, step.seconds.value, 0.0, step.kept.value)
            for step in plan.building
            if not step.variants or builds & set(step.variants)
        ]
        for each in mine:
            if each.measure is not None:
                needs.append(Need(each.key, OBJECTS_SHARE * table.engine.costs.compile_s))
            cell = each.cell
            if cell is None or each.shows == patches.IDENTICAL:
                continue  # what is the same machine code is built to prove it, and not tried
            start = start_seconds(timing_of(table, options, each))
            needs.append(Need(f"cell {cell.name}", 0.0, rule_of(options).minimum * start))
            needs.append(Need(f"canary {each.group} {cell.workload.name}", 0.0, CANARIES * start))
        once = tuple({need.name: need for need in reversed(needs)}.values())[::-1]
        found.append(UnitCost(unit, len(mine), 0.0, 0.0, 0.0, once))
    return found


def timing_of(table: Table, options: Options, comparison: Comparison) -> Timing:
    """Times of a start of this comparison."""
    assert comparison.cell is not None  # noqa: S101 - only what is tried has times
    return as_asked(table.engine.times[comparison.cell.design], options)


def workloads_of(comparisons: Sequence[Comparison]) -> tuple[Workload, ...]:
    """The loads of these comparisons, each once."""
    return tuple({each.workload.name: each.workload for each in comparisons if each.workload is not None}.values())


def as_dict(found: Forecast, selection: Selection) -> dict[str, Any]:
    """Plain values, for machines."""
    return {
        "cells": found.cells,
        "seconds": found.seconds,
        "kept_bytes": found.plan.kept.value,
        "tree_bytes": found.plan.tree.value,
        "rows": [
            {
                "series": cost.unit[0],
                "row": cost.unit[1],
                "cells": cost.cells,
                "making_seconds": cost.making,
                "trial_seconds": cost.trials,
                "kept_bytes": cost.kept,
            }
            for cost in found.costs
        ],
        "missing": dict(found.missing),
        "cut": dict(selection.cut),
    }
