"""What this machine offers for linking: linkers, allocators, 32-bit and static libraries, huge pages.

`find_parts` looks only for what a recipe requests, so that a recipe without any of this starts no program.
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
from burnish.base.system import find_programs
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Allocator, Linker, Recipe, Word
from burnish.toolchain.toolchains import Toolchain, find_toolchains

_ELF_64 = b"\x7fELF\x02"
_THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class LinkerEntry:
    """A linker of the catalogue: program, Debian packages, and why one would use it."""

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
    """Size limit of ThinLTO's cache, in megabytes."""

    cache_mb: int
    reason: str


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Refusal:
    """An impossible combination: each of its traits with its value, or a list of values."""

    when: dict[str, Any]
    reason: str

    def holds(self, traits: Mapping[str, object]) -> bool:
        """Whether the traits match the combination."""
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
    """An installed linker.

    Attributes:
        name: as in a recipe.
        path: the program.
        version: version line that it prints.
    """

    name: Linker
    path: Path
    version: str


@dataclass(frozen=True)
class Library:
    """An installed library.

    Attributes:
        name: file name: of a shared one as in a program's NEEDED entry (``libjemalloc.so.2``), or of an archive.
        path: the file.
        digest: digest of its content: a build with another version is another build.
    """

    name: str
    path: Path
    digest: str


@dataclass(frozen=True)
class Parts:
    """What this machine has of what a recipe requests; other fields keep their defaults.

    Attributes:
        linker: the recipe's linker.
        allocator: the recipe's allocator.
        words: word sizes that the compiler links programs for.
        has_profile_runtime: whether instrumented programs of the recipe's word size link.
        has_plugin: whether linkers other than lld can read clang's LTO objects.
        has_objcopy: whether a program can be stripped.
        huge_pages: the kernel's setting for transparent huge pages: always, madvise, never; '' if it has none.
        missing: library files that the engine needs for this kind of link, but that the compiler does not find.
        archives: the distribution's archives that are linked in.
    """

    linker: LinkerProgram | None = None
    allocator: Library | None = None
    words: frozenset[Word] = frozenset({64})
    has_profile_runtime: bool = True
    has_plugin: bool = True
    has_objcopy: bool = True
    huge_pages: str = "madvise"
    missing: tuple[str, ...] = ()
    archives: tuple[Library, ...] = ()


NOTHING = Parts()
"""For recipes that request nothing."""


def linker_of(recipe: Recipe) -> Linker:
    """The linker that a recipe uses: its own, the one in its raw flags, or the toolchain's (bfd)."""
    if recipe.linker is not None:
        return recipe.linker
    chosen = [flag.removeprefix("-fuse-ld=") for flag in recipe.link if flag.startswith("-fuse-ld=")]
    known: dict[str, Linker] = {str(name): name for name in catalogue().linkers}
    return known.get(chosen[-1], "bfd") if chosen else "bfd"


def find_parts(recipe: Recipe, toolchain: Toolchain, spec: EngineSpec) -> Parts:
    """Looks for what `recipe` needs beyond its toolchain.

    Args:
        recipe: the recipe.
        toolchain: its toolchain.
        spec: the engine, which names the libraries for static and 32-bit links.
    """
    arguments: dict[str, Any] = {}
    linker = linker_of(recipe)
    if recipe.linker is not None or recipe.layout:
        arguments["linker"] = find_linker(linker, toolchain)
    if recipe.lto != "none" and toolchain.family == "clang" and linker != "lld":
        arguments["has_plugin"] = (toolchain.cc.resolve().parent.parent / "lib" / "LLVMgold.so").is_file()
    if recipe.allocator != "libc":
        arguments["allocator"] = find_allocator(recipe.allocator, toolchain, recipe.word)
    libraries: tuple[str, ...] = ()
    if recipe.word == 32:
        arguments["words"] = words_of(toolchain)
        arguments["has_profile_runtime"] = _has_runtime(toolchain)
        libraries = spec.linking.libraries_32
    if recipe.static == "full":
        libraries = spec.linking.static_libraries
    elif recipe.static == "libraries":
        libraries = spec.linking.archives
        arguments["archives"] = find_archives(libraries, toolchain, recipe.word)
    arguments["missing"] = tuple(name for name in libraries if find_file(name, toolchain, recipe.word) is None)
    if recipe.strip is not None:
        arguments["has_objcopy"] = shutil.which("objcopy") is not None
    if recipe.huge_text:
        arguments["huge_pages"] = huge_pages()
    return Parts(**arguments)


def find_linker(name: Linker, toolchain: Toolchain) -> LinkerProgram | None:
    """The linker called `name`; lld is that of the clang toolchain, and the newest installed one for gcc."""
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
    """The newest lld under the name ``ld.lld``: lld decides by its name which kind of linker it is."""
    paths = [path for path in root.glob("llvm-*/bin/ld.lld") if path.is_file()]
    paths.sort(key=lambda path: int(re.sub(r"\D", "", path.parent.parent.name) or 0))
    if paths:
        return paths[-1]
    where = shutil.which("ld.lld")
    return Path(where) if where else None


