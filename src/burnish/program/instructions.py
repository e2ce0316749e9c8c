"""The processor features that a program's code needs: its instructions, except in functions selected at run time.

Programs contain the same function several times, for processors with and without an extension, and select one when
they start. So code is read function by function, and functions that the catalogue lists as selected at run time
(instructions.toml) do not count. Without symbols, functions cannot be distinguished: then everything counts, and the
result says so.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section

from burnish.catalogue.instructions import ArmExtension, Dispatched, Instructions
from burnish.program.program import MACHINES

_NO_SYMBOLS = "(no symbol)"
KIND_OBJECT, KIND_FUNCTION, KIND_IFUNC = 1, 2, 10  # STT_OBJECT, STT_FUNC, STT_GNU_IFUNC
_SYMBOL_64 = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
_SYMBOL_32 = np.dtype(
    [("name", "<u4"), ("value", "<u4"), ("size", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2")]
)


class Symbol(NamedTuple):
    """An entry of the symbol table: name, address and size in bytes."""

    name: str
    start: int
    size: int


@dataclass(frozen=True)
class Use:
    """Use of an extension in a program.

    Attributes:
        extension: its name (``AVX2``).
        functions: number of functions that use it.
        instructions: number of its instructions.
        example: symbol name of the function that has most of them.
    """

    extension: str
    functions: int
    instructions: int
    example: str


@dataclass(frozen=True)
class Needs:
    """The processor features that a program's code needs.

    Attributes:
        level: the lowest instruction-set level that includes everything it uses (``x86-64-v2``); '' if unknown.
        beyond: extensions used that are in no level, sorted (``AES``).
        because: uses that require more than the lowest level, most functions first.
        dispatched: uses in functions that are selected at run time, most functions first.
        functions: number of functions read; 0 if the program has no symbols and was read as a whole.
        covered: share of the code that lies in functions; the rest (padding, tables, code that BOLT has moved) is
            not read.
        note: what could not be determined, in one line, or ''.
    """

    level: str
    beyond: tuple[str, ...] = ()
    because: tuple[Use, ...] = ()
    dispatched: tuple[Use, ...] = ()
    functions: int = 0
    covered: float = 0.0
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the store and the record."""
        return asdict(self)


@dataclass(frozen=True)
class Function:
    """A function of a program.

    Attributes:
        name: its symbol name.
        start: its address.
        code: its bytes.
    """

    name: str
    start: int
    code: bytes


@dataclass
class _Tally:
    """Uses of extensions that count, and uses in functions selected at run time."""

    counted: defaultdict[str, Counter[str]]
    chosen: defaultdict[str, Counter[str]]

    @classmethod
    def empty(cls) -> _Tally:
        return cls(defaultdict(Counter), defaultdict(Counter))


def scan(program: Path, catalogue: Instructions, beside: Path | None = None) -> Needs:
    """Reads a program's code.

    Args:
        program: the linked program.
        catalogue: levels, harmless instructions, functions selected at run time.
        beside: file with the symbols of a stripped program.
    """
    with program.open("rb") as file:
        elf = ELFFile(file)
        machine, bits = MACHINES.get(elf["e_machine"], str(elf["e_machine"])), elf.elfclass
        if machine not in ("x86-64", "i386", "aarch64"):
            return Needs("", note=f"the scan reads x86 and aarch64 code, not {machine}")
        code = [
            section
            for section in elf.iter_sections()
            if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and section["sh_size"]
        ]
        total = sum(section["sh_size"] for section in code)
        with (beside or program).open("rb") as named:
            code_functions = functions(ELFFile(named), code)
        without_symbols = not code_functions
        if without_symbols:
            code_functions = [Function(_NO_SYMBOLS, section["sh_addr"], section.data()) for section in code]
    names = _Chosen(catalogue.arm_dispatched if machine == "aarch64" else catalogue.dispatched)
    tally = _Tally.empty()
    if machine == "aarch64":
        _read_arm(code_functions, catalogue.arm, names, tally)
        level, beyond = _arm_level(tally.counted, catalogue.arm)
    else:
        try:
            _read_x86(code_functions, bits, catalogue, names, tally)
        except ModuleNotFoundError:
            return Needs("", note="the scan of x86 code needs iced-x86, which has no package for this host")
        level, beyond = catalogue.level(tally.counted)
    first = frozenset(next(iter(catalogue.levels.values())).extensions)
    return Needs(
        level=level,
        beyond=tuple(beyond),
        because=_uses(tally.counted, first),
        dispatched=_uses(tally.chosen, first),
        functions=0 if without_symbols else len(code_functions),
        covered=sum(len(function.code) for function in code_functions) / total if total else 0.0,
        note="no symbols: functions chosen at run time can't be told apart, so everything counts"
        if without_symbols
        else "",
    )


