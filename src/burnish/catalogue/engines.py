"""Reads and validates engines and their loads from the TOML files in the engines' folders.

An engine's folder contains `engine.toml` and optionally `options.toml` (see `burnish.catalogue.options`),
`packages.toml` (see `burnish.base.system`) and any number of files ``workloads*.toml``. Loads that several engines
share are in files of `SHARED`, which an engine lists in `shared_loads`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path

from pydantic import Field

from burnish.base.engine_folders import FILE, EngineFolder
from burnish.base.errors import UserError, unknown
from burnish.catalogue.edge import Entry, Pairs, Reason, read_toml, validated
from burnish.catalogue.packaging import CLASS, PackagingEntry
from burnish.catalogue.recipes import RecipeEntry
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
from burnish.model.recipe import Recipe
from burnish.model.sittings import Spread
from burnish.model.workload import Design, Placement, Timing, Workload

SHARED = Path(str(resources.files("burnish.engines"))) / "shared"
"""Folder of the loads that several engines share, one file for each load program."""


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


class _Times(Entry):
    reason: Reason
    settle_s: float = Field(ge=0)
    window_s: float = Field(gt=0)
    warmup_s: float = Field(ge=0)
    pairs: int = Field(ge=1)
    turns: int = Field(ge=2, multiple_of=2)


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
    options_32: Pairs = ()
    libraries_32: tuple[str, ...] = ()
    packages_32: tuple[str, ...] = ()


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
    option_groups: tuple[str, ...] = ()
    release_groups: tuple[str, ...] = ()


class _Engine(Entry):
    name: str
    title: str
    reason: Reason
    class_: str = Field(alias="class", pattern=CLASS)
    shared_loads: tuple[str, ...] = ()
    hidden: bool = False
    debian_package: str | None = None
    debian_suites: tuple[str, ...] = ()
    series: str = ""
    release_package: str | None = None
    build_options: str = ""
    package_c: tuple[str, ...] = ()
    package_cxx: tuple[str, ...] = ()
    package_link: tuple[str, ...] = ()
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
    entry, where = _entry(folder), f"{folder.path.name}/{FILE}"
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
        costs=Costs(**entry.costs.model_dump(exclude={"reason"})),
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
        where = f"{path.parent.name}/{path.name}"
        for name, value in read_toml(path).items():
            entry = validated(_Workload, value, f"{where}: {name}")
            if name in workloads:
                raise UserError(f"{where}: {name}: {folder.name} has a load of this name already; name it otherwise")
            if entry.placement is not None and not entry.design.allows(entry.placement):
                raise UserError(
                    f"{where}: {name}: design {entry.design} and placement {entry.placement} don't go together; a duet "
                    "is shared, interleaved and solo are apart or whole"
                )
            workloads[name] = Workload(name=name, engine=folder.name, **entry.model_dump())
    return workloads


def _spread(entry: BetweenSittings | None) -> Spread | None:
    return entry.spread if entry else None


def _shared(folder: EngineFolder) -> Iterator[Path]:
    known = {path.stem: path for path in SHARED.glob("*.toml")}
    for name in _entry(folder).shared_loads:
        if name not in known:
            raise unknown(f"file in shared_loads of {folder.path.name}/{FILE}", name, known)
        yield known[name]


def _entry(folder: EngineFolder) -> _Engine:
    where = f"{folder.path.name}/{FILE}"
    entry = validated(_Engine, read_toml(folder.path / FILE), where)
    if entry.name != folder.name:
        raise UserError(f"{where}: name: found {entry.name!r}; the engine of this folder is {folder.name!r}")
    return entry


def _times(entry: Mapping[Design, _Times], where: str) -> dict[Design, Timing]:
    """Times of every design; those missing in the file are the duet's."""
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
