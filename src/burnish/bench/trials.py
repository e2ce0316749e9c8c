"""Starts and pairs: sides under load, measured turn by turn.

One start launches all sides, warms them up and measures some pairs. Each side's first core set, data copy and place in
the launch order are random per start (and reproducible: they follow from the study's seed and the start's number), so
that the advantage of a slot averages out over starts.

A pair consists of short turns. In a duet, both sides are under load in every turn, each on its core set, and they swap
core sets before each turn: a disturbance of a core for longer than a turn affects both sides equally. Interleaved, all
sides are running and one at a time is under load, in random order; solo, one at a time is running. In these two, the
servers have the first core set and the load programs the second one (placed apart), or both have all cores (whole).

Sides that are running at the same time take their memory at the same time: they are launched, read their data and are
put under load together. Interleaved, each is then warmed up alone, in an order that is drawn for each start.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burnish.base.errors import InfrastructureError
from burnish.base.workbench import Workbench
from burnish.bench import hardware, readings
from burnish.bench.device import DeviceWait
from burnish.bench.pairs import HANGS, Contestant, Pair, StartResult, Trouble, blamed, joined
from burnish.bench.placement import check_place, move, place
from burnish.bench.readings import Reading
from burnish.bench.running import Running
from burnish.bench.slots import draw_order, draw_slots
from burnish.bench.watch import Watch
from burnish.engines.contract import TICK_S, Engine, SideSpec
from burnish.engines.reported import Reported
from burnish.model.workload import Design, Placement, Timing, Workload

POLL_S = 0.01
"""Interval at which the controller polls for new ticks; the ticks' own times decide what is measured."""

LATE_S = 0.005
"""Expected delay of a tick, because its program waits for a busy core."""

PATIENCE_S = 10.0
"""Time beyond three windows after which a side that finishes nothing in a turn counts as hanging."""

SLOWER = 2.0
"""Factor of its nominal length that a pair may last before it is cut to fewer rounds."""

OVERTIME_S = 3.0
"""Time by which all pairs of a start may exceed their nominal length before there are fewer pairs: more starts are
worth more than more pairs, and a load whose passes take seconds would otherwise have time for few starts only."""

LEAST_SPAN_S = 0.1
"""Shortest of the two spans whose rates are compared to tell whether a load runs steadily: two ticks."""

WARM_UP_POLL_S = 0.05
"""Polling interval during warm-up."""

Observer = Callable[[int, Mapping[str, Sequence[int]]], contextlib.AbstractContextManager[None]]
"""Called with a pair's number and each side's server processes by label; the context manager that it returns is active
while the pair is measured. Observing has an overhead, so a trial with a verdict has no observer."""


def unobserved(number: int, pids: Mapping[str, Sequence[int]]) -> contextlib.AbstractContextManager[None]:  # noqa: ARG001
    """An observer that looks at nothing."""
    return contextlib.nullcontext()


def _done(item: Running) -> float:
    """Transactions of a side by its last tick; 0 of one that has hung since its start."""
    return item.ticks[-1].done if item.ticks else 0.0


