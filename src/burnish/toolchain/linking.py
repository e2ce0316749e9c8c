"""How a recipe's program is linked: flags, refused combinations, and what is part of a build's key; pure.

A recipe's defaults add nothing: no flag, and nothing to the key. Instrumented builds are linked in the default way
whatever the recipe's link settings (`neutral`), so that recipes which differ only in these share them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from burnish.base.errors import UnavailableError, UserError
from burnish.base.system import clang_to_install, install_command
from burnish.model.engine import EngineSpec, FeatureSet, is_on
from burnish.model.recipe import Flags, Recipe
from burnish.toolchain.link_parts import Library, LinkerProgram, Parts, catalogue, linker_of, word_flags
from burnish.toolchain.toolchains import Toolchain

HUGE_PAGE = 2 << 20
"""Size of a huge page for code, in bytes: on x86-64, and on aarch64 with 4 kB pages."""

SHIFTS = 64
"""Number of offsets, one cache line apart, at which a shuffled layout may begin with lld: one page."""

_STATIC_RUNTIME = ("-static-libgcc", "-static-libstdc++")

_QUIET = "-Wno-unused-command-line-argument"
"""Keeps clang from saying that a C program has no use for `-static-libstdc++`. CMake's checks take a warning for a
failure: MariaDB's C code would be compiled without frame pointers, its other flags of its own, and vfork()."""

_NAME_SERVICE = re.compile(r"Using '(\w+)' in statically linked applications requires at runtime the shared libraries")


@dataclass(frozen=True)
class Linking:
    """Settings of a compile stage's link other than flags.

    Attributes:
        linker: the requested linker; None: the toolchain's own.
        layout: seed of a shuffled order, 0 for the build system's order.
        keep_debug: whether debug sections are kept for a later stage although the engine's link would drop them.
        allocator: the allocator's library, which must be linked before libc; None: not linked.
        static: whether the program must be fully static.
        archives: the distribution's archives that are linked in instead of shared libraries.
        first: words of a program's link that come before its libraries.
        linked_in: names of shared libraries (``libz``) that the program must not load; not part of the key, because it
            follows from archives, options and flags.
        cached: whether ThinLTO may use a cache; not part of the key, because it does not change the result.
    """

    linker: LinkerProgram | None = None
    layout: int = 0
    keep_debug: bool = False
    allocator: Library | None = None
    static: bool = False
    archives: tuple[Library, ...] = ()
    first: tuple[str, ...] = ()
    linked_in: tuple[str, ...] = ()
    cached: bool = False

    @property
    def identity(self) -> tuple[object, ...]:
        """The part of the build's key; empty for default settings."""
        identity: list[object] = []
        if self.linker is not None:
            identity.append(["linker", self.linker.name, self.linker.version])
        if self.layout:
            identity.append(["layout", self.layout])
        if self.keep_debug:
            identity.append(["keep_debug"])
        if self.allocator is not None:
            identity.append(["allocator", self.allocator.name, self.allocator.digest])
        if self.archives:
            identity.append(["archives", *([archive.name, archive.digest] for archive in self.archives)])
        if self.first:
            identity.append(["first", *self.first])
        return tuple(identity)

    @property
    def needs_folder(self) -> bool:
        """Whether the compiler must find Burnish's links to or wrappers of linkers before the system's."""
        return self.layout > 0 or (self.linker is not None and self.linker.name == "lld")


PLAIN = Linking()
"""A link with default settings."""


def neutral(recipe: Recipe) -> Recipe:
    """The recipe with default link settings: the part that decides what code is compiled, for instrumented builds."""
    return replace(
        recipe,
        lto="none",
        linker=None,
        static="none",
        allocator="libc",
        preload=False,
        strip=None,
        huge_text=False,
        layout=0,
    )


