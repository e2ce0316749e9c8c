"""The studies that ship: what their files say (studies/*.toml), read, validated, frozen.

A study is rows: each a comparison of a build or a condition with what it is held against, with the figure that was
published for it, or with the reason why it has no equivalent today. A row is written once; `series` (a compiler, a
word size) repeat it under other circumstances, and `readings` ask more than one question of each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from burnish.catalogue import load, published
from burnish.catalogue.edge import ROOT, Entry, Reason, read_toml, validated
from burnish.catalogue.published import Reference
from burnish.errors import UserError, together, unknown
from burnish.study.model import Design, Recipe, Variant

FOLDER = ROOT / "studies"

Quantity = Literal["capacity", "throughput"]
Against = Literal["base", "row"]
Measure = Literal["compile-memory"]


@dataclass(frozen=True)
class Load:
    """A load by the part that it plays in a study.

    Attributes:
        role: the study's name for it.
        reason: why this one.
        named: what it is called, by engine.
    """

    role: str
    reason: str
    named: Mapping[str, str]


@dataclass(frozen=True)
class Series:
    """Circumstances under which all rows are repeated.

    Attributes:
        name: '' where a study has one series only.
        reason: why.
        overlay: what every recipe has on top, the bases' too.
    """

    name: str
    reason: str
    overlay: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """A question that is asked of every row.

    Attributes:
        name: as in the table.
        title: heading of its table.
        reason: what it shows.
        against: ``base``: the row's build is held against the base; ``row``: the row's build with the overlay is
            held against the row's build without.
        overlay: what the candidate's recipe has on top.
        column: of the published table: the column that answers to the candidate.
        against_column: likewise, to what it is held against.
        control: whether a candidate that is the same build after all is measured as an A/A control.
        second_compiler: whether the candidate is made by another compiler of the same family.
    """

    name: str
    title: str
    reason: str
    against: Against = "base"
    overlay: Mapping[str, Any] = field(default_factory=dict)
    column: str = ""
    against_column: str = ""
    control: bool = False
    second_compiler: bool = False


@dataclass(frozen=True)
class StudyRow:
    """One row of a study.

    Attributes:
        name: as in the table and on the command line.
        title: what it is, in a few words.
        reason: why it stands for the published line, in prose.
        published: where its figure stands; None where there is none.
        base: build that it is held against, by name.
        build: its build, by name.
        recipe: what its build's recipe has on top of `build`.
        given: condition of both sides, as on the command line (``NAME=VALUE``).
        versus: what sets its own condition apart.
        loads: roles of its loads.
        threads: numbers of client threads; empty: each load's own.
        quantity: which reading answers to the published figure.
        design: trial design; None: the load's, or solo for conditions.
        series: names of the series that it is part of.
        readings: names of the readings that are taken of it.
        none: why it has no equivalent today; None where it has.
        nearest: what comes nearest, where it has none.
        measure: what is read off the builds instead of a trial.
        objects: whose objects, for ``compile-memory``: any part of their names.
        release: whether its build is a release binary that is found or named.
        control: whether it is its base once more.
        instrumented: whether the build that writes the profile of its recipe is measured.
        base_instrumented: likewise of its base.
    """

    name: str
    title: str
    reason: str
    published: Reference | None = None
    base: str = "baseline"
    build: str = "baseline"
    recipe: Mapping[str, Any] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    versus: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()
    quantity: Quantity = "capacity"
    design: Design | None = None
    series: tuple[str, ...] = ("",)
    readings: tuple[str, ...] = ("",)
    none: str | None = None
    nearest: tuple[str, ...] = ()
    measure: Measure | None = None
    objects: tuple[str, ...] = ()
    release: bool = False
    control: bool = False
    instrumented: bool = False
    base_instrumented: bool = False


@dataclass(frozen=True)
class Timeline:
    """Builds whose throughput is told second by second.

    Attributes:
        reason: what it shows.
        rows: rows whose builds run, after the baseline.
        load: role of the load.
        threads: client threads.
        seconds: how long each runs.
        seconds_on: by engine, where it is another length.
    """

    reason: str
    rows: tuple[str, ...]
    load: str
    threads: int
    seconds: int
    seconds_on: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Robust:
    """A search for weights of training loads under which no load is slower than the baseline.

    Attributes:
        reason: what it shows.
        build: what is built, by name; its recipe gets the weights.
        recipe: what that has on top.
        loads: roles of the loads, for training and test.
        alone: by role, the row that is trained on that load alone.
        rounds: most weights that are tried.
        delta: share of 1 that counts for no difference.
    """

    reason: str
    build: str
    recipe: Mapping[str, Any]
    loads: tuple[str, ...]
    alone: Mapping[str, str]
    rounds: int
    delta: float


@dataclass(frozen=True)
class Delivery:
    """The part of a study that is run when nothing else is asked.

    Attributes:
        reason: why this part first.
        series: names of its series; empty: all.
        threads: its numbers of client threads; empty: all.
    """

    reason: str
    series: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()


@dataclass(frozen=True)
class Study:
    """A study's file.

    Attributes:
        name: the file's name.
        title: as in a list.
        reason: what it replicates and what is different today.
        sources: published tables that it answers to.
        engine: the one that is taken when none is named.
        loads: by role.
        series: by name.
        readings: by name.
        builds: builds of its own, by name.
        rows: as written; see `row_for`.
        overrides: by row and engine, the row as that engine has it.
        delivery: the part that is run first; None: all of it.
        recommends: whether the best row is told, in per cent over the baseline.
        profiles: whether what is in each profile is told.
        timeline: builds whose throughput is told by the second; None: none.
        robust: a search for weights; None: none.
        robust_on: by engine, the search as that engine has it.
    """

    name: str
    title: str
    reason: str
    sources: tuple[str, ...]
    engine: str
    loads: Mapping[str, Load]
    series: Mapping[str, Series]
    readings: Mapping[str, Reading]
    builds: Mapping[str, Variant]
    rows: tuple[StudyRow, ...]
    overrides: Mapping[tuple[str, str], StudyRow]
    delivery: Delivery | None = None
    recommends: bool = False
    profiles: bool = False
    timeline: Timeline | None = None
    robust: Robust | None = None
    robust_on: Mapping[str, Robust] = field(default_factory=dict)

    def robust_for(self, engine: str) -> Robust | None:
        """The search as this engine has it."""
        return self.robust_on.get(engine, self.robust)

    def rows_for(self, engine: str) -> tuple[StudyRow, ...]:
        """The rows as this engine has them."""
        return tuple(self.overrides.get((row.name, engine), row) for row in self.rows)

    def build(self, name: str) -> Variant:
        """A build of the study's own or of the catalogue; a `UserError` otherwise."""
        return load.variant(name, self.builds)


