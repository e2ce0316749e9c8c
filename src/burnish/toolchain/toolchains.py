"""The compilers of this machine, each with the tools of its family and version.

A toolchain without some part (linker, profile runtime, BOLT) is still usable; `lacks` lists the missing parts with
their consequences and the commands that install them.
"""

from __future__ import annotations

import os
import platform
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, with_config

from burnish.base import process
from burnish.base.errors import UnavailableError, UserError, unknown
from burnish.base.system import install_command, packages
from burnish.model.family import FAMILIES, Family
from burnish.toolchain.identity import bolt_version, identity_of, is_distributed

_PROGRAM = re.compile(r"(gcc|clang)(?:-(\d+))?")


_RELEASE = re.compile(r"\d+\.\d+(?:\.\d+)?")


_LLVM_ROOT = Path("/usr/lib")


_INSTALLED = Path("/var/lib/dpkg/status")


_GCC_PARTS = ("cc1", "cc1plus")
"""The programs that gcc's drivers run to compile."""


@dataclass(frozen=True)
class Toolchain:
    """A compiler with its tools.

    Attributes:
        name: family and major version, ``gcc-12``; with the full release if two of one major version differ.
        family: ``gcc`` or ``clang``.
        version: version line that the compiler prints, with the distribution's revision.
        identity: the same for the keys of builds, see `identity_of`.
        release: version number, ``12.2.0``.
        cc: the C compiler.
        cxx: the C++ compiler.
        ar: the archiver that supports the family's LTO objects.
        ranlib: ranlib of that archiver.
        linker: lld of the same version; None for gcc, which uses the system's linker.
        profdata: llvm-profdata of the same version; None for gcc.
        gcov_dump: gcov-dump of the same version; None for clang.
        bolt: llvm-bolt of the same version for clang, the newest installed one for gcc (it works on any ELF program).
        bolt_version: what tells one BOLT from another in the keys of builds: a clang's own version line, as both are of
            one package; for gcc, whose BOLT is any, that which BOLT prints.
        merge_fdata: merge-fdata beside `bolt`.
        has_profile_runtime: whether the library that an instrumented build links is installed.
        bolt_can_instrument: whether the library that ``llvm-bolt -instrument`` links is installed.
    """

    name: str
    family: Family
    version: str
    identity: str
    release: str
    cc: Path
    cxx: Path
    ar: Path | None
    ranlib: Path | None
    linker: Path | None
    profdata: Path | None
    gcov_dump: Path | None
    bolt: Path | None
    bolt_version: str
    merge_fdata: Path | None
    has_profile_runtime: bool
    bolt_can_instrument: bool

    @property
    def major(self) -> int:
        """The major version, 12 of 12.2.0."""
        return int(self.release.partition(".")[0])


@dataclass(frozen=True)
class Lack:
    """A missing part of a toolchain.

    Attributes:
        part: the field of `Toolchain` for it.
        consequence: what is not possible without it.
        fix: the command that installs it.
    """

    part: str
    consequence: str
    fix: str

    def __str__(self) -> str:
        return f"{self.consequence}; to fix it: {self.fix}"


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class _Part:
    packages: tuple[str, ...]
    consequence: str


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class _FamilyEntry:
    reason: str
    packages: tuple[str, ...]
    parts: dict[str, _Part]


@cache
def _families() -> Mapping[str, _FamilyEntry]:
    text = resources.files("burnish.catalogue").joinpath("data", "toolchains.toml").read_text()
    return TypeAdapter(dict[str, _FamilyEntry]).validate_python(tomllib.loads(text))


def packages_for(family: Family, major: int) -> tuple[str, ...]:
    """The Debian packages that make up a whole toolchain of this family and major version."""
    return tuple(name.format(major=major) for name in _families()[family].packages)


def bolt_packages(toolchain: Toolchain) -> tuple[str, ...]:
    """The Debian packages with BOLT and its runtime: of a clang's own version; for gcc, of the BOLT found, if any."""
    if toolchain.family == "clang":
        return packages("bolt", toolchain.major)
    folder = toolchain.bolt.parent.parent if toolchain.bolt else Path()
    return packages("bolt", _number(folder) or None)


def lacks(toolchain: Toolchain) -> list[Lack]:
    """The missing parts of `toolchain`; empty if it is complete."""
    missing = []
    for part, entry in _families()[toolchain.family].parts.items():
        if not getattr(toolchain, part):
            packages = [name.format(major=toolchain.major) for name in entry.packages]
            missing.append(Lack(part, entry.consequence, install_command(packages)))
    return missing


