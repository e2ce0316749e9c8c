"""What is expected of every build, tried or not, from all that were measured: a Gaussian process; pure.

A build's log-ratio to the baseline is taken as a sum of independent normal parts with mean 0: one for each level that
is not the usual one, one for each two of them together, and one of the build's own (the layout of its code). Builds
that share levels share parts, so that every start tells of all of them (Rasmussen and Williams 2006, "Gaussian
Processes for Machine Learning", chapter 2). How large the parts are at first is what the space expects of its choices;
how much larger or smaller all are, and how large the builds' own are, is weighed by how likely it makes what was read.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

if TYPE_CHECKING:
    from burnish.search.book import Arm
    from burnish.search.space import Point, Space

Numbers = npt.NDArray[np.float64]

TOGETHER = 0.5
"""Size of what two levels are worth together, by the smaller of both: fewer pairs act together than levels alone."""

SCALES = (0.5, 1.0, 2.0)
"""How much larger the parts may be than the space expects."""

OWN = (0.25, 0.5, 1.0, 2.0)
"""How large builds' own parts may be, by the median size of a level's part."""

NOISE = 0.02
"""Standard deviation of a start before any build has two (docs/BIAS.md: 1 to 3 % on the hosts tried)."""

BELIEF = 4
"""Degrees of freedom that `NOISE` counts for."""


@dataclass(frozen=True)
class Expected:
    """What a model expects of builds: normal distributions.

    Attributes:
        means: by build, log-ratios to the baseline.
        spreads: by build, standard deviations.
    """

    means: Numbers
    spreads: Numbers

    def gain(self, over: float) -> Numbers:
        """By build, the expected part of its log-ratio above a value (Jones et al. 1998, J. Global Optim. 13:455)."""
        spreads = np.maximum(self.spreads, 1e-12)
        return np.asarray(spreads * _excess((self.means - over) / spreads))

    def gain_of_starts(self, over: Numbers, noise: float) -> Numbers:
        """By build, how much more is expected of the best once a build has further starts.

        The knowledge gradient (Frazier, Powell and Dayanik 2008, SIAM J. Control Optim. 47:2410), as if starts of one
        build said nothing of others.

        Args:
            over: by build, the mean of the best one besides it.
            noise: variance of the mean of the further starts.
        """
        variance = self.spreads**2
        moves = np.maximum(variance / np.sqrt(np.maximum(variance + noise, 1e-24)), 1e-12)
        return np.asarray(moves * _excess(-np.abs(self.means - over) / moves))


def _excess(z: Numbers) -> Numbers:
    """The mean of the part of a normal value above 0, whose mean is z standard deviations."""
    return np.asarray(np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) + z * scipy.special.ndtr(z))


class Model:
    """A model of a space by what was measured of its builds.

    Args:
        space: the choices, and how much is expected of them.
        arms: the builds that were measured, each with at least one start.

    Attributes:
        scatter: standard deviation of a start.
    """

    def __init__(self, space: Space, arms: Sequence[Arm]) -> None:
        self._columns = {
            (one.name, level): number
            for number, (one, level) in enumerate((one, level) for one in space.choices for level in one.levels[1:])
        }
        sizes = np.array([space.choice(name).expected for name, _ in self._columns])
        self._usual = float(np.median(sizes))
        self._alone = sizes**2
        smaller = np.minimum(np.minimum.outer(sizes, sizes), self._usual)
        self._pairs = (TOGETHER * smaller) ** 2
        np.fill_diagonal(self._pairs, 0.0)
        self._arms = tuple(arms)
        self._known = [arm.point for arm in arms]
        self._rows = self._table(self._known)
        self._means = np.array([arm.mean for arm in arms])
        self.scatter = scatter(arms)
        self._noise = self.scatter**2 / np.array([len(arm.scores) for arm in arms], dtype=float)
        shared = self._shared(self._rows, self._rows)
        self._fits = _weighed([self._fit(shared, scale, own) for scale, own in product(SCALES, OWN)])

    def expected(self, points: Sequence[Point]) -> Expected:
        """What is expected of these builds; of a measured one its own part is known as well as its starts tell it."""
        same = np.array([[point == other for other in self._known] for point in points], dtype=float)
        rows = self._table(points)
        shared, prior = self._shared(rows, self._rows), np.diagonal(self._shared(rows, rows))
        first, second = np.zeros(len(points)), np.zeros(len(points))
        for fit in self._fits:
            across = fit.scale * shared + fit.own * same
            mean = across @ fit.weights
            solved = scipy.linalg.solve_triangular(fit.factor, across.T, lower=True, check_finite=False)
            variance = fit.scale * prior + fit.own - np.sum(solved**2, axis=0)
            first += fit.share * mean
            second += fit.share * (np.maximum(variance, 0.0) + mean**2)
        return Expected(first, np.sqrt(np.maximum(second - first**2, 0.0)))

    @property
    def order(self) -> list[tuple[Arm, float]]:
        """The measured builds with what is expected of them, the best first: the best of many means is so by chance."""
        means = map(float, self.expected(self._known).means)
        return sorted(zip(self._arms, means, strict=True), key=lambda one: (-one[1], one[0].point))

    def _table(self, points: Sequence[Point]) -> Numbers:
        """By build and level, whether the build has it."""
        table = np.zeros((len(points), len(self._columns)))
        for row, point in enumerate(points):
            for pair in point.settings:
                table[row, self._columns[pair]] = 1.0
        return table

    def _shared(self, one: Numbers, other: Numbers) -> Numbers:
        """The variance of what builds have in common."""
        both = one[:, None, :] * other[None, :, :]
        pairs = 0.5 * np.einsum("nmi,nmi->nm", both @ self._pairs, both)
        return np.asarray(both @ self._alone + pairs)

    def _fit(self, shared: Numbers, scale: float, own: float) -> _Fit:
        scaled, single = scale**2, (own * self._usual) ** 2
        spread = scaled * shared + np.diag(single + self._noise)
        factor = np.linalg.cholesky(spread)
        weights = scipy.linalg.cho_solve((factor, True), self._means, check_finite=False)
        likely = -0.5 * float(self._means @ weights) - float(np.sum(np.log(np.diagonal(factor))))
        return _Fit(scaled, single, factor, np.asarray(weights), likely)


@dataclass(frozen=True)
class _Fit:
    """The model with one size of its parts.

    Attributes:
        scale: variance of the parts that builds share, by what the space expects.
        own: variance of builds' own parts.
        factor: Cholesky factor of the variance of what was read.
        weights: of what was read, in what is expected.
        likely: logarithm of the likelihood of what was read, but for a constant; of a weighed fit too.
        share: of all fits together.
    """

    scale: float
    own: float
    factor: Any
    weights: Numbers
    likely: float
    share: float = 1.0


def _weighed(fits: Sequence[_Fit]) -> list[_Fit]:
    """Fits with their shares, by how likely each makes what was read; without those that hardly count."""
    most = max(fit.likely for fit in fits)
    weights = [math.exp(fit.likely - most) for fit in fits]
    total = sum(weight for weight in weights if weight > 0.01)
    return [replace(fit, share=weight / total) for fit, weight in zip(fits, weights, strict=True) if weight > 0.01]


def scatter(arms: Sequence[Arm]) -> float:
    """Standard deviation of a start, by all builds together, and by what is usual as far as they tell little.

    Builds of the baseline's own code have no measured starts: each score is 0, which says nothing of the scatter.
    """
    several = [arm.scores for arm in arms if len(arm.scores) > 1 and any(arm.scores)]
    free = sum(len(scores) - 1 for scores in several)
    squares = sum(statistics.variance(scores) * (len(scores) - 1) for scores in several)
    return math.sqrt((squares + BELIEF * NOISE**2) / (free + BELIEF))


def ranked(space: Space, arms: Sequence[Arm]) -> list[Arm]:
    """Builds with starts in the order of a model of them."""
    return [arm for arm, _ in Model(space, arms).order] if arms else []
