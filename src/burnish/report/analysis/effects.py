"""Effects of patches as ratios with intervals: a set compared with the unpatched tree or with another set; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import scipy

from burnish.report.analysis import verdict
from burnish.report.patches import Patched

if TYPE_CHECKING:
    from burnish.report.result import BuildRow, Result, Row

LEVEL = 0.95


@dataclass(frozen=True)
class Effect:
    """The effect of one set of patches compared with another: a ratio with its 95 % interval.

    Attributes:
        ratio: above 1 if the first is better.
        low: lower end.
        high: upper end.
        exact: whether it is exactly 1 because both are the same program.
    """

    ratio: float
    low: float
    high: float
    exact: bool = False

    @property
    def words(self) -> str:
        """As a gain in per cent: ``1.2 % [0.8, 1.6]``."""
        if self.exact:
            return "0 %, the same program"
        ends = f"[{_percent(self.low)}, {_percent(self.high)}]"
        return f"{_percent(self.ratio)} % {ends}"

    @property
    def size(self) -> str:
        """The gain or loss without its sign, for a sentence whose verb says which: 0.64 is a loss of 36 %."""
        lost = Effect(2 - self.ratio, 2 - self.high, 2 - self.low, self.exact)
        return self.words if self.ratio >= 1 else lost.words


def _percent(ratio: float) -> str:
    text = f"{100 * (ratio - 1):.1f}"
    return "0.0" if text == "-0.0" else text


SAME = Effect(1.0, 1.0, 1.0, exact=True)


def against(one: Effect, other: Effect) -> Effect:
    """The first compared with the second; both were compared with the same baseline, in independent starts."""
    centre = math.log(one.ratio) - math.log(other.ratio)
    half = math.hypot(*((math.log(ratio.high) - math.log(ratio.low)) / 2 for ratio in (one, other)))
    return Effect(math.exp(centre), math.exp(centre - half), math.exp(centre + half), one.exact and other.exact)


def effect(row: Row) -> Effect | None:
    """A row's effect with its 95 % interval, whatever the level of its verdict's interval."""
    value = row.ratio
    if row.verdict == verdict.NO_EFFECT:
        return SAME
    if value is None:
        return None
    centre = math.log(value.ratio)
    half = (math.log(value.high) - math.log(value.low)) / 2
    if not math.isclose(value.level, LEVEL):
        usual, own = scipy.special.stdtrit(max(1, row.starts - 1), [(1 + LEVEL) / 2, (1 + value.level) / 2])
        half *= usual / own
    return Effect(value.ratio, math.exp(centre - half), math.exp(centre + half))


@dataclass(frozen=True)
class Series:
    """The builds of a series of patches, looked up by their patches.

    Attributes:
        result: the run.
        patched: the series.
    """

    result: Result
    patched: Patched

    @classmethod
    def of(cls, result: Result) -> Series:
        """The series of a run of `patch`."""
        assert result.patched is not None  # noqa: S101 - only called for a study of patches
        return cls(result, result.patched)

    @property
    def delta(self) -> float:
        """Largest distance of a ratio from 1 that counts as no difference."""
        return verdict.delta_of(self.result.contest)

    @property
    def names(self) -> list[str]:
        """The patches, in the order in which they are applied."""
        return [member["name"] for member in self.patched.members]

    @property
    def workloads(self) -> list[str]:
        """The loads, in order."""
        return list(dict.fromkeys(row.workload for row in self.result.rows))

    def row(self, variant: str, workload: str) -> Row | None:
        """The measured row of a build, or of the identical build that was measured instead."""
        wanted = self.patched.twins.get(variant, variant)
        rows = (row for row in self.result.rows if row.candidate == wanted and row.workload == workload)
        return next(rows, None)

    def build(self, variant: str) -> BuildRow | None:
        """The outcome of building a variant."""
        return next((build for build in self.result.builds if build.variant == variant), None)

    def variant(self, patches: Sequence[str]) -> str | None:
        """The variant with exactly these patches (the baseline for no patches); None if there is none."""
        if not patches:
            return self.result.baseline
        wanted = set(patches)
        return next((build["variant"] for build in self.patched.builds if set(build["patches"]) == wanted), None)

    def effect(self, patches: Sequence[str], workload: str) -> Effect | None:
        """The effect of these patches together, compared with the unpatched tree."""
        variant = self.variant(patches)
        if variant == self.result.baseline:
            return SAME
        row = self.row(variant, workload) if variant else None
        return effect(row) if row else None

    def programs(self, *sets: Sequence[str]) -> list[str | None]:
        """The variants that were measured for these sets of patches."""
        names = [self.variant(patches) for patches in sets]
        return [self.patched.twins.get(name, name) if name else None for name in names]

    def added(self, patches: Sequence[str], less: Sequence[str], workload: str) -> Effect | None:
        """The effect of the first set of patches compared with that of the second (`less`)."""
        one, other = self.programs(patches, less)
        if one is not None and one == other:
            return SAME
        effects = self.effect(patches, workload), self.effect(less, workload)
        return None if effects[0] is None or effects[1] is None else against(effects[0], effects[1])

    def dependants(self, name: str) -> list[str]:
        """Names of the patches that need this one."""
        return [member["name"] for member in self.patched.members if name in member["needs"]]
