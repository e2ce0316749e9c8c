"""The compiler's own record in an object: the switches that it used.

gcc writes them into the debug information (DW_AT_producer, with -g), into a section of their own with
-frecord-gcc-switches, and into the objects of link-time optimisation; clang only on request
(-grecord-command-line, -frecord-command-line). They are found by their section, without reading the debug
information's tree: a C++ object has thousands of sections, and there are hundreds of objects.
"""

from __future__ import annotations

import mmap
import re
import shlex
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burnish.builds.effective import holds
from burnish.builds.stages import is_level
from burnish.program.built import CompiledObject

_SECTION_64 = np.dtype(
    {
        "names": ["name", "type", "flags", "addr", "offset", "size", "link", "info", "align", "entry"],
        "formats": ["<u4", "<u4", "<u8", "<u8", "<u8", "<u8", "<u4", "<u4", "<u8", "<u8"],
    }
)
_SECTION_32 = np.dtype(
    [(name, "<u4") for name in ("name", "type", "flags", "addr", "offset", "size", "link", "info", "align", "entry")]
)
_COMPRESSED = 0x800  # SHF_COMPRESSED
_PRODUCER = re.compile(rb"(?:^|\0)((?:GNU (?:C\+\+|C)\d*|[^\0]{0,80}clang version) [^\0]*? (-[^\0]+))\0")

_UNRECORDED = re.compile(
    r"-f(no-)?(file|debug|macro|profile|coverage)-prefix-map|-fdiagnostics|-frandom-seed|-fplugin|-fprofile-(use|"
    r"generate|instr|sample|dir|list)|-f(no-)?lto|-fuse-ld|-frecord|-grecord|-f(no-)?color|-ftrack-macro|-m(arch|tune|cpu)=native"
)
"""Flags that no record repeats as given: paths, output, and the expansion of ``native``."""


@dataclass(frozen=True)
class Record:
    """An object's record of the switches that it was compiled with.

    Attributes:
        origin: ``debug information``, ``command line section``, ``gcc's LTO section``, or why there is none.
        words: the switches, in order; empty without a record.
    """

    origin: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Agreement:
    """The objects' own records compared with the commands that made them.

    Attributes:
        read: objects with a record.
        missing: (why, number of objects) without one, most frequent first.
        disagree: (flag, number of objects, an example): in force by the command, not by the record.
    """

    read: int
    missing: tuple[tuple[str, int], ...]
    disagree: tuple[tuple[str, int, str], ...]

    @property
    def summary(self) -> str:
        """One line."""
        text = f"{self.read} objects carry the compiler's own record"
        text += f": {len(self.disagree)} flags disagree" if self.disagree else ", which agrees" if self.read else ""
        for why, count in self.missing:
            text += f"; {count} have none ({why})"
        return text


def read(path: Path) -> Record:
    """An object's record of its switches."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _read(content)
    except OSError:
        return Record("the object is gone")
    except ValueError:
        return Record("an empty file")


def _read(content: mmap.mmap) -> Record:
    if content[:4] in (b"BC\xc0\xde", b"\xde\xc0\x17\x0b"):
        return Record("LLVM bitcode, which has no ELF sections")
    if content[:4] != b"\x7fELF" or len(content) < 64:
        return Record("not an ELF object")
    sections = _sections(content)
    if options := sections.get(".gnu.lto_.opts"):
        return Record("gcc's LTO section", tuple(shlex.split(options.rstrip(b"\0").decode(errors="replace"))))
    for name, origin in (
        (".GCC.command.line", "command line section"),
        (".debug_str", "debug information"),
        (".debug_line_str", "debug information"),
        (".debug_info", "debug information"),
    ):
        if match := _PRODUCER.search(b"\0" + sections.get(name, b"") + b"\0"):
            return Record(origin, tuple(_split(match[2].decode(errors="replace"))))
        if name == ".GCC.command.line" and (line := sections.get(name, b"").strip(b"\0\n ")):
            return Record(origin, tuple(_split(line.decode(errors="replace"))[1:]))  # clang: its path, its arguments
    if b"clang version" in sections.get(".comment", b"") or b"clang version" in sections.get(".debug_str", b""):
        return Record("clang records nothing without -grecord-command-line")
    return Record("made without -g and without -frecord-gcc-switches")


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _sections(content: mmap.mmap) -> dict[str, bytes]:
    """Contents of the sections that may hold a record, by name."""
    wide = content[4] == 2
    start = struct.unpack_from("<Q" if wide else "<I", content, 40 if wide else 32)[0]
    count, names = struct.unpack_from("<HH", content, 60 if wide else 48)
    kind = _SECTION_64 if wide else _SECTION_32
    first = np.frombuffer(content[start : start + kind.itemsize], kind)[0]
    # ELF: numbers that don't fit into the header are in the first section's entry.
    count, names = count or int(first["size"]), int(first["link"]) if names == 0xFFFF else names
    table = np.frombuffer(content[start : start + count * kind.itemsize], kind)
    text = _bytes(content, table[names])
    wanted = {}
    for name in (".gnu.lto_.opts", ".GCC.command.line", ".debug_str", ".debug_line_str", ".debug_info", ".comment"):
        for place in _offsets(text, name):
            rows = table[(table["name"] == place) & (table["flags"] & _COMPRESSED == 0)]
            if len(rows):
                wanted[name] = _bytes(content, rows[0])
                break
    return wanted


def _offsets(text: bytes, name: str) -> Iterable[int]:
    """Where `name` may begin in a string table, which shares the ends of strings."""
    word, at = name.encode() + b"\0", -1
    while (at := text.find(word, at + 1)) >= 0:
        yield at


def _bytes(content: mmap.mmap, row: np.void) -> bytes:
    return content[int(row["offset"]) : int(row["offset"]) + int(row["size"])]


def examine(
    objects: Iterable[tuple[CompiledObject, Record]], c: Sequence[str], cxx: Sequence[str], c_suffixes: Sequence[str]
) -> Agreement:
    """Compares each object's record with its command, for the requested flags; pure.

    Args:
        objects: the build's objects with their records.
        c: flags requested for C.
        cxx: flags requested for C++.
        c_suffixes: suffixes of C sources.
    """
    read_count, missing, wrong = 0, Counter[str](), dict[str, list[str]]()
    for item, record in objects:
        if not record.words:
            missing[record.origin] += 1
            continue
        read_count += 1
        asked = c if item.source.endswith(tuple(c_suffixes)) else cxx
        levels = [word for word in item.command if is_level(word)][-1:]
        for flag in dict.fromkeys((*levels, *asked)):
            if _recorded(flag, record.origin) and holds(flag, item.command) and not holds(flag, record.words):
                wrong.setdefault(flag, []).append(item.source)
    return Agreement(
        read=read_count,
        missing=tuple(missing.most_common()),
        disagree=tuple((flag, len(where), where[0]) for flag, where in wrong.items()),
    )


def _recorded(flag: str, origin: str) -> bool:
    """Whether a record of this origin would repeat the flag."""
    if is_level(flag):
        return True
    if _UNRECORDED.match(flag):
        return False
    # The LTO section leaves out flags that the compiler's front end has handled.
    return flag.startswith("-m") or (flag.startswith("-f") and "LTO" not in origin)
