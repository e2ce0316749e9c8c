"""Whether the best of several candidates is proved to be better than another, and which of those tied is simplest.

Used by the report, which recommends one, and by the study, which measures that one again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from burnish.statistics.means import Ratio, geometric_mean, quotient
from burnish.statistics.replicates import layout_alone


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
