"""What a build is as machine code: its functions, how much of them is hot, what lies on which page; pure.

All from what ``nm`` and ``readelf`` print of a program and from where samples fell in its file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeVar

from burnish.why.samples import merged

_Key = TypeVar("_Key")

PAGE_BYTES = 4096
COVERED = (0.9, 0.99)
"""Shares of the samples for which hot text is told."""

_NM = re.compile(r"^([0-9a-f]+) (?:([0-9a-f]+) )?([tTwWiuVv]) (\S+)$", re.MULTILINE)
_SECTION = re.compile(
    r"^\s*\[\s*\d+\]\s+(\.\S+)\s+\S+\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)\s+[0-9a-f]+\s+([A-Za-z]*)\s",
    re.MULTILINE,
)
_COLD = re.compile(r"\.cold(?:\.\d+)*$")
_COLD_SECTIONS = (".text.unlikely", ".text.cold", ".text.split")


class Section(NamedTuple):
    """A section of the file: addresses are virtual, sizes bytes."""

    name: str
    address: int
    offset: int
    size: int
    executable: bool


class Symbol(NamedTuple):
    """A piece of code with a name, as linked; a function may have several pieces."""

    address: int
    size: int
    name: str


@dataclass(frozen=True)
class Program:
    """The code of a program.

    Attributes:
        sections: all of them.
        symbols: pieces of code by address, each address once; empty when stripped.
        stripped: whether there is no symbol table (what is exported may still have names).
        debug: whether debug information tells of inlined functions.
    """

    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    stripped: bool = False
    debug: bool = False

    @property
    def functions(self) -> frozenset[str]:
        """Names of all functions, copies and parts merged."""
        return frozenset(merged(symbol.name) for symbol in self.symbols)

    def address(self, offset: int) -> int | None:
        """Virtual address of a place in the file; None outside of all sections."""
        for section in self.sections:
            if section.executable and section.offset <= offset < section.offset + section.size:
                return section.address + offset - section.offset
        return None


def parse_sections(text: str) -> tuple[Section, ...]:
    """From ``readelf -SW``."""
    return tuple(
        Section(match[1], int(match[2], 16), int(match[3], 16), int(match[4], 16), "X" in match[5])
        for match in _SECTION.finditer(text)
    )


def parse_symbols(text: str, sections: Sequence[Section]) -> tuple[Symbol, ...]:
    """Code from ``nm -n -S`` (or ``nm -D``); a symbol without a size (assembly) goes on to the next one.

    Of several names at one address the shortest stands: the others are aliases.
    """
    named: dict[int, tuple[int, str]] = {}
    for match in _NM.finditer(text):
        address, size, name = int(match[1], 16), int(match[2] or "0", 16), match[4].partition("@")[0]
        known = named.get(address)
        if known is None or (size, -len(name)) > (known[0], -len(known[1])):
            named[address] = (size, name)
    ends = sorted(section.address + section.size for section in sections if section.executable)
    starts = sorted(named)
    found = []
    for number, address in enumerate(starts):
        size, name = named[address]
        place = bisect_right(ends, address)
        if place == len(ends) or not _in_code(address, sections):
            continue
        following = starts[number + 1] if number + 1 < len(starts) else ends[place]
        found.append(Symbol(address, size or min(following, ends[place]) - address, name))
    return tuple(found)


def _in_code(address: int, sections: Iterable[Section]) -> bool:
    return any(each.executable and each.address <= address < each.address + each.size for each in sections)


def bytes_of(symbol: Symbol, program: Program, count: int = 16) -> tuple[int, int]:
    """(offset, length) in the file of a piece's first `count` bytes; length 0 where it has none there."""
    for section in program.sections:
        if section.executable and section.address <= symbol.address < section.address + section.size:
            return symbol.address - section.address + section.offset, min(count, symbol.size)
    return 0, 0


def parse_program(sections: str, symbols: str, exported: str) -> Program:
    """A program from ``readelf -SW``, ``nm -n -S`` and ``nm -n -S -D``; the last stands where it is stripped."""
    every = parse_sections(sections)
    whole = parse_symbols(symbols, every)
    names = {section.name for section in every}
    return Program(
        sections=every,
        symbols=whole or parse_symbols(exported, every),
        stripped=not whole,
        # BOLT leaves debug information as it was unless asked: it then tells of addresses that are no more.
        debug=".debug_info" in names and ".bolt.org.text" not in names,
    )


