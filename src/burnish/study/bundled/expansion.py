"""From a study's file to its comparisons on an engine: a cell for each row, series, reading, load and thread count."""

from __future__ import annotations

import itertools
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.catalogue.bundled import published
from burnish.catalogue.bundled.model import Reading, Series, Study, StudyRow
from burnish.catalogue.bundled.overlays import named, overlaid
from burnish.catalogue.bundled.published import Figure, Reference
from burnish.engines.contract import OwnData
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Marks, Recipe, Variant
from burnish.study.bundled import patches
from burnish.study.bundled.patches import Sides
from burnish.study.comparison import BASELINE, RELEASE, Comparison
from burnish.study.request import workloads as workload_choice
from burnish.toolchain.toolchains import Toolchain
from burnish.workload.conditions import condition_of, difference


@dataclass(frozen=True)
class OwnLoads:
    """The user's loads and data in the place of a bundled study's.

    Attributes:
        words: loads as requested; empty: the file's.
        data: the user's data for the user's loads.
        settings: server settings of the user's configuration file.
    """

    words: tuple[str, ...] = ()
    data: OwnData | None = None
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Expanded:
    """A bundled study's comparisons on an engine.

    Attributes:
        engine: the engine.
        comparisons: all of them, in the order of measurement.
        variants: the builds that they need, by name, the baseline first.
        instrumented: names of builds that end with the stage that writes a profile.
        architecture: the host's, as the kernel names it; it decides what patches can show.
    """

    engine: EngineSpec
    comparisons: tuple[Comparison, ...]
    variants: Mapping[str, Variant]
    instrumented: frozenset[str] = frozenset()
    architecture: str = ""


@dataclass
class _Builds:
    """Builds by name; equal recipes are one build."""

    variants: dict[str, Variant] = field(default_factory=dict)
    names: dict[tuple[Recipe, bool], str] = field(default_factory=dict)
    instrumented: set[str] = field(default_factory=set)

    def add(
        self, name: str, recipe: Recipe, reason: str, *, instrumented: bool = False, marks: Marks | None = None
    ) -> str:
        """The name of the build with this recipe; if the recipe is new, `name` or a variation of it that is free."""
        if (recipe, instrumented) not in self.names:
            likes = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
            unused = next(candidate for candidate in likes if candidate not in self.variants)
            self.names[recipe, instrumented] = unused
            variant = load.variant_with(unused, recipe, reason)
            self.variants[unused] = replace(variant, **asdict(variant.marks | marks)) if marks else variant
            self.instrumented |= {unused} if instrumented else set()
        return self.names[recipe, instrumented]


def expand(
    study: Study,
    engine: EngineSpec,
    *,
    threads: Sequence[int] = (),
    settings: Sequence[str] = (),
    own: OwnLoads | None = None,
    second: Mapping[str, str | None] | None = None,
    architecture: str | None = None,
    unreleased: str | None = None,
) -> Expanded:
    """All comparisons of a study on an engine, by series, then rows, readings, loads and threads.

    Args:
        study: the study.
        engine: the engine.
        threads: numbers of client threads in place of the rows' own, for rows that have a ladder.
        settings: condition of all sides, in addition to the rows' own.
        own: the user's loads in place of the file's; None: the file's.
        second: by compiler family, another compiler of it on this machine, or None.
        architecture: as the kernel names it; None: this machine's.
        unreleased: why there is no release binary here; None: there is one, or it can be fetched.
    """
    here = architecture or platform.machine()
    builds = _started()
    every = _every(study, engine, builds, threads, tuple(settings), own or OwnLoads(), second, here, unreleased)
    return Expanded(engine, tuple(every), builds.variants, frozenset(builds.instrumented), here)


def engines_of(study: Study) -> tuple[str, ...]:
    """The engines for users on which at least one comparison can be measured, the study's own first."""
    others = (load.engine(name) for name in load.engine_names() if name != study.engine)
    return (study.engine, *(engine.name for engine in others if _has_any(study, engine)))


def _has_any(study: Study, engine: EngineSpec) -> bool:
    every = _every(study, engine, _started(), (), (), OwnLoads(), None, platform.machine(), None)
    return any(comparison.reason is None and not comparison.control for comparison in every)