class _Reference(Entry):
    table: str
    line: str
    against: str = ""
    column: str = ""
    against_column: str = ""


class _Load(Entry):
    reason: Reason
    mariadb: str | None = None
    mysql: str | None = None
    sqlite: str | None = None
    fake: str | None = None


class _Series(Entry):
    reason: Reason
    recipe: dict[str, Any] = Field(default_factory=dict)


class _Reading(Entry):
    title: str
    reason: Reason
    against: Against = "base"
    recipe: dict[str, Any] = Field(default_factory=dict)
    column: str = ""
    against_column: str = ""
    control: bool = False
    second_compiler: bool = False


class _Row(Entry):
    title: str = Field(min_length=3)
    reason: Reason
    published: _Reference | None = None
    base: str = "baseline"
    build: str = "baseline"
    recipe: dict[str, Any] = Field(default_factory=dict)
    given: tuple[str, ...] = ()
    versus: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()
    quantity: Quantity = "capacity"
    design: Design | None = None
    series: tuple[str, ...] | None = None
    readings: tuple[str, ...] | None = None
    none: Reason | None = None
    nearest: tuple[str, ...] = ()
    measure: Measure | None = None
    objects: tuple[str, ...] = ()
    release: bool = False
    control: bool = False
    instrumented: bool = False
    base_instrumented: bool = False


