"""A program's file in the kernel's page cache: dropped from it, so that every launch reads it anew.

How the pages of a file lie in memory is decided when it is written or read, and stays. What was written in large pieces
can be on pages of 2 MiB; what was read because a process needed it is on pages of 4 and 16 KiB. The same program is
faster by 1.3 % for the former (docs/BIAS.md, "One program in two states"), which no build has earned and a restart of
the machine takes away.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import mmap
import os
from collections.abc import Iterable
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from burnish.program.built import Built

_C = ctypes.CDLL(None, use_errno=True)
_C.mmap.restype = ctypes.c_void_p
_C.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_C.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_C.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
_FAILED = ctypes.c_void_p(-1).value


@functools.lru_cache
def files_of(built: Built) -> tuple[Path, ...]:
    """The program, and those shared libraries that it loads from its own folder."""
    server = built.server.resolve()
    with server.open("rb") as file:
        try:
            tags = [
                tag
                for section in ELFFile(file).iter_sections()
                if isinstance(section, DynamicSection)
                for tag in section.iter_tags()
            ]
        except ELFError:  # a script
            return (server,)
    paths = [vars(tag)[kind] for tag in tags for kind in ("runpath", "rpath") if hasattr(tag, kind)]
    needed = [vars(tag)["needed"] for tag in tags if hasattr(tag, "needed")]
    folders = [Path(str(path).replace("$ORIGIN", str(server.parent))) for every in paths for path in every.split(":")]
    own = [(folder / name).resolve() for name in needed for folder in folders]
    inside = built.folder.resolve()
    return (server, *dict.fromkeys(path for path in own if inside in path.parents and path.is_file()))


def drop(files: Iterable[Path]) -> float | None:
    """Drops files from the page cache; returns the share of their pages that is still there.

    What another process has mapped stays, and so does a file in memory (tmpfs). None if that can't be known: the kernel
    tells only those who own a file or may write to it.
    """
    left = pages = 0
    known = True
    for path in files:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            with contextlib.suppress(OSError):  # a file system that knows neither
                os.fsync(descriptor)  # pages that have to be written first are not dropped
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            resident_pages = resident(descriptor)
            known = known and resident_pages is not None and os.access(path, os.W_OK)
            left += sum(resident_pages or ())
            pages += len(resident_pages or ())
        finally:
            os.close(descriptor)
    return left / pages if known and pages else None


def resident(descriptor: int) -> list[bool] | None:
    """For each page of a file, whether it is in the page cache; None if the kernel does not say."""
    size = os.fstat(descriptor).st_size
    if size == 0:
        return []
    address = _C.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    if address == _FAILED:
        return None
    try:
        found = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
        if _C.mincore(address, size, found) != 0:
            return None
        return [bool(byte & 1) for byte in found.raw]
    finally:
        _C.munmap(address, size)
