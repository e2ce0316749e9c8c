"""Machine code of programs, read with binutils: symbols, sections, names, inlined functions, frame pointers."""

from __future__ import annotations

import platform
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from burnish.base import process, temporary
from burnish.base.errors import InfrastructureError
from burnish.program.elf import build_id
from burnish.why.inlining import parse_addr2line
from burnish.why.samples import merged
from burnish.why.text import Program, bytes_of, keeps_frame_pointers, parse_program

PATIENCE_S = 300.0
FUNCTIONS_SAMPLED = 200
"""Number of functions examined to determine whether a program keeps frame pointers."""

LARGE = 96
"""Size from which a function needs a frame, in bytes."""


@dataclass(frozen=True)
class Code:
    """A program's code.

    Attributes:
        path: the program.
        symbols: the file with its symbols: the program, or a separate file.
        program: its sections and symbols.
        names: demangled function names by the linker's names, copies and parts merged.
        frame_pointers: whether its functions keep frame pointers.
    """

    path: Path
    symbols: Path
    program: Program
    names: dict[str, str]
    frame_pointers: bool

    @property
    def functions(self) -> frozenset[str]:
        """Demangled names of all functions."""
        return frozenset(self.names.values())


def read_code(path: Path) -> Code:
    """Reads a program's code with binutils."""
    symbols = path
    program = _read(path, path)
    if program.stripped:
        beside = separate_symbols(path)
        if beside is not None:
            symbols, program = beside, _read(path, beside)
    return Code(path, symbols, program, _names(program), _frame_pointers(path, program))


def _read(path: Path, symbols: Path) -> Program:
    return parse_program(
        _output(["readelf", "-SW", path]), _output(["nm", "-n", "-S", symbols]), _output(["nm", "-n", "-S", "-D", path])
    )


def _output(words: list[str | Path]) -> str:
    """A program's output, even if it fails: nm fails if there are no symbols."""
    return process.run(words, timeout=PATIENCE_S).output


def separate_symbols(path: Path) -> Path | None:
    """The separate file with a stripped program's symbols, found as debuggers do; None if there is none."""
    places = []
    link = re.search(r"\[\s*0\]\s+(\S+)", _output(["readelf", "--string-dump=.gnu_debuglink", path]))
    if link:
        places += [path.parent / link[1], path.parent / ".debug" / link[1]]
    number = build_id(path)
    if number:
        places.append(Path("/usr/lib/debug/.build-id") / number[:2] / f"{number[2:]}.debug")
    return next((place for place in places if place.is_file()), None)


def demangle(names: Iterable[str]) -> dict[str, str]:
    """C++ names without parameters, by the linker's names; unchanged names without binutils."""
    unique = sorted(set(names))
    if not unique or shutil.which("c++filt") is None:
        return {name: name for name in unique}
    with tempfile.NamedTemporaryFile("w", dir=temporary.folder()) as file:
        file.write("\n".join(unique) + "\n")
        file.flush()
        done = process.run(["c++filt", "-p"], stdin_file=Path(file.name), timeout=PATIENCE_S)
    demangled = done.output.split("\n")
    if not done.ok or len(demangled) < len(unique):
        return {name: name for name in unique}
    return dict(zip(unique, demangled, strict=False))


def _names(program: Program) -> dict[str, str]:
    return demangle(program.functions)


def inlined(code: Code, offsets: Iterable[int]) -> dict[int, str]:
    """The demangled name of the innermost inlined function at each of these file offsets.

    Raises:
        InfrastructureError: addr2line failed.
    """
    places = {offset: address for offset in offsets if (address := code.program.address(offset)) is not None}
    if not places:
        return {}
    with tempfile.NamedTemporaryFile("w", dir=temporary.folder()) as file:
        file.write("".join(f"{address:#x}\n" for address in sorted(set(places.values()))))
        file.flush()
        done = process.run(
            ["addr2line", "-a", "-f", "-i", "-e", code.symbols], stdin_file=Path(file.name), timeout=PATIENCE_S
        )
    if not done.ok:
        raise InfrastructureError(f"addr2line: {code.symbols}: {done.output[-300:]}")
    raw = {address: merged(name) for address, name in parse_addr2line(done.output).items()}
    names = code.names | demangle(name for name in raw.values() if name not in code.names)
    return {offset: names[raw[address]] for offset, address in places.items() if address in raw}


def _frame_pointers(path: Path, program: Program) -> bool:
    large = [symbol for symbol in program.symbols if symbol.size >= LARGE]
    read = {}
    with path.open("rb") as file:
        for symbol in large[:: max(1, len(large) // FUNCTIONS_SAMPLED)]:
            offset, length = bytes_of(symbol, program)
            file.seek(offset)
            read[symbol.address] = file.read(length)
    return keeps_frame_pointers(program, read, platform.machine())
