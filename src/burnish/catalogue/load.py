"""What the catalogue holds, by name: engines, their loads, variants; an unknown name is refused with the nearest.

Every entry carries a prose `reason`; a file without one does not load (and a test fails).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from burnish.base.engine_folders import engine_folders
from burnish.base.errors import UserError, unknown
from burnish.catalogue.edge import ROOT, read_toml
from burnish.catalogue.engines import read_engine, read_workloads
from burnish.catalogue.other_servers import unknown_engine
from burnish.catalogue.recipes import read_variants, recipe_of, variant_with, variants_of
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.model.workload import Workload

__all__ = [
    "engine",
    "engine_names",
    "engine_of",
    "engines",
    "example",
    "read_variants",
    "recipe_of",
    "shipped_source",
    "variant",
    "variant_with",
    "variants",
    "variants_of",
    "workload",
    "workloads",
]


@cache
def engines() -> Mapping[str, EngineSpec]:
    """All installed engines by name, hidden ones included."""
    return {folder.name: read_engine(folder) for folder in engine_folders()}


@cache
def workloads() -> Mapping[tuple[str, str], Workload]:
    """All loads of the installed engines by (engine, name)."""
    return {(folder.name, name): value for folder in engine_folders() for name, value in read_workloads(folder).items()}


@cache
def variants() -> Mapping[str, Variant]:
    """All variants of the catalogue by name."""
    path = ROOT / "variants.toml"
    return variants_of(read_toml(path), path.name, path.parent)


def engine(name: str) -> EngineSpec:
    """The engine called `name`; a `UserError` with the nearest name otherwise."""
    every = engines()
    if name not in every:
        raise unknown_engine(name, engine_names())
    return every[name]


def example() -> str:
    """Name of the engine that messages give as an example: of those for users the one that is built soonest."""
    return min((spec for spec in engines().values() if not spec.hidden), key=lambda spec: spec.costs.compile_s).name


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
    """The source that comes with an engine: the folder `source` beside its code, if there is one."""
    folder = spec.folder / "source"
    return folder if folder.is_dir() else None
