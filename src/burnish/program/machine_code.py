"""Programs as machine code, read by binutils: symbols, sections, names, inlined functions, frame pointers."""

from __future__ import annotations

import platform
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError
from burnish.program.elf import build_id
from burnish.why.inlining import parse_addr2line
from burnish.why.samples import merged
from burnish.why.text import Program, bytes_of, keeps_frame_pointers, parse_program

PATIENCE_S = 300.0
LOOKED_AT = 200
"""Functions that are looked at to tell whether a program keeps frame pointers."""

LARGE = 96
"""Bytes from which on a function needs a frame."""


@dataclass(frozen=True)
class Code:
    """A program's file and what is in it.

    Attributes:
        path: the program.
        symbols: the file that its symbols were read from: the program, or the file that they were moved to.
        program: its code.
        names: function names for people by the linker's, copies and parts merged.
        frame_pointers: whether its functions keep them.
    """

    path: Path
    symbols: Path
    program: Program
    names: dict[str, str]
    frame_pointers: bool

    @property
    def functions(self) -> frozenset[str]:
        """Names of all functions, for people."""
        return frozenset(self.names.values())


def read_code(path: Path) -> Code:
    """What binutils tell of a program."""
    symbols = path
    program = _read(path, path)
    if program.stripped:
        beside = separate_symbols(path)
        if beside is not None:
            symbols, program = beside, _read(path, beside)
    return Code(path, symbols, program, _names(program), _frame_pointers(path, program))


def _read(path: Path, symbols: Path) -> Program:
    return parse_program(
        _said(["readelf", "-SW", path]), _said(["nm", "-n", "-S", symbols]), _said(["nm", "-n", "-S", "-D", path])
    )


def _said(words: list[str | Path]) -> str:
    """A program's output; nm complains, and fails, where there are no symbols."""
    return process.run(words, timeout=PATIENCE_S).output


def separate_symbols(path: Path) -> Path | None:
    """The file to which a stripped program's symbols were moved, found as debuggers do; None: there is none."""
    places = []
    link = re.search(r"\[\s*0\]\s+(\S+)", _said(["readelf", "--string-dump=.gnu_debuglink", path]))
    if link:
        places += [path.parent / link[1], path.parent / ".debug" / link[1]]
    number = build_id(path)
    if number:
        places.append(Path("/usr/lib/debug/.build-id") / number[:2] / f"{number[2:]}.debug")
    return next((place for place in places if place.is_file()), None)


def demangle(names: Iterable[str]) -> dict[str, str]:
    """C++ names without their parameters, by the linker's names; those themselves where there are no binutils."""
    every = sorted(set(names))
    if not every or shutil.which("c++filt") is None:
        return {name: name for name in every}
    with tempfile.NamedTemporaryFile("w", prefix="burnish-names-") as file:
        file.write("\n".join(every) + "\n")
        file.flush()
        done = process.run(["c++filt", "-p"], stdin_file=Path(file.name), timeout=PATIENCE_S)
    found = done.output.split("\n")
    if not done.ok or len(found) < len(every):
        return {name: name for name in every}
    return dict(zip(every, found, strict=False))


def _names(program: Program) -> dict[str, str]:
    return demangle(program.functions)


def inlined(code: Code, offsets: Iterable[int]) -> dict[int, str]:
    """The innermost inlined function at each of these places in the file, named for people.

    Raises:
        InfrastructureError: addr2line failed.
    """
    places = {offset: address for offset in offsets if (address := code.program.address(offset)) is not None}
    if not places:
        return {}
    with tempfile.NamedTemporaryFile("w", prefix="burnish-addresses-") as file:
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
        for symbol in large[:: max(1, len(large) // LOOKED_AT)]:
            offset, length = bytes_of(symbol, program)
            file.seek(offset)
            read[symbol.address] = file.read(length)
    return keeps_frame_pointers(program, read, platform.machine())
