"""Starts and pairs: sides under load, what they do read turn by turn.

One start launches all sides, warms them up and reads some pairs. Which side gets which core set first, which
data copy and which place in the launch order is random per start (and repeatable: it follows from the study's
seed and the start's number), so that whatever a slot is worth averages out over starts.

A pair is a number of short turns. In a duet both sides are under load in every turn, each on its core set, and
they change places before each: what disturbs one core for longer than a turn hits both sides alike. Interleaved,
all sides are up and one at a time is under load, in random order; solo, one at a time is up. Then the servers
have the first core set and the load programs the second one.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from burnish.bench import counters, hardware, readings
from burnish.bench.counters import Usage
from burnish.bench.readings import Reading
from burnish.engines.base import Built, Engine, Side, SideSpec, Tick, Workbench
from burnish.errors import InfrastructureError
from burnish.study.model import Condition, Design, Timing, Workload

POLL_S = 0.01
"""How often the controller looks for new ticks; the ticks' own clocks decide what is read."""

WARM_UP_POLL_S = 0.1
"""The same while nothing is read."""

STEAL_BOUND = 0.05
"""Share of a pair's CPU time that the hypervisor may take away before the pair is invalid."""

STANDSTILL_S = 0.5
"""So long the host may be suspended, and so far the wall clock may jump, before the pair is invalid."""

BUSY_BOUND = 0.9
"""Share of its cores that a server must be busy for where the workload says that it is saturated."""

MISSES_BOUND = 0.01
"""Reads from disk for each transaction from which on data that should be in memory are not."""


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
        turns: for each turn, the reading of each side by label.
        places: turns in a round of places: 2 in a duet, 1 where one side at a time is under load.
        usage: by label, what the server used while the pair was read.
        busy: by label, the share of its cores that the server was busy for, 0 to 1 (in a duet with its load).
        steal: share of CPU time stolen by the hypervisor, 0 to 1, of the core that lost most.
        core_busy: busy share of each core, by number, over the pair.
        invalid: why it counts for nothing, or None.
    """

    turns: tuple[Mapping[str, Reading], ...]
    places: int
    usage: Mapping[str, Usage]
    busy: Mapping[str, float]
    steal: float
    core_busy: Mapping[int, float]
    invalid: str | None

    def total(self, label: str) -> Reading:
        """A side's turns together."""
        return readings.total([turn[label] for turn in self.turns])

    def ratio(self, baseline: str, candidate: str) -> readings.PairRatio:
        """Log-ratios of two of the sides."""
        return readings.pair_ratio(
            [turn[baseline] for turn in self.turns], [turn[candidate] for turn in self.turns], self.places
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record: all of each side's turns together, and each turn's few that ratios need."""
        labels = list(self.turns[0])
        return {
            "sides": {label: self.total(label).as_dict() for label in labels},
            "turns": {
                label: [
                    [round(getattr(turn[label], name), 6) for name in ("seconds", "done", "server_cpu", "client_cpu")]
                    for turn in self.turns
                ]
                for label in labels
            },
            "places": self.places,
            "usage": {label: asdict(used) for label, used in self.usage.items()},
            "busy": {label: round(share, 4) for label, share in self.busy.items()},
            "steal": self.steal,
            "core_busy": {str(core): share for core, share in self.core_busy.items()},
            "invalid": self.invalid,
        }


@dataclass(frozen=True)
class StartResult:
    """One start as it went.

    Attributes:
        slots: by label: first core set, data copy, place in the launch order.
        warmup_s: how long it was warmed up, the longest of its sides.
        settled: whether the rate was steady when the first pair began, on all sides.
        pairs: the pairs that were read.
        fingerprint: digest of the data, the same on all sides.
        invalid: why the whole start counts for nothing, or None.
        seconds: wall time of the start.
        launched: by label, command line, peak memory and code on huge pages (bytes) of each process of the side's
            server and load.
        hardware: by label, events per transaction as the processor counted them; empty without a PMU.
        facts: by label, how the side was deployed, as it found out itself (cipher).
    """

    slots: Mapping[str, Mapping[str, Any]]
    warmup_s: float
    settled: bool
    pairs: tuple[Pair, ...]
    fingerprint: str
    invalid: str | None
    seconds: float
    launched: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    hardware: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record; pairs are recorded one by one as they come."""
        values = {key: value for key, value in vars(self).items() if key != "pairs"}
        return {**values, "pairs": len(self.pairs)}


@dataclass
class _Running:
    """A side in a running start: what is known of it besides the side itself."""

    contestant: Contestant
    side: Side
    cores: frozenset[int]
    ticks: list[Tick] = field(default_factory=list)
    frozen: bool = False

    @property
    def label(self) -> str:
        return self.contestant.label

    def read(self) -> None:
        self.ticks += self.side.ticks()
        trouble = self.side.trouble()
        if trouble is not None:
            raise Trouble(f"{self.label}: {trouble}")

    def freeze(self, *, frozen: bool) -> None:
        """Stops the load (where the server is its own load: the server), or lets it go on."""
        if frozen != self.frozen:
            for _ in range(2):  # what one of them started while it was being stopped is stopped too
                for pid in self.side.client_pids() or self.side.server_pids():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGSTOP if frozen else signal.SIGCONT)
            self.frozen = frozen


