"""The edge between the catalogue's TOML files and the values inside: read, validated, frozen.

Every entry carries a prose `reason`; a file without one does not load (and a test fails).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field

from burnish.base.errors import UserError, together, unknown
from burnish.catalogue import flags, options
from burnish.catalogue.edge import ROOT as ROOT  # noqa: PLC0414 - re-exported
from burnish.catalogue.edge import Entry, Pairs, Reason, Weights, read_toml, validated
from burnish.catalogue.other_servers import unknown_engine
from burnish.model.engine import Costs, EngineLinking, EngineSpec, FeatureSet, KnownDifference, PrecompiledHeaders
from burnish.model.recipe import REVERTED, Allocator, Linker, Lto, Recipe, Static, Strip, Variant, Word
from burnish.model.workload import Design, Timing, Workload


class _FeatureSet(Entry):
    reason: Reason
    options: Pairs = ()


class _Costs(Entry):
    source_mb: int
    build_mb: int
    kept_mb: int
    dataset_mb: int
    compile_s: int
    gate_s: int
    object_mb: int
    link_mb: int
    lto_link_mb: int
    reason: str = ""


class _Training(Entry):
    workload: str
    seconds: float = Field(gt=0)
    reason: str = ""


class _Recipe(Entry):
    toolchain: str = "gcc"
    level: str | None = Field(default=None, pattern=r"^-O([0-3sgz]|fast)$")
    lto: Lto = "none"
    pgo: bool = False
    bolt: bool = False
    hardening: bool = True
    features: str | None = None
    c: tuple[str, ...] = ()
    cxx: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    options: Pairs = ()
    flags: tuple[str, ...] = ()
    target: str | None = None
    linker: Linker | None = None
    static: Static = "none"
    allocator: Allocator = "libc"
    preload: bool = False
    word: Word = 64
    strip: Strip | None = None
    huge_text: bool = False
    patches: tuple[str, ...] = ()
    layout: int = Field(default=0, ge=0)
    training: Weights = ()
    training_seed: int = Field(default=0, ge=0)
    context_sensitive: bool = False
    partial_training: bool = False
    sampled: bool = False
    profile: str | None = None
    bolt_options: tuple[str, ...] = ()


class _Times(Entry):
    reason: Reason
    settle_s: float = Field(ge=0)
    window_s: float = Field(gt=0)
    warmup_s: float = Field(ge=0)
    pairs: int = Field(ge=1)
    turns: int = Field(ge=2, multiple_of=2)


class _Different(Entry):
    reason: Reason
    recipe: _Recipe | None = None
    settings: Pairs = ()


class _Linking(Entry):
    reason: Reason
    strips_debug: bool = False
    static_options: Pairs = ()
    static_libraries: tuple[str, ...] = ()
    static_packages: tuple[str, ...] = ()
    options_32: Pairs = ()
    libraries_32: tuple[str, ...] = ()
    packages_32: tuple[str, ...] = ()


class _Precompiled(Entry):
    reason: Reason
    headers: tuple[str, ...] = Field(min_length=1)
    without: tuple[str, ...] = ()


class _Engine(Entry):
    name: str
    title: str
    reason: Reason
    hidden: bool = False
    debian_package: str | None = None
    series: str = ""
    release_package: str | None = None
    build_options: str = ""
    package_c: tuple[str, ...] = ()
    package_cxx: tuple[str, ...] = ()
    package_link: tuple[str, ...] = ()
    system_packages: tuple[str, ...] = ()
    features: dict[str, _FeatureSet]
    default_features: str
    ladder: tuple[str, ...]
    workloads: tuple[str, ...]
    training: tuple[_Training, ...]
    server: str
    markers: tuple[str, ...] = ()
    covered: tuple[str, ...]
    gate_tests: tuple[str, ...]
    costs: _Costs
    times: dict[Design, _Times]
    different: _Different | None = None
    linking: _Linking | None = None
    precompiled: dict[str, _Precompiled] = Field(default_factory=dict)
    steal_bound: float = Field(default=EngineSpec.steal_bound, gt=0, le=1)


class _Workload(Entry):
    engine: str
    reason: Reason
    program: str
    parameters: Pairs = ()
    threads: int = Field(default=4, gt=0)
    writes: bool = False
    dataset: str = "none"
    unit: str = "transaction"
    design: Design = Design.DUET
    in_memory: bool = False
    saturated: bool = False
    shape: tuple[str, ...] = ()
    prepare: str = ""
    prepare_threads: int = Field(default=2, gt=0)
    without: tuple[str, ...] = ()
    settings: Pairs = ()
    per_minute: bool = False


class _Variant(Entry):
    reason: Reason
    recipe: _Recipe = _Recipe()
    weakens_security: bool = False
    changes_results: bool = False
    narrows_portability: bool = False


class _OwnVariant(_Variant):
    reason: str = ""


_OWN_TYPES = {"features", "training", "costs", "different", "times", "linking", "precompiled"}
"""What of an engine's file has a type of its own in `EngineSpec`."""


