"""Facts from a linked program's file: digests of the loaded sections, sizes, libraries and their versions."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from burnish.base.errors import InfrastructureError

_UNWINDING = (".eh_frame", ".eh_frame_hdr")
_WITHOUT_EFFECT = (".note.gnu.build-id", *_UNWINDING)
"""Loaded sections without any effect on a measurement."""

_TOOLCHAINS_OWN = ("ld-linux", "libgcc_s.so")
"""Libraries that come as compiler and linker like: the loader, and gcc's helpers, which clang's code may not call."""

MACHINES = {"EM_X86_64": "x86-64", "EM_386": "i386", "EM_AARCH64": "aarch64"}


@dataclass(frozen=True)
class Program:
    """Facts from a linked program's file.

    Attributes:
        machine: ``x86-64``, ``i386``, ``aarch64`` or ELF's own name.
        bits: word size, 64 or 32.
        code: digest of the executable sections with their addresses.
        data: digest of all other loaded sections that affect what the program does, with addresses, segments and the
            entry point; without the build id and the unwinding tables.
        sizes: bytes by kind: text, rodata, data, bss, eh_frame (with exception tables), relocations (kept for BOLT,
            not loaded), debug and symbols (not loaded), file.
        needed: shared libraries that it needs, in order; empty if it is static.
        versions: highest version of each family of symbol versions that it needs (``GLIBC``: ``2.36``), sorted.
        symbols: whether it has a symbol table beyond what the loader needs.
    """

    machine: str
    bits: int
    code: str
    data: str
    sizes: Mapping[str, int]
    needed: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]
    symbols: bool

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the store and the record."""
        return asdict(self)


def features_of(needed: Iterable[str]) -> list[str]:
    """Of the libraries that a program needs, those that can be features of it: not the loader, not gcc's helpers."""
    return [name for name in needed if not name.startswith(_TOOLCHAINS_OWN)]


def read(program: Path) -> Program:
    """Reads a program's file; InfrastructureError if it is not an ELF program."""
    try:
        with program.open("rb") as file:
            return _read(ELFFile(file), program.stat().st_size)
    except (ELFError, OSError) as error:
        raise InfrastructureError(f"{program}: cannot be read as a program ({error})") from None


def _read(elf: ELFFile, size: int) -> Program:
    code, data = hashlib.sha256(), hashlib.sha256()
    data.update(repr((elf["e_type"], elf["e_machine"], elf["e_entry"], _segments(elf))).encode())
    sizes: Counter[str] = Counter(file=size)
    needed: list[str] = []
    versions: list[str] = []
    symbols = False
    for section in elf.iter_sections():
        flags, empty = section["sh_flags"], section["sh_type"] == "SHT_NOBITS"
        sizes[_kind(section.name, flags, empty, section["sh_type"])] += section["sh_size"]
        symbols |= section.name == ".symtab"
        if isinstance(section, DynamicSection):
            needed = [str(vars(tag)["needed"]) for tag in section.iter_tags("DT_NEEDED")]
        if isinstance(section, GNUVerNeedSection):
            versions += [str(auxiliary.name) for _, auxiliaries in section.iter_versions() for auxiliary in auxiliaries]
        if not flags & SH_FLAGS.SHF_ALLOC or section.name in _WITHOUT_EFFECT:
            continue
        digest = code if flags & SH_FLAGS.SHF_EXECINSTR else data
        digest.update(repr((section["sh_addr"], section["sh_size"], flags)).encode())
        if not empty:
            digest.update(section.data())
    return Program(
        machine=MACHINES.get(elf["e_machine"], str(elf["e_machine"])),
        bits=elf.elfclass,
        code=code.hexdigest()[:32],
        data=data.hexdigest()[:32],
        sizes={name: sizes[name] for name in sorted(sizes) if sizes[name]},
        needed=tuple(needed),
        versions=tuple(sorted(highest(versions).items())),
        symbols=symbols,
    )


def _segments(elf: ELFFile) -> list[tuple[object, ...]]:
    """Segments, which decide how the program is mapped: huge-page alignment, executable stack, RELRO."""
    fields = ("p_type", "p_flags", "p_align", "p_vaddr", "p_memsz")
    skipped = ("PT_NOTE", "PT_GNU_EH_FRAME")
    return [
        tuple(segment[name] for name in fields) for segment in elf.iter_segments() if segment["p_type"] not in skipped
    ]


def _kind(name: str, flags: int, empty: bool, kind: str) -> str:
    if not flags & SH_FLAGS.SHF_ALLOC:
        if name.startswith(".debug"):
            return "debug"
        if name in (".symtab", ".strtab"):
            return "symbols"
        return "relocations" if kind in ("SHT_RELA", "SHT_REL") else "other"
    if flags & SH_FLAGS.SHF_EXECINSTR:
        return "text"
    if empty:
        return "bss"
    if name in (*_UNWINDING, ".gcc_except_table"):
        return "eh_frame"
    return "data" if flags & SH_FLAGS.SHF_WRITE else "rodata"


def highest(names: Iterable[str]) -> dict[str, str]:
    """The highest version of each family: ``GLIBC_2.4`` and ``GLIBC_2.36`` give ``{"GLIBC": "2.36"}``."""
    versions: dict[str, str] = {}
    for name in names:
        if match := re.fullmatch(r"(\w+?)_(\d+(?:\.\d+)*)", name):
            family, version = match.groups()
            versions[family] = max(versions.get(family, "0"), version, key=version_key)
    return versions


def version_key(version: str) -> tuple[int, ...]:
    """Sort key of a version: 2.4 comes before 2.36."""
    return tuple(int(part) for part in version.split("."))