def find_toolchains(path: str | None = None, llvm_root: Path = _LLVM_ROOT) -> list[Toolchain]:
    """All compilers of this machine without duplicates, gcc before clang, newest first in each family.

    Args:
        path: folders to look in, separated as in PATH; default: the environment's PATH.
        llvm_root: the folder with Debian's ``llvm-N`` folders.
    """
    folders = [Path(entry) for entry in (path or os.environ.get("PATH", os.defpath)).split(os.pathsep) if entry]
    folders += [entry / "bin" for entry in sorted(llvm_root.glob("llvm-*"), key=_number, reverse=True)]
    return list(_found(tuple((place, _changed(place)) for place in dict.fromkeys((*folders, _INSTALLED)))))


def _changed(place: Path) -> int:
    """Modification time of a folder or file in nanoseconds; 0 if it does not exist."""
    try:
        return place.stat().st_mtime_ns
    except OSError:
        return 0


@cache
def _found(places: tuple[tuple[Path, int], ...]) -> tuple[Toolchain, ...]:
    """Looks for compilers again only if the folders or the installed packages (last of `places`) have changed."""
    folders = [folder for folder, _ in places[:-1]]
    toolchains: dict[str, Toolchain] = {}
    resolved: set[Path] = set()
    for program in _candidates(folders):
        real = program.resolve()
        if real in resolved:
            continue
        resolved.add(real)
        toolchain = _probe(program, folders)
        if toolchain is None or any(_same_release(toolchain, other) for other in toolchains.values()):
            continue
        if toolchain.name in toolchains:  # another release of a major that PATH names first
            toolchain = replace(toolchain, name=f"{toolchain.family}-{toolchain.release}")
        toolchains.setdefault(toolchain.name, toolchain)  # a third one, of a release that is there, by its path alone
    return tuple(
        sorted(
            toolchains.values(),
            key=lambda toolchain: (FAMILIES.index(toolchain.family), [-n for n in _numbers(toolchain)]),
        )
    )


def choose(request: str, toolchains: Sequence[Toolchain]) -> Toolchain:
    """The toolchain that a recipe or an option requests.

    Args:
        request: a family (``clang``: its newest), a name (``clang-19``), or the path of a C compiler.
        toolchains: from `find_toolchains`.

    Raises:
        UnavailableError: this machine does not have it; the message names those that it has and how to install it.
        UserError: no compiler has this name, or the path is not a compiler.
    """
    if "/" in request:
        if not Path(request).exists():
            raise UserError(
                f"{request}: there is no such program; name a C compiler's path, or one of: {_names(toolchains)}"
            )
        folders = [
            Path(request).parent,
            *(Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep)),
        ]
        toolchain = _probe(Path(request), folders) if os.access(request, os.X_OK) else None
        if toolchain is None:
            raise UserError(
                f"{request}: not a gcc or clang that comes with its C++ compiler; there are: {_names(toolchains)}"
            )
        return toolchain
    for toolchain in toolchains:
        if request in (toolchain.name, toolchain.family, f"{toolchain.family}-{toolchain.release}"):
            return toolchain
    known = _PROGRAM.fullmatch(request)
    if known is None:
        raise unknown("compiler", request, [toolchain.name for toolchain in toolchains] + list(FAMILIES))
    family: Family = "gcc" if known[1] == "gcc" else "clang"
    needed = packages_for(family, int(known[2])) if known[2] else packages(family)
    raise UnavailableError(
        f"no compiler {request!r} on this machine; there are: {_names(toolchains)}; "
        f"to have it: {install_command(needed)}",
        needed,
    )


def _names(toolchains: Sequence[Toolchain]) -> str:
    return ", ".join(toolchain.name for toolchain in toolchains) or "none"


def _numbers(toolchain: Toolchain) -> list[int]:
    return [int(part) for part in toolchain.release.split(".")]


def _number(folder: Path) -> int:
    digits = folder.name.rpartition("-")[2]
    return int(digits) if digits.isdigit() else 0


def _same_release(first: Toolchain, second: Toolchain) -> bool:
    return (first.family, first.identity) == (second.family, second.identity)


def _candidates(folders: Iterable[Path]) -> list[Path]:
    """Programs named like a C compiler, in the order of `folders`, versioned names first in each."""
    programs = []
    for folder in dict.fromkeys(folders):
        try:
            names = [entry.name for entry in os.scandir(folder) if _PROGRAM.fullmatch(entry.name)]
        except OSError:
            continue
        for name in sorted(names, key=lambda name: (-len(name), name)):
            program = folder / name
            # ccache and distcc put links of the compiler's name in front of it on PATH.
            if os.access(program, os.X_OK) and program.resolve().name not in ("ccache", "distcc"):
                programs.append(program)
    return programs