@cache
def engines() -> Mapping[str, EngineSpec]:
    """All engines of the catalogue by name, hidden ones included."""
    found = {}
    for path in sorted((ROOT / "engines").glob("*.toml")):
        entry = validated(_Engine, read_toml(path), path.name)
        sets = {
            name: FeatureSet(name=name, reason=value.reason, options=value.options)
            for name, value in entry.features.items()
        }
        if entry.default_features not in sets:
            raise unknown(f"feature set in {path.name}", entry.default_features, sets)
        values = entry.model_dump(exclude=_OWN_TYPES)
        found[entry.name] = EngineSpec(
            **values,
            features=sets,
            training=tuple((step.workload, step.seconds) for step in entry.training),
            costs=Costs(**entry.costs.model_dump(exclude={"reason"})),
            different=_different(entry.different),
            times=_times(entry.times, path.name),
            linking=EngineLinking(**entry.linking.model_dump()) if entry.linking else EngineLinking(),
            precompiled=tuple(
                PrecompiledHeaders(target=target, **value.model_dump()) for target, value in entry.precompiled.items()
            ),
        )
    return found


def _times(entry: Mapping[Design, _Times], where: str) -> dict[Design, Timing]:
    """Times of every design; one that the file says nothing of has the duet's."""
    if Design.DUET not in entry:
        raise UserError(f"{where}: times: duet is missing; the other designs take its times where they have none")
    times = {design: entry.get(design, entry[Design.DUET]) for design in Design}
    return {
        design: Timing(settle=t.settle_s, window=t.window_s, warmup=t.warmup_s, pairs=t.pairs, turns=t.turns)
        for design, t in times.items()
    }


def _different(entry: _Different | None) -> KnownDifference | None:
    if entry is None:
        return None
    recipe = Recipe(**entry.recipe.model_dump()) if entry.recipe else None
    return KnownDifference(entry.reason, recipe, entry.settings)


@cache
def workloads() -> Mapping[tuple[str, str], Workload]:
    """All workloads of the catalogue by (engine, name)."""
    found = {}
    for path in sorted((ROOT / "workloads").glob("*.toml")):
        for name, value in read_toml(path).items():
            entry = validated(_Workload, value, f"{path.name}: {name}")
            found[entry.engine, name] = Workload(name=name, **entry.model_dump())
    return found


@cache
def variants() -> Mapping[str, Variant]:
    """All variants of the catalogue by name."""
    path = ROOT / "variants.toml"
    return variants_of(read_toml(path), path.name, path.parent)


def read_variants(path: Path) -> dict[str, Variant]:
    """The variants of a user's TOML file, of which none needs a reason; paths in it are relative to it."""
    return variants_of(read_toml(path), path.name, path.parent, own=True)


