"""What `perf script` prints, as values; pure.

Two forms are read. Without callers a sample is one line, ``pid period address symbol (object)``, its address as the
processor had it. With callers it is a line ``pid period`` and one line for each function, the innermost first, and a
blank line; the addresses there are left alone, as perf's versions differ in what they count from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

KERNEL = "[kernel]"
"""The object of all that runs in the kernel, modules included."""

UNKNOWN = "[unknown]"

_FLAT = re.compile(r"^\s*(\d+)\s+(\d+)\s+([0-9a-f]+)\s+(.*?) \(([^()]*(?:\([^()]*\))?)\)\s*$")
_HEAD = re.compile(r"^\s*(\d+)\s+(\d+)\s*$")
_FRAME = re.compile(r"^\s+[0-9a-f]+\s+(.*?) \(([^()]*(?:\([^()]*\))?)\)\s*$")
_MAPS = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) \S*x\S* ([0-9a-f]+) \S+ \d+\s+(/.*)$", re.MULTILINE)

_CLONES = re.compile(
    r"(?: ?\[clone [^\]]*\]"
    r"|\.(?:cold|warm|part|constprop|isra|lto_priv|llvm|localalias|__uniq|__part|split|org|resolver|default|arch_\w+)"
    r"(?:\.\d+)*)+$"
)


class Place(NamedTuple):
    """Where a sample fell.

    Attributes:
        object: path of the program or library, `KERNEL`, ``[vdso]`` or `UNKNOWN`.
        function: name as perf gives it, clones and all; `UNKNOWN` where there is none.
        address: in memory, as the processor had it; 0 in the kernel.
    """

    object: str
    function: str
    address: int


class Frame(NamedTuple):
    """A function in a call stack, clones merged."""

    object: str
    function: str


class Mapping(NamedTuple):
    """Code in memory: ``[start, end)`` holds a file's bytes from `offset` on."""

    start: int
    end: int
    offset: int
    path: str


@dataclass(frozen=True)
class Flat:
    """Samples of one process without callers.

    Attributes:
        weights: events (nanoseconds or cycles) that each place stands for.
        count: number of samples.
    """

    weights: Counter[Place]
    count: int

    @property
    def total(self) -> int:
        """All events."""
        return self.weights.total()

    def __add__(self, other: Flat) -> Flat:
        return Flat(self.weights + other.weights, self.count + other.count)


@dataclass(frozen=True)
class Stacked:
    """Samples of one process with callers.

    Attributes:
        weights: events of each call stack, outermost function first.
        count: number of samples.
    """

    weights: Counter[tuple[Frame, ...]]
    count: int

    def __add__(self, other: Stacked) -> Stacked:
        return Stacked(self.weights + other.weights, self.count + other.count)


def merged(function: str) -> str:
    """A function's own name: what compilers, linkers and BOLT add to the names of its copies and parts is left out.

    gcc's ``.constprop.0``, ``.part.0``, ``.isra.0``, ``.cold`` and ``.lto_priv.0``, clang's ``.llvm.123`` and
    ``.__uniq.123``, BOLT's ``.warm`` and ``.cold.0``, and the same as a demangler spells them (``[clone .cold]``).
    """
    return _CLONES.sub("", function) or function


def object_of(name: str) -> str:
    """An object as perf names it, all of the kernel's as one."""
    if name.startswith(("[kernel", "[guest.kernel")) or (name.startswith("[") and name not in _USER_OBJECTS):
        return KERNEL
    return name.removesuffix(" (deleted)")


_USER_OBJECTS = ("[vdso]", "[vsyscall]", "[heap]", "[stack]", "[anon]", UNKNOWN)


def parse_flat(text: str) -> dict[int, Flat]:
    """Samples without callers (``perf script -G -F pid,period,ip,sym,dso``), by process; other lines are skipped."""
    weights: dict[int, Counter[Place]] = {}
    counts: Counter[int] = Counter()
    for line in text.splitlines():
        match = _FLAT.match(line)
        if match is None:
            continue
        pid, found = int(match[1]), object_of(match[5])
        place = Place(found, match[4] or UNKNOWN, 0 if found == KERNEL else int(match[3], 16))
        weights.setdefault(pid, Counter())[place] += int(match[2])
        counts[pid] += 1
    return {pid: Flat(weights[pid], counts[pid]) for pid in weights}


def parse_stacks(text: str) -> dict[int, Stacked]:
    """Samples with callers (``perf script -F pid,period,ip,sym,dso``), by process."""
    found: dict[int, Counter[tuple[Frame, ...]]] = {}
    counts: Counter[int] = Counter()
    known: dict[str, Frame] = {}
    pid, period, frames = 0, 0, list[Frame]()
    for line in [*text.splitlines(), ""]:
        head = _HEAD.match(line)
        if head is None and line.strip():
            frame = known.get(line)
            if frame is None:
                match = _FRAME.match(line)
                if match is None:
                    continue
                frame = known[line] = Frame(object_of(match[2]), merged(match[1] or UNKNOWN))
            frames.append(frame)
            continue
        if frames:
            found.setdefault(pid, Counter())[tuple(reversed(frames))] += period
            counts[pid] += 1
            frames = []
        if head is not None:
            pid, period = int(head[1]), int(head[2])
    return {pid: Stacked(each, counts[pid]) for pid, each in found.items()}


def parse_maps(text: str) -> tuple[Mapping, ...]:
    """The executable parts of ``/proc/PID/maps`` that are files."""
    return tuple(
        Mapping(int(match[1], 16), int(match[2], 16), int(match[3], 16), match[4].removesuffix(" (deleted)"))
        for match in _MAPS.finditer(text)
    )


def offset_of(address: int, program: str, mappings: Iterable[Mapping]) -> int | None:
    """Place in a program's file of an address in memory; None where no mapping of it holds the address."""
    for each in mappings:
        if each.start <= address < each.end and each.path == program:
            return address - each.start + each.offset
    return None


def offsets(flat: Flat, program: str, mappings: Iterable[Mapping]) -> Counter[int]:
    """Events by place in a program's file, for the samples in it; what no mapping holds is left out.

    Args:
        flat: the samples of one process.
        program: the program's path as mapped.
        mappings: the process's.
    """
    mine: Sequence[Mapping] = [each for each in mappings if each.path == program]
    found: Counter[int] = Counter()
    for place, weight in flat.weights.items():
        offset = offset_of(place.address, program, mine) if place.object == program else None
        if offset is not None:
            found[offset] += weight
    return found