class _Timeline(Entry):
    reason: Reason
    rows: tuple[str, ...]
    load: str
    threads: int = Field(default=16, gt=0)
    seconds: int = Field(default=20, ge=2)
    seconds_on: dict[str, int] = Field(default_factory=dict)


class _Robust(Entry):
    reason: Reason
    build: str = "baseline"
    recipe: dict[str, Any] = Field(default_factory=dict)
    loads: tuple[str, ...]
    alone: dict[str, str] = Field(default_factory=dict)
    rounds: int = Field(default=4, ge=1)
    delta: float = Field(default=0.01, gt=0, lt=0.2)
    on: dict[str, dict[str, Any]] = Field(default_factory=dict)


class _Delivery(Entry):
    reason: Reason
    series: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()


class _Study(Entry):
    title: str
    reason: Reason
    sources: tuple[str, ...] = ()
    engine: str = "mariadb"
    loads: dict[str, _Load]
    series: dict[str, _Series] = Field(default_factory=dict)
    readings: dict[str, _Reading] = Field(default_factory=dict)
    builds: dict[str, Any] = Field(default_factory=dict)
    defaults: dict[str, Any] = Field(default_factory=dict)
    row: dict[str, dict[str, Any]]
    first_delivery: _Delivery | None = None
    recommends: bool = False
    profiles: bool = False
    timeline: _Timeline | None = None
    robust: _Robust | None = None


