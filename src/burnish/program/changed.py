"""Finds the functions that differ between two programs, wherever the linker has placed them.

A patch to a header moves functions, and with them every address in the code: the programs differ in thousands of places
and yet do the same. So instructions are compared with names in place of addresses: a call is "to f", whatever its
distance. A target without a name is compared by its content if that is known (strings, constants) and otherwise assumed
to be the same: jump tables, and data whose address is computed.
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
"""Number of bytes of a string that are compared."""
_WORD = 4
"""Minimum length of a string: shorter ones cannot be told from numbers, such as the offsets in a jump table."""
_ADDRESS = 4
"""Minimum size of a field that contains an address, in bytes."""
_STUB = 16
"""Size of a stub in the procedure linkage table, in bytes."""
_X86 = {"x86-64": 64, "i386": 32}


@dataclass(frozen=True)
class Changed:
    """Differences between two programs' functions.

    Attributes:
        functions: number of functions in the second program.
        differ: symbol names of functions whose instructions differ, sorted.
        gone: names that only the first one has, sorted.
        new: names that only the second one has, sorted.
        note: why the programs could not be compared, in one line, or ''.
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
    """Compares every function of one program with the function of the same name in the other.

    Args:
        before: a linked program.
        after: another program of the same source, apart from a patch.
        symbols_of: for stripped programs, the files that contain their symbols.
    """
    beside = symbols_of or {}
    before_image, after_image = (_Image.read(path, beside.get(path)) for path in (before, after))
    if before_image.machine != after_image.machine or before_image.machine not in _X86:
        machines = " and ".join(sorted({before_image.machine, after_image.machine}))
        return Changed(len(after_image.functions), note=f"functions are compared on x86, not on {machines}")
    if not before_image.functions or not after_image.functions:
        return Changed(0, note="no symbols: functions can't be told apart")
    if importlib.util.find_spec("iced_x86") is None:  # has no package for hosts that are not x86
        return Changed(len(after_image.functions), note="functions can't be read without iced-x86")
    before_functions, after_functions = _by_name(before_image.functions), _by_name(after_image.functions)
    return Changed(
        functions=len(after_image.functions),
        differ=tuple(
            sorted(
                name
                for name in before_functions.keys() & after_functions.keys()
                if not _alike(before_image, before_functions[name], after_image, after_functions[name])
            )
        ),
        gone=tuple(sorted(before_functions.keys() - after_functions.keys())),
        new=tuple(sorted(after_functions.keys() - before_functions.keys())),
    )


def _by_name(functions: Sequence[Function]) -> dict[str, list[Function]]:
    """Functions by name; several functions of different source files may have the same name."""
    named: dict[str, list[Function]] = defaultdict(list)
    for function in functions:
        named[function.name].append(function)
    return named


def _alike(
    before_image: _Image, before_functions: Sequence[Function], after_image: _Image, after_functions: Sequence[Function]
) -> bool:
    """Whether the functions of one name are the same in both programs, in any order."""
    if sorted(len(function.code) for function in before_functions) != sorted(
        len(function.code) for function in after_functions
    ):
        return False
    return Counter(map(before_image.spelled, before_functions)) == Counter(map(after_image.spelled, after_functions))


@dataclass(frozen=True)
class _Section:
    name: str
    start: int
    end: int
    flags: int
    content: bytes


@dataclass(frozen=True, eq=False)
class _Image:
    """A program as loaded into memory, with the names of its parts."""

    machine: str
    fixed: bool  # loaded at a fixed address, so that numbers in its code may be addresses
    functions: Sequence[Function]
    sections: Sequence[_Section]
    names: Sequence[tuple[int, int, str]]  # start, end, name; by start
    slots: Mapping[int, str]  # by address, the symbol whose address the loader writes there

    @classmethod
    def read(cls, program: Path, beside: Path | None) -> _Image:
        with program.open("rb") as file:
            elf = ELFFile(file)
            loaded = [
                section
                for section in elf.iter_sections()
                if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and section["sh_size"]
            ]
            code = [section for section in loaded if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR]
            sections = [
                _Section(
                    section.name,
                    section["sh_addr"],
                    section["sh_addr"] + section["sh_size"],
                    section["sh_flags"],
                    b"" if section["sh_type"] == "SHT_NOBITS" else section.data(),
                )
                for section in loaded
                if section["sh_addr"]
                and not section["sh_flags"] & SH_FLAGS.SHF_TLS  # each thread has its own, elsewhere
            ]
            with (beside or program).open("rb") as symbols_file:
                symbols_elf = ELFFile(symbols_file)
                image_functions = functions(symbols_elf, code)
                names = sorted((start, start + size, name) for name, start, size in symbols(symbols_elf))
            return cls(
                MACHINES.get(elf["e_machine"], str(elf["e_machine"])),
                elf["e_type"] == "ET_EXEC",
                image_functions,
                sorted(sections, key=lambda section: section.start),
                names,
                _slots(elf),
            )

    @cached_property
    def _section_starts(self) -> list[int]:
        return [section.start for section in self.sections]

    @cached_property
    def _name_starts(self) -> list[int]:
        return [start for start, _, _ in self.names]

    def _section(self, address: int) -> _Section | None:
        index = bisect.bisect(self._section_starts, address) - 1
        if index < 0 or address >= self.sections[index].end:
            return None
        return self.sections[index]

    def _target(self, address: int, size: int) -> str | bytes | None:
        """What is at an address: a name or content; None if the address is outside the program.

        Args:
            address: address that an instruction refers to.
            size: bytes that it reads or writes there; 0 if it only uses the address.
        """
        section = self._section(address)
        if section is None:
            return None
        index = bisect.bisect(self._name_starts, address) - 1
        if index >= 0 and address < self.names[index][1]:
            start, _, name = self.names[index]
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
        """The function that a stub of the procedure linkage table calls, through a slot that the loader fills."""
        stub = section.content[offset : offset + _STUB]
        for instruction in self._decoder(stub, section.start + offset):
            if instruction.is_ip_rel_memory_operand:
                return self.slots.get(instruction.ip_rel_memory_address, section.name)
        return section.name

    @cached_property
    def _iced(self) -> Any:
        """The disassembler; imported here because it has no package for hosts other than x86."""
        return importlib.import_module("iced_x86")

    def _decoder(self, code: bytes, start: int) -> Any:
        """A decoder of instructions at an address."""
        return self._iced.Decoder(_X86[self.machine], code, ip=start)

    def spelled(self, function: Function) -> tuple[object, ...]:
        """A function's instructions, with names instead of addresses."""
        return tuple(self._instructions(function))

    def _instructions(self, function: Function) -> Iterator[object]:
        decoder = self._decoder(function.code, function.start)
        for instruction in decoder:
            offset_in_function = instruction.ip - function.start
            raw = function.code[offset_in_function : offset_in_function + instruction.len]
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
        """Fields of an instruction that contain an address outside of its function.

        Yields:
            (offset of the field in the instruction, its size); the address; bytes that are read or written there.
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
    """Symbols whose addresses the loader fills in, by the address that it writes to."""
    slots = {}
    for section in elf.iter_sections():
        if isinstance(section, RelocationSection) and section["sh_flags"] & SH_FLAGS.SHF_ALLOC:
            table: Any = elf.get_section(section["sh_link"])
            for relocation in section.iter_relocations():
                if relocation["r_info_sym"]:
                    slots[relocation["r_offset"]] = table.get_symbol(relocation["r_info_sym"]).name
    return slots
