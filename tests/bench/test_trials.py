"""Starts of the fake engine: slots, swaps, readings, and every way in which a start is invalid."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from burnish.base.errors import InfrastructureError
from burnish.bench import counters, placement, readings, trials, watch
from burnish.bench.counters import Clocks, CpuTimes, SwapCounters
from burnish.bench.pairs import HANGS, Contestant, Pair, StartResult, Trouble
from burnish.bench.readings import Reading
from burnish.bench.running import Running
from burnish.bench.slots import draw_order, draw_slots
from burnish.bench.trials import run_start
from burnish.catalogue import load
from burnish.engines.contract import MARKER, TICK_S, Side, SideSpec, Tick
from burnish.engines.fake import engine
from burnish.engines.fake.engine import DATA_FILE, FakeEngine, FakeSide
from burnish.engines.reported import Reported
from burnish.model.condition import Condition
from burnish.model.workload import Design, Placement, Timing
from burnish.program.built import Built
from conftest import BuildFake, FakeBench

TIMING = Timing(settle=0.05, window=0.2, warmup=0.1, pairs=2)
ONE = replace(TIMING, pairs=1)
CORES = sorted(os.sched_getaffinity(0))
SLOW, FAST = "-DFAKE_SPEED=50", "-DFAKE_SPEED=200"
"""Builds of which one is four times as fast as the other: a ratio within twice of that tells them apart anywhere."""

# Starts.


def is_four_times_as_fast(pair: Pair) -> bool:
    """Whether the candidate is to the baseline as `FAST` is to `SLOW`, where half or twice may be the machine's."""
    return abs(pair.ratio("baseline", "candidate").capacity - math.log(4)) < math.log(2)


class Watched(FakeEngine):
    """The fake engine; remembers its sides."""

    def __init__(self) -> None:
        super().__init__(replace(load.engine("fake"), steal_bound=1.0))
        self.sides: list[Side] = []

    def side(self, spec: SideSpec) -> Side:
        made = super().side(spec)
        self.sides.append(made)
        return made


class Arena:
    """Runs starts of two builds, each with data of its own."""

    def __init__(self, place: Path, bench: FakeBench) -> None:
        self.place, self.bench = place, bench
        self.engine = Watched()
        self.workload = load.workload(self.engine.spec, "fake_mix")
        self.data = [place / "data0", place / "data1", place / "data2"]
        self.pairs: list[tuple[int, Pair]] = []
        self.pids: set[int] = set()

    def run(
        self,
        baseline: Built,
        candidate: Built,
        timing: Timing = TIMING,
        number: int = 1,
        design: Design = Design.DUET,
        condition: Condition | None = None,
        placement: Placement | None = None,
        still: bool = False,
        third: Built | None = None,
    ) -> StartResult:
        more = [Contestant("third", third, Condition())] if third is not None else []
        sets = [frozenset({CORES[0]}), frozenset({CORES[1]})]
        for folder in self.data[: 2 + len(more)]:
            if not folder.exists():
                folder.mkdir()
                self.engine.create_dataset(baseline, baseline, self.workload, folder, self.bench)
        scratch = self.place / f"start{number}"
        scratch.mkdir()
        return run_start(
            self.engine,
            self.workload,
            [
                Contestant("baseline", baseline, Condition()),
                Contestant("candidate", candidate, condition or Condition()),
                *more,
            ],
            design=design,
            core_sets=[*sets, sets[0]] if more and design is Design.DUET else sets,
            data=self.data[: 2 + len(more)],
            scratch=scratch,
            timing=timing,
            seed="seed",
            number=number,
            bench=self.bench,
            on_pair=self.see,
            placement=placement,
            still=still,
        )

    def see(self, number: int, pair: Pair) -> None:
        self.pairs.append((number, pair))
        for side in self.engine.sides:
            where = frozenset(pair.turns[-1][side.spec.label].cores)
            threads = 0
            for pid in (*side.server_pids(), *side.client_pids()):
                self.pids.add(pid)
                for thread in placement.threads_of(pid):
                    threads += 1
                    assert os.sched_getaffinity(thread) == where, "every thread of server and load is where it should"
            assert threads > 4, "the server has a thread for each connection"

    def check_gone(self) -> None:
        for side in self.engine.sides:
            assert side.server_pids() == []
            assert side.client_pids() == []
        assert not any(Path(f"/proc/{pid}").exists() for pid in self.pids)


@pytest.fixture
def arena(tmp_path: Path, bench: FakeBench, monkeypatch: pytest.MonkeyPatch) -> Iterator[Arena]:
    """A host that disturbs no pair, and starts that are as long as they should be however slow it is."""
    monkeypatch.setattr(engine, "PATIENCE_S", 0.5)
    monkeypatch.setattr(trials, "OVERTIME_S", 1000.0)
    monkeypatch.setattr(trials, "SLOWER", 1000.0)
    monkeypatch.setattr(counters, "read_swap", lambda: SwapCounters(0, 0))
    monkeypatch.setattr(counters, "read_clocks", lambda: Clocks(0.0, 0.0))
    if len(CORES) < 2:
        pytest.skip("a duet needs two cores")
    made = Arena(tmp_path, bench)
    yield made
    for side in made.engine.sides:
        side.stop()