def variants_of(table: Mapping[str, Any], where: str, folder: Path, *, own: bool = False) -> dict[str, Variant]:
    """The variants of a table in the catalogue's form, read in the file `where`; paths are relative to `folder`.

    Args:
        table: variants by name.
        where: the file, for errors.
        folder: what paths in it are relative to.
        own: whether they are a user's own, who owes nobody a reason.

    Raises:
        UserError: what is wrong with them, a line for each variant.
    """
    found: dict[str, Variant] = {}
    problems: list[UserError] = []
    for name, value in table.items():
        try:
            entry = validated(_OwnVariant if own else _Variant, value, f"{where}: {name}")
            recipe = _checked(entry.recipe, f"{where}: {name}", folder)
        except UserError as error:
            problems.append(error)
            continue
        marked = variant_with(name, recipe, entry.reason)
        found[name] = replace(
            marked,
            weakens_security=entry.weakens_security or marked.weakens_security,
            changes_results=entry.changes_results or marked.changes_results,
            narrows_portability=entry.narrows_portability or marked.narrows_portability,
        )
    if problems:
        raise together(problems)
    return found


def recipe_of(table: Mapping[str, Any], where: str, folder: Path) -> Recipe:
    """The recipe of a table in the catalogue's form, read in the file `where`; paths are relative to `folder`."""
    return _checked(validated(_Recipe, table, where), where, folder)


def _checked(entry: _Recipe, where: str, folder: Path) -> Recipe:
    recipe = Recipe(**entry.model_dump())
    flags.check(recipe, where)
    return replace(recipe, patches=_located(recipe.patches, folder))


def variant_with(name: str, recipe: Recipe, reason: str) -> Variant:
    """A variant of this recipe, with the marks of its flags and options."""
    marks = flags.marks(recipe) | options.marks(recipe.options)
    return Variant(
        name=name,
        recipe=recipe,
        reason=reason,
        weakens_security=marks.weakens_security,
        changes_results=marks.changes_results,
        narrows_portability=marks.narrows_portability,
    )


def _located(patches: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Patches with their paths made absolute, relative ones being relative to `folder`."""
    found = []
    for word in patches:
        mark = REVERTED if word.startswith(REVERTED) else ""
        path = Path(word.removeprefix(mark).strip()).expanduser()
        found.append(f"{mark}{(folder / path).absolute()}")
    return tuple(found)


def engine(name: str) -> EngineSpec:
    """The engine called `name`; a `UserError` with the nearest name otherwise."""
    every = engines()
    if name not in every:
        raise unknown_engine(name, engine_names())
    return every[name]


def engine_names() -> tuple[str, ...]:
    """The names of the engines that a user may name, in order."""
    return tuple(sorted(spec.name for spec in engines().values() if not spec.hidden))


def engine_of(tree: Path) -> EngineSpec:
    """The engine whose source tree this is, by the files that it has; a `UserError` when it is none's."""
    for spec in engines().values():
        if spec.markers and all((tree / name).is_file() for name in spec.markers):
            return spec
    wanted = "; ".join(f"{spec.name}: {', '.join(spec.markers)}" for spec in engines().values() if not spec.hidden)
    raise UserError(f"{tree}: no engine's source tree (one has: {wanted}); name the top of it, or say --engine")


def workload(spec: EngineSpec, name: str) -> Workload:
    """`spec`'s workload called `name`; a `UserError` with the nearest name otherwise."""
    mine = {key[1]: value for key, value in workloads().items() if key[0] == spec.name}
    if name not in mine:
        raise unknown(f"workload of {spec.name}", name, mine, f"burnish workload list {spec.name}")
    return mine[name]


def variant(name: str, own: Mapping[str, Variant] | None = None) -> Variant:
    """The variant called `name`, of the user's `own` or of the catalogue; a `UserError` otherwise."""
    every = {**variants(), **(own or {})}
    if name not in every:
        raise unknown("variant", name, every, "burnish variants")
    return every[name]


def shipped_source(spec: EngineSpec) -> Path | None:
    """The folder with the engine's source that comes with Burnish (the fake engine's), if there is one."""
    folder = ROOT / "sources" / spec.name
    return folder if folder.is_dir() else None
