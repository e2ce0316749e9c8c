"""Threads on cores: those of a running side are moved together, and looked at until none was missed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from burnish.bench.pairs import Trouble
from burnish.engines.contract import Side


def threads_of(pid: int) -> list[int]:
    """Thread numbers of a process; empty when it is gone."""
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
    """Moves every thread of a side's server and load to `cores`, and looks again until none was missed.

    A thread that starts while we move inherits its parent's set, which may be the old one.
    """
    for _ in range(20):
        if not _misplaced(side, cores, mend=True):
            return
    check_place(side, cores)


def check_place(side: Side, cores: frozenset[int]) -> None:
    """Raises `Trouble` when a thread of the side may run elsewhere than on `cores`."""
    wrong = _misplaced(side, cores, mend=False)
    if wrong:
        raise Trouble(f"{side.spec.label}: thread {wrong[0]} could not be moved to cores {sorted(cores)}")


def _misplaced(side: Side, cores: frozenset[int], *, mend: bool) -> list[int]:
    wrong = []
    for pid in (*side.server_pids(), *side.client_pids()):
        for thread in threads_of(pid):
            with contextlib.suppress(OSError):
                if os.sched_getaffinity(thread) != cores:
                    wrong.append(thread)
                    if mend:
                        os.sched_setaffinity(thread, cores)
    return wrong