@pytest.mark.measures
def test_a_start(arena: Arena, build_fake: BuildFake) -> None:
    result = arena.run(build_fake(SLOW), build_fake(FAST))
    assert result.invalid is None
    assert [number for number, _ in arena.pairs] == [1, 2]
    assert tuple(pair for _, pair in arena.pairs) == result.pairs
    assert result.slots == draw_slots(["baseline", "candidate"], "seed", 1)
    assert result.warmup_s >= TIMING.warmup
    assert result.seconds > 4 * TIMING.window
    placed = []
    for pair in result.pairs:
        assert pair.invalid is None
        assert len(pair.turns) == TIMING.turns
        for turn in pair.turns:
            one, two = turn["baseline"], turn["candidate"]
            assert {*one.cores, *two.cores} == {CORES[0], CORES[1]}
            assert min(one.seconds, two.seconds) >= 0.99 * TIMING.window
            assert min(one.done, two.done, one.server_cpu, two.server_cpu) > 0
            placed.append(one.cores)
        assert is_four_times_as_fast(pair)
        for used in pair.usage.values():
            assert used.user > 0
            assert used.waits + used.preemptions > 10
            assert used.rss_bytes > 100_000
        assert all(0.2 < share < 1.1 for share in pair.busy.values()), pair.busy
    first = CORES[result.slots["baseline"]["cores"]]
    other = CORES[1 - result.slots["baseline"]["cores"]]
    assert placed == [(first,), (other,)] * (len(placed) // 2), "they change places before each turn"
    seeds = {side.spec.seed for side in arena.engine.sides}
    assert len(seeds) == 1, "both sides get the same keys"
    arena.check_gone()


@pytest.mark.measures
def test_a_duets_turn_moves_the_sides_by_place_and_begins_where_all_tick(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither moving last nor ticking last may be a side's for good: launched first was worth a per cent by that."""
    moved: list[frozenset[int]] = []
    begins: list[float] = []
    move, ready = placement.place, readings.ready

    def place(side: Side, cores: frozenset[int]) -> None:
        moved.append(cores)
        move(side, cores)

    def bounds(ticks: Sequence[Tick], begin: float, window: float) -> tuple[int, int] | None:
        begins.append(begin)
        return ready(ticks, begin, window)

    monkeypatch.setattr(trials, "place", place)
    monkeypatch.setattr(readings, "ready", bounds)
    timing = replace(ONE, turns=4)
    result = arena.run(build_fake(), build_fake("-DFAKE_SPEED=101"), timing)
    assert result.invalid is None
    before, turns = moved[:2], moved[2:]
    assert set(before) == {frozenset({core}) for core in CORES[:2]}, "under load for the first time"
    assert turns == [frozenset({core}) for core in CORES[:2]] * timing.turns
    assert len(set(begins)) == timing.turns, "one instant for all sides of a turn"
    for begin in begins:
        beyond = begin / TICK_S % 1
        assert 0.9 < beyond < 1, "just before a tick"


def stopped(side: Side, *, server: bool = False) -> bool:
    pid = (([] if server else side.client_pids()) or side.server_pids())[0]
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@pytest.mark.measures
def test_interleaved_all_are_up_and_one_is_under_load(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = []
    read = trials._Start._turn

    def turn(self: trials._Start, items: Sequence[Running]) -> dict[str, Reading]:
        (item,) = items
        assert all(side.server_pids() for side in arena.engine.sides), "all are up"
        for side in arena.engine.sides:
            while stopped(side) is (side is item.side):
                time.sleep(0.01)  # a signal takes a moment; for ever would fail by the test's own time limit
        orders.append(item.label)
        where = [os.sched_getaffinity(pid) for pid in (*item.side.server_pids(), *item.side.client_pids())]
        assert where in ([{CORES[0]}, {CORES[1]}], [{CORES[1]}, {CORES[0]}]), "server and load have cores of their own"
        result = read(self, items)
        pace = result[item.label].throughput
        assert said[-1] in (f"pair: {item.label} {pace:,.0f}/s", f"pair: {item.label} {pace:.2g}/s"), "of this turn"
        return result

    said: list[str] = []
    monkeypatch.setattr(arena.bench, "live", lambda text, share=0.0: said.append(text))
    monkeypatch.setattr(trials._Start, "_turn", turn)
    monkeypatch.setattr(arena, "see", lambda number, pair: arena.pairs.append((number, pair)))
    timing = replace(TIMING, pairs=3, turns=8)
    result = arena.run(build_fake(SLOW), build_fake(FAST), timing, design=Design.INTERLEAVED)
    assert result.invalid is None
    assert [number for number, _ in arena.pairs] == [1, 2, 3]
    blocks = [tuple(orders[i : i + 2]) for i in range(0, len(orders), 2)]
    assert len(blocks) == 12
    assert set(blocks) == {("baseline", "candidate"), ("candidate", "baseline")}, "in random order"
    for pair in result.pairs:
        assert pair.places == 1
        assert is_four_times_as_fast(pair)
    arena.check_gone()


@pytest.mark.measures
@pytest.mark.parametrize("design", list(Design))
def test_two_candidates_beside_one_baseline(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch, design: Design
) -> None:
    """In a duet each has a set of cores, here one of them twice, for want of a third core."""
    monkeypatch.setattr(arena, "see", lambda number, pair: arena.pairs.append((number, pair)))
    timing = replace(ONE, turns=6)
    result = arena.run(
        build_fake(), build_fake("-DFAKE_SPEED=200"), timing, design=design, third=build_fake("-DFAKE_SPEED=50")
    )
    assert result.invalid is None
    assert set(result.slots) == set(result.launched) == {"baseline", "candidate", "third"}
    (pair,) = result.pairs
    assert (len(pair.turns), pair.places) == ((6, 3) if design is Design.DUET else (3, 1))
    assert all(set(turn) == {"baseline", "candidate", "third"} for turn in pair.turns)
    assert abs(pair.ratio("candidate", "third").capacity + math.log(4)) < 0.7
    seen = result.of(("baseline", "third"))
    assert seen.pairs[0].ratios("baseline", "third") == pair.ratios("baseline", "third")
    assert set(seen.slots) == set(seen.launched) == set(seen.reported) == set(seen.pairs[0].usage)
    arena.check_gone()


@pytest.mark.measures
@pytest.mark.parametrize("still", [True, False])
def test_the_server_of_a_side_that_rests_can_be_still(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch, still: bool
) -> None:
    """So it flushes what it changed in its own turns, and answers between pairs all the same."""
    read, seen, asked = trials._Start._turn, [], []
    misses = FakeSide.misses

    def turn(self: trials._Start, items: Sequence[Running]) -> dict[str, Reading]:
        rests = next(side for side in arena.engine.sides if side is not items[0].side)
        while not stopped(rests) or stopped(rests, server=True) is not still:
            time.sleep(0.01)  # a signal takes a moment; for ever would fail by the test's own time limit
        seen.append(stopped(rests, server=True))
        return read(self, items)

    def answers(self: FakeSide) -> int | None:
        asked.append(stopped(self, server=True))
        return misses(self)

    monkeypatch.setattr(trials._Start, "_turn", turn)
    monkeypatch.setattr(FakeSide, "misses", answers)
    monkeypatch.setattr(arena, "see", lambda number, pair: arena.pairs.append((number, pair)))
    result = arena.run(build_fake(), build_fake(), replace(TIMING, turns=4), design=Design.INTERLEAVED, still=still)
    assert result.invalid is None
    assert len(seen) == 8
    assert set(seen) == {still}
    assert len(asked) == 8
    assert not any(asked)
    arena.check_gone()


@pytest.mark.parametrize("design", [Design.DUET, Design.INTERLEAVED])
def test_servers_are_asked_what_they_report_while_no_load_runs(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch, design: Design
) -> None:
    """Many clients leave a server no time for another's questions."""
    ask, asked = FakeSide.reported, []

    def reported(self: FakeSide) -> Reported:
        while not all(map(stopped, arena.engine.sides)):
            time.sleep(0.01)  # a signal takes a moment; for ever would fail by the test's own time limit
        asked.append(self.spec.label)
        return ask(self)

    monkeypatch.setattr(FakeSide, "reported", reported)
    monkeypatch.setattr(arena, "see", lambda number, pair: arena.pairs.append((number, pair)))
    built = build_fake()
    arena.run(built, built, ONE, design=design)
    assert sorted(asked) == ["baseline", "candidate"]
    arena.check_gone()


@pytest.mark.measures
@pytest.mark.parametrize("still", [True, False])
def test_interleaved_sides_are_loaded_together_and_warmed_up_one_by_one(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch, still: bool
) -> None:
    """One after the other in launch order, the first would take its memory for connections alone (docs/BIAS.md)."""
    warm, warmed = trials._Start._warm_up, list[str]()

    def warm_up(self: trials._Start, items: Sequence[Running]) -> None:
        (item,) = items
        assert all(running.ticks for running in self.running), "every load works before any is warmed up alone"
        (rests,) = (running.side for running in self.running if running is not item)
        while stopped(item.side) or not stopped(rests) or stopped(rests, server=True) is not still:
            time.sleep(0.01)  # a signal takes a moment; for ever would fail by the test's own time limit
        (servers_core,) = os.sched_getaffinity(item.side.server_pids()[0])
        for thread in placement.threads_of(item.side.client_pids()[0]):
            assert os.sched_getaffinity(thread) == {*CORES[:2]} - {servers_core}, "its load is apart from it"
        warmed.append(item.label)
        warm(self, items)

    monkeypatch.setattr(trials._Start, "_warm_up", warm_up)
    monkeypatch.setattr(arena, "see", lambda *_: None)
    built, orders = build_fake(), []
    for number in (1, 2):
        result = arena.run(built, built, replace(ONE, turns=2), number, Design.INTERLEAVED, still=still)
        assert result.invalid is None
        assert tuple(warmed) == draw_order(["baseline", "candidate"], "warming up seed", number)
        assert warmed != sorted(result.slots, key=lambda label: result.slots[label]["launch"]), "nor as launched"
        orders.append(list(warmed))
        warmed.clear()
        arena.engine.sides.clear()
    assert orders[0] == orders[1][::-1], "of two starts each side is warmed up first in one"


def test_steadiness_is_of_the_warm_up_alone(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a load did beside the other side, and its pause after that, are not the rate at which it is read."""
    seen = []

    def steady(ticks: Sequence[Tick], span: float) -> bool:
        seen.append(ticks)
        return True

    monkeypatch.setattr(readings, "steady", steady)
    monkeypatch.setattr(arena, "see", lambda *_: None)
    built = build_fake()
    begun = []
    warm = trials._Start._warm_up

    def warm_up(self: trials._Start, items: Sequence[Running]) -> None:
        begun.append(items[0].ticks[-1].at)
        seen.clear()
        warm(self, items)
        assert seen
        assert all(tick.at > begun[-1] for ticks in seen for tick in ticks)

    monkeypatch.setattr(trials._Start, "_warm_up", warm_up)
    assert arena.run(built, built, replace(ONE, turns=2), design=Design.INTERLEAVED).invalid is None
    assert len(begun) == 2


@pytest.mark.parametrize("silent", ["baseline", "candidate"])
def test_interleaved_a_load_that_never_begins_is_told_by_its_side(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch, silent: str
) -> None:
    heard = FakeSide.ticks
    monkeypatch.setattr(FakeSide, "ticks", lambda self: [] if self.spec.label == silent else heard(self))
    monkeypatch.setattr(trials, "PATIENCE_S", 0.5)
    monkeypatch.setattr(FakeSide, "waits_for", lambda self: f"the log of {self.spec.label} is full")
    built = build_fake()
    result = arena.run(built, built, replace(ONE, warmup=0.02), design=Design.INTERLEAVED)
    assert result.at_fault == (silent,)
    assert str(result.invalid).startswith(f"{silent} finished nothing for ")
    assert str(result.invalid).endswith(f" s, the log of {silent} is full: {HANGS}")
    arena.check_gone()


@pytest.mark.measures
@pytest.mark.parametrize("design", [Design.INTERLEAVED, Design.SOLO])
def test_whole_gives_all_cores_to_server_and_load(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch, design: Design
) -> None:
    every = {CORES[0], CORES[1]}
    read = trials._Start._turn

    def turn(self: trials._Start, items: Sequence[Running]) -> dict[str, Reading]:
        (item,) = items
        for pid in (*item.side.server_pids(), *item.side.client_pids()):
            assert all(os.sched_getaffinity(thread) == every for thread in placement.threads_of(pid))
        return read(self, items)

    monkeypatch.setattr(trials._Start, "_turn", turn)
    monkeypatch.setattr(arena, "see", lambda number, pair: arena.pairs.append((number, pair)))
    timing = replace(TIMING, pairs=2, turns=4)
    result = arena.run(build_fake(SLOW), build_fake(FAST), timing, design=design, placement=Placement.WHOLE)
    assert result.invalid is None
    for side in arena.engine.sides:
        assert side.spec.cores == every, "from the start, so that what a server makes of its cores is made of all"
    for pair in result.pairs:
        for label, busy in pair.busy.items():
            readings_of_side = [turn[label] for turn in pair.turns]
            assert {frozenset(reading.cores) for reading in readings_of_side} == {frozenset(every)}
            spent = sum(reading.server_cpu + reading.client_cpu for reading in readings_of_side)
            assert busy == pytest.approx(spent / (2 * sum(reading.seconds for reading in readings_of_side)))
        assert is_four_times_as_fast(pair)
    arena.check_gone()


@pytest.mark.measures
def test_whole_holds_a_load_to_fill_all_cores(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four client threads a core: what fills one core need not fill two."""
    built = build_fake()
    monkeypatch.setattr(watch, "BUSY_BOUND", 2.0)  # nothing is that busy, so a load that is held to it fails
    monkeypatch.setattr(arena, "see", lambda number, pair: arena.pairs.append((number, pair)))
    whys = []
    for number, threads in enumerate((4, 8), start=1):
        arena.workload = replace(arena.workload, saturated=True, threads=threads)
        found = arena.run(built, built, ONE, number, Design.INTERLEAVED, placement=Placement.WHOLE)
        whys += [pair.invalid for pair in found.pairs]
    assert whys[0] is None
    assert "says that it is saturated" in str(whys[1])


@pytest.mark.measures
def test_solo_one_is_up_at_a_time(arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch) -> None:
    read = trials._Start._turn

    def turn(self: trials._Start, items: Sequence[Running]) -> dict[str, Reading]:
        assert [bool(side.server_pids()) for side in arena.engine.sides].count(True) == 1
        return read(self, items)

    monkeypatch.setattr(trials._Start, "_turn", turn)
    monkeypatch.setattr(arena, "see", lambda number, pair: arena.pairs.append((number, pair)))
    light = Condition(settings=(("work_percent", "50"),))
    timing = replace(TIMING, pairs=2, turns=4)
    result = arena.run(build_fake(SLOW), build_fake("-DFAKE_SPEED=100"), timing, design=Design.SOLO, condition=light)
    assert result.invalid is None
    assert [number for number, _ in arena.pairs] == [1, 2]
    for pair in result.pairs:
        assert len(pair.turns) == 2
        assert is_four_times_as_fast(pair), "twice by its build, twice by its condition"
    assert set(result.launched) == {"baseline", "candidate"}
    arena.check_gone()


@pytest.mark.measures
def test_a_turn_that_is_over_before_the_controller_gets_its_own_is_read(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "LATE_S", -10.0)  # as on a host so busy that the time to wake is past
    result = arena.run(build_fake(), build_fake(), replace(TIMING, pairs=1, turns=2))
    assert result.invalid is None
    assert result.pairs


def test_a_pair_that_is_not_as_declared_is_invalid(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeSide, "misses", lambda _: next(missed))
    missed = iter(range(0, 10**9, 1000))
    built = build_fake()
    result = arena.run(built, built, ONE)
    assert [pair.invalid for pair in result.pairs] == [None], "not declared, not asked"
    arena.workload = replace(arena.workload, in_memory=True)
    arena.engine.sides.clear()
    (pair,) = arena.run(built, built, ONE, number=2).pairs
    assert pair.invalid is not None
    assert "pages from disk, but fake_mix says that its data are in memory" in pair.invalid


def test_a_server_that_waits_for_its_client_is_invalid_where_it_should_not(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_busy", lambda turns, shared: 0.62)
    built = build_fake()
    arena.workload = replace(arena.workload, saturated=True)
    (pair,) = arena.run(built, built, ONE).pairs
    assert pair.invalid is not None
    assert "62% of its cores" in pair.invalid


def test_slots_decide_launch_data_and_cores(arena: Arena, build_fake: BuildFake) -> None:
    one = build_fake()
    seeds = set()
    for number in (1, 2):
        arena.engine.sides.clear()
        result = arena.run(one, one, replace(TIMING, pairs=0), number)
        assert result.invalid is None
        for place, side in enumerate(arena.engine.sides):
            slot = result.slots[side.spec.label]
            assert slot["launch"] == place
            assert side.spec.data == arena.data[slot["data"]]
            assert side.spec.cores == {CORES[slot["cores"]]}
        seeds.add(arena.engine.sides[0].spec.seed)
    assert len(seeds) == 2, "each start has keys of its own"


@pytest.mark.parametrize("design", list(Design))
@pytest.mark.parametrize(("slower", "rounds"), [(0.01, 1), (1000.0, 4)], ids=["slow", "quick"])
def test_slow_turns_make_a_pair_of_fewer_whole_rounds(
    arena: Arena, build_fake: BuildFake, design: Design, slower: float, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A load whose unit of work is longer than a window must not make a pair last for all of its turns."""
    monkeypatch.setattr(trials, "SLOWER", slower)  # the turns always take longer than a hundredth of their length
    monkeypatch.setattr(arena, "see", lambda number, pair: arena.pairs.append((number, pair)))
    built = build_fake()
    (pair,) = arena.run(built, built, replace(ONE, turns=8), design=design).pairs
    assert len(pair.turns) == rounds * pair.places


@pytest.mark.parametrize("design", list(Design))
@pytest.mark.parametrize(("overtime", "pairs"), [(-1000.0, 1), (1000.0, 3)], ids=["slow", "quick"])
def test_slow_pairs_make_a_start_of_fewer(
    arena: Arena, build_fake: BuildFake, design: Design, overtime: float, pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor a start for all of its pairs."""
    monkeypatch.setattr(trials, "OVERTIME_S", overtime)
    monkeypatch.setattr(arena, "see", lambda number, pair: arena.pairs.append((number, pair)))
    built = build_fake()
    result = arena.run(built, built, replace(ONE, turns=4, pairs=3), design=design)
    assert result.invalid is None
    assert len(result.pairs) == pairs


@pytest.mark.parametrize("step", ["launch", "boot", "load", "fingerprint", "ticks"])
@pytest.mark.parametrize("design", list(Design))
def test_a_side_that_can_not_be_put_under_load_is_at_fault(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch, design: Design, step: str
) -> None:
    """Candidates that share a baseline with it are not to blame, and are measured again."""
    usual = getattr(FakeSide, step)

    def fails(self: FakeSide) -> Any:
        if self.spec.label == "candidate":
            raise InfrastructureError(f"no {step}")
        return usual(self)

    monkeypatch.setattr(FakeSide, step, fails)
    monkeypatch.setattr(arena, "see", lambda number, pair: arena.pairs.append((number, pair)))
    built = build_fake()
    result = arena.run(built, built, ONE, design=design)
    assert result.invalid == f"no {step}"
    assert result.faulty == {"candidate"}
    arena.check_gone()


def test_a_crash_makes_the_start_invalid(arena: Arena, build_fake: BuildFake) -> None:
    most = 100  # far more than there is time for until the request at which it crashes
    result = arena.run(build_fake(), build_fake("-DFAKE_CRASH_AFTER=200"), replace(TIMING, pairs=most))
    assert result.invalid == "candidate: the server was ended by signal 6"
    assert len(result.pairs) < most
    arena.check_gone()


def test_a_hang_makes_the_start_invalid(arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "PATIENCE_S", 1.0)
    arena.workload = replace(arena.workload, parameters=(("timeout_s", "0"),))
    result = arena.run(build_fake(), build_fake("-DFAKE_HANG_AFTER=10"))  # before any rate can be steady
    assert result.invalid is not None
    assert result.invalid.startswith("candidate finished nothing for ")
    assert not result.settled
    arena.check_gone()


def test_silence_makes_the_start_invalid(arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A load program that says nothing is waited for as long as three windows and ten seconds: here at a run."""

    class Leaping:
        sleep = staticmethod(time.sleep)

        @staticmethod
        def monotonic() -> float:
            return began + 20 * (time.monotonic() - began)

    def ticks(self: FakeSide) -> list[Tick]:
        return heard(self) if self.spec.label == "baseline" else []

    heard, began = FakeSide.ticks, time.monotonic()
    monkeypatch.setattr(FakeSide, "ticks", ticks)
    monkeypatch.setattr(trials, "time", Leaping)
    result = arena.run(build_fake(), build_fake(), ONE)
    assert result.invalid is not None
    assert "candidate finished nothing for 11 s: the side hangs" in result.invalid
    arena.check_gone()


def test_a_server_without_cpu_time_makes_the_start_invalid(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ticks(self: FakeSide) -> list[Tick]:
        return [replace(tick, server_cpu=0.0) for tick in heard(self)]

    heard = FakeSide.ticks
    monkeypatch.setattr(FakeSide, "ticks", ticks)
    result = arena.run(build_fake(), build_fake(), ONE)
    assert result.invalid is not None
    assert result.invalid.endswith(": its server's CPU time could not be read")


def spec_of(arena: Arena, built: Built) -> SideSpec:
    return SideSpec(
        label="x",
        built=built,
        condition=Condition(),
        workload=arena.workload,
        data=arena.place,
        folder=arena.place,
        seed=1,
        cores=frozenset(CORES),
    )


def test_a_side_that_does_not_start(arena: Arena, build_fake: BuildFake) -> None:
    built = build_fake()
    arena.run(built, built, replace(TIMING, pairs=0))
    (arena.data[0] / MARKER).unlink()
    result = arena.run(built, built, number=2)
    assert result.invalid is not None
    assert f"{arena.data[0]} is not a data folder of Burnish" in result.invalid
    assert result.pairs == ()
    arena.check_gone()


def test_different_data_are_refused(arena: Arena, build_fake: BuildFake) -> None:
    built = build_fake()
    arena.run(built, built, replace(TIMING, pairs=0))
    with (arena.data[1] / DATA_FILE).open("ab") as file:
        file.write(b"one more")
    result = arena.run(built, built, number=2)
    assert result.invalid is not None
    assert result.invalid.startswith("the sides' data differ: ")
    assert "baseline " in result.invalid
    assert "candidate " in result.invalid
    assert (result.pairs, result.fingerprint) == ((), "")
    arena.check_gone()


def test_errors_make_a_pair_invalid(arena: Arena, build_fake: BuildFake) -> None:
    result = arena.run(build_fake(), build_fake("-DFAKE_ERRORS_EVERY=3"), ONE)
    (pair,) = result.pairs
    assert pair.invalid is not None
    assert pair.invalid.startswith("errors under load (candidate: ")
    assert result.invalid is None, "the start goes on: other pairs may be good"


@dataclass
class Neighbours:
    """What the kernel says of the host, as one likes."""

    swapped: int = 0
    stolen: float = 0.0
    asleep: float = 0.0
    jumped: float = 0.0
    ticks: int = 0

    def read_clocks(self) -> Clocks:
        self.ticks += 1
        return Clocks(self.ticks * self.asleep, self.ticks * (self.asleep + self.jumped))

    def read_swap(self) -> SwapCounters:
        self.ticks += 1
        return SwapCounters(self.ticks * self.swapped, 0)

    def read_cpu_times(self) -> dict[int, CpuTimes]:
        """The first core is ours alone, of the second a share is stolen, and one that is not used is lost."""
        ours = CpuTimes(1000, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        shares = {CORES[0]: 0.0, CORES[1]: self.stolen, CORES[1] + 1000: 1.0}
        return {
            core: replace(ours, user=int(self.ticks * 1000 * (1 - share)), steal=int(self.ticks * 1000 * share))
            for core, share in shares.items()
        }


def test_neighbours_make_a_pair_invalid(arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch) -> None:
    host = Neighbours()
    weathers = [
        Neighbours(swapped=1),
        Neighbours(stolen=0.02),
        Neighbours(stolen=0.2),
        Neighbours(asleep=3),
        Neighbours(jumped=-7),
        Neighbours(),
    ]

    def on_pair(number: int, pair: Pair) -> None:
        weather = weathers[number - 1]
        host.swapped, host.stolen = weather.swapped, weather.stolen
        host.asleep, host.jumped = weather.asleep, weather.jumped

    arena.engine.spec = replace(arena.engine.spec, steal_bound=load.engine("mariadb").steal_bound)
    monkeypatch.setattr(arena, "see", on_pair)
    monkeypatch.setattr(counters, "read_swap", host.read_swap)
    monkeypatch.setattr(counters, "read_cpu_times", host.read_cpu_times)
    monkeypatch.setattr(counters, "read_clocks", host.read_clocks)
    result = arena.run(build_fake(), build_fake(), replace(TIMING, window=0.2, pairs=6))
    assert result.invalid is None, "the start goes on: other pairs may be good"
    assert [pair.invalid for pair in result.pairs] == [
        None,
        "the host swapped; free memory or make the buffer pool smaller",
        None,
        "the hypervisor took 20% of the CPU (bound 5%); try at a quieter hour",
        "the host was suspended for 3.0 s; keep it awake",
        "the wall clock jumped by -7.0 s; let the time service settle",
    ]
    assert [pair.disturbed for pair in result.pairs] == [False, False, False, True, True, True], "what may pass"
    assert [pair.steal for pair in result.pairs[:4]] == pytest.approx([0, 0, 0.02, 0.2], abs=0.002)
    assert result.pairs[0].core_busy[CORES[0]] == 1.0
    values = result.as_dict()
    assert values["pairs"] == 6
    assert values["fingerprint"] == result.fingerprint != ""
    pair = json.loads(json.dumps(result.pairs[3].as_dict()))
    assert set(pair["sides"]) == {"baseline", "candidate"}
    assert pair["sides"]["baseline"]["done"] == sum(done for _, done, *_ in pair["turns"]["baseline"]) > 0
    assert pair["invalid"] == result.pairs[3].invalid


@pytest.mark.parametrize("design", [Design.INTERLEAVED, Design.SOLO])
def test_time_stolen_from_the_load_makes_a_pair_invalid_too(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch, design: Design
) -> None:
    """Placed apart, it has cores of its own, of which the server has none."""
    host = Neighbours(stolen=0.2)
    arena.engine.spec = replace(arena.engine.spec, steal_bound=0.05)
    monkeypatch.setattr(arena, "see", lambda number, pair: arena.pairs.append((number, pair)))
    for name in ("read_swap", "read_cpu_times", "read_clocks"):
        monkeypatch.setattr(counters, name, getattr(host, name))
    slots = {name: {"cores": 0, "data": data, "launch": data} for data, name in enumerate(("baseline", "candidate"))}
    monkeypatch.setattr(trials, "draw_slots", lambda *_: slots)
    built = build_fake()
    result = arena.run(built, built, ONE, design=design, placement=Placement.APART)
    (pair,) = result.pairs
    assert {core for turn in pair.turns for reading in turn.values() for core in reading.cores} == {CORES[0]}
    assert pair.invalid == "the hypervisor took 20% of the CPU (bound 5%); try at a quieter hour"
    assert pair.disturbed


def test_a_quota_that_held_the_servers_up_makes_a_pair_invalid(
    arena: Arena, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the container's, and there at the next start too."""
    times = itertools.count()
    monkeypatch.setattr(watch, "throttled", lambda: next(times))
    result = arena.run(build_fake(), build_fake(), replace(TIMING, window=0.2, pairs=1))
    (pair,) = result.pairs
    assert pair.invalid is not None
    assert pair.invalid.startswith("the CPU quota of this container (cgroup) held it up 1 times; measure without one: ")
    assert not pair.disturbed


@pytest.mark.parametrize("ticks", [[], [Tick(0.0, 5.0, 0, 0.0, 0.0)]])
def test_events_of_a_load_that_hangs_from_its_start_are_none(
    ticks: list[Tick], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Counting:
        def __init__(self, _pids: object) -> None:
            pass

        def stop(self) -> dict[str, float]:
            return {"cycles": 9.0}

    monkeypatch.setattr(trials.hardware, "Counting", Counting)
    item = SimpleNamespace(label="a", ticks=ticks, side=SimpleNamespace(server_pids=list, ticks=list))
    start = SimpleNamespace(count_events=True, hardware={})
    with trials._Start._events(cast("Any", start), cast("Any", [item])):
        pass
    assert start.hardware == {"a": {}}


# Threads.

BREEDER = """
import threading, time
def breed():
    while True:
        one = threading.Thread(target=time.sleep, args=(0.05,))
        one.start()
        one.join()
for _ in range(4):
    threading.Thread(target=breed).start()
print(flush=True)
"""


class Loose(Side):
    """A side whose server is any process."""

    def __init__(self, spec: SideSpec, pids: Sequence[int]) -> None:
        self.spec, self.pids = spec, pids

    def server_pids(self) -> list[int]:
        return list(self.pids)

    def client_pids(self) -> list[int]:
        return []

    def _no(self) -> None:
        raise NotImplementedError

    boot = load = stop = _no
    fingerprint = ticks = trouble = _no  # type: ignore[assignment]


def test_threads_that_are_born_while_others_are_moved_are_moved_too(arena: Arena, build_fake: BuildFake) -> None:
    spec = spec_of(arena, build_fake())
    with subprocess.Popen([sys.executable, "-c", BREEDER], stdout=subprocess.PIPE) as breeder:
        try:
            assert breeder.stdout is not None
            breeder.stdout.readline()
            side = Loose(spec, [breeder.pid])
            for core in (CORES[0], CORES[1]) * 5:
                placement.place(side, frozenset({core}))
                placement.check_place(side, frozenset({core}))
                time.sleep(0.02)
                placement.check_place(side, frozenset({core}))
        finally:
            breeder.kill()
    assert placement.threads_of(breeder.pid) == []
    placement.place(side, frozenset({CORES[0]}))


def test_a_thread_that_cannot_be_moved_is_trouble(arena: Arena, build_fake: BuildFake) -> None:
    side = Loose(spec_of(arena, build_fake()), [os.getpid()])
    with pytest.raises(Trouble, match=r"x: thread \d+ could not be moved to cores \[4000\]"):
        placement.place(side, frozenset({4000}))


class Noted(Loose):
    """A side that notes its calls, and reads its data only while the other one does."""

    def __init__(self, spec: SideSpec, calls: list[str], both: threading.Barrier, data: str) -> None:
        super().__init__(spec, [])
        self.calls, self.both, self.data = calls, both, data

    def launch(self) -> None:
        self.calls.append(f"launch {self.spec.label}")

    def boot(self) -> None:
        self.calls.append(f"boot {self.spec.label}")

    def fingerprint(self) -> str:  # type: ignore[override]
        self.both.wait(timeout=60)
        if not self.data:
            raise InfrastructureError("no data")
        return self.data

    def stop(self) -> None:
        self.calls.append(f"stop {self.spec.label}")


class NotedSides(FakeEngine):
    """An engine of `Noted` sides.

    Args:
        data: by label, what the side finds.
    """

    def __init__(self, **data: str) -> None:
        super().__init__(load.engine("fake"))
        self.data, self.calls, self.both = data, list[str](), threading.Barrier(2)

    def side(self, spec: SideSpec) -> Side:
        return Noted(spec, self.calls, self.both, self.data[spec.label])


@pytest.mark.parametrize(
    ("found", "why"),
    [("same", None), ("other", "the sides' data differ: "), ("", "no data")],
)
def test_sides_start_and_read_their_data_at_the_same_time(
    tmp_path: Path, bench: FakeBench, found: str, why: str | None
) -> None:
    """One after the other, the first would get the smallest pieces of free memory and be slower (docs/BIAS.md)."""
    sides = NotedSides(one="same", two=found)
    built = Built("x", tmp_path, tmp_path / "server", "key")
    fails = (Trouble, InfrastructureError)
    with pytest.raises(fails, match=why) if why else contextlib.nullcontext():
        trials._Start(
            engine=sides,
            workload=load.workload(sides.spec, "fake_mix"),
            core_sets=[frozenset({0}), frozenset({1})],
            data=[tmp_path, tmp_path],
            scratch=tmp_path,
            timing=TIMING,
            placement=Placement.SHARED,
            bench=bench,
            on_pair=lambda *_: None,
            chance=random.Random(1),
            seed=1,
            slots={"one": {"cores": 0, "data": 0, "launch": 1}, "two": {"cores": 1, "data": 1, "launch": 0}},
            count_events=False,
        )._boot([Contestant(label, built, Condition()) for label in ("one", "two")])
    assert sides.calls == ["launch two", "launch one", "boot two", "boot one"]
