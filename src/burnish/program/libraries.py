"""The shared libraries that a program loads, and whether it is linked with them itself; read from files, nothing runs.

Linkers disagree on which of them a program's file names: gcc's (``--as-needed``) leaves out a library of which the
program itself calls nothing, lld may name it, and the loader maps it either way, because another library needs it. So
that a program names a library that the other one loads through another library is no difference between the two. After
link-time optimisation lld also names libraries that only removed code used: as good as absent where nothing of them is
used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from burnish.program.built import LINKED, THROUGH, UNUSED
from burnish.program.exports import exported, imported
from burnish.program.program import features_of

_MALLOC = "malloc"
_CONFIGURATION = Path("/etc/ld.so.conf")
_USUAL = ("/lib", "/usr/lib", "/lib64", "/usr/lib64")
_DEPTH = 8
"""How deep files of the loader's configuration may include each other."""


def libraries(program: Path, folders: Sequence[Path] | None = None) -> dict[str, str]:
    """By name, how a program comes to load each library (`LINKED`, `THROUGH`, `UNUSED`); without gcc's helpers.

    A library whose file cannot be found or read on this machine counts as one that needs no other.

    Args:
        program: the program's file.
        folders: where libraries are looked for after the program's own search path; default: where the loader looks.
    """
    server = _read(program)
    wanted = imported(program, weak=True) if server.needed else frozenset[str]()
    known = {}
    for name, by, library in _loaded(server, folders):
        if by is not server:
            known[name] = THROUGH
        else:
            known[name] = UNUSED if library and _is_unused(program, wanted, library.path) else LINKED
    return {name: known[name] for name in features_of(known)}


def features(program: Path, folders: Sequence[Path] | None = None) -> dict[str, str]:
    """The libraries that a program loads, and whose malloc it calls if it is not the C library's, as features of it."""
    loaded = {f"library {name}": how for name, how in libraries(program, folders).items()}
    found = allocator(program, folders)
    return loaded if found is None or found.startswith("libc.so") else loaded | {"malloc": found}


def allocator(program: Path, folders: Sequence[Path] | None = None) -> str | None:
    """The library whose malloc a program calls: of all that have one, the first in the order of loading.

    That is breadth first, by the order in which files name what they need (ld.so(8)). So the same libraries, named in
    another order, can be another allocator.

    Args:
        program: the program's file.
        folders: as of `libraries`.

    Returns:
        Its name; the program's own if that has one; None if there is none, as in a static program.
    """
    server = _read(program)
    if not server.needed:
        return None
    if _MALLOC in exported(program):
        return program.name
    found = (name for name, _, library in _loaded(server, folders) if library and _MALLOC in exported(library.path))
    return next(found, None)


@dataclass(frozen=True)
class _File:
    """What the loader reads of a program or library: machine with word size, names it needs, its own search path."""

    path: Path = Path()
    machine: str = ""
    needed: tuple[str, ...] = ()
    own_folders: tuple[Path, ...] = ()


def _loaded(server: _File, folders: Sequence[Path] | None) -> Iterator[tuple[str, _File, _File | None]]:
    """Each library's name, the file that needs it, and its own file if there is one; in the order of loading."""
    usual = _folders(_CONFIGURATION) if folders is None else folders
    waiting = [(name, server) for name in server.needed]
    known = set(server.needed)
    for name, by in waiting:  # to which is added what they need
        library = _find(name, (*by.own_folders, *usual), server.machine)
        yield name, by, library
        if library is not None:
            waiting += [(needed, library) for needed in library.needed if needed not in known]
            known.update(library.needed)


def _is_unused(program: Path, wanted: frozenset[str], library: Path) -> bool:
    """Whether a program that needs these symbols uses nothing of a library that offers something.

    What it needs decides nearly always. A library's variables that it uses are among what it defines itself (copy
    relocations).
    """
    offered = exported(library)
    return bool(offered) and not offered & wanted and not offered & exported(program)


def _find(name: str, folders: Sequence[Path], machine: str) -> _File | None:
    """The first library of this name that is of the program's machine."""
    files = (folder / name for folder in folders)
    found = (_read(file) for file in files if file.is_file())
    return next((library for library in found if library.machine == machine), None)


def _read(file: Path) -> _File:
    """Empty for what is missing or no ELF file."""
    try:
        return _read_once(file.resolve(), file.stat().st_mtime_ns)
    except (ELFError, OSError):
        return _File()


@lru_cache(maxsize=512)
def _read_once(file: Path, _changed_ns: int) -> _File:
    with file.open("rb") as opened:
        elf = ELFFile(opened)
        machine = f"{elf['e_machine']} {elf.elfclass}"
        section = elf.get_section_by_name(".dynamic")
        if not isinstance(section, DynamicSection):
            return _File(file, machine)
        needed, runpath, rpath = (
            [str(vars(tag)[kind]) for tag in section.iter_tags(f"DT_{kind.upper()}")]
            for kind in ("needed", "runpath", "rpath")
        )
    parts = [part for path in runpath or rpath for part in path.split(":") if part]
    origin = str(file.parent)
    own = (Path(part.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)) for part in parts)
    return _File(file, machine, tuple(needed), tuple(own))


def _folders(configuration: Path) -> list[Path]:
    """Where the loader looks for libraries: what its configuration names, then the usual folders."""
    return [Path(name) for name in dict.fromkeys((*_configured(configuration, _DEPTH), *_USUAL))]


def _configured(file: Path, depth: int) -> Iterator[str]:
    if not depth:
        return
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        words = line.partition("#")[0].split()
        if words[:1] == ["include"]:
            for pattern in words[1:]:
                absolute = pattern if pattern.startswith("/") else str(file.parent / pattern)
                for included in sorted(Path("/").glob(absolute.lstrip("/"))):
                    yield from _configured(included, depth - 1)
        elif words and words[0].startswith("/"):
            yield words[0]
