"""Moves the threads of a running side to cores, and checks that none was missed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from burnish.bench.pairs import Trouble
from burnish.engines.contract import Side


def threads_of(pid: int) -> list[int]:
    """Thread ids of a process; empty if it has ended."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 - called often
    except OSError:
        return []


def move(pids: Sequence[int], cores: frozenset[int]) -> None:
    """Moves every thread of these processes to `cores`."""
    for pid in pids:
        for thread in threads_of(pid):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(thread, cores)


def place(side: Side, cores: frozenset[int]) -> None:
    """Moves every thread of a side's server and load to `cores`, and repeats this until none was missed.

    A thread that starts meanwhile inherits its parent's core set, which may be the old one.
    """
    for _ in range(20):
        if not _misplaced(side, cores, fix=True):
            return
    check_place(side, cores)


def check_place(side: Side, cores: frozenset[int]) -> None:
    """Raises `Trouble` if a thread of the side may run on other cores than `cores`."""
    misplaced = _misplaced(side, cores, fix=False)
    if misplaced:
        raise Trouble(f"{side.spec.label}: thread {misplaced[0]} could not be moved to cores {sorted(cores)}")


def _misplaced(side: Side, cores: frozenset[int], *, fix: bool) -> list[int]:
    misplaced = []
    for pid in (*side.server_pids(), *side.client_pids()):
        for thread in threads_of(pid):
            with contextlib.suppress(OSError):
                if os.sched_getaffinity(thread) != cores:
                    misplaced.append(thread)
                    if fix:
                        os.sched_setaffinity(thread, cores)
    return misplaced