def symbols(elf: ELFFile, kinds: Sequence[int] = (KIND_OBJECT, KIND_FUNCTION, KIND_IFUNC)) -> Iterator[Symbol]:
    """Entries of the symbol table with a size, of these kinds (ELF's STT_ numbers)."""
    table = elf.get_section_by_name(".symtab")
    if table is None or table["sh_type"] == "SHT_NOBITS":
        return
    rows = np.frombuffer(table.data(), _SYMBOL_64 if elf.elfclass == 64 else _SYMBOL_32)
    rows = rows[np.isin(rows["info"] & 15, kinds) & (rows["size"] > 0) & (rows["section"] > 0)]
    text = elf.get_section(table["sh_link"]).data()
    for offset, start, size in zip(rows["name"].tolist(), rows["value"].tolist(), rows["size"].tolist(), strict=True):
        yield Symbol(text[offset : text.index(b"\0", offset)].decode(errors="replace"), start, size)


def functions(elf: ELFFile, code: Sequence[Section]) -> list[Function]:
    """Every function with a size in the symbol table, without duplicate addresses.

    Args:
        elf: the file with the symbols.
        code: the program's sections with code.
    """
    places = [(section["sh_addr"], section["sh_addr"] + section["sh_size"], section.data()) for section in code]
    by_start: dict[int, Function] = {}
    for name, start, size in symbols(elf, (KIND_FUNCTION, KIND_IFUNC)):
        for low, high, content in places:
            if low <= start < high:
                known = by_start.get(start)
                if known is None or len(known.code) < size:
                    by_start[start] = Function(name, start, content[start - low : start - low + size])
                break
    return list(by_start.values())


class _Chosen:
    """The set of names of functions selected at run time."""

    def __init__(self, rules: Sequence[Dispatched]) -> None:
        self._pattern = re.compile("|".join(f"(?:{pattern})" for rule in rules for pattern in rule.patterns) or r"(?!)")

    def __contains__(self, name: object) -> bool:
        return bool(self._pattern.search(str(name)))


def _read_x86(functions: Sequence[Function], bits: int, catalogue: Instructions, names: _Chosen, tally: _Tally) -> None:
    import iced_x86  # noqa: PLC0415 - has no package for hosts that are not x86

    extensions = _constants(iced_x86.CpuidFeature)
    mnemonics = _constants(iced_x86.Mnemonic)
    plain = frozenset(next(iter(catalogue.levels.values())).extensions) | catalogue.harmless_extensions
    known: dict[int, tuple[str, ...]] = {}
    for function in functions:
        seen: Counter[tuple[str, ...]] = Counter()
        for instruction in iced_x86.Decoder(bits, function.code, ip=function.start):
            uses = known.get(instruction.code)
            if uses is None:
                if mnemonics.get(instruction.mnemonic) in catalogue.harmless_instructions:
                    uses = ()
                else:
                    names_used = (extensions[number] for number in instruction.cpuid_features())
                    uses = tuple(name for name in names_used if name not in plain)
                known[instruction.code] = uses
            if uses:
                seen[uses] += 1
        if seen:
            uses_by_extension = tally.chosen if function.name in names else tally.counted
            for uses, count in seen.items():
                for extension in uses:
                    uses_by_extension[extension][function.name] += count


def _constants(module: Any) -> dict[int, str]:
    """Names of the values of an iced-x86 enumeration."""
    return {int(getattr(module, name)): name for name in dir(module) if name.isupper()}


def _read_arm(
    functions: Sequence[Function], extensions: Mapping[str, ArmExtension], names: _Chosen, tally: _Tally
) -> None:
    for function in functions:
        words = np.frombuffer(function.code[: len(function.code) // 4 * 4], dtype="<u4")
        uses_by_extension = tally.chosen if function.name in names else tally.counted
        for name, extension in extensions.items():
            count = int(sum(np.count_nonzero((words & mask) == value) for mask, value in extension.masks))
            if count:
                uses_by_extension[name][function.name] += count


def _arm_level(counted: Mapping[str, object], extensions: Mapping[str, ArmExtension]) -> tuple[str, list[str]]:
    """The highest Arm version used, and the extensions used beyond it (each of them is optional)."""
    used = [extension for name, extension in extensions.items() if name in counted]
    versions = [extension.level.partition("+")[0] for extension in used]
    level = max(versions, default="armv8-a", key=lambda word: float(re.sub(r"[^\d.]", "", word)))
    return level, sorted({part for extension in used for part in extension.level.split("+")[1:]})


def _uses(uses_by_extension: Mapping[str, Counter[str]], plain: frozenset[str]) -> tuple[Use, ...]:
    uses: Iterator[Use] = (
        Use(extension, len(where), sum(where.values()), where.most_common(1)[0][0])
        for extension, where in uses_by_extension.items()
        if extension not in plain
    )
    return tuple(sorted(uses, key=lambda use: (-use.functions, use.extension)))