def find_allocator(name: Allocator, toolchain: Toolchain, word: Word) -> Library | None:
    """The shared library of an allocator in the compiler's search path; None if it is not installed."""
    for library in catalogue().allocators[name].libraries:
        path = find_file(library, toolchain, word)
        if path is not None:
            return Library(library, path, sha256_of(path)[:16])
    return None


def installed_allocator(name: Allocator) -> Library | None:
    """The shared library of an allocator for 64-bit programs of this machine; None if it is not installed.

    A host that only measures has no compiler; there the dynamic linker's list is asked.
    """
    for toolchain in find_toolchains()[:1]:
        if found := find_allocator(name, toolchain, 64):
            return found
    program = find_programs(["ldconfig"])["ldconfig"]
    listed = process.capture([program, "-p"], timeout=20) if program is not None else ""
    for library in catalogue().allocators[name].libraries:
        for match in re.finditer(rf"^\s*{re.escape(library)} \(.*\) => (/.*)$", listed, re.MULTILINE):
            path = Path(match[1]).resolve()
            if path.is_file() and path.read_bytes()[: len(_ELF_64)] == _ELF_64:
                return Library(library, path, sha256_of(path)[:16])
    return None


def find_archives(names: Sequence[str], toolchain: Toolchain, word: Word) -> tuple[Library, ...]:
    """Those of the archives that the compiler finds."""
    paths = ((name, find_file(name, toolchain, word)) for name in names)
    return tuple(Library(name, path, sha256_of(path)[:16]) for name, path in paths if path is not None)


def find_file(name: str, toolchain: Toolchain, word: Word) -> Path | None:
    """A library or object file in the compiler's search path; None if there is none of that name."""
    answer = process.capture([toolchain.cc, *word_flags(word), f"-print-file-name={name}"], timeout=20).strip()
    path = Path(answer)  # a compiler prints a name unchanged if it does not find the file
    return path.resolve() if path.is_absolute() and path.is_file() else None


def word_flags(word: Word) -> tuple[str, ...]:
    """Compiler flags for a word size; none for the machine's own."""
    return ("-m32",) if word == 32 else ()


def words_of(toolchain: Toolchain) -> frozenset[Word]:
    """Word sizes that the compiler links programs for: 32 needs a C library and the compiler's own parts."""
    names = ("crt1.o", "libc.so", "libgcc.a")
    if not all(find_file(name, toolchain, 32) for name in names):
        return frozenset[Word]({64})
    # The kernel's headers come only with gcc-multilib, which conflicts with cross compilers: there may be libraries
    # without headers.
    header: list[str | Path] = [toolchain.cc, "-m32", "-E", "-include", "errno.h", "-x", "c", "/dev/null"]
    word_sizes: set[Word] = {64, 32} if process.capture(header, timeout=20) else {64}
    return frozenset(word_sizes)


def _has_runtime(toolchain: Toolchain) -> bool:
    """Whether the profile runtime for 32-bit programs is installed."""
    if toolchain.family == "gcc":
        return find_file("libgcov.a", toolchain, 32) is not None
    root = Path(process.capture([toolchain.cc, "-print-resource-dir"], timeout=20).strip()) / "lib"
    return any(root.glob("*/libclang_rt.profile-i386.a")) or any(root.glob("i*86*/libclang_rt.profile.a"))


def huge_pages(path: Path = _THP) -> str:
    """The kernel's setting for transparent huge pages (``[madvise]`` in its list); '' if it has none."""
    try:
        chosen = re.search(r"\[(\w+)\]", path.read_text())
    except OSError:
        return ""
    return chosen[1] if chosen else ""


@dataclass(frozen=True)
class Offer:
    """What this machine offers of a feature of recipes, for `burnish doctor`.

    Attributes:
        name: allocators, 32-bit programs, huge pages for code.
        found: what is installed.
        missing: what is not.
        packages: Debian packages that contain what is missing.
    """

    name: str
    found: tuple[str, ...]
    missing: tuple[str, ...]
    packages: tuple[str, ...] = ()


def offers(toolchains: Sequence[Toolchain]) -> list[Offer]:
    """The allocators, word sizes and huge pages available with these compilers."""
    if not toolchains:
        return []
    known = catalogue()
    available = [name for name in known.allocators if find_allocator(name, toolchains[0], 64)]
    missing = [name for name in known.allocators if name not in available]
    packages = tuple(package for name in missing for package in known.allocators[name].packages)
    narrow = [toolchain.name for toolchain in toolchains if 32 in words_of(toolchain)]
    wide = [toolchain.name for toolchain in toolchains if toolchain.name not in narrow]
    pages = huge_pages()
    mapped = pages in ("always", "madvise")
    return [
        Offer("allocators", ("libc", *available), tuple(missing), packages),
        Offer("32-bit programs", tuple(narrow), tuple(wide), known.words["32"].packages if wide else ()),
        Offer("huge pages for code", (pages,) if mapped else (), () if mapped else (pages or "none in this kernel",)),
    ]