def linked(
    flags: Flags, recipe: Recipe, toolchain: Toolchain, parts: Parts, folder: str, inside: Sequence[str] = ()
) -> Flags:
    """`flags` with those of the recipe's link.

    Args:
        flags: flags of the package and the recipe.
        recipe: the recipe.
        toolchain: its toolchain.
        parts: what this machine has for it.
        folder: constant path of the folder with Burnish's links to and wrappers of linkers.
        inside: file names of libraries that are linked in, of which other libraries and plugins must see nothing: these
            may load the shared form, in another version.
    """
    word = word_flags(recipe.word)
    link = [*flags.link, *word]
    linker = linker_of(recipe)
    borrowed = recipe.linker == "lld" and toolchain.linker is None
    if recipe.linker is not None:
        link.append(f"-fuse-ld={recipe.linker}")
    if borrowed or (recipe.layout and linker != "lld"):
        link.append(f"-B{folder}")
    if recipe.layout and linker == "lld":
        # lld shuffles the sections of all objects, except those ordered by the profile's call graph, whose order is
        # part of the recipe. To move these too, all code is shifted by some cache lines.
        link += [f"-Wl,--shuffle-sections=.text*={recipe.layout}", f"-Wl,-T,{folder}/layout.ld"]
    if recipe.static in ("runtime", "libraries"):
        link += _STATIC_RUNTIME
        link += [f"-Wl,--exclude-libs={name}" for name in inside]  # mold 1.10 hangs on a list of them
    elif recipe.static == "full":
        link.append("-static")
    if recipe.allocator != "libc" and not recipe.preload and parts.allocator is not None:
        link.append(f"-Wl,--push-state,--no-as-needed,-l:{parts.allocator.name},--pop-state")
    if recipe.huge_text:
        link.append(f"-Wl,-z,max-page-size={HUGE_PAGE:#x}")
        if linker in ("lld", "mold"):  # bfd separates code anyway; gold knows no such option
            link.append("-Wl,-z,separate-loadable-segments")
    if toolchain.family == "clang" and "-static-libstdc++" in link:
        link.append(_QUIET)
    return replace(flags, c=(*flags.c, *word), cxx=(*flags.cxx, *word), link=tuple(link))


def linking_of(recipe: Recipe, parts: Parts, spec: EngineSpec, features: FeatureSet) -> Linking:
    """The link settings of the recipe's final compile stage, of a program with these features."""
    return Linking(
        linker=parts.linker if recipe.linker is not None or recipe.layout else None,
        layout=recipe.layout,
        keep_debug=recipe.strip is not None and spec.linking.strips_debug,
        allocator=parts.allocator if recipe.allocator != "libc" and not recipe.preload else None,
        static=recipe.static == "full",
        archives=parts.archives if recipe.static == "libraries" else (),
        first=_first(recipe, spec, features),
        linked_in=spec.linking.linked_in if recipe.static == "libraries" else (),
        cached=recipe.lto == "thin" and linker_of(recipe) == "lld",
    )


def _first(recipe: Recipe, spec: EngineSpec, features: FeatureSet) -> tuple[str, ...]:
    """Words that name the allocator of the configure options first, where lld links.

    It names libraries in the order of the command. A tree that has the C library in the middle of it and adds its
    allocator at the end then gets a program that loads the allocator and calls the C library's malloc, which the loader
    finds first. Other linkers name the C library last.
    """
    if linker_of(recipe) != "lld":
        return ()
    options = dict(features.options) | dict(options_of(recipe, spec))
    given = ((options.get(option, ""), library) for option, library in spec.linking.allocators)
    # A copy in the source (``bundled``) has a target of its own.
    return tuple(f"-l{library}" for value, library in given if is_on(value) or value.lower() == "system")


