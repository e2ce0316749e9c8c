"""What a device takes of a turn: the time for which a server's cores were idle because its threads waited for it.

The kernel counts the idle time of a core by whether a thread that last ran there waits for input or output to finish
(``iowait`` in ``/proc/stat``, proc(5)). While one side is under load on cores of its own, that time is the part of its
turn that a faster program could not have shortened.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from burnish.bench import counters
from burnish.bench.counters import CpuTimes


@dataclass(frozen=True)
class DeviceWait:
    """Counters of the cores at the beginning of a turn.

    Attributes:
        before: each core's times, by its number.
    """

    before: dict[int, CpuTimes] = field(default_factory=counters.read_cpu_times)

    def share(self, cores: Collection[int]) -> float:
        """Share of the time since then in which these cores waited for a device, 0 to 1; 0 if it is not known."""
        spent = counters.difference(self.before, counters.read_cpu_times())
        known = [spent[core] for core in cores if core in spent]
        total = sum(times.total for times in known)
        return sum(times.iowait for times in known) / total if total else 0.0
