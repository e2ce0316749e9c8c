"""Parses the output of `perf script`; pure.

There are two formats. Without callers, a sample is one line, ``pid period address symbol (object)``, with a virtual
address. With callers, it is a line ``pid period``, one line for each function, the innermost first, and a blank line.
The addresses there are ignored, because their base depends on the version of perf.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

KERNEL = "[kernel]"
"""The object of all kernel code, modules included."""

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
    """Location of a sample.

    Attributes:
        object: path of the program or library, `KERNEL`, ``[vdso]`` or `UNKNOWN`.
        function: name printed by perf, with suffixes of clones; `UNKNOWN` if there is none.
        address: virtual address; 0 in the kernel.
    """

    object: str
    function: str
    address: int


class Frame(NamedTuple):
    """A function in a call stack, clones merged."""

    object: str
    function: str


class Mapping(NamedTuple):
    """Code mapped into memory: ``[start, end)`` contains a file's bytes from `offset`."""

    start: int
    end: int
    offset: int
    path: str


@dataclass(frozen=True)
class Flat:
    """Samples of one process without callers.

    Attributes:
        weights: events (nanoseconds or cycles) at each place.
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
    """A function's name without the suffixes that compilers, linkers and BOLT add for its copies and parts.

    gcc's ``.constprop.0``, ``.part.0``, ``.isra.0``, ``.cold`` and ``.lto_priv.0``, clang's ``.llvm.123`` and
    ``.__uniq.123``, BOLT's ``.warm`` and ``.cold.0``, and the same as a demangler spells them (``[clone .cold]``).
    """
    return _CLONES.sub("", function) or function


def object_of(name: str) -> str:
    """An object as perf names it, with all objects of the kernel merged."""
    if name.startswith(("[kernel", "[guest.kernel")) or (name.startswith("[") and name not in _USER_OBJECTS):
        return KERNEL
    return name.removesuffix(" (deleted)")


_INLINED = "inlined"
"""What perf prints in place of the object of a frame that debug information has put between two others."""

_USER_OBJECTS = ("[vdso]", "[vsyscall]", "[heap]", "[stack]", "[anon]", UNKNOWN)


def parse_flat(text: str) -> dict[int, Flat]:
    """Samples without callers (``perf script -G -F pid,period,ip,sym,dso``), by process; other lines are skipped."""
    weights: dict[int, Counter[Place]] = {}
    counts: Counter[int] = Counter()
    for line in text.splitlines():
        match = _FLAT.match(line)
        if match is None:
            continue
        pid, object_name = int(match[1]), object_of(match[5])
        place = Place(object_name, match[4] or UNKNOWN, 0 if object_name == KERNEL else int(match[3], 16))
        weights.setdefault(pid, Counter())[place] += int(match[2])
        counts[pid] += 1
    return {pid: Flat(weights[pid], counts[pid]) for pid in weights}


def parse_stacks(text: str) -> dict[int, Stacked]:
    """Samples with callers (``perf script -F pid,period,ip,sym,dso``), by process."""
    stacks: dict[int, Counter[tuple[Frame, ...]]] = {}
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
            stacks.setdefault(pid, Counter())[_in_objects(frames)] += period
            counts[pid] += 1
            frames = []
        if head is not None:
            pid, period = int(head[1]), int(head[2])
    return {pid: Stacked(weights, counts[pid]) for pid, weights in stacks.items()}


def _in_objects(frames: Sequence[Frame]) -> tuple[Frame, ...]:
    """A stack, outermost frame first, from perf's, innermost first; inlined frames are in their caller's object."""
    found: list[Frame] = []
    for frame in reversed(frames):
        inlined = frame.object == _INLINED and found
        found.append(frame._replace(object=found[-1].object) if inlined else frame)
    return tuple(found)


def parse_maps(text: str) -> tuple[Mapping, ...]:
    """The executable mappings of files in ``/proc/PID/maps``."""
    return tuple(
        Mapping(int(match[1], 16), int(match[2], 16), int(match[3], 16), match[4].removesuffix(" (deleted)"))
        for match in _MAPS.finditer(text)
    )


def offset_of(address: int, program: str, mappings: Iterable[Mapping]) -> int | None:
    """File offset in a program of an address in memory; None if no mapping of the program contains the address."""
    for mapping in mappings:
        if mapping.start <= address < mapping.end and mapping.path == program:
            return address - mapping.start + mapping.offset
    return None


def offsets(flat: Flat, program: str, mappings: Iterable[Mapping]) -> Counter[int]:
    """Events by file offset in a program; addresses outside of its mappings are left out.

    Args:
        flat: the samples of one process.
        program: the program's path as mapped.
        mappings: mappings of the process.
    """
    own_mappings: Sequence[Mapping] = [mapping for mapping in mappings if mapping.path == program]
    counts: Counter[int] = Counter()
    for place, weight in flat.weights.items():
        offset = offset_of(place.address, program, own_mappings) if place.object == program else None
        if offset is not None:
            counts[offset] += weight
    return counts
