"""gcc's counter files (.gcda): reads, writes and adds several of one object with weights.

gcov-tool of gcc 12 fails with an internal error if a file has counters of indirect calls, as every server has (it reads
their lists of variable length as arrays, libgcc/libgcov-util.c). gcc/gcov-io.h documents the format: 32-bit words in
the machine's byte order; a header, then records of (tag, length, content), and a zero at the end.
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
"""Kinds of counters that are lists of the most frequent values: (total, number, then value and count of each)."""
_OR = 6
_FIRST = 7
"""Kinds that are not sums: bits that were ever set; the order of first calls in the run."""
_MOST_VALUES = 32
"""Maximum number of values that libgcov tracks (GCOV_TOPN_MAXIMUM_TRACKED_VALUES)."""
_LENGTHS_IN_BYTES = 12
"""Major version since which lengths of records are in bytes; before, they are in words."""

Place = tuple[int, int, int]
"""A function: number, checksum of its source location, checksum of its control flow."""


@dataclass
class CounterFile:
    """One .gcda file.

    Attributes:
        header: version and stamps: equal for files of one object.
        runs: number of program runs in it.
        largest: sum over runs of the largest counter.
        functions: counters by function and kind.
    """

    header: tuple[int, ...]
    runs: int = 0
    largest: int = 0
    functions: dict[Place, dict[int, list[int]]] = field(default_factory=dict)


def read(data: bytes) -> CounterFile:
    """A file's content.

    Raises:
        UserError: it is not a .gcda file of this machine, or is truncated.
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
    # The checksum was added in the version with lengths in bytes.
    extra = struct.unpack_from("<I", data, 12) if major >= _LENGTHS_IN_BYTES else ()
    unit = 1 if major >= _LENGTHS_IN_BYTES else 4
    counters = CounterFile((version, stamp, *extra))
    at, kinds = 12 + 4 * len(extra), None
    while at + 4 <= len(data):
        (tag,) = struct.unpack_from("<I", data, at)
        if tag == 0:
            break
        (length,) = struct.unpack_from("<i", data, at + 4)
        at += 8
        size = max(0, length) * unit
        if tag == _FUNCTION:
            # The record of a function that is not in the linked program is empty.
            kinds = counters.functions.setdefault(struct.unpack_from("<3I", data, at), {}) if size else None
        elif tag == _OBJECT_SUMMARY:
            counters.runs, counters.largest = struct.unpack_from("<2I", data, at)
        elif kinds is not None and tag >= _COUNTERS:
            # A negative length means that all counters are 0.
            number = abs(length) * unit // 8
            kind = (tag - _COUNTERS) >> 17
            kinds[kind] = list(struct.unpack_from(f"<{number}q", data, at)) if length > 0 else [0] * number
        at += size
    return counters


def _major(version: int) -> int:
    """Major version, such as 12 from 'B22*': tens as a letter from A, then ones."""
    tens, ones = chr(version >> 24), chr(version >> 16 & 0xFF)
    return (ord(tens) - ord("A")) * 10 + int(ones) if tens >= "A" else int(tens)


def write(content: CounterFile) -> bytes:
    """Encodes a file's content."""
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
    """The weighted sum of files of one object.

    Raises:
        UserError: the files are of different objects.
    """
    (first, weight), *others = parts
    total = CounterFile(first.header)
    for part, factor in ((first, weight), *others):
        if part.header != first.header:
            raise UserError(".gcda: counters of different compilations of an object; merge profiles of one build")
        total.runs += factor * part.runs
        total.largest += factor * part.largest
        for place, kinds in part.functions.items():
            total_kinds = total.functions.setdefault(place, {})
            for kind, values in kinds.items():
                total_kinds[kind] = _combined(kind, total_kinds.get(kind), values, factor)
    return total


def _combined(kind: int, sum_so_far: list[int] | None, values: Sequence[int], weight: int) -> list[int]:
    if kind in _TOP_VALUES:
        return _top_values(sum_so_far or [], values, weight)
    before = sum_so_far or [0] * len(values)
    if len(before) != len(values):
        raise UserError(".gcda: a function with different numbers of counters; merge profiles of one build")
    pairs = zip(before, values, strict=True)
    if kind == _OR:
        return [before | after for before, after in pairs]
    if kind == _FIRST:
        return [min(before, after) if before and after else before or after for before, after in pairs]
    return [before + weight * after for before, after in pairs]


def _top_values(sum_so_far: Sequence[int], values: Sequence[int], weight: int) -> list[int]:
    """Merged lists of most frequent values, one per location in the code; a negative total: values were dropped."""
    merged: list[int] = []
    before, after = _lists(sum_so_far), _lists(values)
    for number, (total, counts) in enumerate(after):
        old_total, old = before[number] if before else (0, {})
        incomplete = total < 0 or old_total < 0
        sums = dict(old)
        for value, count in counts.items():
            sums[value] = sums.get(value, 0) + weight * count
        kept = sorted(sums.items(), key=lambda item: -item[1])[:_MOST_VALUES]
        incomplete = incomplete or len(kept) < len(sums)
        total_count = abs(old_total) + weight * abs(total)
        merged += [-total_count if incomplete else total_count, len(kept), *(word for item in kept for word in item)]
    return merged


def _lists(values: Sequence[int]) -> list[tuple[int, dict[int, int]]]:
    lists, at = [], 0
    while at + 1 < len(values):
        number = values[at + 1]
        words = values[at + 2 : at + 2 + 2 * number]
        lists.append((values[at], dict(zip(words[::2], words[1::2], strict=True))))
        at += 2 + 2 * number
    return lists
