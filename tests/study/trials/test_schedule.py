"""When a cell's next starts are due: by its verdicts, however long a round of all cells takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from burnish.model.cell import CellId, ComparisonId, Role
from burnish.model.sittings import Schedule
from burnish.record import record as writing
from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.bundled import ComparisonTried, ConfirmationBegun, LayoutsBegun
from burnish.record.events.study import SessionBegun, StudyBegun
from burnish.record.events.trials import StartDone
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.study.kept.sittings import disturbed_cells
from burnish.study.trials import schedule as module
from burnish.study.trials.schedule import cell_sittings, disturbed_in, is_due, is_open
from burnish.study.trials.trials import Trials

ONE, OTHER = CellId("one", "load"), CellId("other", "load")
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()
TWICE = Schedule(2, 7200.0)
Put = Callable[[float, Event], None]


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    with closing(Record(tmp_path / "run", create=True)) as made:
        yield made


@pytest.fixture
def put(record: Record, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Appends an event as if it had happened so many minutes after noon."""

    def append(minutes: float, event: Event) -> None:
        clock = SimpleNamespace(strftime=time.strftime, gmtime=lambda: time.gmtime(NOON + 60.0 * minutes))
        with monkeypatch.context() as patch:
            patch.setattr(writing, "time", clock)
            record.append(event)

    append(0.0, StudyBegun("run", {"verb": "tune", "engine": "fake"}))
    append(0.0, SessionBegun({"boot": "here"}))
    return append


def start(cell: CellId, number: int, invalid: str | None = None) -> StartDone:
    return StartDone(cell, number, invalid, True, 60.0, "data", readings={} if invalid else {"capacity": 0.1})


def verdict(cell: CellId, starts: int) -> VerdictReached:
    return VerdictReached(cell, "duet", "capacity", "unit", "faster", "", {}, starts)


def first_sitting(put: Put, cells: Sequence[CellId], starts: int, every: float) -> float:
    """The first sitting of these cells, a start of one of them each so many minutes; returns the minute of its end."""
    minute = 0.0
    for number in range(1, starts + 1):
        for cell in cells:
            minute += every
            put(minute, start(cell, number))
    for cell in cells:
        put(minute, verdict(cell, starts))
    return minute


def test_a_sitting_that_is_interrupted_in_its_second_half_is_resumed(record: Record, put: Put) -> None:
    end = first_sitting(put, [ONE], 8, 1.0)
    for number in range(9, 14):
        put(end + 120.0 + number, start(ONE, number))
    now = NOON + 60.0 * (end + 120.0 + 14.0)
    found = cell_sittings(record, ONE, "here", now)
    assert found is not None
    assert (found.target, found.full, found.taken) == (8, 1, 5)
    assert found.wanted(TWICE)
    assert is_due(found, TWICE, now), "at once, and not two hours later"
    for number in range(14, 17):
        put(end + 120.0 + number, start(ONE, number))
    put(end + 140.0, verdict(ONE, 8))
    found = cell_sittings(record, ONE, "here", now)
    assert found is not None
    assert (found.full, found.under_way) == (2, False)
    assert not found.wanted(TWICE)


def test_a_sitting_that_was_given_up_is_not_taken_up_at_once(record: Record, put: Put) -> None:
    end = first_sitting(put, [ONE], 8, 1.0)
    put(end + 121.0, start(ONE, 9))
    for number in range(10, 13):
        put(end + 112.0 + number, start(ONE, number, "it crashed"))
    now = NOON + 60.0 * (end + 125.0)
    found = cell_sittings(record, ONE, "here", now)
    assert found is not None
    assert (found.full, found.given_up, found.under_way) == (1, True, False)
    assert not is_due(found, TWICE, now)


def test_a_round_of_half_an_hour_is_one_sitting_of_each_cell(
    record: Record, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each start of a cell is 40 minutes after its last one, as the other cell's is between them."""
    end = first_sitting(put, [ONE, OTHER], 4, 20.0)
    found = cell_sittings(record, ONE, "here", NOON + 60.0 * end)
    assert found is not None
    assert found.full == 1, "by its verdict"
    assert not is_due(found, TWICE, NOON + 60.0 * end), "its first sitting has just ended"

    minute = end + 121.0
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: NOON + 60.0 * minute))
    started: list[CellId] = []

    def take(_: Trials, together: Any, __: int) -> None:
        nonlocal minute
        (cell,) = together
        started.append(cell.id)
        assert len(started) <= 8, "it does not end"
        minute += 20.0
        put(minute, start(cell.id, 10 + len(started)))

    closed: list[tuple[CellId, int]] = []
    monkeypatch.setattr(Trials, "_start", take)
    monkeypatch.setattr(Trials, "_close_sitting", lambda _, cell, starts: closed.append((cell.id, starts)))
    runner = Trials(cast("Any", None), record, cast("Any", None), cast("Any", None), {}, {}, [], {}, record.folder, 1)
    runner.boot = "here"
    cells = [cast("Any", SimpleNamespace(id=cell, name=cell.name)) for cell in (ONE, OTHER)]
    assert all(is_due(cell_sittings(record, cell.id, "here"), TWICE) for cell in cells)
    monkeypatch.setattr("burnish.study.trials.trials.check_designs", lambda *_: None)
    runner._sit_again(cells)
    assert started == [ONE, OTHER] * 4
    assert closed == [(ONE, 4), (OTHER, 4)]


def disturbed(cell: CellId) -> list[Event]:
    """Starts in which the host was disturbed, as many as end a cell."""
    starts: list[Event] = [replace(start(cell, number, "taken"), disturbed=True) for number in (1, 2, 3)]
    return [*starts, replace(verdict(cell, 0), verdict="invalid")]


def test_what_is_measured_again_after_a_disturbance() -> None:
    """Claims, the fresh starts of what was picked last, and other link orders; a cell that failed by itself is not."""
    claim, wrong = CellId("one", "load"), CellId("wrong", "load")
    before, fresh = (CellId(name, "load", Role.CONFIRMATION) for name in ("other", "one"))
    linked = replace(claim, role=Role.LAYOUTS)
    made: list[Event] = [
        *(ComparisonTried(ComparisonId(cell.candidate), cell) for cell in (claim, wrong)),
        *disturbed(claim),
        *(start(wrong, number, "it crashed") for number in (1, 2, 3)),
        replace(verdict(wrong, 0), verdict="invalid"),
        ConfirmationBegun(ComparisonId("other"), before, 8),
        *disturbed(before),
        ConfirmationBegun(ComparisonId("one"), fresh, 8),
        *disturbed(fresh),
        LayoutsBegun(ComparisonId("one"), linked, 6),
        *disturbed(linked),
    ]

    def found(*more: Event) -> tuple[list[CellId], list[CellId]]:
        return disturbed_in(ByType([Recorded(number, "", event) for number, event in enumerate((*made, *more), 1)]))

    assert found() == ([claim, wrong, fresh, linked], [claim, fresh, linked])
    assert found(verdict(fresh, 8)) == ([claim, wrong, fresh, linked], [claim, linked])


def test_what_the_host_disturbed_is_open_in_another_sitting(record: Record, put: Put) -> None:
    cell = CellId("one", "load", Role.LAYOUTS)
    put(0.0, LayoutsBegun(ComparisonId("one"), cell, 6))
    assert is_open(record, cell, "here", NOON)
    for event in disturbed(cell):
        put(1.0, event)
    assert disturbed_cells(record) == [cell]
    assert not is_open(record, cell, "here", NOON + 600.0)
    assert is_open(record, cell, "here", NOON + 3600.0)
