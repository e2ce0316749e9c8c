"""What a study will cost on this host, and which rows fit a budget; nothing is fetched or made."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from burnish.base.durations import duration
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.model.cell import ComparisonId
from burnish.model.workload import Workload
from burnish.source import sources
from burnish.source.sources import Source
from burnish.study.builds.chains import chains_of
from burnish.study.builds.resolving import UNKNOWN_SOURCE, Chain
from burnish.study.builds.source import source_request
from burnish.study.bundled import patches
from burnish.study.comparison import Comparison, Unit
from burnish.study.kept.sharing import store_of
from burnish.study.planning import forecast, trials_ahead
from burnish.study.planning.plan import Plan, Step
from burnish.study.request.options import Options
from burnish.study.request.selection import Selection, builds_of, is_decided, needed, unit_words
from burnish.study.request.workloads import located, training_workloads
from burnish.study.study import Study
from burnish.study.trials.trials import CANARIES

OBJECTS_SHARE = 0.15
"""Configuring a tree and compiling single objects of it, as a share of a full compile (MariaDB, two cores, rough)."""


@dataclass(frozen=True)
class Need:
    """One thing that a row needs, and that other rows may need too.

    Attributes:
        name: the same for all rows that need it.
        making: seconds to make, test or fill it.
        trials: seconds of trials at the minimum number of starts.
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
        making: seconds to make, test and fill what is missing, except what an earlier row needs too.
        trials: seconds of trials at the minimum number of starts, except what an earlier row needs too.
        kept: bytes that the store will grow by, except for what an earlier row needs too.
        needs: everything that it needs, shared or not.
    """

    unit: Unit
    cells: int
    making: float
    trials: float
    kept: float
    needs: tuple[Need, ...] = ()

    def after(self, had: Collection[str]) -> UnitCost:
        """The remaining cost once the needs with these names are met."""
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
        """Total seconds."""
        return self.making + self.trials


@dataclass(frozen=True)
class Forecast:
    """The expected cost of a study.

    Attributes:
        plan: the builds' plan.
        costs: of every unit that has work left, in order.
        missing: by build, why it cannot be made here.
    """

    plan: Plan
    costs: tuple[UnitCost, ...]
    missing: Mapping[str, str]

    @property
    def seconds(self) -> float:
        """Seconds of all units."""
        return sum(cost.seconds for cost in self.costs)

    @property
    def cells(self) -> int:
        """Number of cells of all units."""
        return sum(cost.cells for cost in self.costs)

    def of(self, units: Collection[Unit]) -> Forecast:
        """The forecast if only these units are run: shared needs are counted for the first unit that has them."""
        had: set[str] = set()
        costs = []
        for cost in self.costs:
            costs.append(cost.after(had))
            if cost.unit in units:
                had |= {need.name for need in cost.needs}
        return replace(self, costs=tuple(costs))


def within(selection: Selection, forecast: Forecast, budget: float | None) -> Selection:
    """The part of a selection that fits a budget: units in order, each that still fits; pure.

    Returns:
        `selection` itself if all units fit.

    Raises:
        UserError: not even one row fits.
    """
    if budget is None or not forecast.costs:
        return selection
    left, cut = budget, dict(selection.cut)
    had: set[str] = set()
    out: dict[Unit, UnitCost] = {}
    for unit_cost in forecast.costs:
        cost = unit_cost.after(had)
        if cost.seconds <= left:
            left -= cost.seconds
            had |= {need.name for need in cost.needs}
        else:
            out[cost.unit] = cost
    if len(out) == len(forecast.costs):
        least = min(out.values(), key=lambda cost: cost.seconds)
        raise UserError(
            f"--budget {duration(budget)}: too small for one row: {unit_words(least.unit)} needs about "
            f"{minutes(least.seconds)}"
        )
    if not out:
        return selection
    for comparison in selection.chosen:
        if comparison.unit in out:
            cut[comparison.key] = f"cut by --budget: its row needs about {minutes(out[comparison.unit].seconds)}"
    return Selection(
        tuple(comparison for comparison in selection.chosen if comparison.unit not in out), cut, selection.asked
    )


def minutes(seconds: float) -> str:
    """Whole minutes, rounded up."""
    return f"{max(1, -int(-seconds // 60))} min"


def predict(
    home: Home, study: Study, comparisons: Sequence[Comparison], options: Options, decided: Collection[ComparisonId]
) -> Forecast:
    """What these comparisons will cost; nothing is fetched or made.

    Args:
        home: where the store is.
        study: the study.
        comparisons: the requested ones.
        options: how they are measured.
        decided: the comparisons that have a verdict.
    """
    open_ones = [
        comparison for comparison in comparisons if comparison.reason is None and not is_decided(comparison, decided)
    ]
    chains: dict[str, Chain] = {}
    if study.variants:
        plan, chains = _builds(home, study, open_ones, options)
    else:
        ahead = trials_ahead.steps(study, options, open_ones)
        plan = Plan(study.engine.name, "programs that exist already", tuple(ahead))
    missing = {name: chain.missing for name, chain in chains.items() if chain.missing is not None}
    forecast = Forecast(plan, tuple(_costs(study, plan, open_ones, missing, options)), missing)
    return forecast.of([cost.unit for cost in forecast.costs])


def _builds(
    home: Home, study: Study, comparisons: Sequence[Comparison], options: Options
) -> tuple[Plan, dict[str, Chain]]:
    """The builds' plan and their stages."""
    spec, store = study.engine, store_of(home, options, fetches=False)
    request = source_request(spec, options)
    known = sources.known(request, cache=home.downloads)
    chains = chains_of(
        study,
        needed(study, comparisons),
        source_digest=known.digest if known else UNKNOWN_SOURCE,
        home=home,
        store=store,
        folder=sources.folder_of(request),
    )
    place = home.work(spec.name) / "source"
    loads = {workload.name: workload for workload in (*study.workloads, *workloads_of(comparisons))}
    possible = [chain.variant for chain in chains.values() if chain.missing is None]
    training = training_workloads(spec, possible, study.workloads)
    workloads = located(spec, (*training.values(), *loads.values()), place)

    def trials(same: frozenset[str]) -> list[Step]:
        identical = {name for name, chain in chains.items() if chain.missing is not None or chain.final in same}
        return trials_ahead.steps(
            study, options, [comparison for comparison in comparisons if not _first(comparison.candidate, identical)]
        )

    plan = forecast.plan_of(
        list(chains.values()),
        spec=spec,
        store=store,
        source=_unpacked(known, place),
        workloads=workloads,
        trials=None if study.bundled or study.search else trials,
    )
    return plan, chains