def options_of(recipe: Recipe, spec: EngineSpec) -> tuple[tuple[str, str], ...]:
    """The recipe's configure options, after those that its kind of link requires of the engine."""
    forced: dict[str, str] = {}
    if recipe.static == "full":
        forced |= dict(spec.linking.static_options)
    elif recipe.static == "libraries":
        forced |= dict(spec.linking.bundled_options)
    if recipe.word == 32:
        forced |= dict(spec.linking.options_32)
    return tuple((forced | dict(recipe.options)).items()) if forced else recipe.options


def inside_of(recipe: Recipe, spec: EngineSpec) -> tuple[str, ...]:
    """File names of the libraries that the recipe's program has linked in."""
    return (*spec.linking.archives, *spec.linking.bundled_archives) if recipe.static == "libraries" else ()


def traits(recipe: Recipe, toolchain: Toolchain, spec: EngineSpec) -> dict[str, object]:
    """The traits that the catalogue's refused combinations refer to."""
    return {
        "family": toolchain.family,
        "linker": linker_of(recipe),
        "lto": recipe.lto,
        "static": recipe.static,
        "allocator": recipe.allocator,
        "preload": recipe.preload,
        "huge_text": recipe.huge_text,
        "word": recipe.word,
        "bolt": recipe.bolt,
        "relocations": recipe.bolt or (recipe.pgo and toolchain.family == "clang"),
        "strips_debug": spec.linking.strips_debug and recipe.strip is None,
    }


def never(recipe: Recipe, spec: EngineSpec) -> str | None:
    """Why no machine links this engine's program as the recipe has it; None if one may."""
    if recipe.static == "full" and spec.linking.no_static:
        return f"there is no fully static {spec.title}: {spec.linking.no_static}"
    if recipe.word == 32 and spec.linking.no_32:
        return f"there is no 32-bit {spec.title}: {spec.linking.no_32}"
    return None


def check(recipe: Recipe, name: str, toolchain: Toolchain, parts: Parts, spec: EngineSpec) -> None:
    """Checks whether a recipe's link can be made.

    Args:
        recipe: the recipe.
        name: "variant NAME", for the message.
        toolchain: its toolchain.
        parts: what this machine has for it.
        spec: the engine.

    Raises:
        UserError: never possible: parts of the recipe contradict each other or the toolchain.
        UnavailableError: not possible here: this machine lacks a linker, a library or a feature.
    """
    chosen = [flag for flag in recipe.link if flag.startswith("-fuse-ld=")]
    if recipe.linker is not None and chosen:
        raise UserError(f"{name}: linker = {recipe.linker!r} and {chosen[-1]} in link contradict; leave one out")
    known = traits(recipe, toolchain, spec)
    for refusal in catalogue().refused:
        if refusal.holds(known):
            raise UserError(f"{name}: {refusal.reason.rstrip('.')}")
    if (why := never(recipe, spec)) is not None:
        raise UserError(f"{name}: {why}")
    if recipe.static == "libraries" and not spec.linking.linked_in:
        raise UserError(
            f"{name}: static = 'libraries': {spec.title} has no libraries beside the compiler's and the C library's; "
            "take static = 'runtime'"
        )
    _check_found(recipe, name, toolchain, parts)
    if parts.missing:
        full = spec.linking.static_packages if recipe.static != "libraries" else spec.linking.archive_packages
        packages = spec.linking.packages_32 if recipe.word == 32 else full
        kind = "32-bit" if recipe.word == 32 else "static"
        raise UnavailableError(
            f"{name}: {spec.title} needs {kind} libraries that are not here: {', '.join(parts.missing)}; "
            f"{_foreign(packages)}{install_command(packages)}"
        )


