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


def shared(symbols: SymbolTableSection, *, defined: bool) -> Iterator[tuple[str, bool]]:
    """Names of the dynamic symbols that a file defines, or needs from elsewhere, each with whether it is weak.

    Read as a table: mysqld has 69,000 of them, of which some 900 are needed from elsewhere.
    """
    elf = symbols.elffile
    order, wide = "<" if elf.little_endian else ">", elf.elfclass == 64
    names = ["name", "info", "other", "section", "value", "size"]
    if not wide:
        names = ["name", "value", "size", "info", "other", "section"]
    width = {"name": "u4", "info": "u1", "other": "u1", "section": "u2"}
    table = np.frombuffer(symbols.data(), [(name, order + width.get(name, "u8" if wide else "u4")) for name in names])
    texts = elf.get_section(symbols["sh_link"]).data()
    for entry in table[(table["section"] != 0) == defined]:
        start = int(entry["name"])
        if name := texts[start : texts.index(b"\0", start)].decode(errors="replace"):
            yield name, int(entry["info"]) >> 4 == _WEAK


def exported(file: Path) -> frozenset[str]:
    """Names of the dynamic symbols that a program defines."""
    return _names(file, defined=True)


def imported(file: Path) -> frozenset[str]:
    """Names of the dynamic symbols that a library needs from elsewhere and cannot do without (weak ones it can)."""
    return _names(file, defined=False)


def _names(file: Path, *, defined: bool) -> frozenset[str]:
    try:
        with file.open("rb") as opened:
            table = ELFFile(opened).get_section_by_name(".dynsym")
            if not isinstance(table, SymbolTableSection):
                return frozenset()
            return frozenset(name for name, weak in shared(table, defined=defined) if defined or not weak)
    except (ELFError, OSError) as error:
        raise InfrastructureError(f"{file}: cannot be read as a program ({error})") from None
