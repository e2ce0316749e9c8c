"""What this machine has for linking a recipe: linkers, allocators, 32-bit and static libraries, huge pages.

`find_parts` looks for what one recipe asks for and nothing else, so that a recipe without any of it starts no program.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, with_config

from burnish.base import process
from burnish.base.files import sha256_of
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Allocator, Linker, Recipe, Word
from burnish.toolchain.toolchains import Toolchain

_THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class LinkerEntry:
    """A linker of the catalogue: program, Debian packages, and why one would take it."""

    program: str
    packages: tuple[str, ...]
    reason: str


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class AllocatorEntry:
    """An allocator of the catalogue: library file names in order of preference, packages, reason."""

    libraries: tuple[str, ...]
    packages: tuple[str, ...]
    reason: str


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class WordEntry:
    """A word size of the catalogue: what the compilers need for it, and why."""

    packages: tuple[str, ...]
    reason: str


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class LtoEntry:
    """Bound of ThinLTO's cache, in megabytes."""

    cache_mb: int
    reason: str


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Refusal:
    """A combination that can't be made: traits with the value, or one of the values, that they have in it."""

    when: dict[str, Any]
    reason: str

    def holds(self, traits: Mapping[str, object]) -> bool:
        """Whether every trait has its value."""
        return all(
            traits[name] in value if isinstance(value, list) else traits[name] == value
            for name, value in self.when.items()
        )


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Catalogue:
    """`catalogue/data/linking.toml`, validated."""

    linkers: dict[Linker, LinkerEntry]
    allocators: dict[Allocator, AllocatorEntry]
    words: dict[str, WordEntry]
    lto: LtoEntry
    refused: tuple[Refusal, ...]


@cache
def catalogue() -> Catalogue:
    """The catalogue of linking."""
    text = resources.files("burnish.catalogue").joinpath("data", "linking.toml").read_text()
    return TypeAdapter(Catalogue).validate_python(tomllib.loads(text))


@dataclass(frozen=True)
class LinkerProgram:
    """A linker as found.

    Attributes:
        name: as in a recipe.
        path: the program.
        version: its own version line.
    """

    name: Linker
    path: Path
    version: str


@dataclass(frozen=True)
class Library:
    """A shared library as found.

    Attributes:
        name: file name that a program's NEEDED entry would have, ``libjemalloc.so.2``.
        path: the file.
        digest: of its content: another version of it is another build.
    """

    name: str
    path: Path
    digest: str


@dataclass(frozen=True)
class Parts:
    """What was found of what a recipe asks for; fields that it does not ask for keep their defaults.

    Attributes:
        linker: the recipe's linker.
        allocator: the recipe's allocator.
        words: word sizes that the compiler links programs for.
        has_profile_runtime: whether instrumented programs of the recipe's word size link.
        has_plugin: whether linkers other than lld can read clang's LTO objects.
        has_objcopy: whether a program can be stripped.
        huge_pages: the kernel's word for transparent huge pages: always, madvise, never; '' when it has none.
        missing: library files that the engine needs for this kind of link and the compiler does not find.
    """

    linker: LinkerProgram | None = None
    allocator: Library | None = None
    words: frozenset[Word] = frozenset({64})
    has_profile_runtime: bool = True
    has_plugin: bool = True
    has_objcopy: bool = True
    huge_pages: str = "madvise"
    missing: tuple[str, ...] = ()


NOTHING = Parts()
"""For recipes that ask for nothing."""


def linker_of(recipe: Recipe) -> Linker:
    """The linker that a recipe's link ends up with: its own, the one in its raw flags, or the toolchain's (bfd)."""
    if recipe.linker is not None:
        return recipe.linker
    chosen = [flag.removeprefix("-fuse-ld=") for flag in recipe.link if flag.startswith("-fuse-ld=")]
    known: dict[str, Linker] = {str(name): name for name in catalogue().linkers}
    return known.get(chosen[-1], "bfd") if chosen else "bfd"


def find_parts(recipe: Recipe, toolchain: Toolchain, spec: EngineSpec) -> Parts:
    """Looks for what `recipe` needs beyond its toolchain.

    Args:
        recipe: what is asked for.
        toolchain: the one chosen for it.
        spec: engine; names the libraries that a static or a 32-bit link of it needs.
    """
    found: dict[str, Any] = {}
    linker = linker_of(recipe)
    if recipe.linker is not None or recipe.layout:
        found["linker"] = find_linker(linker, toolchain)
    if recipe.lto != "none" and toolchain.family == "clang" and linker != "lld":
        found["has_plugin"] = (toolchain.cc.resolve().parent.parent / "lib" / "LLVMgold.so").is_file()
    if recipe.allocator != "libc":
        found["allocator"] = find_allocator(recipe.allocator, toolchain, recipe.word)
    wanted: tuple[str, ...] = ()
    if recipe.word == 32:
        found["words"] = words_of(toolchain)
        found["has_profile_runtime"] = _has_runtime(toolchain)
        wanted = spec.linking.libraries_32
    if recipe.static == "full":
        wanted = spec.linking.static_libraries
    found["missing"] = tuple(name for name in wanted if find_file(name, toolchain, recipe.word) is None)
    if recipe.strip is not None:
        found["has_objcopy"] = shutil.which("objcopy") is not None
    if recipe.huge_text:
        found["huge_pages"] = huge_pages()
    return Parts(**found)


