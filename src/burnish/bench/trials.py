"""Starts and pairs: sides under load at the same time, their cores swapped half-way through each pair.

One start launches all sides, warms them up and reads some pairs. Which side gets which core set first, which
data copy and which place in the launch order is random per start (and repeatable: it follows from the study's
seed and the start's number), so that whatever a slot is worth averages out over starts.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from burnish.bench import counters, readings
from burnish.engines.base import Built, Engine, Side, SideSpec, Tick, Workbench
from burnish.errors import InfrastructureError
from burnish.study.model import Condition, Workload

POLL_S = 0.02
"""How often the controller looks for new ticks; the ticks' own clocks decide what is read."""

STEAL_BOUND = 0.05
"""Share of a pair's CPU time that the hypervisor may take away before the pair is invalid."""


@dataclass(frozen=True)
class Timing:
    """Times of a start, in seconds.

    Attributes:
        settle: discarded after each move.
        window: length of one half of a pair.
        warmup: least load before the first pair; at most four times as long until the rate is steady.
        pairs: pairs in a start.
    """

    settle: float
    window: float
    warmup: float
    pairs: int = 3


@dataclass(frozen=True)
class Contestant:
    """A side of every start of a cell: a build under a condition, with its name in the record."""

    label: str
    built: Built
    condition: Condition


@dataclass(frozen=True)
class Pair:
    """One pair as it was read.

    Attributes:
        halves: for each half, the reading of each side by label.
        steal: share of CPU time stolen by the hypervisor, 0 to 1, of the core that lost most.
        core_busy: busy share of each core, by number, over the pair.
        invalid: why it counts for nothing, or None.
    """

    halves: tuple[Mapping[str, readings.Reading], ...]
    steal: float
    core_busy: Mapping[int, float]
    invalid: str | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record."""
        return {
            "halves": [{label: item.as_dict() for label, item in half.items()} for half in self.halves],
            "steal": self.steal,
            "core_busy": {str(core): share for core, share in self.core_busy.items()},
            "invalid": self.invalid,
        }


@dataclass(frozen=True)
class StartResult:
    """One start as it went.

    Attributes:
        slots: by label: first core set, data copy, place in the launch order.
        warmup_s: how long it was warmed up.
        settled: whether the rate was steady when the first pair began.
        pairs: the pairs that were read.
        fingerprint: digest of the data, the same on all sides.
        invalid: why the whole start counts for nothing, or None.
        seconds: wall time of the start.
        launched: by label, command line and peak memory (bytes) of each process of the side's server and load.
    """

    slots: Mapping[str, Mapping[str, Any]]
    warmup_s: float
    settled: bool
    pairs: tuple[Pair, ...]
    fingerprint: str
    invalid: str | None
    seconds: float
    launched: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record; pairs are recorded one by one as they come."""
        values = {key: value for key, value in asdict(self).items() if key != "pairs"}
        return {**values, "pairs": len(self.pairs)}


@dataclass
class _Running:
    """A side in a running start: what is known of it besides the side itself."""

    contestant: Contestant
    side: Side
    cores: frozenset[int]
    ticks: list[Tick] = field(default_factory=list)

    def read(self) -> None:
        self.ticks += self.side.ticks()


class Trouble(Exception):
    """A side died, hung or erred: the start is invalid for this reason."""


def draw_slots(labels: Sequence[str], seed: str, number: int) -> dict[str, dict[str, int]]:
    """Random slots for one start, balanced over each block of two; equal arguments draw equal slots.

    Of two starts that follow each other, the second one turns every slot of the first round. Independent draws
    would let a slot that is worth much pass for a difference between builds (docs/METHODOLOGY.md).

    Args:
        labels: the sides.
        seed: the cell's, the same for all its starts.
        number: of the start, from 1.

    Returns:
        by label: ``cores`` (index of its first core set), ``data`` (index of its data copy), ``launch`` (place
        in the launch order).
    """
    block, turned = divmod(number - 1, 2)
    chance = random.Random(f"{seed}/{block}")
    drawn: dict[str, dict[str, int]] = {label: {} for label in labels}
    for slot in ("cores", "data", "launch"):
        for index, label in enumerate(chance.sample(list(labels), len(labels))):
            drawn[label][slot] = len(labels) - 1 - index if turned else index
    return drawn


