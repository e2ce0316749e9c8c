"""What a core does at this moment, by a probe of some 100 ms: clock, memory, page walks, system calls.

The ratio of two builds moves between sittings with the host's state, which no fact of the host shows. So each start
that is long enough records what a probe saw on its cores before its sides are launched and after they have stopped,
when nothing of Burnish runs. The probe is a C program, compiled once and kept in the store; without a compiler there
is what Python can do.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from burnish.base import process
from burnish.base.digest import digest_of
from burnish.base.workbench import Workbench
from burnish.bench import counters
from burnish.model.workload import Timing
from burnish.record.events.trials import HostState
from burnish.record.store import Store

COMPILERS = ("cc", "gcc", "clang")
_SOURCE = Path(str(resources.files("burnish.bench"))) / "probe.c"
_FLAGS = ("-O2", "-fno-tree-vectorize")
_PATIENCE_S = 20.0
_SPIN = 20_000
_COPIED = 8 << 20
_READINGS = 5


PROBED_FROM_S = 4.0
"""Seconds under load from which on a start is probed: of shorter ones probes would take too large a part."""


def worth_probing(timing: Timing) -> bool:
    """Whether starts of these times are long enough to be probed."""
    return timing.warmup + timing.pairs * timing.pair >= PROBED_FROM_S


@dataclass(frozen=True)
class Probe:
    """A probe of this host's cores.

    Attributes:
        program: the compiled probe; None: Python has to do.
    """

    program: Path | None = None

    def states(self, core_sets: Iterable[frozenset[int]]) -> tuple[HostState, ...]:
        """The state of one core of each set, one after the other; empty for those that could not be probed."""
        return tuple(state for cores in core_sets if cores and (state := self._state(min(cores))) is not None)

    def _state(self, core: int) -> HostState | None:
        before = counters.read_cpu_times()
        found = _by_program(self.program, core) if self.program else _by_python(core)
        spent = counters.difference(before, counters.read_cpu_times()).get(core)
        steal = round(spent.steal_share, 4) if spent else 0.0
        return None if found is None else HostState(core=core, steal=steal, **found)


def make(store: Store, bench: Workbench) -> Probe:
    """The probe, compiled if this is the first study that needs it; one line says so if it can't be."""
    compiler = next((path for name in COMPILERS if (path := shutil.which(name))), None)
    if compiler is None:
        bench.say("no C compiler: the host's state is recorded with each start, but not the latency of its memory")
        return Probe()
    key = digest_of([_SOURCE.read_text(), *_FLAGS])
    entry = store.find("probes", key)
    if entry is None:
        folder = store.begin("probes", key)
        done = bench.run("probe", [compiler, *_FLAGS, _SOURCE, "-o", folder / "probe"])
        if not done.ok:
            bench.say(f"{compiler} does not compile the probe of the host's state ({done.log}); Python has to do")
            return Probe()
        entry = store.admit("probes", key, {"compiler": compiler})
    return Probe(entry.folder / "probe")


def _by_program(program: Path, core: int) -> dict[str, Any] | None:
    """What the program printed; None if it did not work (a core that this process may not use, no memory)."""
    text = process.capture([program, str(core)], timeout=_PATIENCE_S)
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError:
        return None
    found["latency_ns"] = {int(kib): latency for kib, latency in found["latency_ns"].items()}
    return found


def _by_python(core: int) -> dict[str, Any] | None:
    """Clock, copying and system calls, as far as the interpreter's own work lets them be seen."""
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {core})
    except OSError:
        return None
    began = time.perf_counter()
    try:
        source, target = bytearray(_COPIED), bytearray(_COPIED)
        found = {
            "spin_ns": _median(_spin) / _SPIN * 1e9,
            "copy_bytes_s": _COPIED / _median(lambda: target.__setitem__(slice(None), source)),
            "call_ns": _median(_call) / _SPIN * 1e9,
        }
    finally:
        os.sched_setaffinity(0, allowed)
    return {**found, "seconds": round(time.perf_counter() - began, 4)}


def _median(work: Callable[[], object]) -> float:
    """Median seconds of some turns of a piece of work."""
    spent = []
    for _ in range(_READINGS):
        began = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began)
    return sorted(spent)[_READINGS // 2]


def _spin() -> None:
    x = 1
    for _ in range(_SPIN):
        x = x * 40503 + 1 & 0xFFFF


def _call() -> None:
    for _ in range(_SPIN):
        os.getppid()
