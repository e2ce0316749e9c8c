"""Earlier results as a prior: what is tried first; pure.

A finding counts in no verdict and rules nothing out. It changes two things: how much a choice is expected to bring, by
which a search orders what it tries, and what is measured first: the builds that were best earlier are known-good ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from burnish.record.events.searches import PriorTaken
from burnish.search.effects import Effect
from burnish.search.space import Choice, Point, Space

NEAR = 0.25
"""How far a choice's effect differs between versions and hours, as a share of its expected size; a guess."""

ELSEWHERE = 0.5
"""The same where the host or the load is another one; a guess."""

LEAST = 0.1
"""Share of its own expected size that a choice keeps, whatever was found."""

MOST = 3
"""Earlier best builds that are measured first: each takes a build and its starts."""

Level = tuple[str, str]
"""A choice and its level."""


@dataclass(frozen=True)
class Result:
    """What one build was measured to gain on another one.

    Attributes:
        build: its choices that do not have their usual level.
        base: the other one's.
        gain: log-ratio of the first to the second.
        error: its standard error; only results with one above 0 count.
    """

    build: Mapping[str, str]
    base: Mapping[str, str]
    gain: float
    error: float


@dataclass(frozen=True)
class Finding:
    """What one run found.

    Attributes:
        name: the run's name.
        effects: main effects of a search; only those with an error above 0 count.
        best: choices of its best build that do not have their usual level; None: it had none.
        results: what builds gained.
        host: names the host: what is special to it is the same in all runs there.
        near: whether it is of this host and of a load that is searched for.
    """

    name: str
    effects: tuple[Effect, ...] = ()
    best: Mapping[str, str] | None = None
    results: tuple[Result, ...] = ()
    host: str = ""
    near: bool = False


@dataclass(frozen=True)
class _Row:
    """A result as an equation: the sum of the levels' effects, each times +1 or -1, is the gain."""

    terms: Mapping[Level, float]
    gain: float
    error: float
    place: tuple[str, bool]


def applied(space: Space, prior: PriorTaken) -> Space:
    """A space with a prior that was taken for it."""
    choices = tuple(replace(one, expected=prior.expected.get(one.name, one.expected)) for one in space.choices)
    rungs = {**space.rungs, **{name: space.point(settings) for name, settings in prior.rungs.items()}}
    return replace(space, choices=choices, rungs=rungs, first=tuple(prior.first), added=tuple(prior.rungs))


def taken(space: Space, findings: Sequence[Finding]) -> PriorTaken:
    """What earlier results say of a space, those of this host and these loads first; levels that it lacks are passed
    over."""
    rows = {finding.name: list(_rows(space, finding)) for finding in findings}
    known = effects(space, [row for those in rows.values() for row in those])
    sizes = {choice.name: expected(choice, known) for choice in space.choices}
    rungs, first = dict[str, Mapping[str, str]](), list[str]()
    points = {point: name for name, point in space.rungs.items()}
    counts = {True: 0, False: 0}
    for finding in sorted(findings, key=lambda one: not one.near):
        point = _best(space, finding)
        counts[finding.near] += len(rows[finding.name]) or int(point is not None)
        if point is None or len(first) == MOST or points.get(point) in first:
            continue
        if point not in points:
            points[point] = f"earlier-{len(rungs) + 1}"
            rungs[points[point]] = dict(point.settings)
        first.append(points[point])
    return PriorTaken(
        near=counts[True],
        elsewhere=counts[False],
        expected={one.name: sizes[one.name] for one in space.choices if sizes[one.name] != one.expected},
        rungs=rungs,
        first=tuple(first),
    )


def effects(space: Space, rows: Sequence[_Row]) -> dict[Level, tuple[float, float]]:
    """By level that some result has, the mean and standard deviation of its effect here.

    Effects x are normal before anything is known, with mean 0 and their expected size; a result reads A(x + d) with its
    error, where d is what is special to a host and its loads, one draw for all results there. The rest is Bayes' rule
    for normal values (Gelman et al. 2013, Bayesian Data Analysis, 3.5).
    """
    levels = list(dict.fromkeys(level for row in rows for level in row.terms))
    if not levels:
        return {}
    table = np.array([[row.terms.get(level, 0.0) for level in levels] for row in rows])
    gains, errors = np.array([row.gain for row in rows]), np.array([row.error for row in rows])
    size = np.diag([space.choice(name).expected ** 2 for name, _ in levels])
    share = np.array([NEAR if row.place[1] else ELSEWHERE for row in rows])
    together = np.array([[one.place == other.place for other in rows] for one in rows])
    scatter = table @ size @ table.T
    read = scatter + scatter * together * np.outer(share, share) + np.diag(errors**2)
    weights = np.linalg.solve(read, table @ size).T
    means, left = weights @ gains, size - weights @ table @ size
    return {
        level: (float(mean), math.sqrt(max(1e-18, float(variance))))
        for level, mean, variance in zip(levels, means, np.diag(left), strict=True)
    }


def expected(choice: Choice, known: Mapping[Level, tuple[float, float]]) -> float:
    """How much a choice is expected to bring, as the typical size of an effect of which as much is expected.

    What is expected of an effect x with mean m and standard deviation s, taken only where it gains, is the mean of
    max(x, 0): s φ(m/s) + m Φ(m/s); for m = 0 that is s/√(2π), by which it is turned back into a size.
    """
    own = choice.expected
    if not any((choice.name, level) in known for level in choice.levels):
        return own
    gains = []
    for level in choice.levels[1:]:
        mean, deviation = known.get((choice.name, level), (0.0, own))
        ratio = mean / deviation
        density = math.exp(-0.5 * ratio**2) / math.sqrt(2.0 * math.pi)
        gains.append(deviation * density + mean * float(scipy.special.ndtr(ratio)))
    return max(LEAST * own, max(gains) * math.sqrt(2.0 * math.pi))


def _rows(space: Space, finding: Finding) -> Iterator[_Row]:
    """The equations of a finding; those with a level that the space lacks are passed over."""
    place = (finding.host, finding.near)
    known = {(choice.name, level) for choice in space.choices for level in choice.levels[1:]}
    for effect in finding.effects:
        if effect.error > 0.0 and (effect.choice, effect.level) in known:
            yield _Row({(effect.choice, effect.level): 1.0}, effect.effect, effect.error, place)
    for result in finding.results:
        build, base = set(result.build.items()), set(result.base.items())
        terms = {**dict.fromkeys(sorted(build - base), 1.0), **dict.fromkeys(sorted(base - build), -1.0)}
        if result.error > 0.0 and terms and terms.keys() <= known:
            yield _Row(terms, result.gain, result.error, place)


def _best(space: Space, finding: Finding) -> Point | None:
    """The best build of an earlier run as a point of this space; None if it had none, or it is not allowed here."""
    levels = {choice.name: choice.levels for choice in space.choices}
    if not finding.best or any(level not in levels.get(name, ()) for name, level in finding.best.items()):
        return None
    point = space.point(finding.best)
    return point if point.settings and space.broken(point) is None else None