def _first(name: str, names: Collection[str]) -> bool:
    """Whether a build, or its first replicate, is among these."""
    return name in names or f"{name}#1" in names


def _unpacked(known: Source | None, place: Path) -> Source | None:
    """The source in words, with a note if it must be unpacked first."""
    if known is None or sources.is_unpacked(known.digest, place):
        return known
    return replace(known, origin=f"{known.origin}, to be unpacked first")


def _costs(
    study: Study, plan: Plan, comparisons: Sequence[Comparison], missing: Mapping[str, str], options: Options
) -> list[UnitCost]:
    """What each unit needs of the plan, with costs not yet summed (see `Forecast.of`)."""
    costs = []
    for unit in dict.fromkeys(comparison.unit for comparison in comparisons):
        possible = [
            comparison
            for comparison in comparisons
            if comparison.unit == unit and not any(_first(name, missing) for name in builds_of(comparison))
        ]
        if not possible:
            continue
        builds = {study.base, *(name for comparison in possible for name in builds_of(comparison))}
        needs = [
            Need(step.key or step.title, step.seconds.value, 0.0, step.kept.value)
            for step in plan.building
            if not step.variants or builds & {name.partition("#")[0] for name in step.variants}
        ]
        for comparison in possible:
            if comparison.measure is not None:
                needs.append(Need(comparison.key, OBJECTS_SHARE * study.engine.costs.compile_s))
            cell = comparison.cell
            if cell is None or comparison.shows == patches.IDENTICAL:
                continue  # identical machine code is built to prove that, but not measured
            start = trials_ahead.one_start(study, options, comparison)
            needs.append(Need(f"cell {cell.name}", 0.0, trials_ahead.least(study, comparison) * start))
            needs.append(Need(f"canary {comparison.group} {cell.workload.name}", 0.0, CANARIES * start))
        once = tuple({need.name: need for need in reversed(needs)}.values())[::-1]
        costs.append(UnitCost(unit, len(possible), 0.0, 0.0, 0.0, once))
    return costs


def workloads_of(comparisons: Sequence[Comparison]) -> tuple[Workload, ...]:
    """The loads of these comparisons, each once."""
    return tuple(
        {
            comparison.workload.name: comparison.workload
            for comparison in comparisons
            if comparison.workload is not None
        }.values()
    )


def as_dict(forecast: Forecast, selection: Selection) -> dict[str, Any]:
    """Plain values, for machines."""
    return {
        "cells": forecast.cells,
        "seconds": forecast.seconds,
        "kept_bytes": forecast.plan.kept.value,
        "tree_bytes": forecast.plan.tree.value,
        "rows": [
            {
                "series": cost.unit[0],
                "row": cost.unit[1],
                "cells": cost.cells,
                "making_seconds": cost.making,
                "trial_seconds": cost.trials,
                "kept_bytes": cost.kept,
            }
            for cost in forecast.costs
        ],
        "missing": dict(forecast.missing),
        "cut": dict(selection.cut),
    }