def _probe(program: Path, folders: Sequence[Path]) -> Toolchain | None:
    """The toolchain of the C compiler `program`; None if it isn't one or has no C++ compiler."""
    try:
        banner = process.capture([program, "--version"], timeout=20).partition("\n")[0]
    except OSError:  # an executable file that no kernel can run
        return None
    release = _RELEASE.search(banner.rpartition(")")[2]) or _RELEASE.search(banner)
    if release is None:
        return None
    return (_clang if "clang" in banner else _gcc)(program, banner, release[0], folders)


def _clang(program: Path, banner: str, release: str, folders: Sequence[Path]) -> Toolchain | None:
    major = release.partition(".")[0]
    # Debian's clang-N is a link into /usr/lib/llvm-N/bin, where all tools of that version have plain names;
    # its linker and BOLT look for their libraries from there.
    home = program.resolve().parent

    def tool(name: str) -> Path | None:
        return _first(home / name, *(folder / f"{name}-{major}" for folder in folders))

    cc, cxx = tool("clang"), tool("clang++")
    if cc is None or cxx is None:
        return None
    bolt, merge_fdata, can_instrument = _bolt(tool("llvm-bolt"))
    libraries = [file for name in ("libLLVM*.so*", "libclang-cpp.so*") for file in home.parent.glob(f"lib/{name}")]
    identity = identity_of(banner, (cc, cxx, *libraries))
    return Toolchain(
        name=f"clang-{major}",
        family="clang",
        version=banner,
        identity=identity,
        release=release,
        cc=cc,
        cxx=cxx,
        ar=tool("llvm-ar"),
        ranlib=tool("llvm-ranlib"),
        linker=tool("ld.lld"),
        profdata=tool("llvm-profdata"),
        gcov_dump=None,
        bolt=bolt,
        bolt_version=identity if bolt is not None else "",
        merge_fdata=merge_fdata,
        has_profile_runtime=_has_clang_runtime(cc),
        bolt_can_instrument=can_instrument,
    )


def _gcc(program: Path, banner: str, release: str, folders: Sequence[Path]) -> Toolchain | None:
    major = release.partition(".")[0]
    plain = program.name == "gcc"  # only then do tools without a version in their name belong to it

    def tool(name: str) -> Path | None:
        beside = [program.parent / f"{name}-{major}"] + ([program.parent / name] if plain else [])
        return _first(*beside, *(folder / f"{name}-{major}" for folder in folders))

    cxx = tool("g++")
    if cxx is None:
        return None
    bolt, merge_fdata, can_instrument = _bolt(_first(*(folder / "llvm-bolt" for folder in folders)))
    version = "gcc " + banner.partition(" ")[2]  # without the program's name
    wanted = () if is_distributed(program) else _GCC_PARTS  # those of a distribution's driver are its own too
    parts = [Path(process.capture([program, f"-print-prog-name={part}"], timeout=20).strip()) for part in wanted]
    libgcov = Path(process.capture([program, "-print-file-name=libgcov.a"], timeout=20).strip())
    return Toolchain(
        name=f"gcc-{major}",
        family="gcc",
        version=version,
        identity=identity_of(version, (program, cxx, *parts)),
        release=release,
        cc=program,
        cxx=cxx,
        ar=tool("gcc-ar"),
        ranlib=tool("gcc-ranlib"),
        linker=None,
        profdata=None,
        gcov_dump=tool("gcov-dump"),
        bolt=bolt,
        bolt_version=bolt_version(bolt),
        merge_fdata=merge_fdata,
        has_profile_runtime=libgcov.is_absolute()
        and libgcov.is_file(),  # gcc prints a name unchanged if it does not find it
        bolt_can_instrument=can_instrument,
    )


def _first(*paths: Path) -> Path | None:
    """The first of `paths` that is a program."""
    return next((path for path in paths if path.is_file() and os.access(path, os.X_OK)), None)


def _bolt(program: Path | None) -> tuple[Path | None, Path | None, bool]:
    """llvm-bolt, merge-fdata beside it, and whether its instrumentation library is installed.

    The path is resolved because llvm-bolt looks for its library relative to the path it was started with: as
    /usr/bin/llvm-bolt-19 it looks in /usr/lib and fails.
    """
    if program is None:
        return None, None, False
    bolt = program.resolve()
    library = bolt.parent.parent / "lib" / "libbolt_rt_instr.a"
    return bolt, _first(bolt.parent / "merge-fdata"), library.is_file()


def _has_clang_runtime(cc: Path) -> bool:
    """Whether clang's profile runtime for this machine is installed, in either of the two layouts in use."""
    resources_folder = Path(process.capture([cc, "-print-resource-dir"], timeout=20).strip()) / "lib"
    flat = resources_folder / "linux" / f"libclang_rt.profile-{platform.machine()}.a"
    return flat.is_file() or any(resources_folder.glob(f"{platform.machine()}*/libclang_rt.profile.a"))
