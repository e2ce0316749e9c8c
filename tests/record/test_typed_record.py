"""Events by their declarations in a record: those of today, and those that an older Burnish wrote there."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.model.cell import BuildId, CellId
from burnish.record.by_type import ByType
from burnish.record.events import Event, Unknown
from burnish.record.events.builds import BuildFailed
from burnish.record.events.study import SessionBegun, StudyBegun
from burnish.record.events.trials import StartBegun
from burnish.record.record import FILE, Record

CELL = CellId("one, two", "w", base="base", given=("x=1",))
OTHER = CellId("one", "w", base="base", given=("x=1",), versus=("two",))
"""Called the same, and another one."""

BEFORE = """
CREATE TABLE event (id INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL,
  body TEXT NOT NULL CHECK (json_valid(body)));
CREATE TRIGGER event_is_final BEFORE UPDATE ON event
  BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
PRAGMA user_version=1;
"""
"""A file of format 1."""


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    with closing(Record(tmp_path / "study", create=True)) as record:
        yield record


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """The folder of a study that an older Burnish began."""
    events = [
        ("study", {"name": "s", "definition": {"verb": "tune", "engine": "fake"}}),
        ("run", {"host": {}, "resumed": False}),
        ("start", {"cell": "one / w", "start": 1, "design": "duet"}),
        ("start", {"cell": "two / w", "start": 1, "design": "duet"}),
        ("build_failed", {"variant": "one#2", "why": "so"}),
    ]
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        db.executescript(BEFORE)
        for kind, body in events:
            db.execute("INSERT INTO event (at, kind, body) VALUES ('', ?, ?)", (kind, json.dumps(body)))
        db.commit()
    return tmp_path


def test_events_come_back_by_type_and_cell(record: Record) -> None:
    record.append(SessionBegun({"a": 1}))
    for cell in (CELL, OTHER, CELL):
        record.append(StartBegun(cell, 1, "duet"))
    assert CELL.name == OTHER.name
    assert [event.number for event in record.events(StartBegun)] == [2, 3, 4]
    assert [event.number for event in record.events(StartBegun, cell=CELL)] == [2, 4]
    assert [event.number for event in record.events(StartBegun, cell=OTHER)] == [3]
    assert [event.number for event in record.events(StartBegun, SessionBegun)] == [1, 2, 3, 4]
    assert [event.event for event in record.events(SessionBegun)] == [SessionBegun({"a": 1})]


def test_the_last_one_that_matches(record: Record) -> None:
    for number, cell in ((1, CELL), (2, OTHER), (3, CELL)):
        record.append(StartBegun(cell, number, "duet"))
    last = record.last(StartBegun, cell=CELL)
    assert last is not None
    assert last.event.start == 3
    first = record.last(StartBegun, cell=CELL, start=1)
    assert first is not None
    assert first.number == 1
    assert record.last(StartBegun, cell=CELL, start=2) is None
    assert record.last(SessionBegun) is None


def test_a_study_of_an_older_burnish_is_read_as_one_of_today(older: Path) -> None:
    before = (older / FILE).read_bytes()
    with closing(Record(older)) as record:
        result = [item.event for item in record.every()]
        assert result[3:] == [StartBegun(CellId("two", "w"), 1, "duet"), BuildFailed(BuildId("one", 2), "so")]
        assert [event.number for event in record.events(StartBegun, cell=CellId("one", "w"))] == [3]
        begun = record.last(StudyBegun)
        assert begun is not None
        assert begun.event.name == "s"
    assert (older / FILE).read_bytes() == before, "reading changes nothing"


def test_a_study_of_an_older_burnish_is_resumed(older: Path) -> None:
    with closing(Record(older)) as record:
        texts = list(record._db.execute("SELECT id, at, kind, body FROM event"))
        assert record.append(StartBegun(CellId("one", "w"), 2, "duet")) == 6
        assert [event.event.start for event in record.events(StartBegun, cell=CellId("one", "w"))] == [1, 2]
        assert list(record._db.execute("SELECT id, at, kind, body FROM event WHERE id < 6")) == texts
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            record._db.execute("UPDATE event SET format = 2")
        assert record._db.execute("PRAGMA user_version").fetchone() == (2,), "an older Burnish leaves it alone now"
    with closing(Record(older)) as record:
        assert [item.number for item in record.every()] == [1, 2, 3, 4, 5, 6]


def test_an_event_that_is_not_as_declared_is_named(record: Record) -> None:
    record.append(SessionBegun({}))
    record.append(Unknown("verdict_reached", {"cell": {"candidate": "one", "workload": "w"}}))
    assert len(list(record.events(SessionBegun))) == 1
    with pytest.raises(UserError) as caught:
        list(record.every())
    assert str(caught.value).startswith(f"{record.path}: event 2: verdict_reached, ")


def test_events_by_type(record: Record) -> None:
    record.append(SessionBegun({"a": 1}))
    record.append(StartBegun(CELL, 1, "duet"))
    record.append(SessionBegun({"a": 2}))
    by = ByType(record.every())
    assert by.of(SessionBegun) == [SessionBegun({"a": 1}), SessionBegun({"a": 2})]
    assert by.last(SessionBegun) == SessionBegun({"a": 2})
    assert by.recorded(SessionBegun)[1].number == 3
    assert by.of(BuildFailed) == []
    assert by.last(BuildFailed) is None
    assert StartBegun in by
    assert BuildFailed not in by


def test_a_kind_that_is_yet_to_come_stays_as_it_is(record: Record) -> None:
    event: Event = Unknown("energy_read", {"joules": 1.5})
    record.append(event)
    assert [item.event for item in record.every()] == [event]
