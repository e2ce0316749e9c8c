"""What a running study is doing now, in a small file beside its record, for whoever watches from another terminal.

The record holds only what is finished; this file is replaced about once a second, and nothing of it counts later but
how long a session that was killed had lasted.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "live.json"

EVERY_S = 1.0
"""Least time between two writes: writing must not take time from what is measured."""

_CLOCKS_S = 1.0
"""By how much a process's start, which is counted from the machine's (proc(5)), may seem later than it was, seconds."""


@dataclass(frozen=True)
class Live:
    """What a study is doing now.

    Attributes:
        pid: the process that runs it.
        at: when this was written, seconds since 1970.
        step: the step of the plan, with its number.
        text: what it is doing within it: a compiler's counter, the throughput of both sides.
        spent: seconds since the step began.
        expected: seconds that the step is expected to take in all; None if that is not known.
        left: seconds that all that is left is expected to take; None if that is not known.
        used: seconds that the session has used, without those in which the machine slept; None in files of older
            versions.
    """

    pid: int
    at: float
    step: str
    text: str = ""
    spent: float = 0.0
    expected: float | None = None
    left: float | None = None
    used: float | None = None

    @property
    def running(self) -> bool:
        """Whether the process that wrote this is still there, and not another one that was given its number since."""
        try:
            ticks = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[19]
        except OSError:
            return False
        booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
        return booted + int(ticks) / os.sysconf("SC_CLK_TCK") <= self.at + _CLOCKS_S


def write(
    folder: Path,
    step: str,
    text: str,
    spent: float,
    expected: float | None,
    left: float | None,
    used: float | None = None,
) -> None:
    """Replaces the file in a study's folder; a full disk is no reason to stop a study."""
    value = Live(os.getpid(), time.time(), step, text, round(spent, 1), expected, left, used)
    partial = folder / f".{FILE}"
    try:
        partial.write_text(json.dumps(asdict(value)))
        partial.replace(folder / FILE)
    except OSError:
        partial.unlink(missing_ok=True)


def read(folder: Path) -> Live | None:
    """What a study in this folder is doing; None if it never said."""
    try:
        return Live(**json.loads((folder / FILE).read_text()))
    except (OSError, ValueError, TypeError):
        return None
