"""Which candidate of a run is the best, and whether that is proved; pure.

The best has the largest geometric mean of its headline ratios. Whether it is faster than another is read off the
interval of the quotient of the two, over all loads: the starts of each are its own, so that the two are independent,
and the baseline cancels out. Where that interval includes 1 they are tied, and the simpler one is to be taken. So they
are where the difference is no larger than what the layout of two binaries alone makes (`statistics.replicates`):
another link of the same two recipes could turn it round.
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

NAMED = "named"
"""In a run's definition, the variants that a person named; others are the engine's choice."""


@dataclass(frozen=True)
class Rival:
    """A candidate beside the best.

    Attributes:
        candidate: its name.
        ratio: how many times the best is as fast, over all loads.
        tie: why that is no proof: the interval includes 1 (``noise``), or two binaries differ as much by their layout
            alone (``layout``); '' where it is one.
    """

    candidate: str
    ratio: Ratio
    tie: Literal["", "noise", "layout"]

    @property
    def tied(self) -> bool:
        """Whether the best is not proved to be the faster one."""
        return self.tie != ""


@dataclass(frozen=True)
class Ranking:
    """The candidates that are faster than the baseline on every load.

    Attributes:
        best: the fastest of those without marks, or whose marks were asked for.
        take: the simplest of it and those that are tied with it.
        rivals: the others of these, the fastest first.
        marked: those with marks that nobody asked for, the fastest first.
    """

    best: str
    take: str
    rivals: tuple[Rival, ...]
    marked: tuple[Rival, ...]

    @property
    def tied(self) -> tuple[str, ...]:
        """The one to take, the best, and those that it is not proved to be faster than; one name where none is."""
        names = (self.take, self.best, *(rival.candidate for rival in self.rivals if rival.tied))
        return tuple(dict.fromkeys(names))


def ranking(result: Result) -> Ranking | None:
    """The order of those that are faster than the baseline on every load; None where none is to be taken."""
    faster = everywhere(result)
    marked = marks.by_variant(result)
    free = [name for name in faster if name not in marked or _asked(result, name)]
    if not free:
        return None
    once = linked_once(result)
    best, *others = _fastest_first(faster, free)
    rivals = [rival(name, faster[best], faster[name], once) for name in others]
    take = min([best, *(each.candidate for each in rivals if each.tied)], key=lambda name: _effort(result, name))
    barred = _fastest_first(faster, [name for name in faster if name not in free])
    return Ranking(best, take, tuple(rivals), tuple(rival(name, faster[best], faster[name], once) for name in barred))


def everywhere(result: Result) -> dict[str, dict[str, Ratio]]:
    """The headline's ratio on each load of the candidates that are faster than the baseline on all."""
    rows: dict[str, list[Row]] = {}
    for row in result.rows:
        rows.setdefault(row.candidate, []).append(row)
    return {
        name: {row.workload: row.ratio for row in cells if row.ratio}
        for name, cells in rows.items()
        if all(row.verdict == "faster" and row.ratio for row in cells)
    }


def winner(result: Result) -> str | None:
    """The candidate to take; None where there is none."""
    found = ranking(result)
    return found.take if found else None


def linked_once(result: Result) -> bool:
    """Whether each variant stands for a recipe but is one binary."""
    return not result.replicates


def rival(name: str, best: Mapping[str, Ratio], other: Mapping[str, Ratio], once: bool) -> Rival:
    """A candidate beside the best, by the loads that both have.

    Args:
        name: the candidate.
        best: the ratios of the best, by load.
        other: those of the candidate.
        once: whether each of the two is one binary that stands for a recipe.
    """
    ratio = geometric_mean([quotient(best[load], other[load]) for load in best if load in other])
    assert ratio is not None  # noqa: S101 - both were measured on every load
    if ratio.low <= 1 <= ratio.high:
        return Rival(name, ratio, "noise")
    return Rival(name, ratio, "layout" if once and layout_caveat(ratio.ratio) else "")


def _asked(result: Result, name: str) -> bool:
    """Whether a person named the variant; a record that does not tell is taken to be about what was asked for."""
    named: Sequence[str] | None = result.definition.get(NAMED)
    return named is None or name in named


def _fastest_first(ratios: Mapping[str, Mapping[str, Ratio]], names: Sequence[str]) -> list[str]:
    def mean(name: str) -> float:
        return math.fsum(math.log(value.ratio) for value in ratios[name].values()) / len(ratios[name])

    return sorted(names, key=mean, reverse=True)


def _effort(result: Result, name: str) -> tuple[int, float]:
    """What is simpler is smaller: how much a recipe changes against the baseline's, then how long a build takes."""
    recipes: Mapping[str, Mapping[str, object]] = result.definition.get("recipes") or {}
    usual, own = recipes.get(result.baseline, {}), recipes.get(name, {})
    changed = sum(own[field] != usual.get(field) for field in own)
    seconds = next((build.seconds for build in result.builds if build.variant == name), None)
    return changed, math.inf if seconds is None else seconds
