"""Which processors a program's code needs: its instructions, but for functions that are reached behind a question.

Programs hold the same function several times, for processors with and without an extension, and choose when they
start. So code is read function by function, and functions that the catalogue knows to be chosen (instructions.toml)
don't count. Code that has no symbol can't be told apart: then everything counts, and the answer says so.
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
    """A name of the symbol table: the address and the bytes that it stands for."""

    name: str
    start: int
    size: int


@dataclass(frozen=True)
class Use:
    """Where an extension is used.

    Attributes:
        extension: its name (``AVX2``).
        functions: number of functions with it.
        instructions: number of instructions.
        example: the function that has most of them, as its symbol is spelled.
    """

    extension: str
    functions: int
    instructions: int
    example: str


@dataclass(frozen=True)
class Needs:
    """What a program's code needs.

    Attributes:
        level: the lowest instruction-set level that holds all it uses (``x86-64-v2``); '' where it was not read.
        beyond: extensions used that are in no level, sorted (``AES``).
        because: uses that made it need more than the first level, most functions first.
        dispatched: uses in functions that are chosen at run time, likewise.
        functions: number of functions read; 0 when the program has no symbols and was read as a whole.
        covered: share of the code that lies in functions; the rest (padding, tables, code that BOLT has moved) is
            not read.
        note: what can't be said, in one line, or ''.
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
        name: as its symbol is spelled.
        start: its address.
        code: its bytes.
    """

    name: str
    start: int
    code: bytes


@dataclass
class _Tally:
    """Uses of extensions, by whether they count."""

    counted: defaultdict[str, Counter[str]]
    chosen: defaultdict[str, Counter[str]]

    @classmethod
    def empty(cls) -> _Tally:
        return cls(defaultdict(Counter), defaultdict(Counter))


def scan(program: Path, catalogue: Instructions, beside: Path | None = None) -> Needs:
    """Reads a program's code.

    Args:
        program: the linked program.
        catalogue: levels, harmless instructions, functions chosen at run time.
        beside: file that holds the program's symbols when they were taken out of it.
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
            found = functions(ELFFile(named), code)
        whole = not found
        if whole:
            found = [Function(_NO_SYMBOLS, section["sh_addr"], section.data()) for section in code]
    names = _Chosen(catalogue.arm_dispatched if machine == "aarch64" else catalogue.dispatched)
    tally = _Tally.empty()
    if machine == "aarch64":
        _read_arm(found, catalogue.arm, names, tally)
        level, beyond = _arm_level(tally.counted, catalogue.arm)
    else:
        try:
            _read_x86(found, bits, catalogue, names, tally)
        except ModuleNotFoundError:
            return Needs("", note="the scan of x86 code needs iced-x86, which has no package for this host")
        level, beyond = catalogue.level(tally.counted)
    first = frozenset(next(iter(catalogue.levels.values())).extensions)
    return Needs(
        level=level,
        beyond=tuple(beyond),
        because=_uses(tally.counted, first),
        dispatched=_uses(tally.chosen, first),
        functions=0 if whole else len(found),
        covered=sum(len(each.code) for each in found) / total if total else 0.0,
        note="no symbols: functions chosen at run time can't be told apart, so everything counts" if whole else "",
    )


def symbols(elf: ELFFile, kinds: Sequence[int] = (KIND_OBJECT, KIND_FUNCTION, KIND_IFUNC)) -> Iterator[Symbol]:
    """What the symbol table names with a size, of these kinds (ELF's STT_ numbers)."""
    table = elf.get_section_by_name(".symtab")
    if table is None or table["sh_type"] == "SHT_NOBITS":
        return
    rows = np.frombuffer(table.data(), _SYMBOL_64 if elf.elfclass == 64 else _SYMBOL_32)
    rows = rows[np.isin(rows["info"] & 15, kinds) & (rows["size"] > 0) & (rows["section"] > 0)]
    text = elf.get_section(table["sh_link"]).data()
    for offset, start, size in zip(rows["name"].tolist(), rows["value"].tolist(), rows["size"].tolist(), strict=True):
        yield Symbol(text[offset : text.index(b"\0", offset)].decode(errors="replace"), start, size)


def functions(elf: ELFFile, code: Sequence[Section]) -> list[Function]:
    """Every function that the symbol table names with a size, each address once.

    Args:
        elf: the file that has the symbols.
        code: the program's sections with code.
    """
    places = [(each["sh_addr"], each["sh_addr"] + each["sh_size"], each.data()) for each in code]
    found: dict[int, Function] = {}
    for name, start, size in symbols(elf, (KIND_FUNCTION, KIND_IFUNC)):
        for low, high, content in places:
            if low <= start < high:
                former = found.get(start)
                if former is None or len(former.code) < size:
                    found[start] = Function(name, start, content[start - low : start - low + size])
                break
    return list(found.values())


class _Chosen:
    """Which names are those of functions that are chosen at run time."""

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
                    asked = (extensions[number] for number in instruction.cpuid_features())
                    uses = tuple(name for name in asked if name not in plain)
                known[instruction.code] = uses
            if uses:
                seen[uses] += 1
        if seen:
            into = tally.chosen if function.name in names else tally.counted
            for uses, count in seen.items():
                for extension in uses:
                    into[extension][function.name] += count


def _constants(module: Any) -> dict[int, str]:
    """An iced-x86 enumeration's values with their names."""
    return {int(getattr(module, name)): name for name in dir(module) if name.isupper()}


def _read_arm(
    functions: Sequence[Function], extensions: Mapping[str, ArmExtension], names: _Chosen, tally: _Tally
) -> None:
    for function in functions:
        words = np.frombuffer(function.code[: len(function.code) // 4 * 4], dtype="<u4")
        into = tally.chosen if function.name in names else tally.counted
        for name, extension in extensions.items():
            count = int(sum(np.count_nonzero((words & mask) == value) for mask, value in extension.masks))
            if count:
                into[name][function.name] += count


def _arm_level(counted: Mapping[str, object], extensions: Mapping[str, ArmExtension]) -> tuple[str, list[str]]:
    """Arm's extensions are optional each by itself: the highest version, the others beside it."""
    used = [extension for name, extension in extensions.items() if name in counted]
    versions = [extension.level.partition("+")[0] for extension in used]
    level = max(versions, default="armv8-a", key=lambda word: float(re.sub(r"[^\d.]", "", word)))
    return level, sorted({part for each in used for part in each.level.split("+")[1:]})


def _uses(found: Mapping[str, Counter[str]], plain: frozenset[str]) -> tuple[Use, ...]:
    uses: Iterator[Use] = (
        Use(extension, len(where), sum(where.values()), where.most_common(1)[0][0])
        for extension, where in found.items()
        if extension not in plain
    )
    return tuple(sorted(uses, key=lambda use: (-use.functions, use.extension)))