def run_start(
    engine: Engine,
    workload: Workload,
    contestants: Sequence[Contestant],
    *,
    core_sets: Sequence[frozenset[int]],
    data: Sequence[Path],
    scratch: Path,
    timing: Timing,
    seed: str,
    number: int,
    bench: Workbench,
    on_pair: Callable[[int, Pair], None],
) -> StartResult:
    """One start of a duet: all sides up, warm, then pairs; everything is stopped again in any case.

    Args:
        engine: whose sides.
        workload: the load on every side.
        contestants: the sides; as many as there are core sets.
        core_sets: disjoint symmetric sets of CPU numbers.
        data: one data copy for each side.
        scratch: empty private folder.
        timing: settle, window, warm-up, pairs.
        seed: the cell's; decides slots and, with the number, the load's keys.
        number: of the start, from 1.
        bench: progress.
        on_pair: called with number and pair as soon as a pair is read.
    """
    began = time.monotonic()
    slots = draw_slots([c.label for c in contestants], seed, number)
    random_seed = random.Random(f"keys {seed}/{number}").randrange(1, 2**31)
    running: list[_Running] = []
    pairs: list[Pair] = []
    fingerprint, invalid, warm, settled = "", None, 0.0, False
    launched: dict[str, list[dict[str, Any]]] = {}
    try:
        for contestant in sorted(contestants, key=lambda c: slots[c.label]["launch"]):
            slot = slots[contestant.label]
            folder = scratch / f"side{slot['data']}"
            folder.mkdir(mode=0o700, parents=True)
            spec = SideSpec(
                label=contestant.label,
                built=contestant.built,
                condition=contestant.condition,
                workload=workload,
                data=data[slot["data"]],
                folder=folder,
                seed=random_seed,
                cores=core_sets[slot["cores"]],
            )
            item = _Running(contestant, engine.side(spec), core_sets[slot["cores"]])
            running.append(item)
            item.side.boot()
        prints = {item.contestant.label: item.side.fingerprint() for item in running}
        if len(set(prints.values())) != 1:
            found = ", ".join(f"{label} {value[:12]}" for label, value in prints.items())
            raise Trouble(f"the sides' data differ: {found}")
        fingerprint = next(iter(prints.values()))
        for item in running:
            item.side.load()
            place(item.side, item.cores)
        warm, settled = _warm_up(running, timing, bench)
        swapped = False
        for index in range(1, timing.pairs + 1):
            # The second half of a pair and the first of the next share their placement: one move a pair.
            pair = _read_pair(running, core_sets, slots, timing, bench, swapped, index == 1)
            swapped = not swapped
            pairs.append(pair)
            on_pair(index, pair)
    except Trouble as trouble:
        invalid = str(trouble)
    except InfrastructureError as error:
        invalid = error.explain()
    finally:
        for item in running:
            launched[item.contestant.label] = _launched(item.side)
        for item in running:
            item.side.stop()
    return StartResult(
        slots=slots,
        warmup_s=warm,
        settled=settled,
        pairs=tuple(pairs),
        fingerprint=fingerprint,
        invalid=invalid,
        seconds=time.monotonic() - began,
        launched=launched,
    )


