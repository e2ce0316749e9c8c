"""The parts of a bundled study as frozen values; `burnish.catalogue.bundled.files` reads them from files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from burnish.catalogue import load
from burnish.catalogue.bundled.likeness import Likeness, NotReplicated, farthest
from burnish.catalogue.bundled.means import PublishedMean
from burnish.catalogue.bundled.published import Reference
from burnish.catalogue.patches import CataloguePatch, PatchSet
from burnish.model.recipe import Variant
from burnish.model.workload import Design, Placement

Quantity = Literal["capacity", "throughput"]
Against = Literal["base", "row"]
Measure = Literal["compile-memory"]


@dataclass(frozen=True)
class Load:
    """A load by its role in a study.

    Attributes:
        role: the study's name for it.
        reason: why this load.
        named: its name by engine.
    """

    role: str
    reason: str
    named: Mapping[str, str]


@dataclass(frozen=True)
class Series:
    """Settings with which all rows are repeated.

    Attributes:
        name: '' if the study has only one series.
        reason: why this series.
        overlay: changes to every recipe, the bases' included.
        placement: placement of its rows that name none; None: the design's.
        likeness: how near all of its comparisons are to the published ones at most; None: as near as their rows.
    """

    name: str
    reason: str
    overlay: Mapping[str, Any] = field(default_factory=dict)
    placement: Placement | None = None
    likeness: Likeness | None = None


@dataclass(frozen=True)
class Reading:
    """A comparison that is made for every row.

    Attributes:
        name: as in the table.
        title: heading of its table.
        reason: what it shows.
        against: ``base``: the row's build is compared with the base; ``row``: the row's build with the overlay is
            compared with the row's build without it.
        overlay: changes to the candidate's recipe.
        column: column of the published table for the candidate.
        against_column: column of the published table for the base.
        control: whether a candidate that turns out to be the same build is measured as an A/A control.
        second_compiler: whether the candidate is made by another compiler of the same family.
        placement: placement of its comparisons, unless the row names one; None: the series'.
        likeness: how near all of its comparisons are to the published ones at most; None: as near as their rows.
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
    placement: Placement | None = None
    likeness: Likeness | None = None


@dataclass(frozen=True)
class RowKeys:
    """What a row is, as its file says it.

    Attributes:
        title: what it is, in a few words.
        reason: why it is equivalent to the published line, in prose.
        base: name of the build that it is compared with.
        build: name of its build.
        recipe: changes of its recipe to that of `build`.
        given: condition of both sides, as on the command line (``NAME=VALUE``).
        versus: differences of the candidate's condition from that.
        loads: roles of its loads.
        threads: numbers of client threads; empty: each load's default.
        quantity: quantity that corresponds to the published figure.
        design: trial design; None: the load's, or that for conditions.
        placement: which cores servers and clients have; None: that of its reading or series, or the design's.
        none: why it has no equivalent today; None if it has.
        nearest: what comes nearest, if it has none.
        measure: what is read from the builds instead of measured in trials.
        objects: for ``compile-memory``, parts of the names of the objects.
        release: whether its build is a release binary that is found or named.
        control: whether it is its base itself.
        instrumented: whether the build that writes its recipe's profile is measured.
        base_instrumented: whether the build that writes the profile of its base is the base.
    """

    title: str
    reason: str
    base: str = "baseline"
    build: str = "baseline"
    recipe: Mapping[str, Any] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    versus: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()
    quantity: Quantity = "capacity"
    design: Design | None = None
    placement: Placement | None = None
    none: str | None = None
    nearest: tuple[str, ...] = ()
    measure: Measure | None = None
    objects: tuple[str, ...] = ()
    release: bool = False
    control: bool = False
    instrumented: bool = False
    base_instrumented: bool = False


