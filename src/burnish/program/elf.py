"""Facts from a program's ELF file."""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from pathlib import Path


def build_id(program: Path) -> str:
    """The GNU build id of a program, hexadecimal; '' if it has none, or is no program."""
    # Verbs that only look need this module, and not the library, which takes a tenth of a second to load.
    from elftools.common.exceptions import ELFError  # noqa: PLC0415
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415
    from elftools.elf.sections import NoteSection  # noqa: PLC0415

    try:
        with program.open("rb") as file:
            notes = (
                note
                for section in ELFFile(file).iter_sections("SHT_NOTE")
                if isinstance(section, NoteSection)
                for note in section.iter_notes()
                if note["n_type"] == "NT_GNU_BUILD_ID"
            )
            return next((str(note["n_desc"]) for note in notes), "")
    except (OSError, ELFError):
        return ""


def word_of(program: Path) -> int:
    """The word size of a program in bits, 32 or 64; 0 if the file is not a program."""
    with program.open("rb") as file:
        head = file.read(5)
    return {1: 32, 2: 64}.get(head[4], 0) if head[:4] == b"\x7fELF" and len(head) == 5 else 0


def is_program(file: Path) -> bool:
    """Whether a file is an ELF file, by its first bytes."""
    with file.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def holds(program: Path, texts: Iterable[bytes]) -> bool:
    """Whether a file is an ELF program that has one of these texts in it, found without running it."""
    if not is_program(program):
        return False
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return any(content.find(text) >= 0 for text in texts)
