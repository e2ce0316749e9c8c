"""A study's record: what was written stays as it was written, and can be carried elsewhere."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.base.errors import UserError
from burnish.model.cell import BuildId, ComparisonId
from burnish.record import exchange, lines
from burnish.record.codec import FORMAT, encode
from burnish.record.events import KINDS, Unknown
from burnish.record.events.builds import BuildFailed
from burnish.record.events.bundled import FigureMeasured
from burnish.record.events.patches import TwinFound
from burnish.record.events.trials import StartBegun
from burnish.record.lines import Line
from burnish.record.record import FILE, PAGE, Record, import_events


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    with closing(Record(tmp_path / "study", create=True)) as record:
        yield record


ONE, OTHER = TwinFound("one", "all"), BuildFailed(BuildId("two"), "it does not compile")


def test_events_come_back_in_order(record: Record) -> None:
    assert [record.append(event) for event in (ONE, OTHER, ONE)] == [1, 2, 3]
    result = list(record.every())
    assert [(item.number, item.event) for item in result] == [(1, ONE), (2, OTHER), (3, ONE)]
    assert [event.number for event in record.events(TwinFound)] == [1, 3]
    assert [event.number for event in record.events(BuildFailed, TwinFound, StartBegun)] == [1, 2, 3]
    assert list(record.events(StartBegun)) == []
    assert result[0].at.endswith("Z")
    assert result[0].at <= result[2].at


def test_who_reads_slowly_holds_up_nobody(record: Record) -> None:
    """A study that runs writes while another terminal reads its record."""
    for _ in range(3 * PAGE):
        record.append(ONE)
    with closing(Record(record.folder)) as reader:
        reading = reader.every()
        next(reading)
        with closing(sqlite3.connect(record.path, timeout=0.0)) as writer:
            writer.execute("BEGIN EXCLUSIVE")
            writer.execute("ROLLBACK")
        record.append(OTHER)
        rest = list(reading)
        assert [item.number for item in rest] == list(range(2, 3 * PAGE + 1)), "as it was when the reading began"
        assert reader.last(TwinFound) == rest[-1]
        assert [item.number for item in reader.events(BuildFailed)] == [3 * PAGE + 1]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET body = '{}'",
        "UPDATE event SET at = at WHERE id = 1",
        "DELETE FROM event",
        "DELETE FROM event WHERE id = 1",
        "INSERT OR REPLACE INTO event (id, at, kind, body) VALUES (1, '', 'build', '{}')",
        "INSERT INTO event (at, kind, body) VALUES ('', 'build', 'no JSON')",
    ],
)
def test_nothing_is_changed_or_taken_back(record: Record, statement: str) -> None:
    record.append(ONE)
    record.append(OTHER)
    before = list(record.every())
    for connection in (record._db, sqlite3.connect(record.path, isolation_level=None)):
        with pytest.raises(sqlite3.IntegrityError, match=r"append-only|CHECK"):
            connection.execute(statement)
    assert list(record.every()) == before


def test_two_readers_see_what_one_writes(record: Record) -> None:
    record.append(ONE)
    with closing(Record(record.folder)) as reader:
        record.append(OTHER)
        assert len(list(reader.every())) == 2


def test_it_is_private(record: Record) -> None:
    assert record.folder.stat().st_mode & 0o777 == 0o700


def test_opening_again_goes_on(record: Record) -> None:
    record.append(ONE)
    record.close()
    with closing(Record(record.folder, create=True)) as again:
        assert again.append(OTHER) == 2


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)

UNKNOWN = st.text(min_size=1).filter(lambda kind: kind not in KINDS)
"""Kinds of event that Burnish does not have; some of these texts are constants of its own code."""


def lines_of(folder: Path) -> list[Line]:
    with closing(Record(folder)) as record:
        return [Line(item.number, item.at, *encode(item.event), FORMAT) for item in record.every()]


def test_export_and_import_round_trip(tmp_path: Path) -> None:
    @settings(deadline=None, max_examples=15)  # every event waits for the disk
    @given(st.lists(st.tuples(UNKNOWN, st.dictionaries(st.text(min_size=1), VALUES)), max_size=5))
    def check(events: list[tuple[str, dict[str, object]]]) -> None:
        number = len(list(tmp_path.iterdir()))
        one, two = tmp_path / f"{number}-one", tmp_path / f"{number}-two"
        with closing(Record(one, create=True)) as record:
            for kind, body in events:
                record.append(Unknown(kind, body))
            written = list(record.every())
        text = lines.as_json(lines_of(one))
        assert text.count("\n") == len(events), "a line an event"
        exported = tmp_path / f"{number}.jsonl"
        exported.write_text(text, encoding="utf-8")
        with closing(import_events(exported, two)) as record:
            assert list(record.every()) == written
        assert lines.as_json(lines_of(two)) == text

    check()


def test_a_figure_that_is_not_finite_is_written_as_null(record: Record) -> None:
    record.append(FigureMeasured(ComparisonId("one"), math.inf, math.nan, "MB", "", ""))
    (text,) = record._db.execute("SELECT body FROM event WHERE id = 1").fetchone()
    values = json.loads(text)
    assert (values["value"], values["base"]) == (None, None)
    (result,) = record.events(FigureMeasured)
    assert math.isnan(result.event.value)


def test_an_export_is_plain_json_lines(record: Record) -> None:
    record.append(TwinFound("baseline ü", "b"))
    line = json.loads(exchange.as_text(record.every()))
    assert set(line) == {"n", "at", "f", "kind", "body"}
    assert (line["n"], line["kind"], line["body"]) == (1, "twin_found", {"variant": "baseline ü", "of": "b"})


@pytest.mark.parametrize(
    ("content", "number"),
    [
        (b"hello\n", 1),
        (b'{"n": 1, "at": "", "kind": "a", "body": {}}\n{"n": 2}\n', 2),
        (b'{"n": 1, "at": "", "kind": "a", "body": {}}\n{"n": 1, "at": "", "kind": "a", "body": {}}\n', 2),
        (b"[1, 2]\n", 1),
        (b"\xff\xfe\x00\n", 1),
        (b'{"n": "x", "at": "", "kind": "a", "body": {}}\n', 1),
    ],
)
def test_a_wrong_exported_file_is_one_line(tmp_path: Path, content: bytes, number: int) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        import_events(path, tmp_path / "study")
    message = str(caught.value)
    assert message.startswith(f"{path}: line {number} is not an event of an exported record")
    assert "\n" not in message


def test_no_record(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no study's record"):
        Record(tmp_path)
    assert list(tmp_path.iterdir()) == [], "looking for one makes none"


@pytest.mark.parametrize("create", [False, True])
def test_a_file_that_is_no_record_is_one_line_and_left_as_it_was(tmp_path: Path, create: bool) -> None:
    path = tmp_path / FILE
    path.write_text("a letter to somebody, long enough to be no empty database at all")
    before = path.read_bytes()
    with pytest.raises(UserError) as caught:
        Record(tmp_path, create=create)
    assert str(caught.value).startswith(f"{path}: not a study's record")
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


def test_a_record_of_another_format(tmp_path: Path) -> None:
    path = tmp_path / FILE
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE event (id INTEGER)")
        db.execute("PRAGMA user_version=7")
    with pytest.raises(UserError, match=r"written in format 7; this Burnish reads formats 1 to 2"):
        Record(tmp_path)
