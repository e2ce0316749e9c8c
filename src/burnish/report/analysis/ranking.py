"""Which candidate of a run is the best, and whether that is proved; pure.

The best has the largest geometric mean of its headline ratios. Whether it is faster than another is decided by the
interval of the quotient of the two, over all loads: each has its own starts beside the baseline, which cancels out
(`burnish.statistics.rivals`). If that interval includes 1 they are tied, and the simpler one is recommended. They are
also tied if the difference is no larger than what the code layout of two binaries alone can cause
(`statistics.replicates`): another link of the same two recipes could reverse it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burnish.model.cell import AA
from burnish.report.analysis import marks
from burnish.statistics.means import Ratio
from burnish.statistics.rivals import Rival, effort, rival

if TYPE_CHECKING:
    from burnish.report.result import Result, Row


@dataclass(frozen=True)
class Ranking:
    """The candidates that are faster than the baseline on every load.

    Attributes:
        best: the fastest of those that have no marks or were named by the user; of a search, its winner.
        take: the recommended one: the simplest of the best and those tied with it.
        rivals: the others without marks or named by the user, the fastest first.
        marked: those with marks that the user did not name, the fastest first.
    """

    best: str
    take: str
    rivals: tuple[Rival, ...]
    marked: tuple[Rival, ...]

    @property
    def tied(self) -> tuple[str, ...]:
        """The recommended one, the best, and those tied with the best; without ties only one name."""
        names = (self.take, self.best, *(rival.candidate for rival in self.rivals if rival.tied))
        return tuple(dict.fromkeys(names))


def ranking(result: Result) -> Ranking | None:
    """The ranking of those that are faster than the baseline on every load; None if none can be recommended.

    A search's fresh starts announce its winner. Those that found it are judged together with all other builds', and may
    not tell it from the baseline by themselves.
    """
    faster = everywhere(result)
    _, ended = result.searched or (None, None)
    found = ended.winner if ended is not None else None
    if found is not None and found not in faster:
        faster[found] = {row.workload: row.ratio for row in result.rows if row.candidate == found and row.ratio}
    barred = {build.variant for build in result.builds if marks.of_build(build) and not build.named}
    free = [name for name in faster if name not in barred]
    if not free:
        return None
    once = linked_once(result)
    order = _fastest_first(faster, free)
    if result.searched is not None:  # it took out what was not needed
        if found not in order:
            return None
        order.sort(key=lambda name: name != found)
    best, *others = order
    beside = result.quotients.get(best, {})
    rivals = [rival(name, faster[best], faster[name], once, beside.get(name)) for name in others]
    equal = [best, *(other.candidate for other in rivals if other.tied)]
    take = best if result.searched is not None else min(equal, key=lambda name: _effort(result, name))
    marked = [
        rival(name, faster[best], faster[name], once, beside.get(name))
        for name in _fastest_first(faster, list(barred & faster.keys()))
    ]
    return Ranking(best, take, tuple(rivals), tuple(marked))


def why_taken(result: Result, ranked: Ranking) -> str:
    """Why the recommended one of those that are tied is taken, in words: ``the simpler one``."""
    if result.searched is not None:  # there may be simpler ones, but only this one has fresh starts
        return "the one that the search measured again"
    return f"the {'simpler' if len(ranked.tied) == 2 else 'simplest'} one"


def everywhere(result: Result) -> dict[str, dict[str, Ratio]]:
    """By candidate that is faster than the baseline on every load: its headline ratio on each load.

    Loads that a search only guards are left out.
    """
    rows: dict[str, list[Row]] = {}
    for row in result.rows:
        # On a load that a search guards nothing may be lost; the baseline against itself is no candidate.
        counts = result.searched is None or row.workload in result.searched[0].weights
        if counts and row.candidate != AA:
            rows.setdefault(row.candidate, []).append(row)
    return {
        name: {row.workload: row.ratio for row in cells if row.ratio}
        for name, cells in rows.items()
        if all(row.verdict == "faster" and row.ratio for row in cells)
    }


def winner(result: Result) -> str | None:
    """The recommended candidate; None if there is none."""
    order = ranking(result)
    return order.take if order else None


def linked_once(result: Result) -> bool:
    """Whether each variant is a single binary, although the verdict is about its recipe."""
    return not result.replicates


def _fastest_first(ratios: Mapping[str, Mapping[str, Ratio]], names: Sequence[str]) -> list[str]:
    def mean(name: str) -> float:
        return math.fsum(math.log(value.ratio) for value in ratios[name].values()) / len(ratios[name])

    return sorted(names, key=mean, reverse=True)


def _effort(result: Result, name: str) -> tuple[int, float]:
    """How much work a build is, smaller is simpler (`burnish.statistics.rivals.effort`)."""
    recipes: Mapping[str, Mapping[str, object]] = result.definition.get("recipes") or {}
    seconds = next((build.seconds for build in result.builds if build.variant == name), None)
    return effort(recipes.get(name, {}), recipes.get(result.baseline, {}), seconds)
