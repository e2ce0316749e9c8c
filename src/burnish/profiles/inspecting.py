"""The content of a profile of the store, read from its data, for `burnish profile show`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.base import process
from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.engines.contract import Engine
from burnish.engines.registry import create
from burnish.profiles import audit
from burnish.profiles.collecting import DATA, NAMES, function_counts, named_functions
from burnish.profiles.kept import name_of
from burnish.profiles.stages import ProfileKind, major
from burnish.program.built import Built
from burnish.program.machine_code import demangle
from burnish.record.store import Entry, Store
from burnish.toolchain import counts
from burnish.toolchain.toolchains import Toolchain


@dataclass(frozen=True)
class Inspection:
    """A profile, in figures.

    Attributes:
        name: its names, or '' when it has none.
        key: its key in the store.
        engine: which engine it is for.
        kind: whose profile it is.
        made: its origin in words: trained, sampled, merged from which parts, imported from where.
        source: digest of the source that was trained; None if not known.
        build: key of the build that was trained; None if not known.
        toolchain: what that build was made with; None if not known.
        training: (workload, seconds).
        seed: replicate of the training.
        functions: functions with a record.
        counted: how many of them ran.
        hot: how many of those make 99 % of all counts.
        second_round: functions with context-sensitive counters.
        hottest: (function, share of all counts), hottest first; C++ names demangled.
        size: bytes on disk.
    """

    name: str
    key: str
    engine: str
    kind: ProfileKind
    made: str
    source: str | None
    build: str | None
    toolchain: str | None
    training: tuple[tuple[str, float], ...]
    seed: int
    functions: int
    counted: int
    hot: int
    second_round: int
    hottest: tuple[tuple[str, float], ...]
    size: int


@dataclass(frozen=True)
class Overlap:
    """How similar two profiles are.

    Attributes:
        other: the other one's name or key.
        by_function: 0 to 1, the sum over functions of the smaller share.
        by_counter: 0 to 1, llvm-profdata's own figure; None for other kinds than one round of clang's counters.
        only_here: hot functions of this one that never ran in the other.
        only_there: hot functions of the other one that never ran in this one.
    """

    other: str
    by_function: float
    by_counter: float | None
    only_here: int
    only_there: int


def inspect(entry: Entry, store: Store, engine: Engine, toolchains: Sequence[Toolchain], top: int) -> Inspection:
    """A profile in figures, with its `top` hottest functions; a `UserError` if no tool here reads it."""
    about = entry.about
    totals = _counts(entry, store, engine, toolchains)
    return Inspection(
        name=name_of(store, entry.key),
        key=entry.key,
        engine=about["engine"],
        kind=about["kind"],
        made=_made(entry, store),
        source=about.get("source"),
        build=about.get("build"),
        toolchain=about.get("toolchain"),
        training=tuple((workload, seconds) for workload, seconds in about.get("training") or ()),
        seed=about.get("training_seed") or 0,
        functions=len(totals),
        counted=sum(count > 0 for count in totals.values()),
        hot=len(counts.hot_names(totals, audit.HOT_SHARE)),
        second_round=about.get("context_sensitive") or 0,
        hottest=_spelled(counts.hottest(totals, top)),
        size=entry.size(),
    )


def _spelled(hottest: Sequence[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Functions with demangled names; a local one's file stays before its name ('a.cc;f')."""
    parts = [name.rpartition(";") for name, _ in hottest]
    names = demangle(symbol for _, _, symbol in parts)
    return tuple(
        (f"{file}{mark}{names[symbol]}", share) for (file, mark, symbol), (_, share) in zip(parts, hottest, strict=True)
    )


