"""The catalogue's engines, loads and variants by name; the error for an unknown name has the nearest one.

Every entry has a `reason`; an entry without one is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from burnish.base.engine_folders import engine_folders
from burnish.base.errors import UserError, unknown
from burnish.catalogue.edge import ROOT, read_toml
from burnish.catalogue.engines import VARIANTS, read_engine, read_variants_of, read_workloads
from burnish.catalogue.other_servers import unknown_engine
from burnish.catalogue.recipes import read_variants, recipe_of, variant_with, variants_of
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.model.workload import OWN_TESTS, Workload

__all__ = [
    "engine",
    "engine_names",
    "engine_of",
    "engines",
    "example",
    "read_variants",
    "recipe_of",
    "shipped_source",
    "training",
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
    """All variants by name: the catalogue's, then those of the installed engines' own files.

    Raises:
        UserError: an entry is wrong, or a name is used twice.
    """
    path = ROOT / VARIANTS
    found = variants_of(read_toml(path), path.name, path.parent)
    for folder in engine_folders():
        own = read_variants_of(folder)
        if twice := sorted(found.keys() & own.keys()):
            where = f"{folder.path.name}/{VARIANTS}"
            raise UserError(f"{where}: {twice[0]}: there is a variant of this name already; name it otherwise")
        found |= own
    return found


def engine(name: str) -> EngineSpec:
    """The engine called `name`; a `UserError` with the nearest name otherwise."""
    known = engines()
    if name not in known:
        raise unknown_engine(name, engine_names())
    return known[name]


def example() -> str:
    """Name of the engine used as an example in messages: of those for users, the one with the shortest build."""
    return min((spec for spec in engines().values() if not spec.hidden), key=lambda spec: spec.costs.compile_s).name


def engine_names() -> tuple[str, ...]:
    """The names of the engines for users, sorted."""
    return tuple(sorted(spec.name for spec in engines().values() if not spec.hidden))


def engine_of(tree: Path) -> EngineSpec:
    """The engine of a source tree, identified by its files; a `UserError` if it is not an engine's."""
    for spec in engines().values():
        if spec.markers and all((tree / name).is_file() for name in spec.markers):
            return spec
    wanted = "; ".join(f"{spec.name}: {', '.join(spec.markers)}" for spec in engines().values() if not spec.hidden)
    raise UserError(f"{tree}: no engine's source tree (one has: {wanted}); name the top of it, or say --engine")


def workload(spec: EngineSpec, name: str) -> Workload:
    """`spec`'s workload called `name`; a `UserError` with the nearest name otherwise."""
    own = {key[1]: value for key, value in workloads().items() if key[0] == spec.name}
    if name == OWN_TESTS:
        raise UserError(f"{name!r} can only train a profile: name it in a recipe's training, and a load here")
    if name not in own:
        raise unknown(f"workload of {spec.name}", name, own, f"burnish workload list {spec.name}")
    return own[name]


def training(spec: EngineSpec, name: str) -> Workload:
    """What `name` in a recipe's training stands for: a workload as above, or the server's own tests."""
    if name != OWN_TESTS:
        return workload(spec, name)
    reason = "The server's own tests, as the gate runs them: all that it can do, and no load in particular."
    return Workload(OWN_TESTS, spec.name, reason, OWN_TESTS)


def variant(name: str, own: Mapping[str, Variant] | None = None) -> Variant:
    """The variant called `name`, from the user's `own` or the catalogue; a `UserError` otherwise."""
    known = {**variants(), **(own or {})}
    if name not in known:
        raise unknown("variant", name, known, "burnish variants")
    return known[name]


def shipped_source(spec: EngineSpec) -> Path | None:
    """The source bundled with an engine: the folder `source` beside its code, if there is one."""
    folder = spec.folder / "source"
    return folder if folder.is_dir() else None
