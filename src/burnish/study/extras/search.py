"""The search for weights of training loads: each round makes a build and measures it on every load."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from burnish.base.errors import UserError
from burnish.catalogue.bundled.model import Robust
from burnish.model.cell import CellId
from burnish.record.events.bundled import ComparisonLeft, ComparisonTried, SearchRound, SearchStopped
from burnish.record.events.verdicts import Interval, VerdictReached
from burnish.study.extras.weights import comparisons_of, file_of, is_robust, variant_of, weights_after
from burnish.study.workshop.group import run_group
from burnish.study.workshop.workshop import Workshop


def search(workshop: Workshop, robust: Robust, why_not: Callable[[float], str | None], expected: float) -> str | None:
    """Continues the search; returns why it stopped early, or None.

    Args:
        workshop: the study.
        robust: what is searched.
        why_not: returns why there is no time for something that takes so many seconds, or None.
        expected: expected seconds of the first round; later ones are expected to take as long as the one before.
    """
    record = workshop.record
    rounds = [recorded.event for recorded in record.events(SearchRound)]
    while len(rounds) < robust.rounds and not (rounds and rounds[-1].robust):
        number = len(rounds) + 1
        weights = weights_after(robust, rounds)
        if (why := why_not(expected)) is not None:
            return f"before round {number}, {why}"
        began = time.monotonic()
        try:
            intervals, cells = _round(workshop, robust, weights)
        except UserError as error:
            workshop.session.bench.say(f"weights, round {number}: {error}")
            record.append(SearchStopped(str(error)))
            return None
        record.append(
            SearchRound(
                round=number,
                weights=weights,
                intervals=intervals,
                cells=cells,
                robust=is_robust(intervals, robust.delta),
                delta=robust.delta,
                rounds=robust.rounds,
                alone=dict(robust.alone),
            )
        )
        expected = time.monotonic() - began
        rounds = [recorded.event for recorded in record.events(SearchRound)]
    return None


def _round(
    workshop: Workshop, robust: Robust, weights: Mapping[str, float]
) -> tuple[dict[str, Interval], dict[str, CellId | None]]:
    """Measures one build with these weights on every load; returns interval and cell of each load.

    Raises:
        UserError: a load has no verdict.
    """
    record = workshop.record
    variant = variant_of(file_of(workshop.study), workshop.session.spec, robust, weights)
    workshop.add(variant)
    comparisons = comparisons_of(workshop.study, robust, variant.name)
    run_group(workshop, comparisons)
    intervals: dict[str, Interval] = {}
    cells: dict[str, CellId | None] = {}
    for comparison in comparisons:
        tried = record.last(ComparisonTried, comparison=comparison.id)
        cells[comparison.load] = tried.event.cell if tried else None
        verdict = record.last(VerdictReached, cell=tried.event.cell) if tried else None
        interval = verdict.event.ratios.get(comparison.quantity or verdict.event.headline) if verdict else None
        if interval is None:
            left = record.last(ComparisonLeft, comparison=comparison.id)
            raise UserError(left.event.why if left else f"{comparison.load}: no verdict")
        intervals[comparison.load] = interval
    return intervals, cells