def _started() -> _Builds:
    """The builds of a study that has the baseline only."""
    builds = _Builds()
    builds.add(BASELINE, Recipe(), load.variant(BASELINE).reason)
    return builds


def _every(
    study: Study,
    engine: EngineSpec,
    builds: _Builds,
    threads: Sequence[int],
    settings: tuple[str, ...],
    own: OwnLoads,
    second: Mapping[str, str | None] | None,
    architecture: str,
    unreleased: str | None,
) -> Iterator[Comparison]:
    """As `expand`, one after the other: to make all of a large study takes a second."""
    for series in study.series.values():
        for row in study.rows_for(engine.name):
            if series.name in row.series:
                steps = tuple(threads) if threads and row.threads else row.threads
                for name in row.readings:
                    reading = study.readings[name]
                    made = _Maker(
                        study, engine, row, series, reading, builds, settings, own, second, architecture, unreleased
                    )
                    yield from made.comparisons(steps)


def other_compilers(toolchains: Sequence[Toolchain]) -> dict[str, str | None]:
    """By family, the compiler used as another patch level of the newest: one of the same major version if possible."""
    others: dict[str, str | None] = {}
    for family in ("gcc", "clang"):
        compilers = [toolchain for toolchain in toolchains if toolchain.family == family]
        # The sort is stable: without one of the same major it is the next newest.
        rest = sorted(compilers[1:], key=lambda compiler: compiler.major != compilers[0].major)
        others[family] = rest[0].name if rest else None
    return others


