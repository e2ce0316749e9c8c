"""Folders for a server's data outside of Burnish's home: in memory, or on a device that the user names.

A folder in memory is a file system of its own, bounded in size, if this process may mount one, else a folder in
``/dev/shm``. All are mode 0700 and bear the run's mark, by which they are removed: at the end of the run, by the warden
if it is killed, by the next run if the warden is killed too.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path

from burnish.base import process, warden
from burnish.base.digest import digest_of
from burnish.base.errors import UserError

_GIB = 1 << 30

RESERVE = 2 * _GIB
"""Bytes of memory that are left to servers, clients and the system beside data in memory."""

_SECONDS = 20.0
_FULL = 0.95
"""Share of its size that a new file system in memory has free."""

_made: set[Path] = set()


def available_memory(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Bytes that processes may still take without swapping; 0 if the kernel does not say."""
    match = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text(), re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def lacking(size: int, available: int) -> str | None:
    """Why data of so many bytes can't be kept in memory, in one line; None if they can.

    Args:
        size: bytes of the data at their largest.
        available: bytes of memory that are available.
    """
    if size + RESERVE <= available:
        return None
    return (
        f"{(size + RESERVE) / _GIB:.1f} GiB of memory are needed ({size / _GIB:.1f} for data, {RESERVE / _GIB:.0f} for "
        f"servers), {available / _GIB:.1f} are available"
    )


def too_short(reason: str) -> UserError:
    """The error of a study whose data do not fit into memory."""
    return UserError(f"storage=memory: {reason}; take smaller data, or storage=disk")


def in_memory(size: int, available: int | None = None) -> Path:
    """A new empty folder in memory for at most `size` bytes, or this run's own if it is there.

    Args:
        size: bytes of the data at their largest.
        available: bytes of memory that are available; None: as the kernel says.

    Raises:
        UserError: there is too little memory.
    """
    place = Path(warden.STORES, name())
    if place.exists():
        return place
    reason = lacking(size, available_memory() if available is None else available)
    if reason is not None:
        raise too_short(reason)
    process.ensure_warden()
    try:
        place.mkdir(mode=0o700)
    except OSError as error:
        raise UserError(f"storage=memory: {place}: {error.strerror}; take storage=disk") from None
    _made.add(place)
    if os.geteuid() == 0:
        # A bound that the kernel keeps; where mounting is not allowed (a container) the folder is without one.
        options = f"size={size},mode=0700,nosuid,nodev"
        process.run(["mount", "-t", "tmpfs", "-o", options, place.name, place], timeout=_SECONDS)
    if (free := shutil.disk_usage(place).free) < size * _FULL:
        release()
        raise UserError(
            f"storage=memory: {warden.STORES} has {free / _GIB:.1f} GiB free, {size / _GIB:.1f} are needed, and this "
            "process may not mount a file system of its own; enlarge it, or take storage=disk"
        )
    return place


def on_device(folder: Path) -> Path:
    """This run's empty folder in a folder that the user named.

    Raises:
        UserError: there is no such folder, or no permission to write to it.
    """
    place = folder / name()
    if place.exists():
        return place
    if not folder.is_dir():
        raise UserError(f"storage={folder}: there is no such folder; make one on the device")
    sweep(folder)
    process.watch_folder(folder)
    try:
        place.mkdir(mode=0o700)
    except OSError as error:
        raise UserError(f"storage={folder}: cannot be written ({error.strerror}); check its rights") from None
    _made.add(place)
    return place


def kind_of(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """The kind of file system that a folder is on (``ext4``, ``tmpfs``); '' if it is not known."""
    best, kind = -1, ""
    try:
        lines = mounts.read_text().splitlines()
    except OSError:
        return ""
    for line in lines:
        words = line.split()
        if len(words) > 2 and folder.is_relative_to(words[1]) and len(words[1]) >= best:
            best, kind = len(words[1]), words[2]
    return kind


FULL_WORDS = ("No space left on device", "Disk quota exceeded")
"""What the C library calls the errors of a full disk, in the logs of every program."""

READ_ONLY_WORDS = "Read-only file system"
"""The same of one that became read-only, as after an error of its device; it need not be the one of the home."""

_NEXT_TO_NOTHING = 64 << 10


def full(text: str, *folders: Path) -> str | None:
    """Why a program failed if its disk was full or read-only, in words; None if nothing says so.

    Args:
        text: what the program and the one that started it said.
        folders: where it wrote; one whose file system has next to nothing free is full.
    """
    for folder in folders:
        with contextlib.suppress(OSError):
            if shutil.disk_usage(folder).free < _NEXT_TO_NOTHING:
                return f"{folder}: {FULL_WORDS[0]}"
    for words in FULL_WORDS:
        if words in text:
            return f"{folders[0] if folders else 'disk'}: {words}"
    return next((line.strip() for line in text.splitlines() if READ_ONLY_WORDS in line), None)


def release() -> None:
    """Removes the folders that this process has made."""
    while _made:
        warden.remove_store(str(_made.pop()))


def sweep(folder: Path = Path(warden.STORES)) -> list[str]:
    """Removes folders of runs that no longer exist; returns their paths."""
    removed = []
    for path in warden.stores(str(folder)):
        called = Path(path).name
        if _is_of_here(called) and not Path(f"/proc/{warden.owner_of(called)}").exists():
            warden.remove_store(path)
            removed.append(path)
    return removed


def name() -> str:
    """Name of a folder that belongs to this run: with its mark, and what its process id counts in."""
    return f"{warden.NAMESPACE}{process.run_id()}-{_machine()}-{process.pid_namespace()}"


def _is_of_here(called: str) -> bool:
    """Whether the process id in a folder's name counts here.

    In another pid namespace (a container) the owner has another one; so it has on another machine that shares the
    folder, and the first namespace has the same number on every Linux. Names of older versions are without the machine.
    """
    words = called.removeprefix(warden.NAMESPACE).split("-")
    return words[-1] == process.pid_namespace() and words[2:-1] in ([], [_machine()])


def _machine(machine_id: Path = Path("/etc/machine-id")) -> str:
    """A digest of this machine's id and its name: an id alone is copied with the image of a machine."""
    try:
        own = machine_id.read_text(errors="replace")
    except OSError:
        own = ""
    return digest_of([own, os.uname().nodename], 8)
