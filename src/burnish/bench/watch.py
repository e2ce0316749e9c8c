"""Watches the host during a pair, and decides by fixed rules whether the pair is invalid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.bench import counters, readings
from burnish.bench.host import throttled
from burnish.bench.pairs import Pair
from burnish.bench.readings import Reading
from burnish.bench.running import Running
from burnish.model.workload import Workload
from burnish.workload import loads

STANDSTILL_S = 0.5
"""Time for which the host may be suspended, or by which the wall clock may jump, before the pair is invalid."""

BUSY_BOUND = 0.9
"""Minimum share of its cores that the server of a saturated workload must keep busy."""

MISSES_BOUND = 0.01
"""Disk reads per transaction above which data are not in memory."""


@dataclass(frozen=True)
class Flaw:
    """What makes a pair invalid.

    Attributes:
        why: the reason and the remedy, in a sentence.
        sides: labels of the sides that it is about; empty if it is about the host.
        passing: whether the host was disturbed from outside, so that it may be gone at the next start.
    """

    why: str
    sides: tuple[str, ...] = ()
    passing: bool = False


class Watch:
    """Counters of the host and the servers since the beginning of a pair.

    Args:
        items: the running sides.
        steal_bound: share of a core's CPU time that the hypervisor may take before the pair is invalid.
        loaded: CPU numbers of their loads, where those are not on their servers' cores.
    """

    def __init__(self, items: Sequence[Running], steal_bound: float, loaded: frozenset[int] = frozenset()) -> None:
        self.items = items
        self.steal_bound = steal_bound
        self.loaded = loaded
        self.before = counters.read_cpu_times()
        self.swaps = counters.read_swap()
        self.throttled = throttled()
        self.clocks = counters.read_clocks()
        self.usage = {item.label: counters.usage(item.side.server_pids()) for item in items}
        self.misses = {item.label: item.side.misses() for item in items}
        self.written = {item.label: item.side.writes() for item in items}

    def pair(self, turns: Sequence[Mapping[str, Reading]], places: int, workload: Workload, *, shared: bool) -> Pair:
        """The pair of these turns, with the reason if it is invalid.

        Args:
            turns: for each turn, the reading of each side by label.
            places: see `Pair`.
            workload: the load.
            shared: whether each server has its load on the same cores.
        """
        spent = counters.difference(self.before, counters.read_cpu_times())
        sides = {item.label: readings.total([turn[item.label] for turn in turns]) for item in self.items}
        used = {core for side in sides.values() for core in side.cores}
        watched = used | self.loaded
        steal = max((times.steal_share for core, times in spent.items() if core in watched), default=0.0)
        busy = {label: _busy([turn[label] for turn in turns], shared=shared) for label in sides}
        misses = {
            item.label: max(0, now - (self.misses[item.label] or 0))
            for item in self.items
            if (now := item.side.misses()) is not None
        }
        core_busy = {core: round(times.busy_share, 4) for core, times in spent.items()}
        cores = min((share for core, share in core_busy.items() if core in used), default=0.0)
        width = max(1, *(len(reading.cores) for turn in turns for reading in turn.values()))
        flaw = self._disturbance(sides, steal) or unlike_declared(workload, sides, busy, misses, cores, width)
        return Pair(
            turns=tuple(turns),
            places=places,
            usage={
                item.label: counters.usage(item.side.server_pids()).since(self.usage[item.label]) for item in self.items
            },
            busy=busy,
            steal=steal,
            core_busy=core_busy,
            invalid=flaw.why if flaw else None,
            at_fault=flaw.sides if flaw else (),
            disturbed=flaw is not None and flaw.passing,
            writes={item.label: item.side.writes().since(self.written[item.label]) for item in self.items},
        )

    def _disturbance(self, sides: Mapping[str, Reading], steal: float) -> Flaw | None:
        """The disturbance that makes the pair invalid, or None."""
        errors = {label: side.errors for label, side in sides.items() if side.errors}
        clocks = counters.read_clocks()
        slept = clocks.asleep - self.clocks.asleep
        jumped = clocks.wall - self.clocks.wall - slept
        if errors:
            counts = ", ".join(f"{label}: {n}" for label, n in errors.items())
            return Flaw(f"errors under load ({counts}); see the load's log in the study's folder", tuple(errors))
        if counters.read_swap() != self.swaps:
            return Flaw("the host swapped; free memory or make the buffer pool smaller")
        if (times := throttled() - self.throttled) > 0:
            return Flaw(
                f"the CPU quota of this container (cgroup) held it up {times} times; measure without one: give it "
                "whole cores (docker run --cpuset-cpus, not --cpus)"
            )
        if slept > STANDSTILL_S:
            return Flaw(f"the host was suspended for {slept:.1f} s; keep it awake", passing=True)
        if abs(jumped) > STANDSTILL_S:
            return Flaw(f"the wall clock jumped by {jumped:+.1f} s; let the time service settle", passing=True)
        if steal > self.steal_bound:
            return Flaw(
                f"the hypervisor took {steal:.0%} of the CPU (bound {self.steal_bound:.0%}); try at a quieter hour",
                passing=True,
            )
        return None


def _busy(turns: Sequence[Reading], *, shared: bool) -> float:
    """Share of its cores that a server kept busy, 0 to 1, including its load if they share the cores."""
    spent = sum(turn.server_cpu + (turn.client_cpu if shared else 0.0) for turn in turns)
    return spent / sum(turn.seconds * max(1, len(turn.cores)) for turn in turns)


def unlike_declared(
    workload: Workload,
    sides: Mapping[str, Reading],
    busy: Mapping[str, float],
    misses: Mapping[str, int],
    cores: float,
    width: int,
) -> Flaw | None:
    """Why a pair does not meet its workload's declaration (data in memory, saturated server), or None.

    A pair is also invalid if a side finished no transaction, even if it executed statements.

    Args:
        workload: the load.
        sides: each side's reading.
        busy: by label, the share of its cores that the server kept busy, 0 to 1.
        misses: by label, number of pages that the server read from disk.
        cores: busy share of the least busy of these cores, 0 to 1, including other processes.
        width: number of cores that a side has at a time; over the turns of a pair it may use more.
    """
    if idle := [label for label, side in sides.items() if not side.done]:
        why = f"{idle[0]} finished no transaction; take fewer client threads, or shorter transactions"
        return Flaw(why, tuple(idle))
    for label, missed in misses.items():
        if workload.in_memory and missed > MISSES_BOUND * sides[label].done:
            return Flaw(
                f"{label} read {missed} pages from disk, but {workload.name} says that its data are in memory; "
                "give the server more of it (a larger buffer pool), or take a smaller dataset",
                (label,),
            )
    lazy = tuple(label for label, share in busy.items() if share < BUSY_BOUND)
    for label, share in busy.items():
        if share >= BUSY_BOUND or not loads.fills(workload, width):
            continue
        if cores >= BUSY_BOUND:
            return Flaw(
                f"{label}'s server got {share:.0%} of its cores, though they were busy for {cores:.0%} of the time: "
                "something else runs on this host; end it (`top` names it), or measure at a quieter hour",
                lazy,
            )
        return Flaw(
            f"{label}'s server was busy for {share:.0%} of its cores, but {workload.name} says that it is "
            "saturated: the client is the bottleneck; give it more --threads",
            lazy,
        )
    return None
