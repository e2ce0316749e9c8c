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
from burnish.record import exchange
from burnish.record.record import FILE, Record, import_events


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    with closing(Record(tmp_path / "study", create=True)) as record:
        yield record


def test_events_come_back_in_order(record: Record) -> None:
    assert record.append("build", variant="baseline", seconds=1.5, flags=("-O2", "-g")) == 1
    assert record.append("gate", report={"passed": True}) == 2
    assert record.append("build", variant="gcc-o3", path=Path("/a/b"), none=None) == 3
    found = list(record.events())
    assert [(event.number, event.kind) for event in found] == [(1, "build"), (2, "gate"), (3, "build")]
    assert found[0].body == {"variant": "baseline", "seconds": 1.5, "flags": ["-O2", "-g"]}
    assert found[2].body == {"variant": "gcc-o3", "path": "/a/b", "none": None}
    assert [event.number for event in record.events("build")] == [1, 3]
    assert [event.number for event in record.events("gate", "build", "nothing")] == [1, 2, 3]
    assert list(record.events("nothing")) == []
    assert found[0].at.endswith("Z")
    assert found[0].at <= found[2].at


def test_an_event_may_have_a_value_called_kind(record: Record) -> None:
    record.append("profile", kind="clang")
    assert next(record.events()).body == {"kind": "clang"}


def test_the_last_one_that_matches(record: Record) -> None:
    for cell, value in (("a", 1), ("b", 2), ("a", 3)):
        record.append("verdict", cell=cell, value=value)
    last = record.last("verdict", cell="a")
    assert last is not None
    assert last.body["value"] == 3
    assert record.last("verdict", cell="c") is None
    assert record.last("start") is None
    assert record.last("verdict", missing=None) is not None, "what is not there is None"


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
    record.append("build", variant="baseline")
    record.append("build", variant="gcc-o3")
    before = list(record.events())
    for connection in (record._db, sqlite3.connect(record.path, isolation_level=None)):
        with pytest.raises(sqlite3.IntegrityError, match=r"append-only|CHECK"):
            connection.execute(statement)
    assert list(record.events()) == before


def test_two_readers_see_what_one_writes(record: Record) -> None:
    record.append("build", variant="baseline")
    with closing(Record(record.folder)) as reader:
        record.append("build", variant="gcc-o3")
        assert len(list(reader.events())) == 2


def test_it_is_private(record: Record) -> None:
    assert record.folder.stat().st_mode & 0o777 == 0o700


def test_opening_again_goes_on(record: Record) -> None:
    record.append("build", variant="baseline")
    record.close()
    with closing(Record(record.folder, create=True)) as again:
        assert again.append("build", variant="gcc-o3") == 2


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def test_export_and_import_round_trip(tmp_path: Path) -> None:
    @settings(deadline=None, max_examples=15)  # every event waits for the disk
    @given(st.lists(st.tuples(st.text(min_size=1), st.dictionaries(st.text(min_size=1), VALUES)), max_size=5))
    def check(events: list[tuple[str, dict[str, object]]]) -> None:
        number = len(list(tmp_path.iterdir()))
        one, two = tmp_path / f"{number}-one", tmp_path / f"{number}-two"
        with closing(Record(one, create=True)) as record:
            for kind, body in events:
                record.append(kind, **body)
            written = list(record.events())
        text = exchange.as_text(exchange.study_events(one))
        assert text.count("\n") == len(events), "a line an event"
        exported = tmp_path / f"{number}.jsonl"
        exported.write_text(text, encoding="utf-8")
        with closing(import_events(exported, two)) as record:
            assert list(record.events()) == written
        assert exchange.as_text(exchange.study_events(two)) == text

    check()


def test_a_figure_that_is_not_finite_is_written_as_null(record: Record) -> None:
    record.append("verdict", interval={"low": 0.9, "high": math.inf}, starts=[math.nan, 1.0])
    (event,) = record.events("verdict")
    assert event.body == {"interval": {"low": 0.9, "high": None}, "starts": [None, 1.0]}


def test_an_export_is_plain_json_lines(record: Record) -> None:
    record.append("build", variant="baseline ü")
    line = json.loads(exchange.as_text(record.events()))
    assert set(line) == {"n", "at", "kind", "body"}
    assert (line["n"], line["kind"], line["body"]) == (1, "build", {"variant": "baseline ü"})


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
    said = str(caught.value)
    assert said.startswith(f"{path}: line {number} is no event of an exported record")
    assert "\n" not in said


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
