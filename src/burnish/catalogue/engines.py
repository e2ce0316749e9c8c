"""Reads and validates engines and their loads from the TOML files in the engines' folders.

An engine's folder contains `engine.toml` and optionally `options.toml` (see `burnish.catalogue.options`),
`packages.toml` (see `burnish.base.system`), `variants.toml` and any number of files ``workloads*.toml``. Loads that
several engines share are in files of `SHARED`, which an engine lists in `shared_loads`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from burnish.base.engine_folders import FILE, EngineFolder
from burnish.base.errors import UserError, unknown
from burnish.catalogue.edge import Entry, Pairs, Reason, read_toml, validated
from burnish.catalogue.packaging import CLASS, PackagingEntry
from burnish.catalogue.recipes import RecipeEntry, variants_of
from burnish.model.engine import (
    NO_SETTINGS,
    Costs,
    EngineLinking,
    EngineSpec,
    FeatureSet,
    KnownDifference,
    PrecompiledHeaders,
    ServerSettings,
)
from burnish.model.recipe import Recipe, Variant
from burnish.model.sittings import Spread
from burnish.model.workload import Design, Placement, Timing, Workload

SHARED = Path(str(resources.files("burnish.engines"))) / "shared"
"""Folder of the loads that several engines share, one file for each load program."""


VARIANTS = "variants.toml"
"""File of variants, in the catalogue's folder and in an engine's."""


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
    once_read: float = Field(default=0.9, gt=0, le=1)
    slow_compile_s: int = Field(default=0, ge=0)
    reason: str = ""


class _Training(Entry):
    workload: str
    seconds: float = Field(gt=0)
    reason: str = ""


class _Times(Entry):
    reason: Reason
    settle_s: float | None = Field(default=None, ge=0)
    window_s: float | None = Field(default=None, gt=0)
    warmup_s: float | None = Field(default=None, ge=0)
    pairs: int | None = Field(default=None, ge=1)
    turns: int | None = Field(default=None, ge=2, multiple_of=2)


class _Different(Entry):
    reason: Reason
    recipe: RecipeEntry | None = None
    settings: Pairs = ()


class _Linking(Entry):
    reason: Reason
    strips_debug: bool = False
    static_options: Pairs = ()
    static_libraries: tuple[str, ...] = ()
    static_packages: tuple[str, ...] = ()
    bundled_options: Pairs = ()
    bundled_archives: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()
    archive_packages: tuple[str, ...] = ()
    linked_in: tuple[str, ...] = ()
    allocators: Pairs = ()
    options_32: Pairs = ()
    libraries_32: tuple[str, ...] = ()
    packages_32: tuple[str, ...] = ()
    no_static: str = ""
    no_32: str = ""


class _Precompiled(Entry):
    reason: Reason
    headers: tuple[str, ...] = Field(min_length=1)
    without: tuple[str, ...] = ()


class BetweenSittings(Entry):
    """How far ratios move between sittings, as it stands in a file."""

    reason: Reason
    sd: float = Field(ge=0, lt=1)
    df: float = Field(gt=0)
    source: str = Field(min_length=1)

    @property
    def spread(self) -> Spread:
        """The figure without its reason."""
        return Spread(self.sd, self.df, self.source)


class _Settings(Entry):
    reason: Reason
    words: dict[str, dict[str, Pairs]] = Field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    harmless: frozenset[str] = frozenset()
    shaping: frozenset[str] = frozenset()
    opposed: tuple[tuple[str, ...], ...] = ()
    joined: dict[str, str] = Field(default_factory=dict)
    repeated: tuple[str, ...] = ()
    option_groups: tuple[str, ...] = ()
    release_groups: tuple[str, ...] = ()
    simulated: Pairs = ()


class _Engine(Entry):
    name: str
    title: str
    reason: Reason
    language: Literal["C", "C++"] = "C"
    class_: str = Field(alias="class", pattern=CLASS)
    shared_loads: tuple[str, ...] = ()
    hidden: bool = False
    debian_package: str | None = None
    debian_suites: tuple[str, ...] = ()
    series: str = ""
    data_per_major: bool = False
    data_revision: int = Field(default=EngineSpec.data_revision, ge=1)
    release_package: str | None = None
    build_options: str = ""
    package_c: tuple[str, ...] = ()
    package_cxx: tuple[str, ...] = ()
    package_link: tuple[str, ...] = ()
    profile_options: tuple[str, ...] = ()
    lto_options: tuple[str, ...] = ()
    build_packages: tuple[str, ...] = ()
    load_packages: tuple[str, ...] = ()
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
    settings: _Settings | None = None
    packaging: PackagingEntry | None = None
    steal_bound: float = Field(default=EngineSpec.steal_bound, gt=0, le=1)
    between_sittings: BetweenSittings | None = None


class _Workload(Entry):
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
    placement: Placement | None = None


_OWN_TYPES = {
    "class_",
    "shared_loads",
    "features",
    "training",
    "costs",
    "different",
    "times",
    "linking",
    "precompiled",
    "settings",
    "packaging",
    "between_sittings",
}
"""Keys of an engine's file whose type or name differs in `EngineSpec`."""