Observer = Callable[[int, Mapping[str, Sequence[int]]], contextlib.AbstractContextManager[None]]
"""Called with a pair's number and each side's server processes by label; what it returns is entered while the pair is
read. Observing costs the servers something, so a trial that gives a verdict has none."""


def _unobserved(number: int, pids: Mapping[str, Sequence[int]]) -> contextlib.AbstractContextManager[None]:  # noqa: ARG001
    return contextlib.nullcontext()


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


@dataclass
class _Start:
    """A start while it runs.

    Attributes:
        engine: whose sides.
        workload: the load on every side.
        core_sets: disjoint symmetric sets of CPU numbers.
        data: one data copy for each side.
        scratch: empty private folder.
        timing: settle, window, warm-up, pairs, turns.
        bench: progress.
        on_pair: called with number and pair as soon as a pair is read.
        chance: decides orders within the start.
        seed: for the load's keys.
        slots: by label, from `draw_slots`.
        count_events: whether the host's PMU counts each server's events.
        observe: entered around each pair.
        running: the sides that are up.
        pairs: what was read so far.
        fingerprint: of the data.
        warm: longest warm-up.
        settled: whether every rate was steady after it.
        launched: by label, see `StartResult`.
        hardware: likewise.
        facts: likewise.
    """

    engine: Engine
    workload: Workload
    core_sets: Sequence[frozenset[int]]
    data: Sequence[Path]
    scratch: Path
    timing: Timing
    bench: Workbench
    on_pair: Callable[[int, Pair], None]
    chance: random.Random
    seed: int
    slots: Mapping[str, Mapping[str, int]]
    count_events: bool
    observe: Observer = _unobserved
    running: list[_Running] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    fingerprint: str = ""
    warm: float = 0.0
    settled: bool = True
    launched: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    hardware: dict[str, Mapping[str, float]] = field(default_factory=dict)
    facts: dict[str, Mapping[str, str]] = field(default_factory=dict)

    # The three designs.

    def duet(self, contestants: Sequence[Contestant]) -> None:
        """All sides up and under load, changing places before each turn."""
        self._boot(contestants, shared=True)
        for item in self.running:
            item.side.load()
            place(item.side, item.cores)
        self._warm_up(self.running)
        count = len(self.core_sets)
        turn = 0
        with self._events(self.running):
            for number in range(1, self.timing.pairs + 1):
                with self._observed(number):
                    watch = _Watch(self.running)
                    read = []
                    for _ in range(self.timing.turns):
                        for item in self.running:
                            item.cores = self.core_sets[(self.slots[item.label]["cores"] + turn) % count]
                        for item in self.running:
                            place(item.side, item.cores)
                        read.append(self._turn(self.running))
                        for item in self.running:
                            check_place(item.side, item.cores)
                        turn += 1
                    self._close(number, watch.pair(read, count, self.workload, shared=True))

    def interleaved(self, contestants: Sequence[Contestant]) -> None:
        """All sides up, one at a time under load, in random order within each round."""
        self._boot(contestants, shared=False)
        for item in self.running:
            self._begin_alone(item)
            item.freeze(frozen=True)
        with self._events(self.running):
            for number in range(1, self.timing.pairs + 1):
                with self._observed(number):
                    watch = _Watch(self.running)
                    read = []
                    for _ in range(max(1, self.timing.turns // 2)):
                        together: dict[str, Reading] = {}
                        for item in self.chance.sample(self.running, len(self.running)):
                            item.freeze(frozen=False)
                            together |= self._turn([item])
                            item.freeze(frozen=True)
                        read.append(together)
                    self._close(number, watch.pair(read, 1, self.workload, shared=False))

    def solo(self, contestants: Sequence[Contestant]) -> None:
        """One side at a time: up, warm, read, down again."""
        rounds = max(1, self.timing.turns // 2)
        parts: list[list[Pair]] = []
        for contestant in sorted(contestants, key=lambda c: self.slots[c.label]["launch"]):
            self._boot([contestant], shared=False)
            self._begin_alone(self.running[-1])
            parts.append([])
            with self._events(self.running):
                for number in range(1, self.timing.pairs + 1):
                    with self._observed(number):
                        watch = _Watch(self.running)
                        read = [self._turn(self.running) for _ in range(rounds)]
                        parts[-1].append(watch.pair(read, 1, self.workload, shared=False))
            self.stop()
        for number, each in enumerate(zip(*parts, strict=True), start=1):
            self._close(number, _joined(each))

    # What they share.

    def _boot(self, contestants: Sequence[Contestant], *, shared: bool) -> None:
        """Launches sides in their order and checks that all have the same data.

        Where they don't share their cores with their load, all servers of a start have the same core set.
        """
        first = self.slots[min(self.slots)]["cores"]
        for contestant in sorted(contestants, key=lambda c: self.slots[c.label]["launch"]):
            slot = self.slots[contestant.label]
            folder = self.scratch / f"side{slot['data']}"
            folder.mkdir(mode=0o700, parents=True)
            cores = self.core_sets[slot["cores"] if shared else first]
            spec = SideSpec(
                label=contestant.label,
                built=contestant.built,
                condition=contestant.condition,
                workload=self.workload,
                data=self.data[slot["data"]],
                folder=folder,
                seed=self.seed,
                cores=cores,
            )
            item = _Running(contestant, self.engine.side(spec), cores)
            self.running.append(item)
            item.side.boot()
        prints = {item.label: item.side.fingerprint() for item in self.running}
        if self.fingerprint:
            prints["the other side"] = self.fingerprint
        if len(set(prints.values())) != 1:
            found = ", ".join(f"{label} {value[:12]}" for label, value in prints.items())
            raise Trouble(f"the sides' data differ: {found}")
        self.fingerprint = next(iter(prints.values()))

    def _begin_alone(self, item: _Running) -> None:
        """Loads a side that has the host for itself: its server on one core set, its load on the others."""
        item.side.load()
        others = frozenset().union(*self.core_sets) - item.cores
        move(item.side.server_pids(), item.cores)
        move(item.side.client_pids(), others or item.cores)
        self._warm_up([item])

    def _warm_up(self, items: Sequence[_Running]) -> None:
        """Loads until every rate is steady: at least `timing.warmup` s, at most four times that."""
        began = time.monotonic()
        span = max(0.3, min(0.75, self.timing.warmup / 2))
        while True:
            time.sleep(WARM_UP_POLL_S)
            for item in items:
                item.read()
            self._live("warm-up", items)
            spent = time.monotonic() - began
            calm = all(readings.steady(item.ticks, span) for item in items)
            if spent >= self.timing.warmup and calm:
                break
            slow = any(readings.passes(item.ticks) < 2 and spent < item.side.silence() for item in items)
            if spent >= 4 * max(self.timing.warmup, span) and not slow:
                break
        self.warm, self.settled = max(self.warm, spent), self.settled and calm

    def _turn(self, items: Sequence[_Running]) -> dict[str, Reading]:
        """One turn of these sides; the controller sleeps through it, so as not to take CPU time from them."""
        begin = time.monotonic() + self.timing.settle
        length = self.timing.settle + self.timing.window
        patience = begin + max(3 * self.timing.window + 10, *(item.side.silence() for item in items))
        time.sleep(length)
        while True:
            for item in items:
                item.read()
            bounds = {item.label: readings.ready(item.ticks, begin, self.timing.window) for item in items}
            if all(bounds.values()):
                break
            if time.monotonic() > patience:
                silent = [label for label, found in bounds.items() if found is None]
                raise Trouble(f"no ticks from {', '.join(silent)} for {patience - begin:.0f} s: the side hangs")
            time.sleep(POLL_S)
        self._live("pair", items)
        return {item.label: _read(item, bounds[item.label]) for item in items}

    def _live(self, what: str, items: Sequence[_Running]) -> None:
        paces = [(item.label, _rate(item.ticks)) for item in items if len(item.ticks) > 1]
        rates = [f"{label} {pace:,.0f}/s" if pace >= 10 else f"{label} {pace:.2g}/s" for label, pace in paces]
        if rates:
            self.bench.live(f"{what}: {'  '.join(rates)}")

    def _close(self, number: int, pair: Pair) -> None:
        self.pairs.append(pair)
        self.on_pair(number, pair)

    def _observed(self, number: int) -> contextlib.AbstractContextManager[None]:
        return self.observe(number, {item.label: item.side.server_pids() for item in self.running})

    @contextlib.contextmanager
    def _events(self, items: Sequence[_Running]) -> Iterator[None]:
        """Counts the processor's events of each server meanwhile, per transaction."""
        if not self.count_events:
            yield
            return
        counting = [(item, item.ticks[-1], hardware.Counting(item.side.server_pids())) for item in items]
        try:
            yield
        finally:
            for item, before, counts in counting:
                item.ticks += item.side.ticks()
                done = item.ticks[-1].done - before.done
                self.hardware[item.label] = hardware.per_transaction(counts.stop(), done)

    def stop(self) -> None:
        """Ends all sides that are up."""
        for item in self.running:
            item.freeze(frozen=False)  # what is stopped does not end
            self.launched[item.label] = _launched(item.side)
            self.facts[item.label] = item.side.facts()
        for item in self.running:
            item.side.stop()
        self.running.clear()


class _Watch:
    """What the host and the servers did while a pair was read.

    Args:
        items: the sides that are up.
    """

    def __init__(self, items: Sequence[_Running]) -> None:
        self.items = items
        self.before = counters.read_cpu_times()
        self.swaps = counters.read_swap()
        self.clocks = counters.read_clocks()
        self.usage = {item.label: counters.usage(item.side.server_pids()) for item in items}
        self.misses = {item.label: item.side.misses() for item in items}

    def pair(self, turns: Sequence[Mapping[str, Reading]], places: int, workload: Workload, *, shared: bool) -> Pair:
        """The pair that these turns make, with whatever speaks against it."""
        spent = counters.difference(self.before, counters.read_cpu_times())
        sides = {item.label: readings.total([turn[item.label] for turn in turns]) for item in self.items}
        used = {core for side in sides.values() for core in side.cores}
        steal = max((times.steal_share for core, times in spent.items() if core in used), default=0.0)
        busy = {label: _busy([turn[label] for turn in turns], shared=shared) for label in sides}
        misses = {
            item.label: max(0, now - (self.misses[item.label] or 0))
            for item in self.items
            if (now := item.side.misses()) is not None
        }
        core_busy = {core: round(times.busy_share, 4) for core, times in spent.items()}
        cores = min((share for core, share in core_busy.items() if core in used), default=0.0)
        return Pair(
            turns=tuple(turns),
            places=places,
            usage={
                item.label: counters.usage(item.side.server_pids()).since(self.usage[item.label]) for item in self.items
            },
            busy=busy,
            steal=steal,
            core_busy=core_busy,
            invalid=self._against(sides, steal) or _unlike_declared(workload, sides, busy, misses, cores),
        )

    def _against(self, sides: Mapping[str, Reading], steal: float) -> str | None:
        """What happened that makes the pair worthless, by rules that were written before it was read."""
        errors = {label: side.errors for label, side in sides.items() if side.errors}
        clocks = counters.read_clocks()
        slept = clocks.asleep - self.clocks.asleep
        jumped = clocks.wall - self.clocks.wall - slept
        if errors:
            found = ", ".join(f"{label}: {n}" for label, n in errors.items())
            return f"errors under load ({found}); see the load's log in the study's folder"
        if counters.read_swap() != self.swaps:
            return "the host swapped; free memory or make the buffer pool smaller"
        if slept > STANDSTILL_S:
            return f"the host was suspended for {slept:.1f} s; keep it awake"
        if abs(jumped) > STANDSTILL_S:
            return f"the wall clock jumped by {jumped:+.1f} s; let the time service settle"
        if steal > STEAL_BOUND:
            return f"the hypervisor took {steal:.0%} of the CPU (bound {STEAL_BOUND:.0%}); try at a quieter hour"
        return None


def _busy(turns: Sequence[Reading], *, shared: bool) -> float:
    """Share of its cores that a server was busy for, with its load where they share them."""
    spent = sum(turn.server_cpu + (turn.client_cpu if shared else 0.0) for turn in turns)
    return spent / sum(turn.seconds * max(1, len(turn.cores)) for turn in turns)


def _unlike_declared(
    workload: Workload,
    sides: Mapping[str, Reading],
    busy: Mapping[str, float],
    misses: Mapping[str, int],
    cores: float,
) -> str | None:
    """Where a pair is not what the workload says of itself: data in memory, a server without a moment's rest.

    Args:
        workload: the load.
        sides: what each side read.
        busy: share of its cores that each server was busy for.
        misses: pages that each server read from disk.
        cores: share that the idlest of these cores was busy for, with whatever else runs on the host.
    """
    for label, missed in misses.items():
        if workload.in_memory and missed > MISSES_BOUND * sides[label].done:
            return (
                f"{label} read {missed} pages from disk, but {workload.name} says that its data are in memory; "
                "give the server more of it (a larger buffer pool), or take a smaller dataset"
            )
    for label, share in busy.items():
        if workload.saturated and share < BUSY_BOUND <= cores:
            return (
                f"{label}'s server got {share:.0%} of its cores, though they were busy for {cores:.0%} of the time: "
                "something else runs on this host; end it (`top` names it), or measure at a quieter hour"
            )
        if workload.saturated and share < BUSY_BOUND:
            return (
                f"{label}'s server was busy for {share:.0%} of its cores, but {workload.name} says that it is "
                "saturated: the client is the bottleneck; give it more --threads"
            )
    return None


def _joined(parts: Sequence[Pair]) -> Pair:
    """One pair of sides that were read one after the other."""
    return Pair(
        turns=tuple(
            {label: reading for turn in together for label, reading in turn.items()}
            for together in zip(*(part.turns for part in parts), strict=True)
        ),
        places=1,
        usage={label: used for part in parts for label, used in part.usage.items()},
        busy={label: share for part in parts for label, share in part.busy.items()},
        steal=max(part.steal for part in parts),
        core_busy=parts[0].core_busy,
        invalid=next((part.invalid for part in parts if part.invalid), None),
    )


def _read(item: _Running, bounds: tuple[int, int] | None) -> Reading:
    assert bounds is not None  # noqa: S101 - the loop that looked for it has ended
    found = readings.reading(item.ticks, bounds, sorted(item.cores))
    if found.done <= 0:
        raise Trouble(f"{item.label} finished nothing in a window: the side hangs")
    if found.server_cpu <= 0:  # without it there is no capacity, nor a number to record
        raise Trouble(f"{item.label}: its server's CPU time could not be read")
    return found


def run_start(
    engine: Engine,
    workload: Workload,
    contestants: Sequence[Contestant],
    *,
    design: Design = Design.DUET,
    core_sets: Sequence[frozenset[int]],
    data: Sequence[Path],
    scratch: Path,
    timing: Timing,
    seed: str,
    number: int,
    bench: Workbench,
    on_pair: Callable[[int, Pair], None],
    count_events: bool = False,
    observe: Observer = _unobserved,
) -> StartResult:
    """One start: sides up, warm, then pairs; everything is stopped again in any case.

    Args:
        engine: whose sides.
        workload: the load on every side.
        contestants: the sides; as many as there are core sets.
        design: whether the sides are under load together or one at a time.
        core_sets: disjoint symmetric sets of CPU numbers.
        data: one data copy for each side.
        scratch: empty private folder.
        timing: settle, window, warm-up, pairs, turns.
        seed: the cell's; decides slots and, with the number, the load's keys.
        number: of the start, from 1.
        bench: progress.
        on_pair: called with number and pair as soon as a pair is read.
        count_events: whether the host's PMU counts each server's events.
        observe: entered around each pair; see `Observer`.
    """
    began = time.monotonic()
    start = _Start(
        engine=engine,
        workload=workload,
        core_sets=core_sets,
        data=data,
        scratch=scratch,
        timing=timing,
        bench=bench,
        on_pair=on_pair,
        chance=random.Random(f"order {seed}/{number}"),
        seed=random.Random(f"keys {seed}/{number}").randrange(1, 2**31),
        slots=draw_slots([c.label for c in contestants], seed, number),
        count_events=count_events,
        observe=observe,
    )
    invalid = None
    designs = {Design.DUET: start.duet, Design.INTERLEAVED: start.interleaved, Design.SOLO: start.solo}
    try:
        designs[design](contestants)
    except Trouble as trouble:
        invalid = str(trouble)
    except InfrastructureError as error:
        invalid = error.explain()
    finally:
        start.stop()
    return StartResult(
        slots=start.slots,
        warmup_s=start.warm,
        settled=start.settled,
        pairs=tuple(start.pairs),
        fingerprint=start.fingerprint,
        invalid=invalid,
        seconds=time.monotonic() - began,
        launched=start.launched,
        hardware=start.hardware,
        facts=start.facts,
    )


def _launched(side: Side) -> list[dict[str, Any]]:
    """Command line, peak resident memory and code on huge pages of the side's processes, as the kernel knows them."""
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
                        "huge_text_bytes": counters.code_on_huge_pages(pid),
                    }
                )
    return found


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
