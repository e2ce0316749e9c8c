"""What a study needs of the machine before it begins: system packages, and room on the disk."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence

from rich.console import Console

from burnish.base import system
from burnish.base.errors import UnavailableError, UserError
from burnish.base.paths import Home
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.program import emulation
from burnish.study.planning.plan import Plan
from burnish.study.request import conditions, workloads
from burnish.study.request.options import Ask, Options
from burnish.study.request.selection import Selection, needed
from burnish.study.study import Study
from burnish.toolchain import linking
from burnish.toolchain.toolchains import choose, find_toolchains

MARGIN = 1.2
"""By what a plan's bytes are multiplied: profiles, logs and what the compiler's cache has of these builds."""
COPIES = 3
"""Copies of the data in use at a time, in shares of one: two servers', and what both have grown by."""
SHARED_BUILDS = 0.25
"""Builds that train, and BOLT's, in shares of the ladder's: most variants share them, or link to others' files."""


def optional_groups(variants: Sequence[Variant]) -> list[str]:
    """Groups of system packages that some variants need and that are not installed."""
    wanted = []
    if any(v.recipe.toolchain.startswith("clang") for v in variants) and not _have_clang():
        wanted.append("clang")
    if not all(_can_instrument(v.recipe.toolchain) for v in variants if v.recipe.bolt):
        wanted.append("bolt")
    return wanted + sorted({group for variant in variants for group in linking.groups(variant.recipe)})


def groups_of(study: Study, selection: Selection, options: Options) -> list[str]:
    """Groups of system packages that a session of a study uses, installed or not."""
    variants = _variants(study, selection)
    return [*_needed(study, options), *(optional_groups(variants) if variants else [])]


def install_for(study: Study, selection: Selection, options: Options, ask: Ask | None) -> None:
    """Installs what builds and loads need; a row whose packages are declined is left out later.

    Raises:
        UserError: required packages are missing and may not be installed.
    """
    variants = _variants(study, selection)
    why = f"building and loading {study.engine.title}" if variants else "the load on the server"
    try:
        ensure(_needed(study, options), why, options, ask)
    except UserError as error:
        # A user who installs by hand should not be sent back for the rest.
        raise UserError("; ".join([str(error), *_lacking(_optional(study, selection, variants))])) from None
    for groups, reason in _optional(study, selection, variants):
        ensure_or_continue(groups, reason, options, ask)
    if study.portable.needs_emulator and emulation.find(emulation.host_architecture()) is None:
        ensure(["portability"], "trying builds on other processors", options, ask)


def _optional(study: Study, selection: Selection, variants: Sequence[Variant]) -> list[tuple[list[str], str]]:
    """(groups of system packages, what they are for) without which some variants and rows are left out."""
    found = []
    variants = [variant for variant in variants if variant.name not in study.foreign]
    if wanted := optional_groups(variants):
        names = ", ".join(
            v.name
            for v in variants
            if v.recipe.toolchain.startswith("clang") or v.recipe.bolt or linking.groups(v.recipe)
        )
        found.append((wanted, f"the variants {names}"))
    chosen = [comparison for comparison in selection.chosen if comparison.reason is None]
    words = {word for comparison in chosen for word in (*comparison.given, *comparison.versus)}
    groups = [group for group in ("tls", "remote") if f"transport={group}" in words]
    if study.bundled is not None:
        loads = [comparison.workload.entry for comparison in chosen if comparison.workload is not None]
        found += [([group], f"rows that need {group}") for group in (*groups, *workloads.groups(study.engine, loads))]
    return found


def _lacking(optional: Sequence[tuple[list[str], str]]) -> list[str]:
    """Of optional packages, those that are missing, as the end of a line that names what is required."""
    lines = []
    for groups, reason in optional:
        with contextlib.suppress(UserError):  # their names depend on package lists that are not here
            if missing := system.missing_packages(packages_of(groups)):
                lines.append(f"{reason} also need: `{system.install_command(missing)}`")
    return lines


def _variants(study: Study, selection: Selection) -> list[Variant]:
    """The variants that are built; without those that no machine can link, which are refused later."""
    chosen = [comparison for comparison in selection.chosen if comparison.reason is None]
    variants = [study.variants[name] for name in needed(study, chosen)]
    return [variant for variant in variants if linking.never(variant.recipe, study.engine) is None]


