"""How a process's pages lie in physical memory: in rows, or scattered.

In a virtual machine a page walk goes through the hypervisor's table too, which is ordered by the page's own address.
Eight pages in a row share a line of a cache there; pages that lie far apart do not (docs/BIAS.md, "Launched first").
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

_PROC = Path("/proc")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_MAPPING = re.compile(r"(\w+)-(\w+) (\S)\S(\S)\S \S+ \S+ (\d+)(?: +(.*))?")
_PRESENT = np.uint64(1 << 63)
_FRAME = np.uint64((1 << 55) - 1)
_LINE = np.uint64(8)
"""Page table entries in a line of 64 bytes."""
_PIECE = 1 << 17
"""Entries that are read at once: 1 MB."""
MOST = 1 << 22
"""Entries beyond which a process is not looked at: 16 GiB of address space in pages of 4 KiB."""

Frames = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class PageScatter:
    """Lines of page table entries for each page: 0.125 where all pages lie in a row, 1 where none do.

    A part is None where the kernel gives no frame numbers (it does to CAP_SYS_ADMIN only), where it has no pages, and
    for a process with more than `MOST` pages of address space.

    Attributes:
        text: of code.
        heap: of the process's own memory (mapped from no file).
        files: of mapped files, code among them.
    """

    text: float | None = None
    heap: float | None = None
    files: float | None = None


def page_scatter(pid: int, proc: Path = _PROC) -> PageScatter:
    """How scattered a process's pages are, from its ``maps`` and ``pagemap``; see proc(5)."""
    try:
        mappings = list(_mappings((proc / str(pid) / "maps").read_text()))
        if sum(last - first for first, last, _ in mappings) > MOST:
            return PageScatter()
        frames: dict[str, list[Frames]] = {"text": [], "heap": [], "files": []}
        with (proc / str(pid) / "pagemap").open("rb", buffering=0) as pagemap:
            for first, last, parts in mappings:
                for piece in _frames(pagemap, first, last):
                    for part in parts:
                        frames[part].append(piece)
    except OSError:
        return PageScatter()
    return PageScatter(**{part: _lines_a_page(pieces) for part, pieces in frames.items()})


def _mappings(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """(first page, page after the last, parts that it belongs to) of each mapping that can have pages of its own."""
    for line in text.splitlines():
        found = _MAPPING.match(line)
        if found is None:
            continue
        begin, end, readable, executable, inode, name = found.groups()
        if (readable, executable) == ("-", "-") or (name or "").startswith("[v"):  # reserved; of the kernel
            continue
        parts = ("heap" if inode == "0" else "files", *(("text",) if executable == "x" else ()))
        yield int(begin, 16) // _PAGE_BYTES, int(end, 16) // _PAGE_BYTES, parts


def _frames(pagemap: BinaryIO, first: int, last: int) -> Iterator[Frames]:
    """Frame numbers of the pages that are in memory, piece by piece; 0 where the kernel gives none."""
    pagemap.seek(8 * first)
    while first < last:
        read = pagemap.read(8 * min(_PIECE, last - first))
        entries = np.frombuffer(read, dtype=np.uint64, count=len(read) // 8)
        if not entries.size:  # the mapping has gone
            return
        first += entries.size
        yield entries[(entries & _PRESENT) != 0] & _FRAME


def _lines_a_page(pieces: list[Frames]) -> float | None:
    frames = np.concatenate([np.empty(0, np.uint64), *pieces])
    frames = frames[frames != 0]
    return round(np.unique(frames // _LINE).size / frames.size, 4) if frames.size else None
