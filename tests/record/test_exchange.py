"""Compact records: what they leave out, that reports are the same, and studies made from them again."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.record import exchange, lines
from burnish.record.events import Event, Recorded, Unknown
from burnish.record.events.study import CommandRun, PictureDrawn, RecordImported, StudyBegun
from burnish.record.events.trials import PairRead, StartDone
from burnish.record.events.why import SamplingMethod, WhyExplained
from burnish.record.record import Record, import_events
from burnish.report.fold import fold
from burnish.report.render.json import text
from burnish.report.values import runs as values
from burnish.study.kept import runs as studies
from drawn import markdown
from pieces import of, whole

STUDY = whole("fake-tune-1", "here", 1, [0.1, 0.11, 0.12]).made


def file(folder: Path, events: list[Recorded[Event]], name: str = "some.jsonl.xz") -> Path:
    exchange.write(folder / name, events)
    return folder / name


def test_a_compact_record_has_no_logs_and_says_once_how_sides_were_launched() -> None:
    result = list(exchange.compact(STUDY))
    assert of(STUDY, CommandRun)
    assert not of(result, CommandRun)
    kept = [item for item in STUDY if not isinstance(item.event, CommandRun)]
    assert [item.event.kind() for item in result] == [each.event.kind() for each in kept]
    assert [item.launched is not None for item in of(result, StartDone)] == [True, False, False]
    assert of(result, PairRead) == of(STUDY, PairRead)
    assert list(exchange.compact(result)) == result


def test_a_kind_of_event_that_is_yet_to_come_is_carried(tmp_path: Path) -> None:
    event = Recorded(1, "", Unknown("something new", {"launched": 1, "core": 2}))
    assert list(exchange.compact([event])) == [event]
    path = file(tmp_path, [*STUDY[:1], replace(event, number=2)])
    assert exchange.read_events(path)[1] == replace(event, number=2)


def test_it_renders_the_same_report(tmp_path: Path) -> None:
    path = file(tmp_path, list(exchange.compact(STUDY)))
    one, other = fold(STUDY), fold(exchange.read_events(path))
    assert markdown(one) == markdown(other)
    assert text(values.run(one)) == text(values.run(other))


def test_there_and_back_gives_the_same_bytes(tmp_path: Path) -> None:
    home = paths.home()
    path = file(tmp_path, list(exchange.compact(STUDY)))
    folder, made = exchange.import_study(home, path)
    assert (folder, made) == (home.studies / "fake-tune-1", True)
    again = file(tmp_path, list(exchange.compact(exchange.study_events(folder))), "again.jsonl.xz")
    assert again.read_bytes() == path.read_bytes()
    assert exchange.import_study(home, path) == (folder, False), "the very same one is there already"
    assert studies.find(home, "fake-tune-1") == folder


def test_another_study_of_that_name_is_left_alone(tmp_path: Path) -> None:
    home = paths.home()
    folder, _ = exchange.import_study(home, file(tmp_path, STUDY))
    other = file(tmp_path, whole("fake-tune-1", "here", 1, [0.5]).made)
    with pytest.raises(UserError, match=r"a study of this name exists, with another record"):
        exchange.import_study(home, other)
    with closing(Record(folder)) as record:
        assert list(record.every())[-1].event == RecordImported("some.jsonl.xz")
    assert list(home.root.glob("tmp*")) == []


@pytest.mark.parametrize("name", ["../../etc", "a/b", "", ".hidden"])
def test_a_study_whose_name_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    path = file(tmp_path, [Recorded(1, "", StudyBegun(name, {}))])
    with pytest.raises(UserError, match=r"not a valid study name"):
        exchange.import_study(paths.home(), path)


@pytest.mark.parametrize("name", ["null", "7"])
def test_a_study_whose_name_is_no_text_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text('{"n":1,"at":"","kind":"study","body":{"name":' + name + ',"definition":{}}}\n')
    with pytest.raises(UserError, match=r"some.jsonl: event 1: study_begun, name: is (None|7), not text; "):
        exchange.import_study(paths.home(), path)


def test_a_record_of_format_1_is_carried_as_one_of_today(tmp_path: Path) -> None:
    """Read, taken in and exported again; what is taken in stays as it was."""
    older = tmp_path / "older.jsonl"
    older.write_text(
        '{"n":1,"at":"","kind":"study","body":{"name":"s","definition":{}}}\n'
        '{"n":2,"at":"","kind":"left","body":{"key":" / a /  / w / ","why":"so","final":true}}\n'
    )
    folder, _ = exchange.import_study(paths.home(), older)
    with closing(Record(folder)) as record:
        kinds = [row[0] for row in record._db.execute("SELECT kind FROM event ORDER BY id")]
        assert kinds == ["study", "left", "record_imported"]
    path = file(tmp_path, list(exchange.compact(exchange.study_events(folder))))
    assert exchange.read_events(path) == exchange.read_events(older)
    assert [line.form for line in lines.read(path)] == [2, 2]
    assert exchange.import_study(paths.home(), path) == (folder, False), "the same in another format"


def test_an_imported_study_is_not_gone_on_with(tmp_path: Path) -> None:
    home = paths.home()
    asked = studies.Definition(
        verb="tune",
        engine="fake",
        variants=("baseline",),
        workloads=("w",),
        features="full",
        source="shipped",
        precision=0.01,
        max_starts=8,
        pairs=3,
        turns=None,
        starts=None,
        design=None,
        explore=False,
        layouts=0,
        trainings=0,
        seed=1,
        recipes={},
    )
    record, _ = studies.begin_or_resume(home, asked, fresh=False)
    with closing(record):
        path = file(tmp_path, list(record.every()))
    record.folder.rename(tmp_path / "elsewhere")
    folder, _ = exchange.import_study(home, path)
    again, resumed = studies.begin_or_resume(home, asked, fresh=False)
    again.close()
    assert (again.folder != folder, resumed) == (True, False)


def test_a_packed_record_can_be_read_as_one(tmp_path: Path) -> None:
    path = file(tmp_path, STUDY)
    with closing(import_events(path, tmp_path / "folder")) as record:
        assert list(record.every()) == STUDY


def test_events_of_some_types_or_without_turns_are_read_alone(tmp_path: Path) -> None:
    path = file(tmp_path, list(STUDY))
    chosen = exchange.events_of(path, StudyBegun, StartDone)
    assert chosen == [item for item in STUDY if isinstance(item.event, StudyBegun | StartDone)]
    bare = exchange.read_events(path, turns=False)
    assert [pair.turns for pair in of(bare, PairRead)] == [{} for _ in of(STUDY, PairRead)]
    assert markdown(fold(bare)) == markdown(fold(STUDY))


def test_drawings_are_carried_once(tmp_path: Path) -> None:
    with closing(Record(tmp_path / "why", create=True)) as record:
        record.append(StudyBegun("why-1", {}))
        method = SamplingMethod("cycles", True, 1.0, 1.0, "lbr", "duet", "names", 0, 0, 0.0)
        record.append(WhyExplained(("a", "b"), "w", "unit", method, pictures=("flame.svg", "gone.svg")))
    (tmp_path / "why" / "flame.svg").write_text("<svg/>")
    events = exchange.study_events(tmp_path / "why")
    assert [(event.number, event.event) for event in events[2:]] == [(3, PictureDrawn("flame.svg", "<svg/>"))]
    folder, made = exchange.import_study(paths.home(), file(tmp_path, list(events)))
    assert made
    assert exchange.study_events(folder)[:3] == events
    assert len(exchange.study_events(folder)) == 4, "where it came from, and no second drawing"


def test_a_runs_own_export_is_the_same_with_its_drawings(tmp_path: Path) -> None:
    folder = paths.home().studies / "why-1"
    with closing(Record(folder, create=True)) as record:
        record.append(StudyBegun("why-1", {}))
        method = SamplingMethod("cycles", True, 1.0, 1.0, "lbr", "duet", "names", 0, 0, 0.0)
        record.append(WhyExplained(("a", "b"), "w", "unit", method, pictures=("flame.svg",)))
    (folder / "flame.svg").write_text("<svg/>")
    exported = file(tmp_path, list(exchange.compact(exchange.study_events(folder))))
    assert exchange.import_study(paths.home(), exported) == (folder, False)
    (folder / "flame.svg").write_text("<svg>another</svg>")
    with pytest.raises(UserError, match="with another record"):
        exchange.import_study(paths.home(), exported)


def test_nothing_is_written_where_it_can_not_be(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"name ends in"):
        exchange.write(tmp_path / "record.zip", STUDY)
    with pytest.raises(UserError, match=r"no such folder"):
        exchange.write(tmp_path / "gone" / "a.jsonl.xz", STUDY)
    assert list(tmp_path.iterdir()) == [] or {path.name for path in tmp_path.iterdir()} == {"burnish-home"}
    assert exchange.write(tmp_path / "a.jsonl", STUDY) == (tmp_path / "a.jsonl").stat().st_size
    assert len(lines.read(tmp_path / "a.jsonl")) == len(STUDY)