def find_linker(name: Linker, toolchain: Toolchain) -> LinkerProgram | None:
    """The linker called `name`: clang's lld is its own, gcc's the newest there is."""
    program = catalogue().linkers[name].program
    path: Path | None
    if name == "lld" and toolchain.linker is not None:
        path = toolchain.linker
    elif name == "lld":
        path = _newest_lld()
    else:
        where = shutil.which(program)
        path = Path(where) if where else None
    if path is None:
        return None
    return LinkerProgram(name, path, process.capture([path, "--version"], timeout=20).partition("\n")[0])


def _newest_lld(root: Path = Path("/usr/lib")) -> Path | None:
    """Resolved: lld takes the kind of linker that it is from the name it is called by, and ``ld.lld`` it must be."""
    found = [path for path in root.glob("llvm-*/bin/ld.lld") if path.is_file()]
    found.sort(key=lambda path: int(re.sub(r"\D", "", path.parent.parent.name) or 0))
    if found:
        return found[-1]
    where = shutil.which("ld.lld")
    return Path(where) if where else None


def find_allocator(name: Allocator, toolchain: Toolchain, word: Word) -> Library | None:
    """The shared library of an allocator, where the compiler would find it; None when it is not installed."""
    for library in catalogue().allocators[name].libraries:
        path = find_file(library, toolchain, word)
        if path is not None:
            return Library(library, path, sha256_of(path)[:16])
    return None


def find_file(name: str, toolchain: Toolchain, word: Word) -> Path | None:
    """A library or object file in the compiler's own search path; None when it has none of that name."""
    said = process.capture([toolchain.cc, *word_flags(word), f"-print-file-name={name}"], timeout=20).strip()
    path = Path(said)  # a compiler echoes a name that it can't find
    return path.resolve() if path.is_absolute() and path.is_file() else None


def word_flags(word: Word) -> tuple[str, ...]:
    """Compiler flags of a word size; none for the machine's own."""
    return ("-m32",) if word == 32 else ()


def words_of(toolchain: Toolchain) -> frozenset[Word]:
    """Word sizes that the compiler links programs for: 32 needs a C library and the compiler's own parts."""
    names = ("crt1.o", "libc.so", "libgcc.a")
    if not all(find_file(name, toolchain, 32) for name in names):
        return frozenset[Word]({64})
    # The kernel's headers come with gcc-multilib alone, which a cross compiler drives out: libraries without headers.
    header: list[str | Path] = [toolchain.cc, "-m32", "-E", "-include", "errno.h", "-x", "c", "/dev/null"]
    found: set[Word] = {64, 32} if process.capture(header, timeout=20) else {64}
    return frozenset(found)


def _has_runtime(toolchain: Toolchain) -> bool:
    """Whether the profile runtime is there for 32-bit programs."""
    if toolchain.family == "gcc":
        return find_file("libgcov.a", toolchain, 32) is not None
    root = Path(process.capture([toolchain.cc, "-print-resource-dir"], timeout=20).strip()) / "lib"
    return any(root.glob("*/libclang_rt.profile-i386.a")) or any(root.glob("i*86*/libclang_rt.profile.a"))


def huge_pages(path: Path = _THP) -> str:
    """The kernel's setting for transparent huge pages (``[madvise]`` in its list); '' when it has none."""
    try:
        chosen = re.search(r"\[(\w+)\]", path.read_text())
    except OSError:
        return ""
    return chosen[1] if chosen else ""


@dataclass(frozen=True)
class Offer:
    """What this machine has of something that recipes can ask for, for `burnish doctor`.

    Attributes:
        name: allocators, 32-bit programs, huge pages for code.
        found: what is there.
        missing: what is not.
        packages: Debian packages that bring what is missing.
    """

    name: str
    found: tuple[str, ...]
    missing: tuple[str, ...]
    packages: tuple[str, ...] = ()


def offers(toolchains: Sequence[Toolchain]) -> list[Offer]:
    """Allocators, word sizes and huge pages as they are to be had with these compilers."""
    if not toolchains:
        return []
    known = catalogue()
    have = [name for name in known.allocators if find_allocator(name, toolchains[0], 64)]
    lacking = [name for name in known.allocators if name not in have]
    packages = tuple(package for name in lacking for package in known.allocators[name].packages)
    narrow = [each.name for each in toolchains if 32 in words_of(each)]
    wide = [each.name for each in toolchains if each.name not in narrow]
    pages = huge_pages()
    mapped = pages in ("always", "madvise")
    return [
        Offer("allocators", ("libc", *have), tuple(lacking), packages),
        Offer("32-bit programs", tuple(narrow), tuple(wide), known.words["32"].packages if wide else ()),
        Offer("huge pages for code", (pages,) if mapped else (), () if mapped else (pages or "none in this kernel",)),
    ]
