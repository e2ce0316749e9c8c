"""Counters read before and after a window: CPU time of cores and processes, steal, swapping."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_ALL_THREADS_CLOCK = 2
"""CPUCLOCK_SCHED of the kernel's include/linux/posix-timers.h: run time as the scheduler accounts it."""


def cpu_clock_ns(pid: int) -> int:
    """CPU time that all threads of a process have used so far, user and system together, in nanoseconds.

    It is the process's own CPU clock (clock_getcpuclockid(3)): the scheduler's nanoseconds, where
    ``/proc/<pid>/stat`` counts ticks of 10 ms and samples them at 250 Hz.

    Raises:
        ProcessLookupError: there is no such process.
    """
    try:
        return time.clock_gettime_ns(((~pid) << 3) | _ALL_THREADS_CLOCK)
    except OSError as error:
        raise ProcessLookupError(error.errno, f"no CPU clock of process {pid}: it is gone") from error


def user_system_seconds(pid: int, proc: Path = _PROC) -> tuple[float, float]:
    """(user, system) CPU seconds of a process, all its threads, in steps of one tick (10 ms).

    Raises:
        ProcessLookupError: there is no such process.
    """
    try:
        text = (proc / str(pid) / "stat").read_text()
    except OSError as error:
        raise ProcessLookupError(error.errno, f"no process {pid}: it is gone") from error
    fields = text.rpartition(")")[2].split()  # the name before it may hold spaces and brackets
    return int(fields[11]) / _TICKS_PER_SECOND, int(fields[12]) / _TICKS_PER_SECOND


@dataclass(frozen=True)
class CpuTimes:
    """What a core did, in ticks (``SC_CLK_TCK`` to the second, 100), by ``/proc/stat``; see proc(5).

    `user` includes `guest`, `nice` includes `guest_nice`.
    """

    user: int
    nice: int
    system: int
    idle: int
    iowait: int
    irq: int
    softirq: int
    steal: int
    guest: int
    guest_nice: int

    def __sub__(self, before: CpuTimes) -> CpuTimes:
        """What passed between two readings; never negative (iowait may run backwards, proc(5))."""
        return CpuTimes(*(max(0, now - then) for now, then in zip(astuple(self), astuple(before), strict=True)))

    @property
    def total(self) -> int:
        """All ticks that passed."""
        return self.busy + self.idle + self.iowait + self.steal

    @property
    def busy(self) -> int:
        """Ticks spent working for us."""
        return self.user + self.nice + self.system + self.irq + self.softirq

    @property
    def steal_share(self) -> float:
        """Share of the time in which the hypervisor ran somebody else, 0 to 1."""
        return self.steal / self.total if self.total else 0.0

    @property
    def busy_share(self) -> float:
        """Share of the time spent working for us, 0 to 1."""
        return self.busy / self.total if self.total else 0.0


def read_cpu_times(proc: Path = _PROC) -> dict[int, CpuTimes]:
    """Each core's times since boot, by CPU number; empty where ``/proc/stat`` can't be read."""
    try:
        text = (proc / "stat").read_text()
    except OSError:
        return {}
    found = {}
    for match in re.finditer(r"^cpu(\d+) (.*)$", text, re.MULTILINE):
        values = [int(word) for word in match[2].split()][:10]
        found[int(match[1])] = CpuTimes(*values, *[0] * (10 - len(values)))
    return found


def difference(before: Mapping[int, CpuTimes], after: Mapping[int, CpuTimes]) -> dict[int, CpuTimes]:
    """What each core did between two readings, for cores that are in both."""
    return {cpu: after[cpu] - before[cpu] for cpu in before if cpu in after}


@dataclass(frozen=True)
class SwapCounters:
    """Pages swapped in and out since boot, by ``/proc/vmstat``."""

    pages_in: int
    pages_out: int

    def __sub__(self, before: SwapCounters) -> SwapCounters:
        return SwapCounters(self.pages_in - before.pages_in, self.pages_out - before.pages_out)


def read_swap(proc: Path = _PROC) -> SwapCounters | None:
    """The swap counters; None where they can't be read."""
    try:
        text = (proc / "vmstat").read_text()
    except OSError:
        return None
    values = dict(re.findall(r"^(pswpin|pswpout) (\d+)$", text, re.MULTILINE))
    if len(values) != 2:  # a kernel without swap
        return None
    return SwapCounters(int(values["pswpin"]), int(values["pswpout"]))