def _needed(study: Study, options: Options) -> list[str]:
    """Groups of packages that are required."""
    builds = bool(study.variants.keys() - study.foreign.keys())
    groups = study.engine.system_packages if builds else study.engine.load_packages
    return [*groups, *conditions.groups(study.engine, options)]


def _have_clang() -> bool:
    return any(t.family == "clang" and t.linker and t.profdata and t.has_profile_runtime for t in find_toolchains())


def _can_instrument(request: str) -> bool:
    """Whether the compiler that a recipe takes here has a BOLT that can instrument; for gcc, the newest installed."""
    try:
        return choose(request, find_toolchains()).bolt_can_instrument
    except UnavailableError:  # it is installed first, or the variant is left out
        return False
    except UserError:  # no compiler has this name: refused later, with the variant's
        return True


def _clang() -> int | None:
    """Major version of the newest clang of this machine; None without one, or if it is older than what is tried."""
    majors = (toolchain.major for toolchain in find_toolchains() if toolchain.family == "clang")
    return next((major for major in majors if major >= system.oldest_clang()), None)


def packages_of(groups: Sequence[str]) -> list[str]:
    """Names of the Debian packages of these groups, each once."""
    clang = _clang()
    return list(dict.fromkeys(name for group in groups for name in system.packages(group, clang)))


def ensure(groups: Sequence[str], why: str, options: Options, ask: Ask | None) -> None:
    """Installs what is missing of these groups of system packages, after asking."""
    if options.yes and _clang() is None:
        system.fetch_lists(groups, why)
    if names := packages_of(groups):
        system.ensure_packages(names, why=why, yes=options.yes, ask=ask)


def ensure_or_continue(groups: Sequence[str], why: str, options: Options, ask: Ask | None) -> None:
    """The same for optional packages; reports those that are not installed."""
    try:
        ensure(groups, why, options, ask)
    except UserError as error:
        Console(stderr=True).print(f"continuing without: {error}", markup=False, highlight=False, soft_wrap=True)


def disk_needed(spec: EngineSpec, kept: float, tree: float) -> int:
    """Bytes that a study takes at its fullest.

    Args:
        spec: the engine, for the unpacked source and the servers' copies of the data.
        kept: bytes that the store grows by.
        tree: size of the largest build folder, bytes; 0: nothing is compiled.
    """
    source = 1e6 * spec.costs.source_mb if tree else 0.0
    return int(MARGIN * (source + tree + kept + COPIES * 1e6 * spec.costs.dataset_mb))


def disk_of_ladder(spec: EngineSpec) -> int:
    """The same of an engine's ladder without a plan: by rough figures, from nothing."""
    costs = spec.costs
    kept = (1 + SHARED_BUILDS) * len(spec.ladder) * costs.kept_mb + costs.dataset_mb
    return disk_needed(spec, 1e6 * kept, 1e6 * costs.build_mb)


def check_disk(home: Home, spec: EngineSpec, plan: Plan) -> None:
    """Refuses a plan that the disk can't hold, before anything is made.

    Args:
        home: where it would be made.
        spec: the engine.
        plan: the builds' plan.
    """
    need, free = disk_needed(spec, plan.kept.value, plan.tree.value), shutil.disk_usage(home.root).free
    if free < need:
        raise UserError(
            f"{home.root}: {_size(free)} free, the plan needs about {_size(need)}; "
            "`burnish clean` frees space, or name a larger disk in BURNISH_HOME"
        )


def check_memory(plan: Plan, memory: int | None) -> None:
    """Refuses a plan with a link for which the machine has too little memory, before anything is made.

    A link with link-time optimisation holds the code of the whole program; the kernel kills it after the compilers
    have run for an hour. What is in the store is not linked again.

    Args:
        plan: the builds' plan.
        memory: bytes that programs may take, swap included (`burnish.bench.host.memory_with_swap`); None: unknown.
    """
    if memory is None:
        return
    too_large = [step for step in plan.ahead if step.link is not None and step.link.value > memory]
    if not too_large:
        return
    names = dict.fromkeys(name for step in too_large for name in step.variants)
    need = max(step.link.value for step in too_large if step.link is not None)
    raise UserError(
        f"{', '.join(names)}: a link with link-time optimisation may take {_size(int(need))} of memory, "
        f"{_size(memory)} is free here, swap included; name other variants (`burnish variants` lists some without), or "
        "add memory or swap"
    )


def _size(number: int) -> str:
    """A number of bytes, for people."""
    return f"{number / 1e9:.1f} GB" if number >= 100_000_000 else f"{number / 1e6:.1f} MB"
