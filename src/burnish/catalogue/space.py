"""The catalogue of what a search may change, as a space of names, and the recipes that its points stand for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from burnish.base.errors import UserError, unknown
from burnish.catalogue import flags, sources
from burnish.catalogue.bundled.overlays import overlaid
from burnish.catalogue.edge import ROOT, Entry, Reason, read_toml, validated
from burnish.catalogue.load import variant, variant_with
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Marks, Recipe, Variant
from burnish.model.workload import OWN_TESTS
from burnish.search.space import Choice, Forbidden, Point, Space, Step

FILE = "space.toml"

MEASURED, ENGINE = "@measured", "@engine"
"""In a level's training: the loads that are searched for, by their weights; those that the engine trains on usually."""

MARKS = Marks(changes_results=True, narrows_portability=True, weakens_security=True).words
"""Every mark that a user may allow."""


Level = tuple[str, str]
"""A choice and its level."""


class _Choice(Entry):
    reason: Reason
    step: Literal["compile", "train", "optimise", "relink", "rewrite"]
    expected: float = Field(gt=0.0, le=50.0)
    levels: dict[str, dict[str, Any]] = Field(min_length=2)
    marks: tuple[Literal["changes results", "narrows portability", "weakens security"], ...] = ()
    engines: tuple[str, ...] = ()
    language: Literal["C", "C++"] | None = None
    source: str = ""


class _Rule(Entry):
    reason: Reason
    when: dict[str, tuple[str, ...]] = Field(min_length=1)
    forbids: dict[str, tuple[str, ...]] = Field(min_length=1)


class _Rung(Entry):
    reason: Reason
    levels: dict[str, str] = Field(min_length=1)


class _File(Entry):
    bolt_defaults: tuple[str, ...] | None = None
    choice: dict[str, _Choice] = Field(default_factory=dict)
    rule: tuple[_Rule, ...] = ()
    rung: dict[str, _Rung] = Field(default_factory=dict)


