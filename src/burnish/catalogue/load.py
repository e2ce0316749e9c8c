"""The edge between the catalogue's TOML files and the values inside: read, validated, frozen.

Every entry carries a prose `reason`; a file without one does not load (and a test fails).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from burnish.errors import UserError, unknown
from burnish.study.model import (
    Allocator,
    Costs,
    Design,
    EngineSpec,
    FeatureSet,
    KnownDifference,
    Linker,
    Lto,
    Recipe,
    Static,
    Strip,
    Timing,
    Variant,
    Word,
    Workload,
)

ROOT = Path(str(resources.files("burnish.catalogue")))


def _pairs(value: Any) -> Any:
    """A table, or a list of [name, value], as (name, value) pairs of text; true and false as ON and OFF."""
    items = list(value.items()) if isinstance(value, dict) else value
    if not isinstance(items, list | tuple) or not all(
        isinstance(item, list | tuple) and len(item) == 2 for item in items
    ):
        raise ValueError("give a table of names and values")
    return tuple((str(name), _text(entry)) for name, entry in items)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    return str(value)


Pairs = Annotated[tuple[tuple[str, str], ...], BeforeValidator(_pairs)]
Reason = Annotated[str, Field(min_length=20, description="why the entry is here, in prose")]


_Model = TypeVar("_Model", bound=BaseModel)


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _FeatureSet(_Entry):
    reason: Reason
    options: Pairs = ()


class _Costs(_Entry):
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


class _Training(_Entry):
    workload: str
    seconds: float = Field(gt=0)
    reason: str = ""


class _Recipe(_Entry):
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
    training: tuple[tuple[str, float], ...] = ()
    training_seed: int = Field(default=0, ge=0)
    context_sensitive: bool = False
    partial_training: bool = False
    sampled: bool = False
    profile: str | None = None
    bolt_options: tuple[str, ...] = ()


class _Times(_Entry):
    reason: Reason
    settle_s: float = Field(ge=0)
    window_s: float = Field(gt=0)
    warmup_s: float = Field(ge=0)
    pairs: int = Field(ge=1)
    turns: int = Field(ge=2, multiple_of=2)


class _Different(_Entry):
    reason: Reason
    recipe: _Recipe | None = None
    settings: Pairs = ()


class _Engine(_Entry):
    name: str
    title: str
    reason: Reason
    hidden: bool = False
    debian_package: str | None = None
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
    covered: tuple[str, ...]
    gate_tests: tuple[str, ...]
    costs: _Costs
    times: dict[Design, _Times]
    different: _Different | None = None


class _Workload(_Entry):
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


class _Variant(_Entry):
    reason: Reason
    recipe: _Recipe = _Recipe()
    weakens_security: bool = False


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file's content; a `UserError` with file and line when it can't be read."""
    try:
        return tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); name a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None


def validated(model: type[_Model], value: Mapping[str, Any], where: str) -> _Model:
    """`value` as `model`; otherwise one line naming file, key, what was found and what is allowed."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        # A key that is not known may be the one that is missing: it tells more.
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            raise unknown(f"key in {where}", key, _keys_beside(model, first["loc"])) from None
        found = "" if first["type"] == "missing" else f", found {first['input']!r}"
        said = first["msg"].removeprefix("Value error, ")
        raise UserError(f"{': '.join(filter(None, (where, key)))}: {said[:1].lower()}{said[1:]}{found}") from None


def _keys_beside(model: type[BaseModel], place: Sequence[str | int]) -> list[str]:
    """The keys that are allowed where `place` is, each with the whole way to it."""
    here: Any = model
    for part in place[:-1]:
        if isinstance(here, type) and issubclass(here, BaseModel):
            here = here.model_fields[str(part)].annotation
        else:  # a list of tables, or tables by name
            here = get_args(here)[0 if isinstance(part, int) else 1]
    return [".".join(str(part) for part in (*place[:-1], name)) for name in here.model_fields]


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
        values = entry.model_dump(exclude={"features", "training", "costs", "different", "times"})
        found[entry.name] = EngineSpec(
            **values,
            features=sets,
            training=tuple((step.workload, step.seconds) for step in entry.training),
            costs=Costs(**entry.costs.model_dump(exclude={"reason"})),
            different=_different(entry.different),
            times=_times(entry.times, path.name),
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
    return read_variants(ROOT / "variants.toml")


def read_variants(path: Path) -> dict[str, Variant]:
    """The variants of a TOML file in the catalogue's form, a user's own too."""
    found = {}
    for name, value in read_toml(path).items():
        entry = validated(_Variant, value, f"{path.name}: {name}")
        found[name] = Variant(
            name=name,
            recipe=Recipe(**entry.recipe.model_dump()),
            reason=entry.reason,
            weakens_security=entry.weakens_security,
        )
    return found


def engine(name: str) -> EngineSpec:
    """The engine called `name`; a `UserError` with the nearest name otherwise."""
    every = engines()
    if name not in every:
        raise unknown("engine", name, [spec.name for spec in every.values() if not spec.hidden])
    return every[name]


def workload(spec: EngineSpec, name: str) -> Workload:
    """`spec`'s workload called `name`; a `UserError` with the nearest name otherwise."""
    mine = {key[1]: value for key, value in workloads().items() if key[0] == spec.name}
    if name not in mine:
        raise unknown(f"workload of {spec.name}", name, mine)
    return mine[name]


def variant(name: str, own: Mapping[str, Variant] | None = None) -> Variant:
    """The variant called `name`, of the user's `own` or of the catalogue; a `UserError` otherwise."""
    every = {**variants(), **(own or {})}
    if name not in every:
        raise unknown("variant", name, every)
    return every[name]


def shipped_source(spec: EngineSpec) -> Path | None:
    """The folder with the engine's source that comes with Burnish (the fake engine's), if there is one."""
    folder = ROOT / "sources" / spec.name
    return folder if folder.is_dir() else None
