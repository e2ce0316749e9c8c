"""Counters read before and after a window: CPU time of cores and processes, steal, swapping."""

from __future__ import annotations

import contextlib
import operator
import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path

_PROC = Path("/proc")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Usage:
    """Resources used by all threads of a process; from ``/proc/<pid>/stat`` and its threads' ``status``.

    Attributes:
        user: user CPU seconds, in steps of one tick (10 ms).
        system: system CPU seconds, in steps of one tick.
        minor_faults: page faults without disk access.
        major_faults: page faults with disk access.
        waits: voluntary context switches (a thread had to wait).
        preemptions: involuntary context switches (another thread's turn).
        rss_bytes: resident memory; for a difference, the later value.
    """

    user: float = 0.0
    system: float = 0.0
    minor_faults: int = 0
    major_faults: int = 0
    waits: int = 0
    preemptions: int = 0
    rss_bytes: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(operator.add, astuple(self), astuple(other)))

    def since(self, before: Usage) -> Usage:
        """Resources used between two readings; never negative (a thread's counters vanish when it ends)."""
        spent = (max(0, later - earlier) for later, earlier in zip(astuple(self), astuple(before), strict=True))
        return replace(Usage(*spent), rss_bytes=self.rss_bytes)


def usage(pids: Iterable[int], proc: Path = _PROC) -> Usage:
    """Resources used so far by all these processes together; those that have ended are ignored."""
    total_usage = Usage()
    for pid in pids:
        with contextlib.suppress(OSError):
            # The name before the fields may contain spaces and parentheses.
            fields = (proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
            switches = [_switches(task) for task in (proc / str(pid) / "task").iterdir()]
            total_usage += Usage(
                user=int(fields[11]) / _TICKS_PER_SECOND,
                system=int(fields[12]) / _TICKS_PER_SECOND,
                minor_faults=int(fields[7]),
                major_faults=int(fields[9]),
                waits=sum(waits for waits, _ in switches),
                preemptions=sum(forced for _, forced in switches),
                rss_bytes=int(fields[21]) * _PAGE_BYTES,
            )
    return total_usage


def code_on_huge_pages(pid: int, proc: Path = _PROC) -> int:
    """Bytes of a process's executable memory on huge pages, from its ``smaps``; 0 if it has ended."""
    kilobytes, executable = 0, False
    with contextlib.suppress(OSError):
        for line in (proc / str(pid) / "smaps").read_text().splitlines():
            if match := re.match(r"[0-9a-f]+-[0-9a-f]+ ..(.). ", line):
                executable = match[1] == "x"
            elif executable and (match := re.match(r"(?:AnonHugePages|FilePmdMapped): +(\d+) kB", line)):
                kilobytes += int(match[1])
    return kilobytes * 1024


def huge_memory(pid: int, proc: Path = _PROC) -> tuple[int, int]:
    """Bytes of a process's (own memory, mapped files) on huge pages, from ``smaps_rollup``; 0 if it has ended."""
    text = ""
    with contextlib.suppress(OSError):
        text = (proc / str(pid) / "smaps_rollup").read_text()
    values = {name: int(kib) * 1024 for name, kib in re.findall(r"^(\w+): +(\d+) kB$", text, re.MULTILINE)}
    return values.get("AnonHugePages", 0), values.get("FilePmdMapped", 0)


def memory_by_node(pid: int, proc: Path = _PROC) -> dict[int, int]:
    """Bytes of a process's memory by memory node, from ``numa_maps``; empty with a single node, or if it has ended."""
    by_node: dict[int, int] = {}
    with contextlib.suppress(OSError):
        for line in (proc / str(pid) / "numa_maps").read_text().splitlines():
            page = re.search(r"kernelpagesize_kB=(\d+)", line)
            for node, pages in re.findall(r" N(\d+)=(\d+)", line):
                size = int(page[1]) * 1024 if page else _PAGE_BYTES
                by_node[int(node)] = by_node.get(int(node), 0) + int(pages) * size
    return by_node if len(by_node) > 1 else {}


def _switches(task: Path) -> tuple[int, int]:
    """(voluntary, involuntary) context switches of a thread; zeros if it has ended."""
    try:
        text = (task / "status").read_text()
    except OSError:
        return 0, 0
    values = dict(re.findall(r"^(voluntary|nonvoluntary)_ctxt_switches:\s+(\d+)$", text, re.MULTILINE))
    return int(values.get("voluntary", 0)), int(values.get("nonvoluntary", 0))


@dataclass(frozen=True)
class Clocks:
    """Offsets of the host's clocks from the clock of readings (CLOCK_MONOTONIC), in seconds.

    Attributes:
        asleep: time for which the host was suspended since boot.
        wall: offset of the wall clock.
    """

    asleep: float
    wall: float


def read_clocks() -> Clocks:
    """The clocks' current offsets."""
    now = time.monotonic()
    return Clocks(asleep=time.clock_gettime(time.CLOCK_BOOTTIME) - now, wall=time.time() - now)


@dataclass(frozen=True)
class CpuTimes:
    """Times of a core in ticks (``SC_CLK_TCK`` per second, 100), from ``/proc/stat``; see proc(5).

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
        """The times between two readings; never negative (iowait may decrease, proc(5))."""
        return CpuTimes(
            *(max(0, later - earlier) for later, earlier in zip(astuple(self), astuple(before), strict=True))
        )

    @property
    def total(self) -> int:
        """All ticks."""
        return self.busy + self.idle + self.iowait + self.steal

    @property
    def busy(self) -> int:
        """Busy ticks of this host."""
        return self.user + self.nice + self.system + self.irq + self.softirq

    @property
    def steal_share(self) -> float:
        """Share of the time in which the hypervisor ran another guest, 0 to 1."""
        return self.steal / self.total if self.total else 0.0

    @property
    def busy_share(self) -> float:
        """Share of the time in which the core was busy, 0 to 1."""
        return self.busy / self.total if self.total else 0.0


def read_cpu_times(proc: Path = _PROC) -> dict[int, CpuTimes]:
    """Each core's times since boot, by CPU number; empty if ``/proc/stat`` can't be read."""
    try:
        text = (proc / "stat").read_text()
    except OSError:
        return {}
    times_by_core = {}
    for match in re.finditer(r"^cpu(\d+) (.*)$", text, re.MULTILINE):
        values = [int(word) for word in match[2].split()][:10]
        times_by_core[int(match[1])] = CpuTimes(*values, *[0] * (10 - len(values)))
    return times_by_core


def difference(before: Mapping[int, CpuTimes], after: Mapping[int, CpuTimes]) -> dict[int, CpuTimes]:
    """Each core's times between two readings, for cores in both."""
    return {cpu: after[cpu] - before[cpu] for cpu in before if cpu in after}


@dataclass(frozen=True)
class SwapCounters:
    """Pages swapped in and out since boot, from ``/proc/vmstat``."""

    pages_in: int
    pages_out: int

    def __sub__(self, before: SwapCounters) -> SwapCounters:
        return SwapCounters(self.pages_in - before.pages_in, self.pages_out - before.pages_out)


def read_swap(proc: Path = _PROC) -> SwapCounters | None:
    """The swap counters; None if they can't be read."""
    try:
        text = (proc / "vmstat").read_text()
    except OSError:
        return None
    values = dict(re.findall(r"^(pswpin|pswpout) (\d+)$", text, re.MULTILINE))
    if len(values) != 2:  # a kernel without swap
        return None
    return SwapCounters(int(values["pswpin"]), int(values["pswpout"]))
