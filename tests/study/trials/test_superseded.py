"""Starts of a program that was made again since, and came out otherwise, are in no verdict."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.model.cell import CellId
from burnish.model.sittings import Spread
from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.study import Origin, SessionBegun, SpreadAssumed, StudyBegun
from burnish.record.events.trials import StartBegun, StartDone, StoppingRule, TrialsPlanned
from burnish.record.events.verdicts import Interval, VerdictReached
from burnish.record.record import Record
from burnish.report.analysis.verdict import RUNNING
from burnish.report.fold import fold
from burnish.study.merge.parts import read
from burnish.study.trials.board import board
from burnish.study.trials.repeated import repeated
from burnish.study.trials.schedule import cell_sittings, sitting_readings
from burnish.study.trials.starts import cell_starts
from burnish.study.trials.superseded import counted, superseded
from reported import HOST

CELL, OTHER = CellId("one", "w"), CellId("two", "w")
OLD, NEW = ("base", "old"), ("base", "new")
FASTER = VerdictReached(
    CELL, "duet", "capacity", "transaction", "faster", "", {"capacity": Interval(1.1, 1.0, 1.2, 0.95)}, 2
)


def start(number: int, programs: tuple[str, str] | None, reading: float = 0.1, cell: CellId = CELL) -> StartDone:
    return StartDone(
        cell, number, None, True, 1.0, "data", {"capacity": reading}, {"capacity": (reading,)}, hardware={},
        programs=programs,
    )  # fmt: skip


def recorded(*events: Event) -> list[Recorded[Event]]:
    return [Recorded(number, "2026-11-27T10:00:00Z", event) for number, event in enumerate(events, 1)]


def run(*events: Event) -> list[Recorded[Event]]:
    """A run of one candidate with these events."""
    return recorded(
        StudyBegun("run", {"verb": "tune", "engine": "fake", "variants": ["baseline", "one"], "features": "full"}),
        SessionBegun({**HOST, "boot": "here"}),
        SpreadAssumed(Spread(0.005, 20.0, "elsewhere")),
        TrialsPlanned((CELL,), StoppingRule(8), ((0,), (1,))),
        *events,
    )


def kept(starts: Sequence[StartDone]) -> list[int]:
    left_out = superseded(starts)
    return [one.start for one in starts if (one.cell, one.start) not in left_out]


def test_the_last_starts_program_is_the_one_that_counts() -> None:
    assert kept([start(1, OLD), start(2, OLD), start(3, NEW)]) == [3]
    assert kept([start(1, OLD), start(2, NEW), start(3, OLD)]) == [1, 3], "it is the same program again"
    assert superseded([start(1, ("was", "old")), start(2, NEW)]) == {(CELL, 1): (True, True)}
    assert superseded([start(1, OLD), start(2, NEW)]) == {(CELL, 1): (False, True)}


def test_what_is_not_known_to_be_another_program_counts() -> None:
    assert kept([start(1, None), start(2, NEW)]) == [1, 2], "recorded by an older version"
    assert kept([start(1, OLD), start(2, None)]) == [1, 2]
    assert kept([start(1, OLD), start(2, NEW, cell=OTHER)]) == [1, 2], "not measured again"
    here, there = Origin("here", "run", 1), Origin("there", "run", 1)
    assert kept([replace(start(1, OLD), origin=here), replace(start(2, NEW), origin=there)]) == [1, 2]


def test_a_verdict_goes_with_its_starts() -> None:
    events = run(start(1, OLD), start(2, OLD), FASTER, StartBegun(CELL, 3))
    assert counted(events) == events, "nothing is lost before a start of the later program is there"
    later = counted([*events, *recorded(start(3, NEW))])
    assert not [one for one in later if isinstance(one.event, VerdictReached)]
    assert [one.event.start for one in later if isinstance(one.event, StartDone)] == [3]
    (row,) = fold([*events, *recorded(start(3, NEW))]).rows
    assert (row.verdict, row.starts, row.reason) == (RUNNING, 1, "not decided yet")
    assert counted([*events, *recorded(start(3, NEW), start(4, NEW), FASTER)])[-1].event == FASTER


def test_no_reader_of_a_record_pools_two_programs(tmp_path: Path) -> None:
    events = run(start(1, OLD, 0.3), start(2, OLD, 0.3), FASTER, start(3, NEW), start(4, NEW), FASTER)
    with closing(Record(tmp_path / "run", create=True)) as record:
        for one in events:
            record.append(one.event)
        assert cell_starts(record, CELL).of("capacity") == [0.1, 0.1]
        assert sitting_readings(record, [CELL], "capacity") == [{CELL: (0.1, 0.1)}]
        sittings = cell_sittings(record, CELL, "here")
        assert sittings is not None
        assert (sittings.full, sittings.taken) == (1, 2)
        assert [row.starts for row in board(record)] == [2]
    (verdict,) = repeated(ByType(counted(events))).by.of(VerdictReached)
    assert verdict.ratios["capacity"] is not None
    assert verdict.ratios["capacity"].ratio == pytest.approx(1.105, abs=0.001)
    assert len(read("run", events).starts) == 2
