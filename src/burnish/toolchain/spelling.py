"""The flags of a recipe's catalogue entries and target for one toolchain on one host; pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from burnish.base.errors import UnavailableError, UserError
from burnish.base.processor import Processor
from burnish.catalogue import flags
from burnish.catalogue.flags import LEVEL, Flag, Target
from burnish.model.recipe import Recipe
from burnish.toolchain.link_parts import linker_of
from burnish.toolchain.toolchains import Toolchain


@dataclass(frozen=True)
class Spelled:
    """Flags that come after the package's own and before the recipe's raw ones.

    Attributes:
        c: flags for C.
        cxx: flags for C++.
        link: flags for the link.
        level: the optimisation level of an entry; None: no entry sets it.
        host: for ``native``, what the build depends on besides its flags: the processor's name and features.
    """

    c: tuple[str, ...] = ()
    cxx: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    level: str | None = None
    host: tuple[str, ...] = ()


def spell(recipe: Recipe, toolchain: Toolchain, processor: Processor, who: str, *, counters: bool = False) -> Spelled:
    """The flags of the recipe's target and entries, in their order.

    Args:
        recipe: the recipe.
        toolchain: the toolchain of the build.
        processor: the host's processor, on which the build also runs.
        who: name of the recipe, for errors.
        counters: whether it is for a build that counts what is executed (`counting`).

    Raises:
        UserError: an unknown name, entries that contradict each other, or an entry that the toolchain's family does
            not have; stops the request.
        UnavailableError: an entry or target that needs a newer compiler or another machine, or a target that this
            host can't run; the variant is left out and the others continue.
    """
    flags.check(recipe, who)
    level: str | None = None
    host: tuple[str, ...] = ()
    common: tuple[str, ...] = ()
    if recipe.target is not None:
        target = flags.target(recipe.target)
        _fits(target, toolchain, processor, who)
        common = (*target.flags, *target.quiet(toolchain.family))
        if target.native:
            host = (processor.model, *sorted(processor.features))
    c, cxx = common, common
    link: tuple[str, ...] = ()
    for name in recipe.flags:
        entry = flags.flag(name)
        spelling = _available(entry, toolchain, processor, who)
        of_c, of_cxx = spelling.c, spelling.cxx
        if counters:
            of_c, of_cxx = (
                (*(() if spelling.after_counters else words), *spelling.counting) for words in (of_c, of_cxx)
            )
        if entry.choice == LEVEL:
            level, of_c, of_cxx = of_c[0], of_c[1:], of_cxx[1:]
        c, cxx, link = (*c, *of_c), (*cxx, *of_cxx), (*link, *spelling.link)
        if recipe.lto != "none":
            link = (*link, *spelling.lto)
            if spelling.lto and linker_of(recipe) != "lld":
                raise UserError(f"{who}: flag {name!r} speaks to lld in a link with lto; add -fuse-ld=lld to link")
        elif entry.requires_lto and not counters:
            raise UserError(f"{who}: flag {name!r} does something only with link-time optimisation; add lto = 'thin'")
    if "-fuse-ld=lld" in link and recipe.linker not in (None, "lld"):
        raise UserError(f"{who}: linker = {recipe.linker!r} contradicts a flag that needs lld; leave one out")
    return Spelled(c, cxx, link, level, host)


def counting(recipe: Recipe, toolchain: Toolchain) -> Recipe:
    """The recipe of the instrumented build: without entries that take effect only after the counters are inserted.

    Recipes that differ only in such entries then share the instrumented build, the training and the profile.
    """

    def late(name: str) -> bool:
        spelling = flags.flag(name).spellings.get(toolchain.family)
        return spelling is not None and spelling.after_counters and not spelling.counting

    return replace(recipe, flags=tuple(name for name in recipe.flags if not late(name)))


def _available(entry: Flag, toolchain: Toolchain, processor: Processor, who: str) -> flags.Spelling:
    if entry.architecture and processor.architecture not in entry.architecture:
        raise UnavailableError(
            f"{who}: flag {entry.name!r} is for {', '.join(entry.architecture)}, this host is {processor.architecture}"
        )
    if toolchain.family not in entry.spellings:
        others = ", ".join(entry.spellings)
        raise UserError(
            f"{who}: flag {entry.name!r} is not for {toolchain.name}: {entry.absent[toolchain.family]}; "
            f"it is for {others}"
        )
    spelling = entry.spellings[toolchain.family]
    if toolchain.major < spelling.since:
        raise UnavailableError(
            f"{who}: flag {entry.name!r} needs {toolchain.family}-{spelling.since} or newer, found {toolchain.name}"
        )
    return spelling


def _fits(target: Target, toolchain: Toolchain, processor: Processor, who: str) -> None:
    if target.architecture not in (None, processor.architecture):
        raise UnavailableError(
            f"{who}: target {target.name!r} is for {target.architecture}, this host is {processor.architecture}; "
            "choose one of its own"
        )
    since = target.since[toolchain.family]
    if toolchain.major < since:
        raise UnavailableError(
            f"{who}: target {target.name!r} needs {toolchain.family}-{since} or newer, found {toolchain.name}"
        )
    missing = sorted(target.needs - processor.features)
    if missing:
        raise UnavailableError(
            f"{who}: target {target.name!r}: this host ({processor.model}) lacks {' '.join(missing)}: a server built "
            "for it can't be run here, so it could be neither tested nor measured; choose another target"
        )
