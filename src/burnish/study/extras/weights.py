"""A search for weights of training loads with which a build is not slower than the baseline on any load.

Each round makes a build trained with these weights and measures it on every load. The next weights are shifted towards
the loads that gained least (multiplicative weights, which make the worst of several outcomes as good as possible:
Freund and Schapire 1999, Games and Economic Behavior 29:79). A round's weights depend on the record alone, so a search
can be resumed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.catalogue.bundled.model import Robust
from burnish.catalogue.bundled.model import Study as BundledFile
from burnish.catalogue.bundled.overlays import named, overlaid
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.record.events.bundled import SearchRound
from burnish.record.events.verdicts import Interval
from burnish.study.comparison import BASELINE, Comparison
from burnish.study.request import workloads as workload_choice
from burnish.study.study import Study

STEP = 1.5
"""The weight of the load that gained least is multiplied by e to this power, relative to the one that gained most."""

LEAST = 0.02
"""Minimum share of a load: code that is not trained at all is treated as cold."""

Intervals = Mapping[str, Interval]
"""By load, the ratio to the baseline."""


def equal_weights(loads: tuple[str, ...]) -> dict[str, float]:
    """The weights of the first round."""
    return {role: round(1.0 / len(loads), 3) for role in loads}


def next_weights(weights: Mapping[str, float], ratios: Mapping[str, float]) -> dict[str, float]:
    """The weights after a round, shifted towards the loads with the smallest ratios; they add up to 1, rounding aside.

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
    """The build's name, which contains its weights."""
    return "-".join(["weights", *(f"{weight:g}" for weight in weights.values())])


def is_robust(intervals: Intervals, delta: float) -> bool:
    """Whether it is proved on every load that the build is at most `delta` slower than the baseline."""
    return all(interval.low >= 1.0 - delta for interval in intervals.values())


def worst(intervals: Intervals) -> str:
    """The load with the smallest ratio."""
    return min(intervals, key=lambda role: intervals[role].ratio)


def weights_after(robust: Robust, rounds: Sequence[SearchRound]) -> dict[str, float]:
    """The weights of the round after these recorded ones; equal weights if there are none."""
    if not rounds:
        return equal_weights(robust.loads)
    return next_weights(rounds[-1].weights, {role: interval.ratio for role, interval in rounds[-1].intervals.items()})


def variant_of(study: BundledFile, engine: EngineSpec, robust: Robust, weights: Mapping[str, float]) -> Variant:
    """The build that is trained with these weights."""
    name = name_of(weights)
    where = f"study {study.name}, {name}"
    training = [[f"@{role}", weight] for role, weight in weights.items()]
    recipe = overlaid(study.build(robust.build).recipe, robust.recipe, where)
    recipe = overlaid(recipe, named({"training": training}, study, engine.name), where)
    return load.variant_with(name, recipe, robust.reason)


def comparisons_of(study: Study, robust: Robust, name: str) -> list[Comparison]:
    """Comparisons of that build with the baseline on every load of the search; a `UserError` for an unknown load."""
    return [_comparison(study, role, name) for role in robust.loads]


def file_of(study: Study) -> BundledFile:
    """The bundled study's file; only such studies ask for a search."""
    assert study.bundled is not None  # noqa: S101
    return study.bundled


def _comparison(study: Study, role: str, name: str) -> Comparison:
    name_of_load = file_of(study).loads[role].named.get(study.engine.name)
    if name_of_load is None:
        raise UserError(f"{study.engine.title} has no load for {role}")
    (workload,) = workload_choice.choose(study.engine, [name_of_load])
    comparison = Comparison(name, "", "", role, None, BASELINE, name, workload=workload, own_base=True)
    return comparison.as_asked(study.definition.placing)