def compare(one: Entry, other: Entry, store: Store, engine: Engine, toolchains: Sequence[Toolchain]) -> Overlap:
    """How alike two profiles of one kind are.

    Raises:
        UserError: their kinds differ, or no tool reads what they have counted.
    """
    kind = one.about["kind"]
    if kind != other.about["kind"]:
        raise UserError(
            f"--against {other.key}: a profile of kind {other.about['kind']}, {one.key} is of kind {kind}; "
            "name one of the same kind"
        )
    if kind == "gcc-samples":
        raise UserError(f"--against {other.key}: only gcc reads its sampled profiles, so their overlap is not known")
    # Numbers stand for gcc's functions in all profiles, names only where the trained build is kept or they came with
    # an archive: a merged one has none, and functions are the same by the same words alone.
    named = all((entry.folder / NAMES).is_file() or _trained(entry, store, engine) for entry in (one, other))
    here, there = (_counts(entry, store, engine, toolchains, named=named) for entry in (one, other))
    hot = audit.HOT_SHARE
    return Overlap(
        other=name_of(store, other.key) or other.key,
        by_function=counts.overlap(here, there),
        # With a second round llvm-profdata mixes up the rounds and reports more than 100 %.
        by_counter=_edge_overlap(one, other, toolchains)
        if kind == "clang" and not (one.about.get("context_sensitive") or other.about.get("context_sensitive"))
        else None,
        only_here=sum(not there.get(name) for name in counts.hot_names(here, hot)),
        only_there=sum(not here.get(name) for name in counts.hot_names(there, hot)),
    )


def _counts(
    entry: Entry, store: Store, engine: Engine, toolchains: Sequence[Toolchain], *, named: bool = True
) -> dict[str, int]:
    """Counts by function; gcc's by number unless `named`."""
    kind: ProfileKind = entry.about["kind"]
    build, tool = _trained(entry, store, engine), reader(kind, entry.about.get("toolchain"), toolchains)
    return function_counts(kind, entry.folder, tool, build, named=named)


def _trained(entry: Entry, store: Store, engine: Engine) -> Built | None:
    """The build that was trained; None where it is not known or no longer kept."""
    key = entry.about.get("build")
    build = store.find("builds", key) if key else None
    return engine.built("trained", build.folder, build.key) if build else None


def function_names(entry: Entry, store: Store, toolchains: Sequence[Toolchain]) -> dict[str, str]:
    """Names of a gcc profile's functions, for its archive; empty for other kinds, and where no tool here reads it."""
    if entry.about["kind"] != "gcc":
        return {}
    try:
        tool = reader("gcc", entry.about.get("toolchain"), toolchains)
    except UserError:
        return {}
    engine = create(load.engine(entry.about["engine"]))
    return named_functions(entry.folder, tool, _trained(entry, store, engine))


def reader(kind: ProfileKind, made_by: str | None, toolchains: Sequence[Toolchain]) -> Toolchain:
    """A toolchain whose tools read a profile: the one that made it, or the newest of its family.

    Raises:
        UserError: no toolchain here can.
    """
    parts = {"clang": "profdata", "clang-samples": "profdata", "gcc": "gcov_dump"}
    part, family = parts.get(kind, "cc"), kind.partition("-")[0] if kind != "bolt" else ""
    able = [toolchain for toolchain in toolchains if toolchain.family.startswith(family) and getattr(toolchain, part)]
    if kind == "gcc" and made_by:
        able = [toolchain for toolchain in able if toolchain.major == major(made_by)]
    if not able:
        raise UserError(f"a {kind} profile{f' of {made_by}' if made_by else ''}: no tool here reads it; install one")
    return next((toolchain for toolchain in able if toolchain.name == made_by), able[0])


def _edge_overlap(one: Entry, other: Entry, toolchains: Sequence[Toolchain]) -> float | None:
    tool = reader("clang", one.about.get("toolchain"), toolchains).profdata
    files = [entry.folder / DATA["clang"] for entry in (one, other)]
    output = process.capture([str(tool), "overlap", *files])
    match = re.search(r"^\s*Edge profile overlap: ([\d.]+)%", output, re.MULTILINE)
    return float(match[1]) / 100 if match else None


def _made(entry: Entry, store: Store) -> str:
    about = entry.about
    if about.get("merged"):
        parts = (f"{name_of(store, key) or key} x {weight:g}" for key, weight in about["merged"])
        return f"merged of {' and '.join(parts)}"
    if about.get("imported"):
        return f"imported from {about['imported']}"
    return "sampled from branch records" if about.get("sampled") else "trained with counters"
