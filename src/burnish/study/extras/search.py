"""The search for weights of training loads, round by round: each a build that is measured on every load."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from burnish.base.errors import UserError
from burnish.catalogue.study_model import Robust
from burnish.record.record import Record
from burnish.study.comparison import Comparison
from burnish.study.extras.weights import Intervals, comparisons_of, file_of, is_robust, variant_of, weights_after
from burnish.study.workshop.group import run_group
from burnish.study.workshop.workshop import Workshop


def search(workshop: Workshop, robust: Robust, why_not: Callable[[float], str | None], expected: float) -> str | None:
    """Goes on with the search; returns why it stopped before its end, None where it did not.

    Args:
        at_work: the sitting.
        robust: what is searched.
        why_not: says why there is no time for what takes so many seconds, or None.
        expected: seconds of a round; once one was made, the next is expected to take as long.
    """
    record, bench = workshop.record, workshop.session.bench
    done: list[Mapping[str, Any]] = [event.body for event in record.events("robust")]
    while len(done) < robust.rounds and not (done and done[-1]["robust"]):
        number = len(done) + 1
        weights = weights_after(robust, done)
        if (why := why_not(expected)) is not None:
            return f"before round {number}, {why}"
        began = time.monotonic()
        try:
            intervals, cells = _round(workshop, robust, weights)
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


def _round(
    workshop: Workshop, robust: Robust, weights: Mapping[str, float]
) -> tuple[Intervals, Mapping[str, str | None]]:
    """One build with these weights on every load: interval and cell of each; a `UserError` when one can't be had."""
    variant = variant_of(file_of(workshop.study), workshop.session.spec, robust, weights)
    workshop.add(variant)
    comparisons = comparisons_of(workshop.study, robust, variant.name)
    run_group(workshop, comparisons)
    found, cells = {}, {}
    for each in comparisons:
        cells[each.load] = _tried(workshop.record, each)
        verdict = workshop.record.last("verdict", cell=cells[each.load])
        if verdict is None or verdict.body[each.quantity or "capacity"] is None:
            left = workshop.record.last("left", key=each.key)
            raise UserError(left.body["why"] if left else f"{each.load}: no verdict")
        found[each.load] = verdict.body[each.quantity or "capacity"]
    return found, cells


def _tried(record: Record, comparison: Comparison) -> str | None:
    """Name of the cell that a comparison was tried as."""
    event = record.last("tried", key=comparison.key)
    return str(event.body["cell"]) if event else None
