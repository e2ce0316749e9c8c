"""Which candidate of a run is the best, and whether that is proved; pure.

The best has the largest geometric mean of its headline ratios. Whether it is faster than another is decided by the
interval of the quotient of the two, over all loads: each has its own starts, so that the two are independent, and the
baseline cancels out. If that interval includes 1 they are tied, and the simpler one is recommended. They are also tied
if the difference is no larger than what the code layout of two binaries alone can cause (`statistics.replicates`):
another link of the same two recipes could reverse it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from burnish.report.analysis import marks
from burnish.statistics.means import Ratio, geometric_mean, quotient
from burnish.statistics.replicates import layout_caveat

if TYPE_CHECKING:
    from burnish.report.result import Result, Row


@dataclass(frozen=True)
class Rival:
    """A candidate compared with the best.

    Attributes:
        candidate: its name.
        ratio: how many times the best is as fast, over all loads.
        tie: why that does not prove the best faster: the interval includes 1 (``noise``), or the code layout of two
            binaries alone can make such a difference (``layout``); '' if it is proved.
    """

    candidate: str
    ratio: Ratio
    tie: Literal["", "noise", "layout"]

    @property
    def tied(self) -> bool:
        """Whether the best is not proved to be faster than this candidate."""
        return self.tie != ""


@dataclass(frozen=True)
class Ranking:
    """The candidates that are faster than the baseline on every load.

    Attributes:
        best: the fastest of those that have no marks or were named by the user.
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
    """The ranking of those that are faster than the baseline on every load; None if none can be recommended."""
    faster = everywhere(result)
    barred = {build.variant for build in result.builds if marks.of_build(build) and not build.named}
    free = [name for name in faster if name not in barred]
    if not free:
        return None
    once = linked_once(result)
    best, *others = _fastest_first(faster, free)
    rivals = [rival(name, faster[best], faster[name], once) for name in others]
    take = min([best, *(other.candidate for other in rivals if other.tied)], key=lambda name: _effort(result, name))
    marked = [
        rival(name, faster[best], faster[name], once) for name in _fastest_first(faster, list(barred & faster.keys()))
    ]
    return Ranking(best, take, tuple(rivals), tuple(marked))


def everywhere(result: Result) -> dict[str, dict[str, Ratio]]:
    """By candidate that is faster than the baseline on every load: its headline ratio on each load."""
    rows: dict[str, list[Row]] = {}
    for row in result.rows:
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


def rival(name: str, best: Mapping[str, Ratio], other: Mapping[str, Ratio], once: bool) -> Rival:
    """A candidate compared with the best, on the loads that both have.

    Args:
        name: the candidate.
        best: the ratios of the best, by load.
        other: those of the candidate.
        once: whether each of the two is a single binary, although the verdict is about its recipe.
    """
    ratio = geometric_mean([quotient(best[load], other[load]) for load in best if load in other])
    assert ratio is not None  # noqa: S101 - both were measured on every load
    if ratio.low <= 1 <= ratio.high:
        return Rival(name, ratio, "noise")
    return Rival(name, ratio, "layout" if once and layout_caveat(ratio.ratio) else "")


def _fastest_first(ratios: Mapping[str, Mapping[str, Ratio]], names: Sequence[str]) -> list[str]:
    def mean(name: str) -> float:
        return math.fsum(math.log(value.ratio) for value in ratios[name].values()) / len(ratios[name])

    return sorted(names, key=mean, reverse=True)


def _effort(result: Result, name: str) -> tuple[int, float]:
    """Sort key, smaller is simpler: number of changes from the baseline's recipe, then seconds of the build."""
    recipes: Mapping[str, Mapping[str, object]] = result.definition.get("recipes") or {}
    usual, own = recipes.get(result.baseline, {}), recipes.get(name, {})
    changed = sum(own[field] != usual.get(field) for field in own)
    seconds = next((build.seconds for build in result.builds if build.variant == name), None)
    return changed, math.inf if seconds is None else seconds
