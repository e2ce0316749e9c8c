"""What a bundled study is made of, as frozen values; `burnish.catalogue.studies` reads them from its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from burnish.catalogue import load
from burnish.catalogue.patches import CataloguePatch, PatchSet
from burnish.catalogue.published import Reference
from burnish.model.recipe import Variant
from burnish.model.workload import Design

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
        published_on: by load, where the figure of that load stands, if elsewhere.
        base: build that it is held against, by name.
        build: its build, by name.
        recipe: what its build's recipe has on top of `build`.
        given: condition of both sides, as on the command line (``NAME=VALUE``).
        versus: what sets its own condition apart.
        loads: roles of its loads.
        threads: numbers of client threads; empty: each load's own.
        quantity: which reading answers to the published figure.
        design: trial design; None: the load's, or that for conditions.
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
        patch: the shipped patch that it is about, held against the tree without it; its loads are the patch's own.
        patch_set: the set of patches that it is about, likewise.
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
    published_on: Mapping[str, Reference] = field(default_factory=dict)
    patch: CataloguePatch | None = None
    patch_set: PatchSet | None = None


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