def read_engine(folder: EngineFolder) -> EngineSpec:
    """The engine of a folder; a `UserError` with file, key and what is allowed if its file is wrong."""
    entry, where = _entry(folder), _where(folder)
    sets = {
        name: FeatureSet(name=name, reason=value.reason, options=value.options)
        for name, value in entry.features.items()
    }
    if entry.default_features not in sets:
        raise unknown(f"feature set in {where}", entry.default_features, sets)
    return EngineSpec(
        **entry.model_dump(exclude=_OWN_TYPES),
        features=sets,
        training=tuple((step.workload, step.seconds) for step in entry.training),
        costs=Costs(**entry.costs.model_dump(exclude={"reason", "slow_compile_s"})),
        slow_compile_s=entry.costs.slow_compile_s,
        different=_different(entry.different),
        times=_times(entry.times, where),
        linking=EngineLinking(**entry.linking.model_dump()) if entry.linking else EngineLinking(),
        precompiled=tuple(
            PrecompiledHeaders(target=target, **value.model_dump()) for target, value in entry.precompiled.items()
        ),
        settings=ServerSettings(**entry.settings.model_dump(exclude={"reason"})) if entry.settings else NO_SETTINGS,
        between_sittings=_spread(entry.between_sittings),
        packaging=entry.packaging.packaging(folder.package) if entry.packaging else None,
        implementation=f"{folder.package}.{entry.class_}",
        folder=folder.path,
    )


def read_workloads(folder: EngineFolder) -> dict[str, Workload]:
    """The loads of a folder's engine by name: those of its own files, then the shared ones that it names.

    Raises:
        UserError: an entry is wrong, a shared file is missing, or a name is used twice.
    """
    workloads: dict[str, Workload] = {}
    for path in (*sorted(folder.path.glob("workloads*.toml")), *_shared(folder)):
        where, entries = f"{path.parent.name}/{path.name}", read_toml(path)
        for name in entries:
            entry = validated(_Workload, _whole(name, entries, where), f"{where}: {name}")
            if name in workloads:
                raise UserError(f"{where}: {name}: {folder.name} has a load of this name already; name it otherwise")
            if entry.placement is not None and not entry.design.allows(entry.placement):
                raise UserError(
                    f"{where}: {name}: design {entry.design} and placement {entry.placement} don't go together; a duet "
                    "is shared, interleaved and solo are apart or whole"
                )
            workloads[name] = Workload(name=name, engine=folder.name, **entry.model_dump())
    return workloads


def read_variants_of(folder: EngineFolder) -> dict[str, Variant]:
    """The variants of a folder's own file, those with options or loads of this engine alone; none without the file.

    Raises:
        UserError: an entry is wrong; the message has a line for each of them.
    """
    path = folder.path / VARIANTS
    return variants_of(read_toml(path), f"{folder.path.name}/{VARIANTS}", folder.path) if path.is_file() else {}


def _whole(name: str, entries: Mapping[str, Any], where: str) -> Any:
    """An entry; what it does not give is that of the one which its key `like` names, values in tables one by one."""
    value = entries[name]
    if not isinstance(value, Mapping) or "like" not in value:
        return value
    models = {other: entry for other, entry in entries.items() if isinstance(entry, Mapping) and "like" not in entry}
    if value["like"] not in models:
        raise unknown(f"like in {where}: {name}", str(value["like"]), models)
    model = models[value["like"]]
    taken = {key: given for key, given in model.items() if key != "reason"}
    whole = {key: given for key, given in (taken | dict(value)).items() if key != "like"}
    for table in ("parameters", "options"):
        parts = [given for given in (model.get(table), value.get(table)) if given]
        if len(parts) == 2 and all(isinstance(given, Mapping) for given in parts):
            whole[table] = {**parts[0], **parts[1]}
    return whole


def _spread(entry: BetweenSittings | None) -> Spread | None:
    return entry.spread if entry else None


def _shared(folder: EngineFolder) -> Iterator[Path]:
    known = {path.stem: path for path in SHARED.glob("*.toml")}
    for name in _entry(folder).shared_loads:
        if name not in known:
            raise unknown(f"file in shared_loads of {_where(folder)}", name, known)
        yield known[name]


def _entry(folder: EngineFolder) -> _Engine:
    where, table = _where(folder), read_toml(folder.path / FILE)
    if isinstance(sets := table.get("features"), Mapping):
        table = {**table, "features": {name: _whole(name, sets, f"{where}: features") for name in sets}}
    entry = validated(_Engine, table, where)
    if entry.name != folder.name:
        raise UserError(f"{where}: name: found {entry.name!r}; the engine of this folder is {folder.name!r}")
    return entry


def _where(folder: EngineFolder) -> str:
    return f"{folder.path.name}/{FILE}"


def _times(entry: Mapping[Design, _Times], where: str) -> dict[Design, Timing]:
    """Times of every design; what a design, or the whole of it, lacks in the file is the duet's."""
    if Design.DUET not in entry:
        raise UserError(f"{where}: times: duet is missing; the other designs take its times where they have none")
    duet = entry[Design.DUET].model_dump()
    if missing := [key for key, value in duet.items() if value is None]:
        raise UserError(f"{where}: times.duet: {missing[0]} is missing; the other designs take it from there")
    times: dict[Design, Any] = {}
    for design in Design:
        own = entry[design].model_dump(exclude_none=True) if design in entry else {}
        times[design] = {key.removesuffix("_s"): value for key, value in (duet | own).items() if key != "reason"}
    return {design: Timing(**values) for design, values in times.items()}


def _different(entry: _Different | None) -> KnownDifference | None:
    if entry is None:
        return None
    recipe = Recipe(**entry.recipe.model_dump()) if entry.recipe else None
    return KnownDifference(entry.reason, recipe, entry.settings)
