"""Screening: two-level designs in which many choices are changed at once, and their main effects; pure.

In an orthogonal design of n builds every choice is at its new level in half of them, so that each effect is read from
all n (Plackett and Burman 1946, Biometrika 33:305). Effects of pairs of choices are mixed into those of single ones;
the intervals contain what that does to the fit, and what a screen finds is tried again by itself.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt
import scipy

from burnish.search.space import Point, Space

LEVEL = 0.95
"""Level of an effect's interval, each by itself."""

FEWEST_FREE = 4
"""Builds beyond the number of effects from which their lack of fit tells the error."""

_PRIMES = (11, 19, 23, 31, 43, 47, 59)
"""Primes of the form 4k + 3, for which quadratic residues give a design of one build more."""


@dataclass(frozen=True)
class Effect:
    """What a choice does, on average over the other choices of a screen.

    Attributes:
        choice: the choice.
        level: its new level; the old one is that of the build around which was screened.
        effect: log-ratio of the new level to the old one.
        error: its standard error.
        half: half-width of its interval at `LEVEL`.
        builds: number of builds that it was read from.
    """

    choice: str
    level: str
    effect: float
    error: float
    half: float
    builds: int

    @property
    def clear(self) -> bool:
        """Whether its interval is on one side of 0."""
        return abs(self.effect) > self.half


def size_for(factors: int) -> int:
    """Number of builds of the smallest design for so many two-level factors."""
    power = max(4, 1 << factors.bit_length())
    return min(size for size in (power, *(prime + 1 for prime in _PRIMES)) if size > factors)


def design(factors: int) -> npt.NDArray[np.bool_]:
    """An orthogonal two-level design: builds by factors, whether the factor is at its new level.

    Sizes of one more than a prime are Plackett and Burman's cyclic ones, powers of two Sylvester's.
    """
    size = size_for(factors)
    if size - 1 in _PRIMES:
        prime = size - 1
        residues = {number * number % prime for number in range(1, prime)}
        first = np.array([number in residues or number == 0 for number in range(prime)])
        columns = np.vstack([scipy.linalg.circulant(first), np.zeros((1, prime), dtype=bool)])
    else:
        columns = scipy.linalg.hadamard(size)[:, 1:] < 0
    return np.asarray(columns[:, :factors], dtype=bool)


def points_around(space: Space, base: Point, factors: Sequence[tuple[str, str]], random: Random) -> tuple[Point, ...]:
    """The builds of a design around a base, each once, in random order.

    Several new levels of one choice are factors of their own; where a build would have several, one is drawn. What is
    not allowed together is made allowed, so effects are read from the builds as they are, not from the plan; what the
    base has beyond the baseline is the last to give way.
    """
    columns = list(range(len(factors)))
    random.shuffle(columns)
    found: dict[Point, None] = {}
    for row in design(len(factors)):
        on = [factors[column] for column in columns if row[column]]
        random.shuffle(on)
        found[space.repaired(space.point({**space.levels(base), **dict(on)}), keep=base.names)] = None
    points = list(found)
    random.shuffle(points)
    return tuple(points)


def effects_of(
    space: Space,
    factors: Sequence[tuple[str, str]],
    scores: Mapping[Point, Sequence[float]],
    codes: Mapping[Point, Hashable] | None = None,
) -> list[Effect]:
    """The main effects of factors, by least squares over the starts of builds.

    Args:
        space: the space.
        factors: (choice, new level) each.
        scores: by build, the objective of its starts; that around which was screened may be among them.
        codes: by build, a name of its code; builds of one code share their starts. Without, each has its own.

    Returns:
        Those factors whose effect can be told from the others', in their order.
    """
    points = [point for point, starts in scores.items() if len(starts)]
    if not points:
        return []
    table = np.array([[space.levels(point)[name] == level for name, level in factors] for point in points], dtype=float)
    code = {point: codes[point] if codes else point for point in points}
    once, shared = {name: scores[point] for point, name in code.items()}, Counter(code.values())
    # Builds of one code have one measurement between them: each counts for a part of its starts, whose sum is as sure.
    weights = np.array([len(scores[point]) / shared[code[point]] for point in points])
    means = np.array([np.mean(scores[point]) for point in points])
    matrix = np.column_stack([np.ones(len(points)), table])
    root = np.sqrt(weights)
    inverse = np.linalg.pinv((matrix * root[:, None]).T @ (matrix * root[:, None]))
    estimates = inverse @ (matrix.T @ (weights * means))
    misfit = float(np.sum(weights * (means - matrix @ estimates) ** 2))
    inside = float(sum(np.sum((np.asarray(starts) - np.mean(starts)) ** 2) for starts in once.values()))
    # The baseline's own code has no measured starts: each score is 0, which says nothing of the scatter.
    pure = sum(len(starts) - 1 for starts in once.values() if np.any(starts))
    # What the fit takes of the measurements: the matrix's rank, less where builds of one code have several rows.
    fitted = (matrix * root[:, None]) @ inverse @ (matrix * root[:, None]).T
    together = np.array([[(code[one] == code[other]) / shared[code[one]] for other in points] for one in points])
    lack = round(len(once) - float(np.sum(fitted * together)), 6)
    free = pure + lack
    if free < 1:
        return []
    variance = (inside + misfit) / free
    if lack >= FEWEST_FREE and misfit / lack > variance:  # pairs of choices act together: builds scatter, not starts
        variance, free = misfit / lack, lack
    factor = float(scipy.special.stdtrit(free, 0.5 + LEVEL / 2.0))
    # A column that depends on others has no effect of its own: its unit vector is not in the matrix's row space.
    own = np.diag(np.linalg.pinv(matrix) @ matrix)
    effects = []
    for column, (name, level) in enumerate(factors, start=1):
        if own[column] < 1.0 - 1e-6 or not table[:, column - 1].any():
            continue
        error = math.sqrt(max(0.0, variance * float(inverse[column, column])))
        effects.append(Effect(name, level, float(estimates[column]), error, factor * error, len(points)))
    return effects


def pooled(new: Effect, old: Effect | None) -> Effect:
    """One estimate from two screens, each weighted by its precision; the first alone if there is no other."""
    if old is None or min(new.error, old.error) <= 0.0:
        return new
    weights = (1.0 / new.error**2, 1.0 / old.error**2)
    effect = (new.effect * weights[0] + old.effect * weights[1]) / sum(weights)
    error = 1.0 / math.sqrt(sum(weights))
    factor = max(new.half / new.error, old.half / old.error)  # the fewer degrees of freedom of the two
    return Effect(new.choice, new.level, effect, error, factor * error, new.builds + old.builds)
