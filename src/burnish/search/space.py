"""The space of a search: choices with levels, what may not be together, known-good points; pure.

A space is data. What a level does to a recipe is no matter of the search: it knows names, the step that a change of
level costs, marks, and which levels exclude each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from math import prod

from burnish.base.errors import UserError


class Step(IntEnum):
    """What must be made again when a choice changes, the cheapest first."""

    REWRITE = 0
    """The linked program is rewritten (BOLT, strip), or only started otherwise."""
    RELINK = 1
    """The program is linked again; its objects come from the compiler's cache."""
    OPTIMISE = 2
    """Every object is compiled again, by the profile that is there, if the build has one."""
    TRAIN = 3
    """The instrumented build that is there is trained otherwise, then every object is compiled again."""
    COMPILE = 4
    """Every object is compiled again; of what is trained the instrumented build too, which is trained then."""

    @property
    def word(self) -> str:
        """Its name in files and tables: ``relink``."""
        return self.name.lower()


@dataclass(frozen=True)
class Choice:
    """One thing that can be built in several ways.

    Attributes:
        name: its name.
        levels: names of its levels; the first is the usual one, as in the baseline.
        step: what must be made again when it changes.
        reason: why it may help.
        expected: typical size of its effect before anything is measured, as a log-ratio.
        marks: by level, its drawbacks that no measurement shows (``weakens security``).
    """

    name: str
    levels: tuple[str, ...]
    step: Step = Step.COMPILE
    reason: str = ""
    expected: float = 0.01
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def usual(self) -> str:
        """The level of the baseline."""
        return self.levels[0]


@dataclass(frozen=True)
class Forbidden:
    """Levels that may not be together.

    Attributes:
        together: by choice, levels; a point that has one of them in every one of these choices is not allowed.
        reason: why.
    """

    together: Mapping[str, tuple[str, ...]]
    reason: str = ""

    def hits(self, levels: Mapping[str, str]) -> bool:
        """Whether these levels are what is forbidden."""
        return all(levels[name] in those for name, those in self.together.items())


