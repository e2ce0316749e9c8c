"""Candidates that share a baseline: which starts they have together, what is recorded of them, and one that fails."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console

from burnish.bench.pairs import Contestant, Pair, StartResult
from burnish.bench.readings import Reading
from burnish.catalogue import load
from burnish.engines.contract import Engine
from burnish.model.cell import AA, CellId, Role
from burnish.model.condition import Condition
from burnish.model.workload import Design, Placement, Timing
from burnish.program.built import Built
from burnish.record.events.trials import PairRead, StartBegun, StartDone
from burnish.record.record import Record
from burnish.record.workbench import Bench
from burnish.study.cells import Cell
from burnish.study.trials import trials as module
from burnish.study.trials.starts import cell_starts
from burnish.study.trials.together import Sharing, together
from burnish.study.trials.trials import Trials

ENGINE = load.engine("fake")
MIX, WRITE = load.workload(ENGINE, "fake_mix"), load.workload(ENGINE, "fake_write")
SETS = tuple(frozenset({core}) for core in range(4))
TRUE = {"baseline": 0.0, "one": 0.05, "two": 0.01, "three": -0.02, AA: 0.0}
"""Log of what a side's capacity is to the baseline's."""


def cell(name: str, load: Any = MIX, design: Design = Design.DUET, role: Role = Role.CLAIM) -> Cell:
    return Cell(CellId(name, load.name, role), load, design)


def contestant(name: str, condition: Condition | None = None) -> Contestant:
    built = Built(name, Path("/f"), Path("/f/server"), f"key-{name}", program=f"program of {name}")
    return Contestant(name, built, condition or Condition())


NAMES = ("one", "two", "three", "four")
SIDES = {name: contestant(name) for name in NAMES}


def labels(starts: Sequence[Sequence[Cell]]) -> list[list[str]]:
    return [[one.label for one in start] for start in starts]


def test_a_duet_has_as_many_candidates_as_the_host_has_core_sets_beside_the_baselines() -> None:
    cells = [cell(name) for name in NAMES]
    assert labels(together(cells, Sharing(SETS), SIDES)) == [["one", "two", "three"], ["four"]]
    assert labels(together(cells, Sharing(SETS[:3]), SIDES)) == [["one", "two"], ["three", "four"]]
    assert labels(together(cells, Sharing(SETS[:2]), SIDES)) == [["one"], ["two"], ["three"], ["four"]]
    assert labels(together(cells, None, SIDES)) == [["one"], ["two"], ["three"], ["four"]]


def test_sides_that_take_turns_share_on_any_host() -> None:
    cells = [cell(name, design=Design.INTERLEAVED) for name in NAMES]
    assert labels(together(cells, Sharing(SETS[:2]), SIDES)) == [["one", "two"], ["three", "four"]]
    assert labels(together(cells, None, SIDES)) == [["one"], ["two"], ["three"], ["four"]]


def test_only_claims_on_one_load_in_one_place_share() -> None:
    sharing = Sharing(SETS)
    loads = [cell("one"), cell("one", WRITE), cell("two"), cell("two", WRITE)]
    assert [[(one.label, one.workload.name) for one in start] for start in together(loads, sharing, SIDES)] == [
        [("one", "fake_mix"), ("two", "fake_mix")],
        [("one", "fake_write"), ("two", "fake_write")],
    ]
    apart = [cell("one"), replace(cell("two"), placement=Placement.APART)]
    assert labels(together(apart, sharing, SIDES)) == [["one"], ["two"]]
    again = [cell(name, role=Role.CONFIRMATION) for name in NAMES[:2]]
    assert labels(together(again, sharing, SIDES)) == [["one"], ["two"]]
    in_memory = {name: contestant(name, Condition(storage="memory")) for name in NAMES}
    assert labels(together([cell("one"), cell("two")], sharing, in_memory)) == [["one"], ["two"]], "room for two"
    assert labels(together([cell(name) for name in NAMES], sharing, SIDES, {"one"})) == [
        ["one"],
        ["two", "three", "four"],
    ]


def test_all_claims_of_a_duet_have_cores_of_one_number() -> None:
    usual = (frozenset({0, 1}), frozenset({2, 3}))
    sharing = Sharing(SETS)
    for number in (2, 3):
        assert sharing.sets_of(cell("one"), number, usual) == SETS[:number]
    assert sharing.sets_of(cell("one").canary, 2, usual) == SETS[:2]
    assert sharing.sets_of(cell("one", role=Role.CONFIRMATION), 2, usual) == usual
    assert sharing.sets_of(cell("one", design=Design.INTERLEAVED), 3, usual) == usual


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    with closing(Record(tmp_path / "study", create=True)) as made:
        yield made


Take = Callable[..., list[tuple[str, ...]]]


@pytest.fixture
def said() -> io.StringIO:
    """What the bench says of the starts that `take` takes."""
    return io.StringIO()


@pytest.fixture
def take(record: Record, said: io.StringIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Take:
    """Takes starts of these candidates on scripted sides; returns the labels of each start, in order."""
    ran: list[tuple[str, ...]] = []

    def scripted(*arguments: Any, on_pair: Callable[[int, Pair], None], **words: Any) -> StartResult:
        names = tuple(side.label for side in arguments[2])
        ran.append(names)
        assert len(words["core_sets"]) == len(names)
        assert len(words["data"]) == len(names)
        bad = tuple(name for name in names if name in broken)
        turn = {name: Reading(1.0, 1000.0, 0, math.exp(-TRUE[name]), 0.1) for name in names}
        places = len(names) if words["design"] is Design.DUET else 1
        pair = Pair((turn,) * 12, places, {}, dict.fromkeys(names, 0.9), 0.0, {}, None)
        pair = replace(pair, invalid=f"errors under load ({bad[0]}: 1)", at_fault=bad) if bad else pair
        on_pair(1, pair)
        slots = {name: {"cores": place, "data": place, "launch": place} for place, name in enumerate(names)}
        return StartResult(slots, 1.0, True, (pair,), "f", None, 2.0)

    broken: set[str] = set()

    def run(
        *wanted: tuple[str, int],
        failing: Sequence[str] = (),
        again: Sequence[str] = (),
        design: Design = Design.DUET,
    ) -> list[tuple[str, ...]]:
        broken.clear()
        broken.update(failing)
        ran.clear()
        monkeypatch.setattr(module, "run_start", scripted)
        Trials(
            engine=cast("Engine", None),
            record=record,
            bench=Bench(record, tmp_path / "logs", Console(file=said)),
            baseline=contestant("baseline"),
            candidates=SIDES | {name: made_again(SIDES[name]) for name in again},
            times=dict.fromkeys((Design.DUET, Design.INTERLEAVED), Timing(0.1, 0.4, 1.0)),
            core_sets=(frozenset({0, 1}), frozenset({2, 3})),
            data={},
            scratch=tmp_path / "scratch",
            seed=1,
            sharing=Sharing(SETS),
        ).take([(cell(name, design=design), starts) for name, starts in wanted])
        return list(ran)

    return run


def made_again(side: Contestant) -> Contestant:
    """By the same key, as another program."""
    return replace(side, built=replace(side.built, program=f"another {side.built.program}"))


def claims(ran: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [names for names in ran if AA not in names]


def test_a_baseline_is_measured_once_for_several_candidates(take: Take, record: Record) -> None:
    together_ = ("baseline", "one", "two", "three")
    assert claims(take(("one", 3), ("two", 2), ("three", 2))) == [together_, together_, ("baseline", "one")]
    for name in NAMES[:3]:
        starts = cell_starts(record, cell(name).id)
        assert starts.of("capacity") == pytest.approx([TRUE[name]] * starts.valid)
    begun = [recorded.event for recorded in record.events(StartBegun, cell=cell("one").id)]
    assert [event.start for event in begun] == [1, 2, 3]
    assert [event.beside for event in begun] == [{"two": "key-two", "three": "key-three"}] * 2 + [None]
    assert all(event.builds == {"baseline": "key-baseline", "one": "key-one"} for event in begun)
    (read, *_) = [recorded.event for recorded in record.events(PairRead, cell=cell("two").id)]
    assert set(read.sides) == set(read.turns) == set(read.busy) == {"baseline", "two"}
    (done, *_) = [recorded.event for recorded in record.events(StartDone, cell=cell("two").id)]
    assert done.slots == {"baseline": {"cores": 0, "data": 0, "launch": 0}, "two": {"cores": 2, "data": 2, "launch": 2}}
    assert not take(("one", 3), ("two", 2), ("three", 2)), "what is there is not taken again"


def test_starts_of_a_program_that_was_made_again_since_are_taken_anew(take: Take, record: Record) -> None:
    take(("one", 2), ("two", 2))
    assert claims(take(("one", 3), ("two", 2), again=["one"])) == [("baseline", "one")] * 3
    done = [recorded.event.programs for recorded in record.events(StartDone, cell=cell("one").id)]
    base, one = "program of baseline", "program of one"
    assert done == [(base, one)] * 2 + [(base, f"another {one}")] * 3
    assert [cell_starts(record, cell(name).id).valid for name in ("one", "two")] == [3, 2]
    canaries = [recorded.event for recorded in record.events(StartDone) if recorded.event.cell.candidate == AA]
    assert {event.programs for event in canaries} == {(base, base)}


def test_one_that_fails_beside_others_is_measured_apart(take: Take, record: Record, said: io.StringIO) -> None:
    ran = claims(take(("one", 2), ("two", 2), ("three", 2), failing=["two"]))
    assert ran[0] == ("baseline", "one", "two", "three")
    assert [names for names in ran[1:] if "two" in names] == [("baseline", "two")] * 2, "three in all are enough"
    assert [names for names in ran[1:] if "two" not in names] == [("baseline", "one", "three")] * 2
    for name in ("one", "three"):
        starts = cell_starts(record, cell(name).id)
        assert (starts.valid, starts.invalid) == (2, []), "what another side did is not a start of theirs"
    assert len(cell_starts(record, cell("two").id).invalid) == 3
    assert "start 1 is lost with that of two" in said.getvalue()


def test_the_faster_half_of_turns_is_recorded_of_sides_that_take_turns(take: Take, record: Record) -> None:
    take(("one", 2), design=Design.INTERLEAVED)
    take(("two", 2))
    by_name = {name: [found.event for found in record.events(StartDone, cell=cell(name).id)] for name in ("one", "two")}
    assert [done.faster for done in by_name["one"]] == [pytest.approx({"capacity": 0.05, "throughput": 0.0})] * 2
    assert [done.faster for done in by_name["two"]] == [None] * 2