def _check_found(recipe: Recipe, name: str, toolchain: Toolchain, parts: Parts) -> None:
    linker, linking = linker_of(recipe), catalogue()
    if (recipe.linker is not None or recipe.layout) and parts.linker is None:
        major = toolchain.major if toolchain.family == "clang" else clang_to_install()
        command = install_command(package.format(major=major) for package in linking.linkers[linker].packages)
        raise UnavailableError(f"{name}: no linker {linker} on this machine; to have it: {command}")
    if not parts.has_plugin:
        command = install_command([f"llvm-{toolchain.major}-linker-tools"])
        raise UnavailableError(
            f"{name}: {linker} reads {toolchain.name}'s LTO objects only with LLVM's plugin, which is missing; "
            f"take lld, or: {command}"
        )
    if recipe.allocator != "libc" and parts.allocator is None:
        entry = linking.allocators[recipe.allocator]
        raise UnavailableError(
            f"{name}: no {' or '.join(entry.libraries)} for {recipe.word}-bit programs on this machine; "
            f"{_install_allocator(recipe.word, entry.packages)}"
        )
    if recipe.word not in parts.words:
        command = install_command(linking.words[str(recipe.word)].packages)
        raise UnavailableError(
            f"{name}: {toolchain.name} links no {recipe.word}-bit programs on this machine; {command}"
        )
    if recipe.pgo and not parts.has_profile_runtime:
        raise UnavailableError(f"{name}: {toolchain.name} has no profile runtime for {recipe.word}-bit programs")
    if not parts.has_objcopy:
        raise UnavailableError(f"{name}: strip needs objcopy; {install_command(['binutils'])}")
    if recipe.huge_text and parts.huge_pages not in ("always", "madvise"):
        raise UnavailableError(
            f"{name}: huge_text needs transparent huge pages, and this kernel has "
            f"{'none' if not parts.huge_pages else f'them set to {parts.huge_pages!r}'}; "
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
        )


def _install_allocator(word: int, packages: Sequence[str]) -> str:
    named = [f"{package}:i386" for package in packages] if word == 32 else packages
    return f"{_foreign(named)}{install_command(named)}"


def _foreign(packages: Sequence[str]) -> str:
    """The command that enables packages of another architecture, if there are any in the list."""
    return (
        "dpkg --add-architecture i386 && apt-get update && " if any(":i386" in package for package in packages) else ""
    )


def groups(recipe: Recipe) -> list[str]:
    """Groups of `catalogue/data/system.toml` that the recipe's link needs."""
    groups = []
    if recipe.linker in ("gold", "lld", "mold"):
        groups.append("linkers")
    if recipe.allocator != "libc" and recipe.word == 64:
        groups.append("allocators")
    if recipe.word == 32:
        groups.append("word-32")
    return groups


def shift(seed: int) -> int:
    """Number of bytes by which a layout shifts all code: a multiple of the cache line, less than a page."""
    return 64 * ((seed * 2654435761 >> 8) % SHIFTS)


def layout_script(seed: int) -> str:
    """A linker script for lld that shifts all code by `shift`: start-up code and a gap before everything else."""
    return f"SECTIONS {{ .text.layout : {{ *crt1.o(.text .text.*) . += {shift(seed)}; }} }} INSERT BEFORE .text;\n"


def unkeyed(linking: Linking, cache: PurePath) -> tuple[str, ...]:
    """Link flags that affect the link's duration only: ThinLTO's cache in the folder `cache`, of limited size."""
    if not linking.cached:
        return ()
    policy = f"cache_size_bytes={catalogue().lto.cache_mb}m"
    return (f"-Wl,--thinlto-cache-dir={cache}", f"-Wl,--thinlto-cache-policy={policy}")


def notes(log: str, linking: Linking = PLAIN) -> list[str]:
    """What the user of a linked program should know.

    Args:
        log: the link's log: names functions of a static program that still load libraries.
        linking: how it was linked.
    """
    said = []
    if names := sorted(set(_NAME_SERVICE.findall(log))):
        listed = ", ".join(names)
        said.append(
            f"statically linked, but glibc's {listed} still load shared libraries: those of the very same glibc"
        )
    if linking.linked_in:
        said.append(
            f"linked in, so that security updates of the distribution do not reach them: {', '.join(linking.linked_in)}"
        )
    return said
