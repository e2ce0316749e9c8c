"""Records as pages carry them: the compact record as it was written, and the events that a report needs."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.record import exchange, lines
from burnish.record.carried import Carried, carried
from burnish.record.events import Event, Recorded
from burnish.record.events.study import PictureDrawn
from burnish.record.events.trials import PairRead
from burnish.record.events.why import SamplingMethod, WhyExplained
from burnish.record.record import Record
from burnish.report.fold import fold
from drawn import markdown
from pieces import of, whole

STUDY = whole("fake-tune-1", "here", 1, [0.1, 0.11, 0.12]).made
COMPACT = list(exchange.compact(STUDY))


def read_again(record: Carried, folder: Path) -> list[Recorded[Event]]:
    path = folder / f"again{lines.USUAL}"
    path.write_bytes(record.packed.result())
    return list(exchange.read_events(path))


def test_a_file_is_carried_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    exchange.write(path, STUDY)
    record = carried(path)
    assert read_again(record, tmp_path) == COMPACT
    written = [text for _, text in lines.each(path)]
    again = [text for _, text in lines.each(tmp_path / f"again{lines.USUAL}")]
    assert sum(text not in written for text in again) == 2, "only what a compact record has shorter is written anew"
    assert {str(pair.turns) for pair in of(record.events, PairRead)} == {"{}"}
    assert markdown(fold(record.events)) == markdown(fold(STUDY))


def test_a_run_is_carried_with_its_drawings(tmp_path: Path) -> None:
    exchange.write(tmp_path / "some.jsonl", STUDY)
    folder, _ = exchange.import_study(paths.home(), tmp_path / "some.jsonl")
    with closing(Record(folder)) as record:
        method = SamplingMethod("cycles", True, 1.0, 1.0, "lbr", "duet", "names", 0, 0, 0.0)
        record.append(WhyExplained(("a", "b"), "w", "unit", method, pictures=("a.svg", "none.svg")))
    (folder / "a.svg").write_text("<svg/>")
    found = read_again(carried(folder), tmp_path)
    assert found == list(exchange.compact(exchange.study_events(folder)))
    assert of(found, PictureDrawn) == [PictureDrawn("a.svg", "<svg/>")]


def test_a_record_of_format_1_is_carried_in_it(tmp_path: Path) -> None:
    older = tmp_path / "older.jsonl"
    older.write_text('{"n":1,"at":"","kind":"study","body":{"name":"s","definition":{}}}\n')
    record = carried(older)
    assert read_again(record, tmp_path) == list(exchange.read_events(older))
    assert [line.form for line in lines.read(tmp_path / f"again{lines.USUAL}")] == [1]


def test_what_is_cut_off_is_not_carried(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    exchange.write(path, STUDY)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UserError, match="cut off"):
        carried(path)
