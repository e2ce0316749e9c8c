"""A build's machine code: its functions, how much of them is hot, and on how many pages; pure.

Computed from the output of ``nm`` and ``readelf`` and from the file offsets of samples.
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
"""Shares of the samples for which the amount of hot code is reported."""

_NM = re.compile(r"^([0-9a-f]+) (?:([0-9a-f]+) )?([tTwWiuVv]) (\S+)$", re.MULTILINE)
_SECTION = re.compile(
    r"^\s*\[\s*\d+\]\s+(\.\S+)\s+\S+\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)\s+[0-9a-f]+\s+([A-Za-z]*)\s",
    re.MULTILINE,
)
_COLD = re.compile(r"\.cold(?:\.\d+)*$")
_COLD_SECTIONS = (".text.unlikely", ".text.cold", ".text.split")


class Section(NamedTuple):
    """A section of the file: addresses are virtual, sizes in bytes."""

    name: str
    address: int
    offset: int
    size: int
    executable: bool


class Symbol(NamedTuple):
    """A named piece of code, as linked; a function may have several pieces."""

    address: int
    size: int
    name: str


@dataclass(frozen=True)
class Program:
    """The code of a program.

    Attributes:
        sections: all sections.
        symbols: pieces of code sorted by address, without duplicate addresses.
        stripped: whether there is no symbol table (exported functions may still have names).
        debug: whether debug information describes inlined functions.
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
        """Virtual address of a file offset; None outside of all executable sections."""
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
    """Code from ``nm -n -S`` (or ``nm -D``); a symbol without a size (assembly) extends to the next one.

    Of several names at one address the shortest is kept: the others are aliases.
    """
    named: dict[int, tuple[int, str]] = {}
    for match in _NM.finditer(text):
        address, size, name = int(match[1], 16), int(match[2] or "0", 16), match[4].partition("@")[0]
        known = named.get(address)
        if known is None or (size, -len(name)) > (known[0], -len(known[1])):
            named[address] = (size, name)
    ends = sorted(section.address + section.size for section in sections if section.executable)
    starts = sorted(named)
    symbols = []
    for number, address in enumerate(starts):
        size, name = named[address]
        index = bisect_right(ends, address)
        if index == len(ends) or not _in_code(address, sections):
            continue
        following = starts[number + 1] if number + 1 < len(starts) else ends[index]
        symbols.append(Symbol(address, size or min(following, ends[index]) - address, name))
    return tuple(symbols)


def _in_code(address: int, sections: Iterable[Section]) -> bool:
    return any(
        section.executable and section.address <= address < section.address + section.size for section in sections
    )


def bytes_of(symbol: Symbol, program: Program, count: int = 16) -> tuple[int, int]:
    """(file offset, length) of a piece's first `count` bytes; length 0 if it is in no section of the file."""
    for section in program.sections:
        if section.executable and section.address <= symbol.address < section.address + section.size:
            return symbol.address - section.address + section.offset, min(count, symbol.size)
    return 0, 0


def parse_program(sections: str, symbols: str, exported: str) -> Program:
    """A program from ``readelf -SW``, ``nm -n -S`` and ``nm -n -S -D``; the last is used if it is stripped."""
    parsed = parse_sections(sections)
    own_symbols = parse_symbols(symbols, parsed)
    names = {section.name for section in parsed}
    return Program(
        sections=parsed,
        symbols=own_symbols or parse_symbols(exported, parsed),
        stripped=not own_symbols,
        # By default BOLT does not update debug information: its addresses are then no longer valid.
        debug=".debug_info" in names and ".bolt.org.text" not in names,
    )


@dataclass(frozen=True)
class Text:
    """Facts about a build's code for the report; sizes in bytes.

    Attributes:
        code: size of all executable sections.
        cold: size of the code that the compiler or BOLT split off as cold: pieces called ``.cold`` and their sections.
        functions: number of functions, copies and parts merged.
        hot_bytes: by share of the samples, size of the hottest pieces of code that contain it.
        hot_pieces: by share of the samples, number of those pieces.
        hot_pages: by share of the samples, number of hottest 4 KiB pages that contain it.
        pages: number of pages with at least one sample.
        samples: events of the samples in the program's own code.
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
    """Measures a program's code.

    Args:
        program: its sections and symbols.
        hits: events by file offset.
    """
    pieces: Counter[Symbol] = Counter()
    pages: Counter[int] = Counter()
    starts = [symbol.address for symbol in program.symbols]
    for offset, weight in hits.items():
        address = program.address(offset)
        if address is None:
            continue
        pages[address // PAGE_BYTES] += weight
        index = bisect_right(starts, address) - 1
        if index >= 0 and address < program.symbols[index].address + program.symbols[index].size:
            pieces[program.symbols[index]] += weight
    total = pages.total()
    hot = {f"{share:g}": _covering(pieces, share * total) for share in COVERED}
    return Text(
        code=sum(section.size for section in program.sections if section.executable),
        cold=_cold(program),
        functions=len(program.functions),
        hot_bytes={share: sum(piece.size for piece in pieces_of_share) for share, pieces_of_share in hot.items()},
        hot_pieces={share: len(pieces_of_share) for share, pieces_of_share in hot.items()},
        hot_pages={f"{share:g}": len(_covering(pages, share * total)) for share in COVERED},
        pages=len(pages),
        samples=total,
    )


def _covering(weights: Counter[_Key], enough: float) -> list[_Key]:
    """The heaviest keys that make up `enough`, or all of them."""
    keys, covered = [], 0
    for key, weight in weights.most_common():
        if covered >= enough:
            break
        keys.append(key)
        covered += weight
    return keys


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
    """Name of a place in a stripped program: its page of the file."""
    return f"[page {offset // PAGE_BYTES * PAGE_BYTES:#x}]"


def keeps_frame_pointers(program: Program, read: Mapping[int, bytes], architecture: str) -> bool:
    """Whether most functions begin by saving the frame pointer.

    Args:
        program: the program, for the functions' addresses.
        read: the first 16 bytes of some functions that are large enough to need a frame, by address.
        architecture: as printed by ``uname -m``.
    """
    prologue = _PROLOGUES.get(architecture)
    codes = [read[symbol.address] for symbol in program.symbols if symbol.address in read]
    if prologue is None or not codes:
        return False
    return sum(bool(prologue.search(code)) for code in codes) > 0.5 * len(codes)


_PROLOGUES = {
    # push %rbp; mov %rsp,%rbp (both encodings), perhaps behind endbr64 and a few moves, and with one between them
    "x86_64": re.compile(rb"^.{0,10}?\x55.{0,4}?\x48(?:\x89\xe5|\x8b\xec)", re.DOTALL),
    # stp x29, x30, [sp, #n] or [sp, #-n]!, perhaps behind paciasp and a sub of sp
    "aarch64": re.compile(rb"^(?:....){0,3}\xfd[\x7b\xfb][\x00-\xbf]\xa9", re.DOTALL),
}
