"""gcc's counter files: several of one object added up with weights.

gcov-tool of gcc 12 ends with an internal error as soon as a file has counters of indirect calls (its reader takes
lists of values of any length for arrays, libgcc/libgcov-util.c), which every server has. The format is in
gcc/gcov-io.h: 32-bit words in the machine's order; a header, then records of (tag, length, content), a zero at the end.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from burnish.base.errors import UserError

_MAGIC = 0x67636461
_FUNCTION = 0x01000000
_OBJECT_SUMMARY = 0xA1000000
_COUNTERS = 0x01A10000
_TOP_VALUES = (3, 4)
"""Kinds of counters that are lists of the commonest values: (total, number, then value and count of each)."""
_OR = 6
_FIRST = 7
"""Kinds that are not sums: bits that were ever set; the number of the run's first call."""
_MOST_VALUES = 32
"""Values that libgcov tracks at most (GCOV_TOPN_MAXIMUM_TRACKED_VALUES)."""
_LENGTHS_IN_BYTES = 12
"""Lengths of records are in bytes since this major version, in words before."""

Place = tuple[int, int, int]
"""A function: number, checksum of its place, checksum of its control flow."""


@dataclass
class CounterFile:
    """One .gcda file.

    Attributes:
        header: version and stamps: equal for files of one object.
        runs: how many program runs are in it.
        largest: sum over runs of the largest counter.
        functions: counters by kind, by function.
    """

    header: tuple[int, ...]
    runs: int = 0
    largest: int = 0
    functions: dict[Place, dict[int, list[int]]] = field(default_factory=dict)


def read(data: bytes) -> CounterFile:
    """A file's content.

    Raises:
        UserError: it is no .gcda file of this machine, or is cut off.
    """
    try:
        return _read(data)
    except struct.error:
        raise UserError(".gcda: cut off in the middle of a record; train again") from None


def _read(data: bytes) -> CounterFile:
    magic, version, stamp = struct.unpack_from("<3I", data)
    if magic != _MAGIC:
        raise UserError(f".gcda: found {data[:4]!r} at the beginning; not a counter file of gcc on this machine")
    major = _major(version)
    # The checksum came with the version that counts in bytes.
    extra = struct.unpack_from("<I", data, 12) if major >= _LENGTHS_IN_BYTES else ()
    unit = 1 if major >= _LENGTHS_IN_BYTES else 4
    found = CounterFile((version, stamp, *extra))
    at, mine = 12 + 4 * len(extra), None
    while at + 4 <= len(data):
        (tag,) = struct.unpack_from("<I", data, at)
        if tag == 0:
            break
        (length,) = struct.unpack_from("<i", data, at + 4)
        at += 8
        size = max(0, length) * unit
        if tag == _FUNCTION:
            # A function that is not in this object's program has no content.
            mine = found.functions.setdefault(struct.unpack_from("<3I", data, at), {}) if size else None
        elif tag == _OBJECT_SUMMARY:
            found.runs, found.largest = struct.unpack_from("<2I", data, at)
        elif mine is not None and tag >= _COUNTERS:
            # A negative length stands for so many zeros.
            number = abs(length) * unit // 8
            kind = (tag - _COUNTERS) >> 17
            mine[kind] = list(struct.unpack_from(f"<{number}q", data, at)) if length > 0 else [0] * number
        at += size
    return found


def _major(version: int) -> int:
    """12 of 'B22*': tens as a letter from A, then ones."""
    tens, ones = chr(version >> 24), chr(version >> 16 & 0xFF)
    return (ord(tens) - ord("A")) * 10 + int(ones) if tens >= "A" else int(tens)


def write(content: CounterFile) -> bytes:
    """The file that has this content."""
    version, stamp, *extra = content.header
    unit = 1 if _major(version) >= _LENGTHS_IN_BYTES else 4
    largest = min(content.largest, 0xFFFFFFFF)
    parts = [struct.pack("<3I", _MAGIC, version, stamp), *(struct.pack("<I", word) for word in extra)]
    parts.append(struct.pack("<2I2I", _OBJECT_SUMMARY, 8 // unit, content.runs, largest))
    for place, kinds in content.functions.items():
        parts.append(struct.pack("<2I3I", _FUNCTION, 12 // unit, *place))
        for kind, values in kinds.items():
            length, zero = 8 * len(values) // unit, not any(values)
            parts.append(struct.pack("<Ii", _COUNTERS + (kind << 17), -length if zero else length))
            parts.append(b"" if zero else struct.pack(f"<{len(values)}q", *values))
    return b"".join([*parts, struct.pack("<I", 0)])


def added(parts: Iterable[tuple[CounterFile, int]]) -> CounterFile:
    """The sum of files of one object, each times its weight.

    Raises:
        UserError: they are not of one object.
    """
    (first, weight), *others = parts
    total = CounterFile(first.header)
    for part, own in ((first, weight), *others):
        if part.header != first.header:
            raise UserError(".gcda: counters of different compilations of an object; merge profiles of one build")
        total.runs += own * part.runs
        total.largest += own * part.largest
        for place, kinds in part.functions.items():
            mine = total.functions.setdefault(place, {})
            for kind, values in kinds.items():
                mine[kind] = _combined(kind, mine.get(kind), values, own)
    return total


def _combined(kind: int, mine: list[int] | None, values: Sequence[int], weight: int) -> list[int]:
    if kind in _TOP_VALUES:
        return _top_values(mine or [], values, weight)
    before = mine or [0] * len(values)
    if len(before) != len(values):
        raise UserError(".gcda: a function with different numbers of counters; merge profiles of one build")
    pairs = zip(before, values, strict=True)
    if kind == _OR:
        return [one | other for one, other in pairs]
    if kind == _FIRST:
        return [min(one, other) if one and other else one or other for one, other in pairs]
    return [one + weight * other for one, other in pairs]


def _top_values(mine: Sequence[int], values: Sequence[int], weight: int) -> list[int]:
    """Lists of commonest values, one for each place in the code; a negative total says that some were dropped."""
    merged: list[int] = []
    before, after = _lists(mine), _lists(values)
    for number, (total, counts) in enumerate(after):
        old_total, old = before[number] if before else (0, {})
        full = total < 0 or old_total < 0
        sums = dict(old)
        for value, count in counts.items():
            sums[value] = sums.get(value, 0) + weight * count
        kept = sorted(sums.items(), key=lambda item: -item[1])[:_MOST_VALUES]
        full = full or len(kept) < len(sums)
        whole = abs(old_total) + weight * abs(total)
        merged += [-whole if full else whole, len(kept), *(word for item in kept for word in item)]
    return merged


def _lists(values: Sequence[int]) -> list[tuple[int, dict[int, int]]]:
    found, at = [], 0
    while at + 1 < len(values):
        number = values[at + 1]
        words = values[at + 2 : at + 2 + 2 * number]
        found.append((values[at], dict(zip(words[::2], words[1::2], strict=True))))
        at += 2 + 2 * number
    return found
