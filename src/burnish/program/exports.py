"""Dynamic symbols of programs and shared libraries: what they offer to others, and what they need from others."""

from __future__ import annotations

from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from burnish.base.errors import InfrastructureError


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
            return frozenset(
                symbol.name
                for symbol in table.iter_symbols()
                if symbol.name
                and (symbol["st_shndx"] != "SHN_UNDEF") is defined
                and (defined or symbol["st_info"]["bind"] != "STB_WEAK")
            )
    except (ELFError, OSError) as error:
        raise InfrastructureError(f"{file}: cannot be read as a program ({error})") from None
