"""Whether the best of several candidates is proved better than another, and which of those tied is simplest; pure.

Used by the report, which recommends one, and by the study, which measures that one again.

Each candidate has starts of its own beside the same baseline, so what their starts tell of both adds up. What sittings
tell does not where both were measured in the same ones: the baseline's part of it cancels out, and what is left is how
far the ratio of *these two* programs moves between sittings, once. With one or two sittings that is the spread of a
comparison of their kind,

    ȳ_A − ȳ_B ± √( h²_A + h²_B + t²(1 − p/2; ν) · τ²_AB / k )

h being the half-width that a candidate's starts alone give. Where two sittings contradict τ_AB, their own difference
takes its place; with three and more it is Student's over the sittings' differences (`burnish.statistics.sittings` has
all this for a single candidate).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from burnish.model.sittings import Spread
from burnish.statistics.hosts import tails
from burnish.statistics.intervals import Interval
from burnish.statistics.means import Ratio, geometric_mean, quotient
from burnish.statistics.replicates import layout_alone
from burnish.statistics.sequential import Rule
from burnish.statistics.sittings import CONTRARY, ENOUGH, SittingCell, across_half

_NONE = Spread(0.0, math.inf, "")


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


def quotient_beside(one: SittingCell, other: SittingCell, between: Spread, rule: Rule) -> Interval:
    """How many times the first candidate is the second, with starts of both in the same sittings.

    Args:
        one: the dividend, compared with the baseline.
        other: the divisor, compared with the same baseline in as many sittings, those in the same order.
        between: how far the ratio of the two moves between sittings, for fewer than three of them.
        rule: by which both were sampled.

    Raises:
        ValueError: they have different numbers of sittings.
    """
    within, _ = tails(rule)
    across = rule.alpha / rule.family / 2.0
    differences = [mine - its for mine, its in zip(one.means, other.means, strict=True)]
    if len(differences) >= ENOUGH:
        half = SittingCell("", tuple((value,) for value in differences), between).half(within, across)
    else:
        apart = abs(differences[-1] - differences[0])
        sittings = across_half(apart, _starts(one, other, CONTRARY / 2.0), between, across, len(differences))
        half = math.hypot(_starts(one, other, within), float(sittings))
    return Interval.from_log(math.fsum(differences) / len(differences), half, rule.level)


def _starts(one: SittingCell, other: SittingCell, tail: float) -> float:
    """Half-width of the interval of their ratio by the starts of both alone."""
    return math.hypot(*(replace(cell, between=_NONE).half(tail, tail) for cell in (one, other)))


def rival(
    name: str,
    best: Mapping[str, Ratio],
    other: Mapping[str, Ratio],
    once: bool,
    beside: Mapping[str, Ratio] | None = None,
) -> Rival:
    """A candidate compared with the best, on the loads that both have.

    Args:
        name: the candidate.
        best: the ratios of the best, by load.
        other: those of the candidate.
        once: whether each of the two is a single binary, although the verdict is about its recipe.
        beside: by load, the quotient of the two where they were measured in the same sittings; else both ratios are
            taken as independent, other sittings included.
    """
    known = beside or {}
    loads = [load for load in best if load in other]
    ratio = geometric_mean([known.get(load) or quotient(best[load], other[load]) for load in loads])
    assert ratio is not None  # noqa: S101 - both were measured on every load
    if ratio.low <= 1 <= ratio.high:
        return Rival(name, ratio, "noise")
    return Rival(name, ratio, "layout" if once and layout_alone(ratio.ratio) else "")


def effort(recipe: Mapping[str, object], usual: Mapping[str, object], seconds: float | None) -> tuple[int, float]:
    """Sort key, smaller is simpler: number of changes from the baseline's recipe, then seconds of the build.

    Args:
        recipe: the candidate's, as plain values.
        usual: the baseline's.
        seconds: wall time of its build; None if it is not known.
    """
    changed = sum(recipe[field] != usual.get(field) for field in recipe)
    return changed, math.inf if seconds is None else seconds
