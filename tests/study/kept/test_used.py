"""The time that a run's sessions used: up to their last sign of life, nothing between them."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from burnish.record import live
from burnish.record.codec import FORMAT, encode
from burnish.record.events import Event
from burnish.record.events.study import SessionBegun, StudyFinished
from burnish.record.lines import Line
from burnish.record.record import Record
from burnish.study.kept.used import used_before

BEGAN = datetime(2026, 11, 26, 2, 0, tzinfo=UTC)


def record_of(folder: Path, *events: tuple[int, Event]) -> Record:
    """A record with these events, each so many seconds after `BEGAN`."""
    record = Record(folder, create=True)
    lines = []
    for number, (second, event) in enumerate(events, 1):
        at = datetime.fromtimestamp(BEGAN.timestamp() + second, UTC)
        kind, body = encode(event)
        lines.append(Line(number, at.strftime("%Y-%m-%dT%H:%M:%SZ"), kind, body, FORMAT))
    record.restore(lines)
    return record


def test_a_first_session_has_nothing_before_it(tmp_path: Path) -> None:
    with closing(record_of(tmp_path / "run")) as record:
        assert used_before(record) == 0.0


def test_time_between_sessions_is_not_used(tmp_path: Path) -> None:
    anything = StudyFinished()
    first = [(0, SessionBegun({})), (50, anything)]
    with closing(record_of(tmp_path / "one", *first)) as record:
        assert used_before(record) == 50.0
    second = [(1000, SessionBegun({}, True, used=50.0)), (1007, anything)]
    with closing(record_of(tmp_path / "two", *first, *second)) as record:
        assert used_before(record) == 57.0


def test_a_kill_in_a_long_step_loses_none_of_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compile has no event before its end; the file for those who watch says until when it went on."""
    with closing(record_of(tmp_path / "run", (0, SessionBegun({})), (10, StudyFinished()))) as record:
        monkeypatch.setattr("burnish.record.live.time.time", lambda: BEGAN.timestamp() + 1810.0)
        live.write(record.folder, "compile", "half of it", 1800.0, None, None)
        assert used_before(record) == 1810.0
    monkeypatch.setattr("burnish.record.live.time.time", lambda: BEGAN.timestamp() - 500.0)
    with closing(
        record_of(tmp_path / "other", (0, SessionBegun({}, True, used=70.0)), (10, StudyFinished()))
    ) as record:
        live.write(record.folder, "compile", "of the session before", 1800.0, None, None)
        assert used_before(record) == 80.0


@pytest.mark.parametrize(
    ("at", "said", "event", "used"),
    [
        (1800.0, 600.0, 10, 600.0),  # the machine slept for 20 minutes
        (1800.0, 600.0, 1830, 630.0),
        (1800.0, 1800.0, 10, 1800.0),
        (0.5, 9000.0, 10, 10.0),  # written by a session that ended in the second in which this one began
    ],
)
def test_sleep_is_not_used(
    at: float, said: float, event: int, used: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is it within a session, whose clock stands still then."""
    monkeypatch.setattr("burnish.record.live.time.time", lambda: BEGAN.timestamp() + at)
    events = (0, SessionBegun({}, True, used=70.0)), (event, StudyFinished())
    with closing(record_of(tmp_path / "run", *events)) as record:
        live.write(record.folder, "compile", "half of it", said, None, None, said)
        assert used_before(record) == 70.0 + used
