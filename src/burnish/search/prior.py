"""What earlier searches found as a prior: what is tried first; pure.

A finding counts in no verdict and rules nothing out. It changes two things: how much a choice is expected to bring, by
which a search orders what it tries, and what is measured first: the builds that were best earlier are known-good ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import scipy

from burnish.search.effects import Effect, pooled
from burnish.search.space import Choice, Point, Space

ELSEWHERE = 0.5
"""How far a choice's effect differs between hosts, loads and versions, as a share of its expected size; a guess."""

LEAST = 0.1
"""Share of its own expected size that a choice keeps, whatever was found."""


@dataclass(frozen=True)
class Finding:
    """What one search found.

    Attributes:
        name: the search's name.
        effects: main effects; only those with an error above 0 count.
        best: choices of its winner that do not have their usual level; None: it had none.
    """

    name: str
    effects: tuple[Effect, ...] = ()
    best: Mapping[str, str] | None = None


def informed(space: Space, findings: Sequence[Finding]) -> Space:
    """A space with what earlier searches found as its prior; levels that it lacks are passed over."""
    known: dict[tuple[str, str], Effect] = {}
    for finding in findings:
        for effect in finding.effects:
            if effect.error > 0.0:
                key = (effect.choice, effect.level)
                known[key] = pooled(effect, known.get(key))
    choices = tuple(replace(choice, expected=expected(choice, known)) for choice in space.choices)
    rungs = dict(space.rungs)
    for finding in findings:
        point = _best(space, finding)
        if point is not None and point not in rungs.values():
            rungs[f"earlier-{len(rungs) - len(space.rungs) + 1}"] = point
    return replace(space, choices=choices, rungs=rungs)


def expected(choice: Choice, known: Mapping[tuple[str, str], Effect]) -> float:
    """How much a choice is expected to bring, as the typical size of an effect of which as much is expected.

    What is expected of an effect x with mean m and standard deviation s, taken only where it gains, is the mean of
    max(x, 0): s φ(m/s) + m Φ(m/s); for m = 0 that is s/√(2π), by which it is turned back into a size.
    """
    own = choice.expected
    if not any((choice.name, level) in known for level in choice.levels):
        return own
    gains = []
    for level in choice.levels[1:]:
        effect = known.get((choice.name, level))
        mean, variance = 0.0, own**2
        if effect is not None:
            elsewhere = effect.error**2 + (ELSEWHERE * own) ** 2
            mean = effect.effect * own**2 / (own**2 + elsewhere)
            variance = own**2 * elsewhere / (own**2 + elsewhere)
        deviation = math.sqrt(variance)
        ratio = mean / deviation
        density = math.exp(-0.5 * ratio**2) / math.sqrt(2.0 * math.pi)
        gains.append(deviation * density + mean * float(scipy.special.ndtr(ratio)))
    return max(LEAST * own, max(gains) * math.sqrt(2.0 * math.pi))


def _best(space: Space, finding: Finding) -> Point | None:
    """The winner of an earlier search as a point of this space; None if it had none, or it is not allowed here."""
    levels = {choice.name: choice.levels for choice in space.choices}
    if not finding.best or any(level not in levels.get(name, ()) for name, level in finding.best.items()):
        return None
    point = space.point(finding.best)
    return point if space.broken(point) is None else None