@dataclass(frozen=True)
class SpaceFile:
    """The catalogue's space, and what its levels do to a recipe.

    Attributes:
        space: names, steps, rules.
        overlays: by choice and level, the difference to a recipe.
        bolt_defaults: BOLT's options where a recipe names none.
        engines: by choice, for which engines it is; empty: for all.
        languages: by choice, the language of the servers that it is for; None: of any.
        sources: by choice, where it is from: what its entry states, else the sources of its levels' parts.
    """

    space: Space
    overlays: Mapping[tuple[str, str], Mapping[str, Any]]
    bolt_defaults: tuple[str, ...]
    engines: Mapping[str, tuple[str, ...]]
    languages: Mapping[str, str | None]
    sources: Mapping[str, tuple[str, ...]]

    def for_engine(self, spec: EngineSpec, allowed: tuple[str, ...] = ()) -> Space:
        """The space of an engine, without choices that its server can't have and levels whose marks a user forbids.

        Raises:
            UserError: there is no such mark.
        """
        for mark in allowed:
            if mark not in MARKS:
                raise unknown("mark", mark, MARKS)
        own = [one for one in self.space.choices if self._is_for(one, spec)]
        return self.space.only(own, {}).unmarked(allowed)

    def _is_for(self, choice: Choice, spec: EngineSpec) -> bool:
        """Whether an engine is named, its server in the language, and there are libraries to link in if need be."""
        links_in = any(self.overlays[choice.name, level].get("static") == "libraries" for level in choice.levels)
        return (
            (not self.engines[choice.name] or spec.name in self.engines[choice.name])
            and self.languages[choice.name] in (None, spec.language)
            and (bool(spec.linking.linked_in) or not links_in)
        )

    def trained_on(self, spec: EngineSpec, weights: Mapping[str, float]) -> SpaceFile:
        """The same with what `@measured` and `@engine` stand for in a training; levels that mean nothing here are gone.

        Args:
            spec: the engine.
            weights: by load (`Workload.identity`), its weight in what is searched for.
        """
        usual = _shares(dict(spec.training))
        known, had = {MEASURED: _shares(weights), ENGINE: usual}, [usual]
        overlays, gone = dict(self.overlays), set[Level]()
        for pair, overlay in self.overlays.items():
            if "training" not in overlay:
                continue
            found = _expanded(overlay["training"], known)
            if (OWN_TESTS in found and not spec.gate_tests) or found in had:
                gone.add(pair)
                continue
            had.append(found)
            overlays[pair] = {**overlay, "training": [list(one) for one in found.items()]}
        choices = [
            replace(one, levels=tuple(level for level in one.levels if (one.name, level) not in gone))
            for one in self.space.choices
        ]
        return replace(self, space=self.space.only(choices, self.space.left_out), overlays=overlays)

    def recipe(self, point: Point) -> Recipe:
        """The recipe that a point stands for."""
        recipe, bolt = variant("baseline").recipe, list(self.bolt_defaults)
        for pair in point.settings:
            overlay = dict(self.overlays[pair])
            for option in overlay.pop("bolt_options", ()):
                key = option.partition("=")[0]
                bolt = [one for one in bolt if one.partition("=")[0] != key] + [option]
            recipe = overlaid(recipe, overlay, f"{FILE}: {'='.join(pair)}")
        return recipe if tuple(bolt) == self.bolt_defaults else replace(recipe, bolt_options=tuple(bolt))

    def point(self, recipe: Mapping[str, Any]) -> Point | None:
        """The point that stands for a recipe, given as plain values; None if there is none."""
        known = _plain({**Recipe().as_dict(), **recipe})
        settings = {}
        for choice in self.space.choices:
            overlays = {level: self.overlays[choice.name, level] for level in choice.levels[1:]}
            fitting = [level for level, overlay in overlays.items() if _has(known, overlay)]
            if fitting:  # of levels that contain another one, such as longer trainings, the last
                settings[choice.name] = fitting[-1]
        point = self.space.point(settings)
        return point if _unordered(_plain(self.recipe(point).as_dict())) == _unordered(known) else None

    def variant(self, point: Point, name: str) -> Variant:
        """The build that a point stands for, under a name of its own, with the marks of its levels."""
        made = variant_with(name, self.recipe(point), f"a build of the search: {point.words}")
        words = {mark for choice, level in point.settings for mark in self.space.choice(choice).marks.get(level, ())}
        return replace(
            made,
            weakens_security=made.weakens_security or "weakens security" in words,
            changes_results=made.changes_results or "changes results" in words,
            narrows_portability=made.narrows_portability or "narrows portability" in words,
        )


@cache
def space_file(own: Path | None = None) -> SpaceFile:
    """The catalogue's space, or that of a user's own file.

    Raises:
        UserError: the file cannot be read, or an entry is wrong.
    """
    path = own or ROOT / FILE
    return read_space(read_toml(path), path.name)


def read_space(table: Mapping[str, Any], where: str) -> SpaceFile:
    """The space of a table in the catalogue's format, from the file `where`."""
    file = validated(_File, table, where)
    if not file.choice:
        raise UserError(f"{where}: the space is empty: it has no [choice.NAME]; `burnish space ENGINE` shows some")
    overlays: dict[tuple[str, str], Mapping[str, Any]] = {}
    recipes: dict[tuple[str, str], Recipe] = {}
    for name, entry in file.choice.items():
        for level, overlay in entry.levels.items():
            overlays[name, level] = overlay
            recipes[name, level] = overlaid(Recipe(), overlay, f"{where}: {name}={level}")
    choices = tuple(
        Choice(
            name,
            tuple(entry.levels),
            Step[entry.step.upper()],
            entry.reason,
            entry.expected / 100.0,
            {level: words for level in list(entry.levels)[1:] if (words := _marks(entry, recipes[name, level]))},
        )
        for name, entry in file.choice.items()
    )
    for name, entry in file.choice.items():
        if overlays[name, next(iter(entry.levels))]:
            raise UserError(f"{where}: {name}: the first level is the usual one and changes nothing; give it as {{}}")
    written = [
        Forbidden({**rule.when, name: levels}, rule.reason)
        for rule in file.rule
        for name, levels in rule.forbids.items()
    ]
    forbidden = (*written, *_of_flags(recipes))
    bare = Space(choices, forbidden)
    rungs = {name: bare.point(rung.levels) for name, rung in file.rung.items()}
    space = replace(bare, rungs=rungs)
    return SpaceFile(
        space,
        overlays,
        space_file().bolt_defaults if file.bolt_defaults is None else file.bolt_defaults,
        {name: entry.engines for name, entry in file.choice.items()},
        {name: entry.language for name, entry in file.choice.items()},
        {
            name: tuple(
                dict.fromkeys(one for level in entry.levels for one in sources.of(entry.source, recipes[name, level]))
            )
            for name, entry in file.choice.items()
        },
    )


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as a record has them."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(values)))
    return plain