@dataclass(frozen=True, order=True)
class Point:
    """One way to build: the choices that do not have their usual level.

    Attributes:
        settings: (choice, level) each, in the space's order.
    """

    settings: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> str:
        """For people: ``bolt=yes, lto=thin``."""
        return ", ".join(f"{name}={level}" for name, level in self.settings) or "the baseline"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the choices that do not have their usual level."""
        return tuple(name for name, _ in self.settings)


@dataclass(frozen=True)
class Space:
    """Everything that a search may build.

    Attributes:
        choices: the choices, in the order in which their settings are applied.
        forbidden: what may not be together.
        rungs: known-good points by name, the simplest first.
        left_out: by level (``hardening=off``), why the search does not try it.
        first: names of the rungs that are measured first: those that were best in earlier runs.
        added: names of the rungs that are known from earlier runs alone. Neither is in its text, of which digests are
            made.

    Raises:
        UserError: a rule or a rung names what is no level, or a rung is forbidden.
    """

    choices: tuple[Choice, ...]
    forbidden: tuple[Forbidden, ...] = ()
    rungs: Mapping[str, Point] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    first: tuple[str, ...] = field(default=(), repr=False)
    added: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        known = {choice.name: choice.levels for choice in self.choices}
        named = [
            pair
            for rule in self.forbidden
            for name, those in rule.together.items()
            for pair in ((name, one) for one in those)
        ]
        named += [pair for point in self.rungs.values() for pair in point.settings]
        for name, level in named:
            if level not in known.get(name, ()):
                what = (
                    f"levels of {name} are {', '.join(known[name])}"
                    if name in known
                    else f"choices are {', '.join(known)}"
                )
                raise UserError(f"space: there is no {name}={level}; {what}")
        for name, point in {"the baseline": Point(), **self.rungs}.items():
            if (rule := self.broken(point)) is not None:
                raise UserError(f"space: {name} is forbidden by its own rule: {rule.reason or dict(rule.together)}")

    @property
    def known_good(self) -> tuple[Point, ...]:
        """The rungs in the order in which they are measured."""
        return tuple(self.rungs[name] for name in dict.fromkeys((*self.first, *self.rungs)))

    @property
    def doubted(self) -> frozenset[tuple[str, str]]:
        """(choice, level) that only rungs from earlier runs have: what it brought there may be worth nothing here."""
        pairs = {name: set(point.settings) for name, point in self.rungs.items()}
        own = set[tuple[str, str]]().union(*(those for name, those in pairs.items() if name not in self.added))
        return frozenset(set[tuple[str, str]]().union(*(pairs[name] for name in self.added)) - own)

    def choice(self, name: str) -> Choice:
        """The choice of that name."""
        return next(choice for choice in self.choices if choice.name == name)

    def point(self, settings: Mapping[str, str]) -> Point:
        """The point with these levels, all other choices at their usual one."""
        levels = {choice.name: settings.get(choice.name, choice.usual) for choice in self.choices}
        return Point(tuple((one.name, levels[one.name]) for one in self.choices if levels[one.name] != one.usual))

    def levels(self, point: Point) -> dict[str, str]:
        """The level of every choice at a point."""
        return {choice.name: choice.usual for choice in self.choices} | dict(point.settings)

    def changed(self, point: Point, changes: Mapping[str, str], keep: Sequence[str] = ()) -> Point:
        """The same point with other levels of some choices, made allowed.

        These choices are the last to give way, together with those in `keep`.
        """
        return self.repaired(self.point({**self.levels(point), **changes}), keep=(*changes, *keep))

    def broken(self, point: Point) -> Forbidden | None:
        """The first rule that a point breaks; None if it is allowed."""
        levels = self.levels(point)
        return next((rule for rule in self.forbidden if rule.hits(levels)), None)

    def repaired(self, point: Point, keep: Sequence[str] = ()) -> Point:
        """An allowed point near this one: choices that break a rule go back to their usual level.

        Args:
            point: any point.
            keep: choices that stay as they are where another one can give way.
        """
        levels = self.levels(point)
        usual = {choice.name: choice.usual for choice in self.choices}
        while (rule := self.broken(self.point(levels))) is not None:
            # At least one of them is not at its usual level there, or the baseline were forbidden.
            ways = [name for name, those in rule.together.items() if usual[name] not in those]
            give = next((name for name in reversed(ways) if name not in keep), ways[-1])
            levels[give] = usual[give]
        return self.point(levels)

    def step(self, one: Point, other: Point) -> Step | None:
        """What must be made again for one of two points when the other is there; None if they are the same."""
        differ = set(one.settings) ^ set(other.settings)
        return max((self._steps[name] for name, _ in differ), default=None)

    @cached_property
    def _steps(self) -> Mapping[str, Step]:
        """By choice, its step: a search looks at thousands of pairs of points."""
        return {choice.name: choice.step for choice in self.choices}

    def unmarked(self, allowed: Iterable[str]) -> Space:
        """The space without levels that have a mark, except for marks that are allowed."""
        fine, left, choices = frozenset(allowed), dict(self.left_out), []
        for choice in self.choices:
            bad = {
                level: ", ".join(m for m in choice.marks.get(level, ()) if m not in fine) for level in choice.levels[1:]
            }
            left |= {f"{choice.name}={level}": words for level, words in bad.items() if words}
            choices.append(replace(choice, levels=tuple(level for level in choice.levels if not bad.get(level))))
        return self.only(choices, left)

    def only(self, choices: Sequence[Choice], left_out: Mapping[str, str]) -> Space:
        """The space with fewer choices or levels: what is gone has its usual level, rungs that need it go too."""
        choices = [choice for choice in choices if len(choice.levels) > 1]
        known = {choice.name: choice.levels for choice in choices}
        rules = []
        for rule in self.forbidden:
            kept = {
                name: tuple(one for one in those if one in known.get(name, ())) for name, those in rule.together.items()
            }
            gone = {name: those for name, those in rule.together.items() if name not in known}
            possible = all(self.choice(name).usual in those for name, those in gone.items())
            together = {name: those for name, those in kept.items() if name in known}
            if possible and all(together.values()):
                rules.append(replace(rule, together=together))
        rungs = {
            name: point
            for name, point in self.rungs.items()
            if all(level in known.get(choice, ()) for choice, level in point.settings)
        }
        return Space(tuple(choices), tuple(rules), rungs, dict(left_out))

    @property
    def size(self) -> int:
        """Number of allowed points."""
        return _count(
            {choice.name: choice.levels for choice in self.choices}, [dict(rule.together) for rule in self.forbidden]
        )


Rules = Sequence[Mapping[str, Sequence[str]]]


def _count(levels: Mapping[str, Sequence[str]], rules: Rules) -> int:
    """Number of allowed points: branches on the choice that most rules name, multiplies what is independent."""
    named = [name for rule in rules for name in rule]
    total = prod(len(those) for name, those in levels.items() if name not in named)
    for part, own in _parts(rules):
        branch = max(sorted(part), key=named.count)
        rest = {name: levels[name] for name in part if name != branch}
        total *= sum(_count(rest, left) for one in levels[branch] if (left := _left(own, branch, one)) is not None)
    return total


def _left(rules: Rules, name: str, level: str) -> Rules | None:
    """What the rules still forbid once a choice has this level; None if it is forbidden by itself."""
    left = [
        {other: those for other, those in rule.items() if other != name}
        for rule in rules
        if name not in rule or level in rule[name]
    ]
    return left if all(left) else None


def _parts(rules: Rules) -> list[tuple[set[str], list[Mapping[str, Sequence[str]]]]]:
    """Rules with the choices that they name, in parts that have no choice in common."""
    parts: list[tuple[set[str], list[Mapping[str, Sequence[str]]]]] = []
    for rule in rules:
        touching = [part for part in parts if part[0] & rule.keys()]
        parts = [part for part in parts if not part[0] & rule.keys()]
        names = set(rule).union(*(part[0] for part in touching))
        parts.append((names, [*(one for part in touching for one in part[1]), rule]))
    return parts
