"""A disk that is full, at many places of a study: a file system in memory with so much room and no more."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from asked import words_of
from driving import Ended, Place, call
from kills import after, undisturbed
from ledger import Case, Ledger

_SIZE = 24 << 20
"""Bytes of the file system: more than the plan asks for, which is checked before anything is begun."""

_BLOCK = 4096
_BALLAST = "ballast"
_PATIENCE_S = 300.0


def disturb(ledger: Ledger, place: Path, seed: int, points: int, names: Sequence[str]) -> None:
    """Studies with less room than they need, from almost none to almost enough."""
    for number in range(points):
        name = f"{seed}-{number}"
        if not ledger.has("disk", name):
            ledger.add(_one(place, names[number % len(names)], name, (number + 0.5) / points))


def _one(place: Path, name: str, case: str, share: float) -> Case:
    """One study on a full disk, which then gets room."""
    whole = undisturbed(place, name)
    where = Place(place / name)
    where.empty()
    began = time.monotonic()
    room = int(share * int(str(whole["bytes"])))
    words = words_of(name, where.root / "files")
    _run("mount", "-t", "tmpfs", "-o", f"size={_SIZE},mode=0700", "burnish-faults", where.home)
    filler = threading.Thread(target=_fill, args=(where.home, room))
    try:
        filler.start()
        ended = call(where, words)
        filler.join()
        problems = _as_it_should(ended)
        (where.home / _BALLAST).unlink(missing_ok=True)
        if ended.code:
            again = call(where, words)
            if again.code or again.traceback:
                problems.append(f"with room it ended with {again.code}: {again.last[-400:]}")
            else:
                problems += after(where, whole)
    finally:
        _run("umount", "-l", where.home)
    what = f"{room // 1024} KiB: exit {ended.code}, {ended.last[-300:]}"
    return Case(
        "disk", case, name, what, tuple(problems), int(ended.code != 0), seconds=round(time.monotonic() - began)
    )


def _fill(home: Path, room: int) -> None:
    """Takes all but `room` bytes of what a study may use, as soon as its record is there."""
    deadline = time.monotonic() + _PATIENCE_S
    while not list(home.glob("studies/*/record.sqlite")) and time.monotonic() < deadline:
        time.sleep(0.02)
    used = sum(path.lstat().st_blocks * 512 for path in home.rglob("*"))
    free = max(0, room - used)
    with contextlib.suppress(OSError), (home / _BALLAST).open("wb", buffering=0) as ballast:
        while shutil.disk_usage(home).free > free:
            ballast.write(bytes(min(1 << 20, max(_BLOCK, shutil.disk_usage(home).free - free))))


def _as_it_should(ended: Ended) -> list[str]:
    """What is wrong with the end of a run on a full disk."""
    problems = []
    if ended.traceback:
        problems.append("a traceback")
    if ended.code not in (0, 1):
        problems.append(f"exit code {ended.code}")
    if ended.code and "kept: " not in ended.last:
        problems.append("nothing about what is kept")
    if ended.code and not any(words in ended.last for words in ("No space left", "full")):
        problems.append("nothing about the disk")
    return problems


def _run(*words: str | Path) -> None:
    subprocess.run([str(word) for word in words], check=True)
