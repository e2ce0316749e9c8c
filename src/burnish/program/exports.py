"""Dynamic symbols of programs and shared libraries: what they offer to others, and what they need from others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from burnish.base.errors import InfrastructureError

_WEAK = 2
"""STB_WEAK of elf(5)."""


def exported(file: Path) -> frozenset[str]:
    """Names of the dynamic symbols that a program defines."""
    return _names(file, defined=True)


def imported(file: Path, *, weak: bool = False) -> frozenset[str]:
    """Names of the dynamic symbols that a program or library needs from elsewhere.

    Args:
        file: the program or library.
        weak: whether those that it can do without count too.
    """
    return _names(file, defined=False, weak=weak)


def _names(file: Path, *, defined: bool, weak: bool = True) -> frozenset[str]:
    try:
        with file.open("rb") as opened:
            table = ELFFile(opened).get_section_by_name(".dynsym")
            return frozenset(_read(table, defined, weak) if isinstance(table, SymbolTableSection) else ())
    except (ELFError, OSError) as error:
        raise InfrastructureError(f"{file}: cannot be read as a program ({error})") from None


def _read(symbols: SymbolTableSection, defined: bool, weak: bool) -> Iterator[str]:
    """Read as a table: mysqld has 69,000 of them, of which some 900 are needed from elsewhere."""
    elf = symbols.elffile
    order, wide = "<" if elf.little_endian else ">", elf.elfclass == 64
    names = ["name", "info", "other", "section", "value", "size"]
    if not wide:
        names = ["name", "value", "size", "info", "other", "section"]
    width = {"name": "u4", "info": "u1", "other": "u1", "section": "u2"}
    table = np.frombuffer(symbols.data(), [(name, order + width.get(name, "u8" if wide else "u4")) for name in names])
    wanted = (table["section"] != 0) == defined
    if not weak:
        wanted &= table["info"] >> 4 != _WEAK
    texts = elf.get_section(symbols["sh_link"]).data()
    for start in table["name"][wanted].tolist():
        if name := texts[start : texts.index(b"\0", start)].decode(errors="replace"):
            yield name