def _has(recipe: Mapping[str, Any], overlay: Mapping[str, Any]) -> bool:
    """Whether a recipe has what an overlay changes."""
    for name, value in _plain(overlay).items():
        own = recipe[name]
        joined = isinstance(value, list) and name != "training"
        if own != value if not joined else any(one not in own for one in value):
            return False
    return True


def _unordered(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe whose lists are compared whatever their order."""
    return {name: sorted(map(str, value)) if isinstance(value, list) else value for name, value in recipe.items()}


def _shares(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights that add up to 1, rounded so that equal trainings have equal names."""
    total = sum(weights.values())
    return {name: round(weight / total, 3) for name, weight in weights.items()}


def _expanded(training: Sequence[Sequence[Any]], known: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """A training whose groups of loads are replaced by their loads, as shares."""
    found: dict[str, float] = {}
    for name, weight in training:
        for load, share in known.get(name, {name: 1.0}).items():
            found[load] = found.get(load, 0.0) + weight * share
    return _shares(found)


def _marks(entry: _Choice, recipe: Recipe) -> tuple[str, ...]:
    """The marks of a level: those of its flags and target, and those that its choice states."""
    return tuple(dict.fromkeys((*flags.marks(recipe).words, *entry.marks)))


def _of_flags(recipes: Mapping[tuple[str, str], Recipe]) -> list[Forbidden]:
    """What the flags' own entries forbid: compilers that lack them, builds without what they need, contradictions."""
    families = {
        level: recipe.toolchain.partition("-")[0] for (name, level), recipe in recipes.items() if name == "compiler"
    }
    none = tuple(level for (name, level), recipe in recipes.items() if name == "profile" and not recipe.pgo)
    plain = tuple(level for (name, level), recipe in recipes.items() if name == "lto" and recipe.lto == "none")
    found = []
    for (name, level), recipe in recipes.items():
        for flag in map(flags.flag, recipe.flags):
            lacking = tuple(one for one, family in families.items() if family in flag.absent)
            if lacking:
                why = "; ".join(words for family, words in flag.absent.items() if family in families.values())
                found.append(Forbidden({name: (level,), "compiler": lacking}, f"{flag.name}: {why}"))
            if flag.requires_profile and none:
                found.append(Forbidden({name: (level,), "profile": none}, f"{flag.name} needs a profile"))
            if flag.requires_lto and plain:
                found.append(Forbidden({name: (level,), "lto": plain}, f"{flag.name} needs link-time optimisation"))
    for (one, other), words in _contradictions(recipes).items():
        found.append(Forbidden({one[0]: (one[1],), other[0]: (other[1],)}, words))
    return found


def _contradictions(recipes: Mapping[Level, Recipe]) -> dict[tuple[Level, Level], str]:
    """By two levels of different choices, in which way their flags contradict each other."""
    found = {}
    flagged = {level: recipe for level, recipe in recipes.items() if recipe.flags}
    for one, other in combinations(flagged, 2):
        both = Recipe(flags=(*flagged[one].flags, *flagged[other].flags))
        try:
            if one[0] != other[0]:
                flags.check(both, f"{'='.join(one)} and {'='.join(other)}", whole=False)
        except UserError as error:
            found[one, other] = str(error)
    return found