@dataclass(frozen=True, kw_only=True)
class StudyRow(RowKeys):
    """One row of a study, with what its file names looked up.

    Attributes:
        name: as in the table and on the command line.
        published: location of its figure; None if there is none.
        published_on: by load, location of that load's figure, if it is another.
        series: names of the series that it is part of.
        readings: names of the readings that are made of it.
        patch: the bundled patch that it measures, compared with the tree without it; its loads are the patch's own.
        patch_set: the set of patches that it measures, compared with the tree without it.
        likeness: how it relates to what was published; None for a row without a published figure.
        likeness_on: by load or reading, how it relates there, if not as elsewhere and as the reading says.
    """

    name: str
    published: Reference | None = None
    series: tuple[str, ...] = ("",)
    readings: tuple[str, ...] = ("",)
    published_on: Mapping[str, Reference] = field(default_factory=dict)
    patch: CataloguePatch | None = None
    patch_set: PatchSet | None = None
    likeness: Likeness | None = None
    likeness_on: Mapping[str, Likeness] = field(default_factory=dict)

    def alike(self, reading: Reading, series: Series, load: str = "") -> Likeness | None:
        """How it relates to what was published, in a reading, a series and on a load; None if it does not say."""
        own = self.likeness_on.get(load) or self.likeness_on.get(reading.name)
        if own is None and self.likeness is None:
            return None
        parts = (own, series.likeness) if own else (self.likeness, reading.likeness, series.likeness)
        return farthest([part for part in parts if part is not None])

    def placed(self, reading: Reading, series: Series) -> Placement | None:
        """Its placement in a reading and a series: the row's own, else the reading's, else the series'.

        None: the design's, also if the row has a design of its own that cannot be measured in what is named.
        """
        named = self.placement or reading.placement or series.placement
        return named if named is None or self.design is None or self.design.allows(named) else None


@dataclass(frozen=True)
class Timeline:
    """Builds whose throughput is reported second by second.

    Attributes:
        reason: what it shows.
        rows: rows whose builds run, after the baseline.
        load: role of the load.
        threads: client threads.
        seconds: duration of each run.
        seconds_on: by engine, another duration.
    """

    reason: str
    rows: tuple[str, ...]
    load: str
    threads: int = 16
    seconds: int = 20
    seconds_on: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Robust:
    """A search for weights of training loads with which no load is slower than with the baseline.

    Attributes:
        reason: what it shows.
        build: name of the build; its recipe gets the weights.
        recipe: changes of the recipe to that of `build`.
        loads: roles of the loads, for training and test.
        alone: by role, the row that is trained on that load alone.
        rounds: maximum number of weights that are tried.
        delta: slowdown that is still accepted (0.01 = 1 %).
    """

    reason: str
    build: str = "baseline"
    recipe: Mapping[str, Any] = field(default_factory=dict)
    loads: tuple[str, ...]
    alone: Mapping[str, str] = field(default_factory=dict)
    rounds: int = 4
    delta: float = 0.01


@dataclass(frozen=True)
class Delivery:
    """The part of a study that is run by default.

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
        sources: published tables that it replicates.
        engine: the default engine.
        loads: loads by role.
        series: series by name.
        readings: readings by name.
        builds: builds of its own, by name.
        rows: as written; see `rows_for`.
        overrides: rows with an engine's overrides, by (row, engine).
        delivery: the part that is run by default; None: all of it.
        recommends: whether the best row is recommended, in per cent over the baseline.
        profiles: whether the contents of profiles are reported.
        timeline: builds whose throughput is reported by the second, if any.
        robust: a search for weights, if any.
        robust_on: by engine, the search with the engine's overrides.
        not_replicated: what the published tables have without any counterpart here.
        former: rows that only older records have, by name: how these relate to what was published.
        means: means over the published tables, as stated and computed again.
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
    not_replicated: tuple[NotReplicated, ...] = ()
    former: Mapping[str, Likeness] = field(default_factory=dict)
    means: tuple[PublishedMean, ...] = ()

    def robust_for(self, engine: str) -> Robust | None:
        """The search with this engine's overrides."""
        return self.robust_on.get(engine, self.robust)

    def rows_for(self, engine: str) -> tuple[StudyRow, ...]:
        """The rows with this engine's overrides."""
        return tuple(self.overrides.get((row.name, engine), row) for row in self.rows)

    def build(self, name: str) -> Variant:
        """A build of the study's own or of the catalogue; a `UserError` otherwise."""
        return load.variant(name, self.builds)