@dataclass
class _Start:
    """A running start.

    Attributes:
        engine: engine of the sides.
        workload: the load on every side.
        core_sets: disjoint symmetric sets of CPU numbers.
        data: one data copy for each side.
        scratch: empty private folder.
        timing: settle, window, warm-up, pairs, turns.
        placement: which cores servers and clients have.
        bench: for progress.
        on_pair: called with number and pair as soon as a pair is measured.
        chance: random generator for orders within the start.
        seed: seed of the load's keys.
        slots: by label, from `draw_slots`.
        warmed: labels in the order in which sides are warmed up that take turns under load.
        count_events: whether the host's PMU counts each server's events.
        observe: see `Observer`.
        still: whether the server of a side that is not under load is suspended, so that it pays for its own flushes
            and purges in its own turns.
        running: the running sides.
        pairs: the pairs so far.
        fingerprint: digest of the data.
        warm: longest warm-up in seconds.
        settled: whether every rate was steady after it.
        launched: by label, see `StartResult`.
        hardware: by label, see `StartResult`.
        facts: by label, see `StartResult`.
        reported: by label, see `StartResult`.
    """

    engine: Engine
    workload: Workload
    core_sets: Sequence[frozenset[int]]
    data: Sequence[Path]
    scratch: Path
    timing: Timing
    placement: Placement
    bench: Workbench
    on_pair: Callable[[int, Pair], None]
    chance: random.Random
    seed: int
    slots: Mapping[str, Mapping[str, int]]
    count_events: bool
    warmed: Sequence[str] = ()
    observe: Observer = unobserved
    still: bool = False
    running: list[Running] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    fingerprint: str = ""
    warm: float = 0.0
    settled: bool = True
    launched: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    hardware: dict[str, Mapping[str, float]] = field(default_factory=dict)
    facts: dict[str, Mapping[str, str]] = field(default_factory=dict)
    reported: dict[str, Reported] = field(default_factory=dict)

    # The three designs.

    def duet(self, contestants: Sequence[Contestant]) -> None:
        """All sides running and under load, swapping core sets before each turn."""
        self._boot(contestants)
        for item in self.running:
            item.load()
            place(item.side, item.cores)
        self._warm_up(self.running)
        count = len(self.core_sets)
        turn = 0
        with self._events(self.running):
            for number in self._numbers():
                with self._observed(number):
                    watch = self._watch()
                    turns = []
                    for _ in self._rounds(self.timing.turns // count):
                        for _ in range(count):
                            turns.append(self._turn_at(turn))
                            turn += 1
                    self._close(number, watch.pair(turns, count, self.workload, shared=self.placement.mixed))

    def _turn_at(self, turn: int) -> dict[str, Reading]:
        """A turn of a duet, counted from 0, on the core sets that follow from its number."""
        for item in self.running:
            item.cores = self.core_sets[(self.slots[item.label]["cores"] + turn) % len(self.core_sets)]
        # In order of core sets, not of launch: the advantage of being moved last then goes to each side in turn.
        for item in sorted(self.running, key=lambda running: sorted(running.cores)):
            place(item.side, item.cores)
        readings_of_turn = self._turn(self.running)
        for item in self.running:
            check_place(item.side, item.cores)
        return readings_of_turn

    def interleaved(self, contestants: Sequence[Contestant]) -> None:
        """All sides running, one at a time under load, in random order within each round."""
        self._boot(contestants)
        self._begin_together()
        with self._events(self.running):
            for number in self._numbers():
                with self._observed(number):
                    with self._answering():
                        watch = self._watch()
                    turns = []
                    for _ in self._rounds(self.timing.turns // 2):
                        readings_of_round: dict[str, Reading] = {}
                        for item in self.chance.sample(self.running, len(self.running)):
                            item.freeze(frozen=False)
                            readings_of_round |= self._turn([item])
                            item.freeze(frozen=True)
                        turns.append(readings_of_round)
                    with self._answering():
                        pair = watch.pair(turns, 1, self.workload, shared=self.placement.mixed)
                    self._close(number, pair)

    def solo(self, contestants: Sequence[Contestant]) -> None:
        """One side at a time: launched, warmed up, measured, stopped."""
        most = max(1, self.timing.turns // 2)
        parts: list[list[Pair]] = []
        for contestant in sorted(contestants, key=lambda c: self.slots[c.label]["launch"]):
            self._boot([contestant])
            (item,) = self.running
            item.load()
            self._move_alone(item)
            self._warm_up([item])
            parts.append([])
            with self._events(self.running):
                # The first side's pairs and turns are those of all, since a turn is read beside its like.
                first = parts[0] if len(parts) > 1 else None
                for number in self._numbers(0.5) if first is None else range(1, len(first) + 1):
                    with self._observed(number):
                        watch = self._watch()
                        rounds = self._rounds(most, 0.5) if first is None else first[number - 1].turns
                        turns = [self._turn(self.running) for _ in rounds]
                        parts[-1].append(watch.pair(turns, 1, self.workload, shared=self.placement.mixed))
            self.stop()
        for number, pairs_of_sides in enumerate(zip(*parts, strict=True), start=1):
            self._close(number, joined(pairs_of_sides))

    # Common to all designs.

    def _boot(self, contestants: Sequence[Contestant]) -> None:
        """Launches sides in their order, each on its cores, and checks that all have the same data.

        They start and read their data at the same time, so that none takes better memory than another.
        """
        for contestant in sorted(contestants, key=lambda c: self.slots[c.label]["launch"]):
            slot = self.slots[contestant.label]
            folder = self.scratch / f"side{slot['data']}"
            folder.mkdir(mode=0o700, parents=True)
            cores = self._server_cores(contestant.label)
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
            with blamed(contestant.label):
                item = Running(contestant, self.engine.side(spec), cores)
                self.running.append(item)
                item.side.launch()
        for item in self.running:
            with blamed(item.label):
                item.side.boot()
        prints = _together({item.label: item.fingerprint for item in self.running})
        if self.fingerprint:
            prints["the other side"] = self.fingerprint
        if len(set(prints.values())) != 1:
            values = ", ".join(f"{label} {value[:12]}" for label, value in prints.items())
            raise Trouble(f"the sides' data differ: {values}")
        self.fingerprint = next(iter(prints.values()))

    def _server_cores(self, label: str) -> frozenset[int]:
        """The cores that a side's server has first; of servers that take turns, all of a start have the same."""
        if self.placement is Placement.WHOLE:
            return frozenset[int]().union(*self.core_sets)
        owner = label if self.placement is Placement.SHARED else min(self.slots)
        return self.core_sets[self.slots[owner]["cores"] % len(self.core_sets)]  # more sides than sets take turns

    def _begin_together(self) -> None:
        """Loads all sides at the same time, then warms them up one by one, in an order drawn apart from the launch's.

        What servers allocate for their connections and first requests is memory too: the side that took all of that
        before the other had any would have the smaller pieces (docs/BIAS.md, "Launched first").
        """
        for item in self.running:
            item.load()
            self._move_alone(item)
        self._await_first_ticks()
        by_label = {item.label: item for item in self.running}
        for item in self.running:
            item.still = self.still
            item.freeze(frozen=True)
        for label in self.warmed:
            item = by_label[label]
            item.freeze(frozen=False)
            self._move_alone(item)  # threads that began in the meantime
            self._warm_up([item])
            item.freeze(frozen=True)

    def _await_first_ticks(self) -> None:
        """Waits until every load works: one that is suspended while it connects is thrown out by its server.

        A load that does not begin is waited for as long as a warm-up may take; its first turn then says that it hangs.
        """
        began = time.monotonic()
        while not all(item.ticks for item in self.running):
            patience = max(4 * self.timing.warmup, PATIENCE_S, *(item.side.silence() for item in self.running))
            if time.monotonic() - began > patience:
                return
            time.sleep(WARM_UP_POLL_S)
            for item in self.running:
                item.read()

    def _move_alone(self, item: Running) -> None:
        """Moves a side that will be read alone: placed apart, its load has the cores that its server has not."""
        others = frozenset[int]().union(*self.core_sets) - item.cores
        move(item.side.server_pids(), item.cores)
        move(item.side.client_pids(), others if others and self.placement is Placement.APART else item.cores)

    def _warm_up(self, items: Sequence[Running]) -> None:
        """Warms up until every rate is steady: at least `timing.warmup` s, at most four times that."""
        began = time.monotonic()
        span = max(LEAST_SPAN_S, min(0.75, self.timing.warmup / 2))
        earlier = {item.label: len(item.ticks) for item in items}  # beside the other side, or before it was suspended
        while True:
            time.sleep(WARM_UP_POLL_S)
            for item in items:
                item.read()
            self._live("warm-up", {item.label: readings.rate(item.ticks) for item in items if len(item.ticks) > 1})
            spent = time.monotonic() - began
            steady = all(readings.steady(item.ticks[earlier[item.label] :], span) for item in items)
            if spent >= self.timing.warmup and steady:
                break
            slow = any(readings.passes(item.ticks) < 2 and spent < item.side.silence() for item in items)
            if spent >= 4 * max(self.timing.warmup, span) and not slow:
                break
        self.warm, self.settled = max(self.warm, spent), self.settled and steady

    def _numbers(self, share: float = 1.0) -> Iterator[int]:
        """Numbers of a start's pairs: at least one, more if they fit into their nominal length plus `OVERTIME_S`.

        Args:
            share: the part of that time that a side has which is measured alone.
        """
        length = share * (self.timing.pairs * self.timing.pair + OVERTIME_S)
        return (number + 1 for number in _fitting(self.timing.pairs, length))

    def _rounds(self, most: int, share: float = 1.0) -> Iterator[int]:
        """Numbers of a pair's rounds: at least one, more if they fit into `SLOWER` times the pair's length.

        If a load's unit of work (a whole pass) is longer than a window, each turn is as long as that unit.

        Args:
            most: their number at most.
            share: the part of that time that a side has which is measured alone.
        """
        return _fitting(most, share * SLOWER * self.timing.pair)

    def _turn(self, items: Sequence[Running]) -> dict[str, Reading]:
        """One turn of these sides; the controller sleeps during it to avoid taking CPU time from them.

        It begins at a tick that all sides have at the same instant, and polling starts only after the expected end:
        polling would take CPU time from the side whose tick comes last. When sides ticked at different instants, the
        side launched first had one per cent more throughput (docs/BIAS.md, "Launched first").
        """
        idle = DeviceWait()
        begin = readings.on_grid(time.monotonic() + self.timing.settle, TICK_S)
        patience = begin + max(3 * self.timing.window + PATIENCE_S, *(item.side.silence() for item in items))
        time.sleep(max(0.0, begin + self.timing.window + LATE_S - time.monotonic()))  # 0: this process was delayed
        while True:
            for item in items:
                item.read()
            bounds = {item.label: readings.ready(item.ticks, begin, self.timing.window) for item in items}
            if all(bounds.values()):
                break
            if time.monotonic() > patience:
                raise _hang([item for item in items if bounds[item.label] is None], patience - begin)
            time.sleep(POLL_S)
        waited = {item.label: idle.share(item.cores) for item in items}
        read = {
            item.label: item.reading(bound, waited[item.label])
            for item in items
            if (bound := bounds[item.label]) is not None
        }
        # Of the turn: over the last second a side that takes turns was stopped for half of the time.
        self._live("pair", {label: reading.throughput for label, reading in read.items()})
        return read

    def _live(self, what: str, paces: Mapping[str, float]) -> None:
        rates = [f"{label} {pace:,.0f}/s" if pace >= 10 else f"{label} {pace:.2g}/s" for label, pace in paces.items()]
        if rates:
            self.bench.live(f"{what}: {'  '.join(rates)}")

    def _close(self, number: int, pair: Pair) -> None:
        self.pairs.append(pair)
        self.on_pair(number, pair)

    @contextlib.contextmanager
    def _answering(self) -> Iterator[None]:
        """Lets suspended servers answer while it is active."""
        with contextlib.ExitStack() as stack:
            for item in self.running:
                stack.enter_context(item.answering())
            yield

    def _watch(self) -> Watch:
        # A load that was held up is a server that waited for it, so its cores are watched as well.
        every = frozenset[int]().union(*self.core_sets)
        loaded = every if self.placement is Placement.APART else frozenset[int]()
        return Watch(self.running, self.engine.spec.steal_bound, loaded)

    def _observed(self, number: int) -> contextlib.AbstractContextManager[None]:
        return self.observe(number, {item.label: item.side.server_pids() for item in self.running})

    @contextlib.contextmanager
    def _events(self, items: Sequence[Running]) -> Iterator[None]:
        """Counts each server's hardware events per transaction while it is active."""
        if not self.count_events:
            yield
            return
        counting = [(item, _done(item), hardware.Counting(item.side.server_pids())) for item in items]
        try:
            yield
        finally:
            for item, before, counts in counting:
                item.ticks += item.side.ticks()
                self.hardware[item.label] = hardware.per_transaction(counts.stop(), _done(item) - before)

    def stop(self) -> None:
        """Asks all running sides what there is to record, and stops them.

        A server is asked while its load is suspended: two times 256 clients on two cores leave it two minutes for what
        then takes a moment.
        """
        for item in self.running:
            if item.side.client_pids():
                item.freeze(frozen=True)
        for item in self.running:
            with item.answering():
                self.launched[item.label] = item.launched()
                self.facts[item.label] = item.side.facts()
                self.reported[item.label] = item.reported()
        for item in self.running:
            item.freeze(frozen=False)  # a suspended process does not end
            item.side.stop()
        self.running.clear()


def _hang(silent: Sequence[Running], seconds: float) -> Trouble:
    """What is wrong with sides that finished nothing for so many seconds, with what each server says that it waits for.

    It need not be the build: a faster server is the first to fill a log that both have (docs/BIAS.md).
    """
    labels = [item.label for item in silent]
    reasons = dict.fromkeys(reason for item in silent if (reason := item.side.waits_for()))
    because = "".join(f", {reason}" for reason in reasons)
    return Trouble(f"{', '.join(labels)} finished nothing for {seconds:.0f} s{because}: {HANGS}", *labels)


def _together(calls: Mapping[str, Callable[[], str]]) -> dict[str, str]:
    """What these calls return, made at the same time, each in a thread.

    If one fails, or the user interrupts, the others are not waited for: they end with their servers.
    """
    pool = ThreadPoolExecutor(len(calls))
    try:
        futures = {name: pool.submit(call) for name, call in calls.items()}
        return {name: future.result() for name, future in futures.items()}
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _fitting(most: int, length: float) -> Iterator[int]:
    """Numbers from 0, at most `most`: at least one, more while another one of that duration fits into `length` s."""
    began = time.monotonic()
    for number in range(max(1, most)):
        spent = time.monotonic() - began
        if number and spent * (number + 1) / number > length:
            return
        yield number


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
    observe: Observer = unobserved,
    placement: Placement | None = None,
    still: bool = False,
) -> StartResult:
    """One start: launches and warms up the sides, then measures pairs; everything is always stopped at the end.

    Args:
        engine: engine of the sides.
        workload: the load on every side.
        contestants: the sides; in a duet as many as there are core sets.
        design: whether the sides are under load together or one at a time.
        core_sets: disjoint symmetric sets of CPU numbers.
        data: one data copy for each side.
        scratch: empty private folder.
        timing: settle, window, warm-up, pairs, turns.
        seed: the cell's seed, for slots and, with the number, the load's keys.
        number: number of the start, from 1.
        bench: for progress.
        on_pair: called with number and pair as soon as a pair is measured.
        count_events: whether the host's PMU counts each server's events.
        observe: see `Observer`.
        placement: which cores servers and clients have; None: the design's usual placement.
        still: whether an interleaved side that is not under load has its server suspended too; for experiments, since
            commits then scatter more (docs/BIAS.md, "Loads that commit").
    """
    began = time.monotonic()
    labels = [contestant.label for contestant in contestants]
    start = _Start(
        engine=engine,
        workload=workload,
        core_sets=core_sets,
        data=data,
        scratch=scratch,
        timing=timing,
        placement=placement or design.usual,
        bench=bench,
        on_pair=on_pair,
        chance=random.Random(f"order {seed}/{number}"),
        seed=random.Random(f"keys {seed}/{number}").randrange(1, 2**31),
        slots=draw_slots(labels, seed, number),
        warmed=draw_order(labels, f"warming up {seed}", number),
        count_events=count_events,
        observe=observe,
        still=still,
    )
    invalid: str | None = None
    at_fault: tuple[str, ...] = ()
    designs = {Design.DUET: start.duet, Design.INTERLEAVED: start.interleaved, Design.SOLO: start.solo}
    try:
        designs[design](contestants)
    except Trouble as trouble:
        invalid, at_fault = str(trouble), trouble.sides
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
        reported=start.reported,
        at_fault=at_fault,
    )
