"""Which functions of two programs differ in what they do, wherever the linker has put them.

A patch to a header moves functions about, and with them every address in the code: the programs differ in thousands of
places and yet do the same. So instructions are held against each other with what they point at by name: a call is
"to f", whatever its distance. What has no name is known by its content where that can be told (strings, constants),
else taken for the same: jump tables, and data whose address is computed.
"""

from __future__ import annotations

import bisect
import importlib
import importlib.util
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from burnish.program.instructions import Function, functions, symbols
from burnish.program.program import MACHINES

_STRING = 64
"""So much of a string is held against the other's."""
_WORD = 4
"""Shorter strings are not told from numbers, such as the distances in a jump table."""
_ADDRESS = 4
"""No shorter field holds an address."""
_STUB = 16
"""Bytes of a stub in the procedure linkage table."""
_X86 = {"x86-64": 64, "i386": 32}


@dataclass(frozen=True)
class Changed:
    """Two programs' functions.

    Attributes:
        functions: how many the second one has.
        differ: names of functions whose instructions differ, as the symbols are spelled, sorted.
        gone: names that only the first one has, sorted.
        new: names that only the second one has, sorted.
        note: why nothing can be said, in one line, or ''.
    """

    functions: int
    differ: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the store and the record."""
        return asdict(self)


def compare(before: Path, after: Path, symbols_of: Mapping[Path, Path] | None = None) -> Changed:
    """Holds every function of one program against the one of that name in the other.

    Args:
        before: a linked program.
        after: another one of the same source, but for a patch.
        symbols_of: files that hold the programs' symbols where they were taken out of them.
    """
    beside = symbols_of or {}
    one, other = (_Image.read(path, beside.get(path)) for path in (before, after))
    if one.machine != other.machine or one.machine not in _X86:
        machines = " and ".join(sorted({one.machine, other.machine}))
        return Changed(len(other.functions), note=f"functions are held against each other on x86, not on {machines}")
    if not one.functions or not other.functions:
        return Changed(0, note="no symbols: functions can't be told apart")
    if importlib.util.find_spec("iced_x86") is None:  # has no package for hosts that are not x86
        return Changed(len(other.functions), note="functions can't be read without iced-x86")
    mine, theirs = _by_name(one.functions), _by_name(other.functions)
    return Changed(
        functions=len(other.functions),
        differ=tuple(sorted(n for n in mine.keys() & theirs.keys() if not _alike(one, mine[n], other, theirs[n]))),
        gone=tuple(sorted(mine.keys() - theirs.keys())),
        new=tuple(sorted(theirs.keys() - mine.keys())),
    )


def _by_name(found: Sequence[Function]) -> dict[str, list[Function]]:
    """Functions by name; a name may stand for several of them, each of a file of its own."""
    named: dict[str, list[Function]] = defaultdict(list)
    for each in found:
        named[each.name].append(each)
    return named


def _alike(one: _Image, mine: Sequence[Function], other: _Image, theirs: Sequence[Function]) -> bool:
    """Whether the functions of a name are the same ones, in any order."""
    if sorted(len(each.code) for each in mine) != sorted(len(each.code) for each in theirs):
        return False
    return Counter(map(one.spelled, mine)) == Counter(map(other.spelled, theirs))


@dataclass(frozen=True)
class _Section:
    name: str
    start: int
    end: int
    flags: int
    content: bytes


@dataclass(frozen=True, eq=False)
class _Image:
    """A program as it lies in memory, with the names of its parts."""

    machine: str
    fixed: bool  # it lies where its file says, so that numbers in its code may be addresses
    functions: Sequence[Function]
    sections: Sequence[_Section]
    names: Sequence[tuple[int, int, str]]  # start, end, name; by start
    slots: Mapping[int, str]  # what the loader writes where, by the symbol's name

    @classmethod
    def read(cls, program: Path, beside: Path | None) -> _Image:
        with program.open("rb") as file:
            elf = ELFFile(file)
            loaded = [each for each in elf.iter_sections() if each["sh_flags"] & SH_FLAGS.SHF_ALLOC and each["sh_size"]]
            code = [each for each in loaded if each["sh_flags"] & SH_FLAGS.SHF_EXECINSTR]
            sections = [
                _Section(
                    each.name,
                    each["sh_addr"],
                    each["sh_addr"] + each["sh_size"],
                    each["sh_flags"],
                    b"" if each["sh_type"] == "SHT_NOBITS" else each.data(),
                )
                for each in loaded
                if each["sh_addr"] and not each["sh_flags"] & SH_FLAGS.SHF_TLS  # each thread has its own, elsewhere
            ]
            with (beside or program).open("rb") as other:
                named = ELFFile(other)
                found = functions(named, code)
                names = sorted((start, start + size, name) for name, start, size in symbols(named))
            return cls(
                MACHINES.get(elf["e_machine"], str(elf["e_machine"])),
                elf["e_type"] == "ET_EXEC",
                found,
                sorted(sections, key=lambda each: each.start),
                names,
                _slots(elf),
            )

    @cached_property
    def _section_starts(self) -> list[int]:
        return [each.start for each in self.sections]

    @cached_property
    def _name_starts(self) -> list[int]:
        return [start for start, _, _ in self.names]

    def _section(self, address: int) -> _Section | None:
        place = bisect.bisect(self._section_starts, address) - 1
        if place < 0 or address >= self.sections[place].end:
            return None
        return self.sections[place]

    def _target(self, address: int, size: int) -> str | bytes | None:
        """What an address stands for, whatever its number; None where it is none of this program's.

        Args:
            address: where an instruction points.
            size: bytes that it reads or writes there; 0 where it takes the address alone.
        """
        section = self._section(address)
        if section is None:
            return None
        place = bisect.bisect(self._name_starts, address) - 1
        if place >= 0 and address < self.names[place][1]:
            start, _, name = self.names[place]
            return f"{name}+{address - start}"
        offset = address - section.start
        if address in self.slots:
            return self.slots[address]
        if section.name.startswith(".plt"):
            return self._stub(section, offset)
        if section.flags & SH_FLAGS.SHF_WRITE or not section.content:
            return section.name
        if size:
            return section.content[offset : offset + size]
        text = section.content[offset : offset + _STRING].partition(b"\0")[0]
        return (
            text if len(text) >= _WORD and all(32 <= byte < 127 or byte in b"\t\n\r" for byte in text) else section.name
        )

    def _stub(self, section: _Section, offset: int) -> str:
        """Whom a stub of the procedure linkage table calls: it jumps to where a slot of the loader's says."""
        stub = section.content[offset : offset + _STUB]
        for instruction in self._decoder(stub, section.start + offset):
            if instruction.is_ip_rel_memory_operand:
                return self.slots.get(instruction.ip_rel_memory_address, section.name)
        return section.name

    @cached_property
    def _iced(self) -> Any:
        """The library that reads instructions; asked for here, as it has no package for hosts that are not x86."""
        return importlib.import_module("iced_x86")

    def _decoder(self, code: bytes, start: int) -> Any:
        """Reads instructions that lie at an address."""
        return self._iced.Decoder(_X86[self.machine], code, ip=start)

    def spelled(self, function: Function) -> tuple[object, ...]:
        """A function's instructions, with names instead of addresses."""
        return tuple(self._instructions(function))

    def _instructions(self, function: Function) -> Iterator[object]:
        decoder = self._decoder(function.code, function.start)
        for instruction in decoder:
            place = instruction.ip - function.start
            raw = function.code[place : place + instruction.len]
            plain, targets = bytearray(raw), []
            for (offset, length), address, size in self._pointers(function, instruction, decoder, raw):
                target = self._target(address, size)
                if target is not None:
                    plain[offset : offset + length] = bytes(length)
                    targets.append(target)
            yield (bytes(plain), *targets) if targets else raw

    def _pointers(
        self, function: Function, instruction: Any, decoder: Any, raw: bytes
    ) -> Iterator[tuple[tuple[int, int], int, int]]:
        """Fields of an instruction that hold an address outside of its function.

        Yields:
            (where the field lies in the instruction, its bytes); the address; bytes that are read or written there.
        """
        fields = decoder.get_constant_offsets(instruction)
        immediate = fields.immediate_offset, fields.immediate_size
        branch = instruction.near_branch_target
        if branch:
            if not function.start <= branch < function.start + len(function.code):
                yield immediate, branch, 0
        elif self.fixed and fields.has_immediate and fields.immediate_size >= _ADDRESS:
            value = raw[fields.immediate_offset : fields.immediate_offset + fields.immediate_size]
            yield immediate, int.from_bytes(value, "little"), 0
        relative = instruction.is_ip_rel_memory_operand
        if relative or (self.fixed and fields.has_displacement and fields.displacement_size >= _ADDRESS):
            jumps = instruction.is_jmp_near_indirect or instruction.is_call_near_indirect
            size = 0 if jumps else self._iced.MemorySizeExt.size(instruction.memory_size)
            address = instruction.ip_rel_memory_address if relative else instruction.memory_displacement
            yield (fields.displacement_offset, fields.displacement_size), address, size


def _slots(elf: ELFFile) -> dict[int, str]:
    """Symbols whose addresses the loader fills in, by where it writes them."""
    found = {}
    for section in elf.iter_sections():
        if isinstance(section, RelocationSection) and section["sh_flags"] & SH_FLAGS.SHF_ALLOC:
            table: Any = elf.get_section(section["sh_link"])
            for relocation in section.iter_relocations():
                if relocation["r_info_sym"]:
                    found[relocation["r_offset"]] = table.get_symbol(relocation["r_info_sym"]).name
    return found
