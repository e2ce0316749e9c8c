"""Weights of training loads under which a build is on no load slower than the baseline: a search, round by round.

Each round is a build trained with these weights and measured on every load. The next round's weights are the last
one's, shifted towards the loads that gained least (multiplicative weights, with which the worst of several outcomes
is made as good as it can be: Freund and Schapire 1999, Games and Economic Behavior 29:79). A round's weights follow
from the record alone, so that a search goes on where it was.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.catalogue.study_model import Robust, Study
from burnish.catalogue.study_overlays import named, overlaid
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.study import workloads as workload_choice
from burnish.study.bundled.cells import BASELINE, Comparison, Table

if TYPE_CHECKING:
    from burnish.study.bundled.work import AtWork

STEP = 1.5
"""The load that gained least has its weight raised against the one that gained most by e to this power."""

LEAST = 0.02
"""No weight falls below this share: what is not trained at all is cold."""

Intervals = Mapping[str, Mapping[str, float]]


def equal_weights(loads: tuple[str, ...]) -> dict[str, float]:
    """Where the search begins."""
    return {role: round(1.0 / len(loads), 3) for role in loads}


def next_weights(weights: Mapping[str, float], ratios: Mapping[str, float]) -> dict[str, float]:
    """The weights after a round, shifted towards the loads with the smallest ratios; they add up to 1 but for rounding.

    Args:
        weights: of the round.
        ratios: to the baseline, by load.
    """
    low, high = min(ratios.values()), max(ratios.values())
    spread = math.log(high / low) or 1.0
    raised = {
        role: weight * math.exp(STEP * math.log(high / ratios[role]) / spread) for role, weight in weights.items()
    }
    total = sum(raised.values())
    kept = {role: max(LEAST, weight / total) for role, weight in raised.items()}
    total = sum(kept.values())
    return {role: round(weight / total, 3) for role, weight in kept.items()}


def name_of(weights: Mapping[str, float]) -> str:
    """The build's name: equal weights are one build on every host, others are never taken for it."""
    return "-".join(["weights", *(f"{weight:g}" for weight in weights.values())])


def is_robust(intervals: Intervals, delta: float) -> bool:
    """Whether on every load it is proved that the build is at most `delta` slower than the baseline."""
    return all(interval["low"] >= 1.0 - delta for interval in intervals.values())


def worst(intervals: Intervals) -> str:
    """The load with the smallest ratio."""
    return min(intervals, key=lambda role: intervals[role]["ratio"])


def weights_after(robust: Robust, rounds: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The weights of the round that follows these, as recorded; equal ones where there are none."""
    if not rounds:
        return equal_weights(robust.loads)
    return next_weights(rounds[-1]["weights"], {role: each["ratio"] for role, each in rounds[-1]["intervals"].items()})


def variant_of(study: Study, engine: EngineSpec, robust: Robust, weights: Mapping[str, float]) -> Variant:
    """The build that is trained with these weights."""
    name = name_of(weights)
    where = f"study {study.name}, {name}"
    training = [[f"@{role}", weight] for role, weight in weights.items()]
    recipe = overlaid(study.build(robust.build).recipe, robust.recipe, where)
    recipe = overlaid(recipe, named({"training": training}, study, engine.name), where)
    return load.variant_with(name, recipe, robust.reason)


def comparisons_of(table: Table, robust: Robust, name: str) -> list[Comparison]:
    """A build of that name against the baseline on every load of the search; a `UserError` where one is not there."""
    return [_comparison(table, role, name) for role in robust.loads]


def search(at_work: AtWork, robust: Robust, why_not: Callable[[float], str | None], expected: float) -> str | None:
    """Goes on with the search; returns why it stopped before its end, None where it did not.

    Args:
        at_work: the sitting.
        robust: what is searched.
        why_not: says why there is no time for what takes so many seconds, or None.
        expected: seconds of a round; once one was made, the next is expected to take as long.
    """
    record, bench = at_work.record, at_work.setting.bench
    done: list[Mapping[str, Any]] = [event.body for event in record.events("robust")]
    while len(done) < robust.rounds and not (done and done[-1]["robust"]):
        number = len(done) + 1
        weights = weights_after(robust, done)
        if (why := why_not(expected)) is not None:
            return f"before round {number}, {why}"
        began = time.monotonic()
        try:
            intervals, cells = _round(at_work, robust, weights)
        except UserError as error:
            bench.say(f"weights, round {number}: {error}")
            record.append("robust_left", why=str(error))
            return None
        record.append(
            "robust",
            round=number,
            weights=weights,
            intervals=intervals,
            cells=cells,
            robust=is_robust(intervals, robust.delta),
            delta=robust.delta,
            rounds=robust.rounds,
            alone=dict(robust.alone),
        )
        expected = time.monotonic() - began
        done = [event.body for event in record.events("robust")]
    return None


def _round(at_work: AtWork, robust: Robust, weights: Mapping[str, float]) -> tuple[Intervals, Mapping[str, str | None]]:
    """One build with these weights on every load: interval and cell of each; a `UserError` when one can't be had."""
    variant = variant_of(at_work.table.study, at_work.setting.spec, robust, weights)
    at_work.add(variant)
    comparisons = comparisons_of(at_work.table, robust, variant.name)
    at_work.row(comparisons)
    found, cells = {}, {}
    for each in comparisons:
        cells[each.load] = at_work.tried(each)
        verdict = at_work.record.last("verdict", cell=cells[each.load])
        if verdict is None or verdict.body[each.quantity] is None:
            left = at_work.record.last("left", key=each.key)
            raise UserError(left.body["why"] if left else f"{each.load}: no verdict")
        found[each.load] = verdict.body[each.quantity]
    return found, cells


def _comparison(table: Table, role: str, name: str) -> Comparison:
    found = table.study.loads[role].named.get(table.engine.name)
    if found is None:
        raise UserError(f"{table.engine.title} has no load for {role}")
    (workload,) = workload_choice.choose(table.engine, [found])
    return Comparison(name, "", "", role, None, BASELINE, name, workload=workload)
