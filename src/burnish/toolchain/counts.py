"""Execution counts of functions from a profile: shares, hottest functions, overlap; pure.

A function's count is the sum of its counters (blocks with clang, arcs with gcc, branches with BOLT, samples in a
sampled profile): comparable within one kind of profile, as a share of the total.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from pathlib import Path

from burnish.base.errors import UserError

Counts = Mapping[str, int]
"""Count by function; a function of the profile that never ran has 0."""

FINEST = 1000
"""Weights are rounded to fractions with denominators up to this."""


def clang_counts(show: str) -> dict[str, int]:
    """Counts from ``llvm-profdata show --all-functions --counts``."""
    counts: dict[str, int] = {}
    name = None
    for line in show.splitlines():
        if match := re.match(r"  (\S.*):$", line):
            name = match[1]
            counts.setdefault(name, 0)
        elif name and (match := re.match(r"    Function count: (\d+)", line)):
            counts[name] += int(match[1])
        elif name and (match := re.match(r"    Block counts: \[(.*)\]", line)):
            counts[name] += sum(int(text) for text in match[1].split(",") if text.strip())
    return counts


def sample_counts(show: str) -> dict[str, int]:
    """Counts from ``llvm-profdata show --sample``: all samples in a function, inlined functions included."""
    matches = re.findall(r"^Function: (.+?): (?:CFG checksum \d+\n)?(\d+), \d+, \d+ sampled lines", show, re.MULTILINE)
    return {name: int(total) for name, total in matches}


def bolt_counts(fdata: str) -> dict[str, int]:
    """Counts from BOLT's .fdata: each branch counts for the function that it leaves and the one that it enters."""
    counts: dict[str, int] = {}
    for line in fdata.splitlines():
        words = line.split()
        if not is_branch(words):
            continue
        for name in {words[1], words[4]}:
            if not name.endswith("@PLT"):
                counts[name] = counts.get(name, 0) + int(words[7])
    return counts


def is_branch(words: Sequence[str]) -> bool:
    """Whether a line of .fdata, split, is a branch: (symbol?, from, offset, symbol?, to, offset, misses, count)."""
    return len(words) == 8 and words[0] in "01234" and words[6].isdigit() and words[7].isdigit()


def weighted_fdata(parts: Iterable[tuple[str, int]]) -> str:
    """Merges several .fdata texts: sums equal branches, with each part's counts and misses times its weight.

    Args:
        parts: (.fdata text, weight).

    Raises:
        UserError: a line is not a branch record (memory profiles and binary formats can't be weighted).
    """
    sums: dict[tuple[str, ...], tuple[int, int]] = {}
    head: list[str] = []
    for text, weight in parts:
        for line in filter(None, text.splitlines()):
            words = line.split()
            if is_branch(words):
                place = tuple(words[:6])
                misses, count = sums.get(place, (0, 0))
                sums[place] = (misses + weight * int(words[6]), count + weight * int(words[7]))
            elif line.strip() == "boltedcollection":
                head = [line]
            else:
                raise UserError(
                    f".fdata: {line[:60]!r} is not a branch record; only BOLT's branch profiles can be merged"
                )
    lines = [" ".join((*place, str(misses), str(count))) for place, (misses, count) in sums.items()]
    return "\n".join([*head, *lines]) + "\n"


def whole_weights(weights: Sequence[float]) -> list[int]:
    """The smallest integers in the same proportion, as the merge tools require."""
    parts = [Fraction(weight).limit_denominator(FINEST) for weight in weights]
    if any(part <= 0 for part in parts):
        raise UserError(f"weights {', '.join(f'{w:g}' for w in weights)}: each must be {1 / FINEST:g} or more")
    scale = lcm(*(part.denominator for part in parts))
    integers = [int(part * scale) for part in parts]
    common = gcd(*integers)
    return [number // common for number in integers]


def shares(counts: Counts) -> dict[str, float]:
    """Each function's share of all counts, 0 to 1."""
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()} if total else {}


def hottest(counts: Counts, number: int) -> list[tuple[str, float]]:
    """The functions with the largest shares, largest first."""
    return sorted(shares(counts).items(), key=lambda item: (-item[1], item[0]))[:number]


def hot_names(counts: Counts, share: float) -> frozenset[str]:
    """The hottest functions that together account for `share` of all counts."""
    names, so_far = set(), 0.0
    for name, part in hottest(counts, len(counts)):
        if so_far >= share or part == 0:
            break
        names.add(name)
        so_far += part
    return frozenset(names)


def overlap(first: Counts, second: Counts) -> float:
    """Overlap of two profiles, 0 to 1: the sum over functions of the smaller of the two shares.

    As in ``llvm-profdata overlap``, but by function instead of by counter.
    """
    first_shares, second_shares = shares(first), shares(second)
    return sum(min(share, second_shares.get(name, 0.0)) for name, share in first_shares.items())


@dataclass(frozen=True)
class GccNames:
    """Names of functions by gcc's function numbers.

    Attributes:
        public: symbol by number, for functions with external linkage.
        local: name ('a.c;f') by (path of the .gcda file, number), for functions with internal linkage.
    """

    public: Mapping[int, str]
    local: Mapping[tuple[str, int], str]

    def of(self, path: str, number: int) -> str:
        """A function's name; file and number if no symbol matches (inlined everywhere, or renamed)."""
        return self.known(path, number) or f"{Path(path).stem};#{number}"

    def known(self, path: str, number: int) -> str | None:
        """A function's name; None if no symbol matches."""
        return self.local.get((path, number)) or self.public.get(number)


def gcc_names(objects: Mapping[str, str], symbols: Sequence[tuple[str, str]]) -> GccNames:
    """Names for the functions of a gcc profile.

    The number of a function with external linkage depends on its symbol only; that of a local one on its file as on
    the command line, its symbol, and the object's path without suffix (gcc/coverage.cc, coverage_compute_profile_id).

    Args:
        objects: source file by the object's path, both as on the compiler's command line.
        symbols: the program's functions as (source file in the symbol table, symbol); '' as file for functions with
            external linkage.
    """
    symbols_by_file: dict[str, set[str]] = {}
    for file, symbol in symbols:
        # A part or clone of a function ('f.part.0') has the number of the original function.
        symbols_by_file.setdefault(file, set()).add(re.split(r"\.(?:part|constprop|isra|cold|lto_priv)\b", symbol)[0])
    local = {}
    for path, source in objects.items():
        stem = path.removesuffix(".o")
        file, start = source.rpartition("/")[2], crc(0, source)
        for symbol in symbols_by_file.get(file, ()):
            local[f"{stem}.gcda", crc(crc(start, symbol), stem) & 0x7FFFFFFF] = f"{file};{symbol}"
    return GccNames({crc(0, symbol) & 0x7FFFFFFF: symbol for symbol in symbols_by_file.get("", ())}, local)


def _table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = (value << 1 ^ (0x04C11DB7 if value & 0x80000000 else 0)) & 0xFFFFFFFF
        table.append(value)
    return table


_TABLE = _table()


def crc(start: int, text: str) -> int:
    """gcc's crc32_string: the CRC-32 of ISO/IEC 13818-1 Annex A, not reflected, the end of the string included."""
    value = start
    for byte in (*text.encode(), 0):
        value = (value << 8 & 0xFFFFFFFF) ^ _TABLE[value >> 24 ^ byte]
    return value