@dataclass(frozen=True)
class _Maker:
    """One row under one series and reading."""

    study: Study
    engine: EngineSpec
    row: StudyRow
    series: Series
    reading: Reading
    builds: _Builds
    settings: tuple[str, ...]
    own: OwnLoads
    second: Mapping[str, str | None] | None
    architecture: str
    unreleased: str | None

    def comparisons(self, steps: Sequence[int]) -> list[Comparison]:
        """The row's cells, one for each load and number of threads."""
        row = self.row
        if row.measure is not None:
            base, candidate, why = self._pair()
            return [replace(self._bare(base, candidate), reason=why)]
        load_and_threads = ((load, number) for load in self._loads() for number in steps or (None,))
        return [comparison for load, number in load_and_threads for comparison in self._under(*load, number)]

    def _loads(self) -> list[tuple[str, str | None, tuple[str, ...]]]:
        """Each of the row's loads: its role, the engine's name for it, the settings that belong to it here."""
        if self.own.words:
            return [(word, word, ()) for word in self.own.words]
        if self.row.patch is not None:
            return [(load.workload, load.workload, load.words) for load in self.row.patch.loads] or [("", None, ())]
        loads = self.study.loads
        return [
            (role, loads[role].named.get(self.engine.name) if role else None, ()) for role in self.row.loads or ("",)
        ]

    def _bare(self, base: str, candidate: str) -> Comparison:
        row = self.row
        return Comparison(
            row.name,
            self.series.name,
            self.reading.name,
            "",
            None,
            base,
            candidate,
            published=published.figure(row.published) if row.published else None,
            measure=row.measure,
            objects=row.objects,
            likeness=row.alike(self.reading, self.series) if row.published else None,
        )

    def _under(self, role: str, name: str | None, settings: tuple[str, ...], number: int | None) -> list[Comparison]:
        """The row's cells on one load; a suite has one for each of its tests."""
        row, reading = self.row, self.reading
        figure = self._figure(role, number)
        plain = Comparison(
            row.name, self.series.name, reading.name, role, number, row.base, row.build,
            quantity=row.quantity, design=row.design, placement=row.placed(reading, self.series),
            published=figure, own_base=True, shows=patches.shows(row, self.architecture),
            likeness=row.alike(reading, self.series, role) if figure and not row.none else None,
        )  # fmt: skip
        owner = patches.engine_of(row)
        if owner not in (None, self.engine.name):
            return [replace(plain, reason=f"its patches are for {owner}, not for {self.engine.name}", final=True)]
        if row.none is not None:
            lack = patches.NO_PATCH if row.patch else "no equivalent today"
            near = f"; nearest: {', '.join(row.nearest)}" if row.nearest else ""
            return [replace(plain, reason=f"{lack}: {row.none}{near}", final=True)]
        if name is None:
            return [replace(plain, reason=f"{self.engine.title} has no load for {role}", final=True)]
        try:
            workloads = workload_choice.choose(
                self.engine,
                [name],
                ladder=(number,) if number else (),
                data=self.own.data,
                settings=self.own.settings,
            )
            given = (*self.settings, *row.given, *settings)
            first = condition_of(given, self.engine.settings)
            second = condition_of(row.versus, self.engine.settings, over=first, option="--versus")
        except UserError as error:
            return [replace(plain, reason=f"not known to this Burnish: {error}")]
        base, candidate, why = self._pair()
        why = self.unreleased if row.release and self.unreleased else why
        conditions_differ = bool(difference(first, second))
        control = why is None and base == candidate and not conditions_differ and not row.release
        idle = control and not (row.control or reading.control)
        comparison = replace(
            plain,
            base=base,
            candidate=RELEASE if row.release else candidate,
            given=given,
            versus=row.versus,
            control=control,
            release=row.release,
            reason=f"{row.build} is its base: nothing differs" if idle else why,
            final=idle,
        )
        suite = len(workloads) > 1
        return [
            replace(comparison, workload=workload, test=workload.name.partition(":")[2] if suite else "")
            for workload in workloads
        ]

    def _pair(self) -> tuple[str, str, str | None]:
        """(base, candidate, why not) of the row under its series and reading."""
        row, reading, series = self.row, self.reading, self.series
        where = f"study {self.study.name}, row {row.name}"
        try:
            base = overlaid(self.study.build(row.base).recipe, series.overlay, where)
            recipe = overlaid(self.study.build(row.build).recipe, series.overlay, where)
            recipe = overlaid(recipe, named(row.recipe, self.study, self.engine.name), where)
            final = overlaid(recipe, named(reading.overlay, self.study, self.engine.name), where)
            if reading.second_compiler:
                family = "clang" if recipe.toolchain.startswith("clang") else "gcc"
                other = (self.second or {}).get(family)
                if other is None:
                    why = f"there is only one {family} on this machine; --second-compiler names another"
                    return row.base, row.build, why
                final = overlaid(final, {"toolchain": other}, where)
        except UserError as error:
            return row.base, row.build, str(error)
        if not (final.pgo or final.bolt):
            final = replace(final, training=recipe.training)  # without a profile there is nothing to train
        prefix = f"{series.name}." if series.name else ""
        if (patched := patches.sides(row, self.architecture)) is not None:
            return *self._patched(final, patched, prefix, where), None
        own = row.name if row.recipe else row.build
        reason = row.reason
        held = self.builds.add(f"{prefix}{row.base}", base, reason)
        if row.base_instrumented:
            held = self.builds.add(f"{prefix}{row.base}.instrumented", base, reason, instrumented=True)
        if reading.against == "row":
            held = self.builds.add(f"{prefix}{own}", recipe, reason, instrumented=row.instrumented)
        suffix = final.toolchain if reading.second_compiler else reading.name
        name = f"{prefix}{own}.{suffix}" if final != recipe else f"{prefix}{own}"
        return held, self.builds.add(name, final, reason, instrumented=row.instrumented), None

    def _patched(self, recipe: Recipe, sides: Sides, prefix: str, where: str) -> tuple[str, str]:
        """(the build without the patches, the build with them) of a recipe."""
        held, candidate = (
            self.builds.add(
                f"{prefix}{name}",
                overlaid(recipe, {"patches": [str(path) for path in paths]}, where),
                self.row.reason,
                marks=sides.marks,
            )
            for paths, name in ((sides.without, sides.without_name), (sides.having, sides.having_name))
        )
        return held, candidate

    def _figure(self, role: str, number: int | None) -> Figure | None:
        reference = self.row.published_on.get(role, self.row.published)
        if reference is None:
            return None
        reading = self.reading
        other_line = reading.against != "row"  # else the row's own line, in the reading's other column
        asked = Reference(
            reference.table,
            reference.line,
            (reference.against if other_line else "") or reference.line,
            reference.column or reading.column,
            (reference.against_column if other_line else "") or reading.against_column,
        )
        try:
            return published.figure(asked, number)
        except UserError:
            return None  # the table has no such column for this line: nothing was published