@dataclass(frozen=True)
class Text:
    """What the report says of a build's code; sizes in bytes.

    Attributes:
        code: all executable sections.
        cold: what the compiler or BOLT moved away as cold: pieces called ``.cold`` and sections for them.
        functions: number of functions, copies and parts merged.
        hot_bytes: by share of the samples, size of the pieces of code that cover it, the heaviest first.
        hot_pieces: likewise, number of pieces.
        hot_pages: likewise, pages of 4 KiB that cover it.
        pages: pages in which any sample fell.
        samples: number of places in the program that samples fell on, in events.
    """

    code: int
    cold: int
    functions: int
    hot_bytes: Mapping[str, int]
    hot_pieces: Mapping[str, int]
    hot_pages: Mapping[str, int]
    pages: int
    samples: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record."""
        return asdict(self)


def measure(program: Program, hits: Mapping[int, int]) -> Text:
    """What a program is as code.

    Args:
        program: its sections and symbols.
        hits: events by place in the file.
    """
    pieces: Counter[Symbol] = Counter()
    pages: Counter[int] = Counter()
    starts = [symbol.address for symbol in program.symbols]
    for offset, weight in hits.items():
        address = program.address(offset)
        if address is None:
            continue
        pages[address // PAGE_BYTES] += weight
        found = bisect_right(starts, address) - 1
        if found >= 0 and address < program.symbols[found].address + program.symbols[found].size:
            pieces[program.symbols[found]] += weight
    total = pages.total()
    hot = {f"{share:g}": _covering(pieces, share * total) for share in COVERED}
    return Text(
        code=sum(section.size for section in program.sections if section.executable),
        cold=_cold(program),
        functions=len(program.functions),
        hot_bytes={share: sum(piece.size for piece in found) for share, found in hot.items()},
        hot_pieces={share: len(found) for share, found in hot.items()},
        hot_pages={f"{share:g}": len(_covering(pages, share * total)) for share in COVERED},
        pages=len(pages),
        samples=total,
    )


def _covering(weights: Counter[_Key], enough: float) -> list[_Key]:
    """The heaviest keys that make up `enough`, or all of them."""
    found, had = [], 0
    for key, weight in weights.most_common():
        if had >= enough:
            break
        found.append(key)
        had += weight
    return found


def _cold(program: Program) -> int:
    moved = [section for section in program.sections if section.name.startswith(_COLD_SECTIONS)]
    spans = [(section.address, section.address + section.size) for section in moved]
    named = sum(
        symbol.size
        for symbol in program.symbols
        if _COLD.search(symbol.name) and not any(begin <= symbol.address < end for begin, end in spans)
    )
    return named + sum(section.size for section in moved)


def page_name(offset: int) -> str:
    """The name of a place in a stripped program: the page of the file that it is on."""
    return f"[page {offset // PAGE_BYTES * PAGE_BYTES:#x}]"


def keeps_frame_pointers(program: Program, read: Mapping[int, bytes], architecture: str) -> bool:
    """Whether most functions begin by saving the frame pointer.

    Args:
        program: for the functions' places.
        read: the first 16 bytes of some functions that are large enough to need a frame, by address.
        architecture: as ``uname -m`` says.
    """
    prologue = _PROLOGUES.get(architecture)
    seen = [read[symbol.address] for symbol in program.symbols if symbol.address in read]
    if prologue is None or not seen:
        return False
    return sum(bool(prologue.search(code)) for code in seen) > 0.5 * len(seen)


_PROLOGUES = {
    # push %rbp; mov %rsp,%rbp (both encodings), perhaps behind endbr64 and a few moves, and with one between them
    "x86_64": re.compile(rb"^.{0,10}?\x55.{0,4}?\x48(?:\x89\xe5|\x8b\xec)", re.DOTALL),
    # stp x29, x30, [sp, #n] or [sp, #-n]!, perhaps behind paciasp and a sub of sp
    "aarch64": re.compile(rb"^(?:....){0,3}\xfd[\x7b\xfb][\x00-\xbf]\xa9", re.DOTALL),
}