def _launched(side: Side) -> list[dict[str, Any]]:
    """Command line and peak resident memory of the side's processes, as the kernel knows them."""
    found = []
    for role, pids in (("server", side.server_pids()), ("load", side.client_pids())):
        for pid in pids[:1]:
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
                peak = re.search(r"^VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
                found.append(
                    {
                        "role": role,
                        "argv": [word.decode(errors="replace") for word in words],
                        "peak_rss_bytes": int(peak[1]) * 1024 if peak else None,
                    }
                )
    return found


def _warm_up(running: Sequence[_Running], timing: Timing, bench: Workbench) -> tuple[float, bool]:
    """Loads until every side's rate is steady: at least `timing.warmup` s, at most four times that."""
    began = time.monotonic()
    span = max(0.3, timing.window / 2)
    while True:
        _poll(running, bench, "warm-up")
        spent = time.monotonic() - began
        calm = all(readings.steady(item.ticks, span) for item in running)
        if (spent >= timing.warmup and calm) or spent >= 4 * max(timing.warmup, span):
            return spent, calm


def _read_pair(
    running: Sequence[_Running],
    core_sets: Sequence[frozenset[int]],
    slots: Mapping[str, Mapping[str, int]],
    timing: Timing,
    bench: Workbench,
    swapped: bool,
    first: bool,
) -> Pair:
    halves = []
    count = len(core_sets)
    before, swaps = counters.read_cpu_times(), counters.read_swap()
    for half in (swapped, not swapped):
        moved = half != swapped or first
        for item in running:
            item.cores = core_sets[(slots[item.contestant.label]["cores"] + half) % count]
        if moved:
            for item in running:
                place(item.side, item.cores)
        halves.append(_read_half(running, timing, bench, settle=timing.settle if moved else 0.0))
        for item in running:
            check_place(item.side, item.cores)
    spent = counters.difference(before, counters.read_cpu_times())
    used = [spent[core] for cores in core_sets for core in cores if core in spent]
    steal = max((core.steal_share for core in used), default=0.0)
    invalid = None
    errors = {item.contestant.label: sum(half[item.contestant.label].errors for half in halves) for item in running}
    if any(errors.values()):
        found = ", ".join(f"{label}: {n}" for label, n in errors.items() if n)
        invalid = f"errors under load ({found}); see the load's log in the study's folder"
    elif counters.read_swap() != swaps:
        invalid = "the host swapped; free memory or make the buffer pool smaller"
    elif steal > STEAL_BOUND:
        invalid = f"the hypervisor took {steal:.0%} of the CPU (bound {STEAL_BOUND:.0%}); try at a quieter hour"
    busy = {core: round(times.busy_share, 4) for core, times in spent.items()}
    return Pair(tuple(halves), steal, busy, invalid)


def _read_half(
    running: Sequence[_Running], timing: Timing, bench: Workbench, settle: float
) -> dict[str, readings.Reading]:
    begin = time.monotonic() + settle
    cpu = {item.contestant.label: _server_cpu(item.side) for item in running}
    patience = time.monotonic() + settle + 3 * timing.window + 10
    while True:
        _poll(running, bench, "pair")
        bounds = {item.contestant.label: readings.ready(item.ticks, begin, timing.window) for item in running}
        if all(bounds.values()):
            break
        if time.monotonic() > patience:
            silent = [label for label, found in bounds.items() if found is None]
            raise Trouble(f"no ticks from {', '.join(silent)} for {patience - begin:.0f} s: the side hangs")
    half = {}
    for item in running:
        label = item.contestant.label
        user, system = (late - early for late, early in zip(_server_cpu(item.side), cpu[label], strict=True))
        found = bounds[label]
        assert found is not None  # noqa: S101 - the loop ended because none is
        half[label] = readings.reading(item.ticks, found, sorted(item.cores), (user, system))
        if half[label].done <= 0:
            raise Trouble(f"{label} finished nothing in a window: the side hangs")
        if half[label].server_cpu <= 0:  # without it there is no capacity, nor a number to record
            raise Trouble(f"{label}: its server's CPU time could not be read")
    return half


def _server_cpu(side: Side) -> tuple[float, float]:
    user = system = 0.0
    for pid in side.server_pids():
        with contextlib.suppress(OSError):
            u, s = counters.user_system_seconds(pid)
            user, system = user + u, system + s
    return user, system


def _poll(running: Sequence[_Running], bench: Workbench, what: str) -> None:
    time.sleep(POLL_S)
    rates = []
    for item in running:
        item.read()
        trouble = item.side.trouble()
        if trouble is not None:
            raise Trouble(f"{item.contestant.label}: {trouble}")
        if len(item.ticks) > 1:
            rates.append(f"{item.contestant.label} {_rate(item.ticks):,.0f}/s")
    if rates:
        bench.live(f"{what}: {'  '.join(rates)}")


def _rate(ticks: Sequence[Tick]) -> float:
    last = ticks[-1]
    first = next((t for t in reversed(ticks) if t.at <= last.at - 1.0), ticks[0])
    return (last.done - first.done) / (last.at - first.at) if last.at > first.at else 0.0


def threads_of(pid: int) -> list[int]:
    """Thread numbers of a process; empty when it is gone."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 - called often
    except OSError:
        return []


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