def names() -> tuple[str, ...]:
    """The studies that ship."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def study(name: str) -> Study:
    """The study called `name`; a `UserError` with the nearest name otherwise."""
    if name not in names():
        raise unknown("study that ships", name, names())
    return read(FOLDER / f"{name}.toml")


def read(path: Path) -> Study:
    """The study of a file; a `UserError` with every line that is wrong with it."""
    where = path.name
    entry = validated(_Study, read_toml(path), where)
    series = {name: Series(name, each.reason, each.recipe) for name, each in entry.series.items()}
    readings = {
        name: Reading(name=name, overlay=each.recipe, **each.model_dump(exclude={"recipe"}))
        for name, each in entry.readings.items()
    }
    loads = {
        role: Load(role, each.reason, {k: v for k, v in each.model_dump(exclude={"reason"}).items() if v is not None})
        for role, each in entry.loads.items()
    }
    found = Study(
        name=path.stem,
        title=entry.title,
        reason=entry.reason,
        sources=entry.sources,
        engine=entry.engine,
        loads=loads,
        series=series or {"": Series("", entry.reason)},
        readings=readings or {"": Reading("", "", entry.reason)},
        builds=load.variants_of(entry.builds, where, path.parent),
        rows=(),
        overrides={},
        delivery=Delivery(**entry.first_delivery.model_dump()) if entry.first_delivery else None,
        recommends=entry.recommends,
        profiles=entry.profiles,
        timeline=Timeline(**entry.timeline.model_dump()) if entry.timeline else None,
        robust=Robust(**entry.robust.model_dump(exclude={"on"})) if entry.robust else None,
    )
    rows, overrides, problems = [], {}, []
    for name, value in entry.row.items():
        plain = {key: each for key, each in value.items() if key != "on"}
        try:
            rows.append(_row(found, name, {**entry.defaults, **plain}, where))
            for engine, other in value.get("on", {}).items():
                overrides[name, engine] = _row(found, name, {**entry.defaults, **plain, **other}, where)
        except UserError as error:
            problems.append(error)
    problems += _loose_ends(found, entry, where)
    if problems:
        raise together(problems)
    searches = {engine: _on(found.robust, other) for engine, other in (entry.robust.on if entry.robust else {}).items()}
    return replace(found, rows=tuple(rows), overrides=overrides, robust_on=searches)


def _on(robust: Robust | None, other: Mapping[str, Any]) -> Robust:
    """The search as an engine has it."""
    assert robust is not None  # noqa: S101 - overrides are its own
    changed = _Robust(**{**{key: getattr(robust, key) for key in _Robust.model_fields if key != "on"}, **other})
    return Robust(**changed.model_dump(exclude={"on"}))


def _loose_ends(study: Study, entry: _Study, where: str) -> list[UserError]:
    """Names in the analyses that are not there."""
    asked: list[tuple[str, str, Collection[str]]] = []
    if entry.timeline is not None:
        asked += [("row in timeline", name, entry.row) for name in entry.timeline.rows]
        asked.append(("load in timeline", entry.timeline.load, study.loads))
    if entry.robust is not None:
        asked += [("load in robust", role, study.loads) for role in (*entry.robust.loads, *entry.robust.alone)]
        asked += [("row in robust", name, entry.row) for name in entry.robust.alone.values()]
    return [unknown(f"{what} of {where}", name, known) for what, name, known in asked if name not in known]


def _row(study: Study, name: str, value: Mapping[str, Any], where: str) -> StudyRow:
    """One row, with every name that it says looked up."""
    where = f"{where}: row {name}"
    entry = validated(_Row, value, where)
    for kind, given, known in (
        ("load", entry.loads, study.loads),
        ("series", entry.series or (), study.series),
        ("reading", entry.readings or (), study.readings),
    ):
        for each in given:
            if each not in known:
                raise unknown(f"{kind} in {where}", each, known)
    reference = Reference(**entry.published.model_dump()) if entry.published else None
    if reference is not None:
        if reference.line not in published.lines(reference.table):
            raise unknown(f"line of {reference.table} in {where}", reference.line, published.lines(reference.table))
        if reference.against and reference.against not in published.lines(reference.table):
            raise unknown(f"line of {reference.table} in {where}", reference.against, published.lines(reference.table))
    if entry.none is None:
        for build in (entry.base, entry.build):
            study.build(build)
        if not entry.loads and entry.measure is None:
            raise UserError(f"{where}: it has no loads; name them, or say in `none` why it has no equivalent today")
    if entry.measure is not None and not entry.objects:
        raise UserError(f"{where}: objects: name the objects whose compile is looked at")
    values = {key: getattr(entry, key) for key in _Row.model_fields if key not in ("published", "series", "readings")}
    return StudyRow(
        name=name,
        published=reference,
        series=tuple(study.series) if entry.series is None else entry.series,
        readings=tuple(study.readings) if entry.readings is None else entry.readings,
        **values,
    )


_JOINED = ("c", "cxx", "link", "remove", "flags", "patches", "bolt_options")
"""Fields of a recipe that an overlay adds to; the others it replaces."""


ROLE = "@"
"""Before the role of a load in an overlay's training, instead of an engine's name for it."""


def named(overlay: Mapping[str, Any], study: Study, engine: str) -> Mapping[str, Any]:
    """An overlay whose trainings name this engine's loads; a `UserError` for a role that it has none for."""
    if "training" not in overlay:
        return overlay
    training = []
    for word, weight in overlay["training"]:
        role = str(word).removeprefix(ROLE)
        if word == role:
            training.append([word, weight])
            continue
        if role not in study.loads:
            raise unknown(f"load of {study.name}", role, study.loads)
        name = study.loads[role].named.get(engine)
        if name is None:
            raise UserError(f"{engine} has no load for {role}, which the row is trained on")
        training.append([name, weight])
    return {**overlay, "training": training}


def overlaid(recipe: Recipe, overlay: Mapping[str, Any], where: str) -> Recipe:
    """A recipe with what an overlay says on top; paths of patches relative to the studies' folder."""
    if not overlay:
        return recipe
    added = load.recipe_of(overlay, where, FOLDER)
    changes: dict[str, Any] = {name: getattr(added, name) for name in overlay}
    for name in _JOINED:
        if name in changes:
            mine = getattr(recipe, name)
            changes[name] = (*mine, *(word for word in changes[name] if word not in mine))
    if "options" in changes:
        changes["options"] = tuple({**dict(recipe.options), **dict(changes["options"])}.items())
    return replace(recipe, **changes)
