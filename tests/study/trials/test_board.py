"""A running study as another terminal sees it: cells so far, what it does now."""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from typer.testing import CliRunner

from burnish.base import paths
from burnish.cli.common import app
from burnish.record import exchange, live
from burnish.record.events.study import RecordImported
from burnish.record.record import Record
from burnish.record.workbench import Bench
from burnish.study.trials.board import board
from pieces import Piece, whole

OPEN = Piece("fake-tune-20260103", "one", 3).contest().starts([0.1, 0.12])
DONE = whole("fake-tune-20260101", "one", 1, [0.1, 0.11, 0.12, 0.1])


def kept(piece: Piece) -> Path:
    name = exchange.study_name(Path("run"), piece.made)
    folder = paths.home().studies / name
    with closing(Record(folder, create=True)) as record:
        record.restore(exchange._lines(piece.made))
    return folder


def watch(*words: str) -> str:
    done = CliRunner().invoke(app, ["watch", *words], env={"COLUMNS": "80", "TERM": "dumb"}, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_cells_fill_in_from_the_record() -> None:
    with closing(Record(kept(OPEN))) as record:
        (row,) = board(record)
    assert (row.candidate, row.starts, row.sitting) == ("one", 2, "")
    assert row.so_far is not None
    assert row.so_far.low < 1.116 < row.so_far.high
    with closing(Record(kept(DONE))) as record:
        (row,) = board(record)
    assert row.sitting == "ahead", "whether it is faster is for the report to say, with a wider interval"


def test_a_run_is_watched_from_another_terminal() -> None:
    folder = kept(OPEN)
    assert "not running; the same command resumes it" in watch("--once")
    live.write(folder, "[start 3/8] one on w", "pair: baseline 1,000/s  one 1,110/s", 3.0, 9.0, 60.0)
    text = watch("--once")
    assert f"{folder.name} (process {os.getpid()}); about 1 min 00 s left in all" in text
    assert "[start 3/8] one on w (3 s of about 9 s)" in text
    assert "pair: baseline 1,000/s  one 1,110/s" in text
    assert "0 of 1 cell decided" in text
    value = json.loads(watch("--json"))
    assert value["now"]["running"] is True
    assert [cell["starts"] for cell in value["cells"]] == [2]


def test_another_process_with_the_same_number_is_not_the_run(tmp_path: Path) -> None:
    now = live.Live(os.getpid(), time.time(), "compile")
    assert now.running
    with subprocess.Popen(["sleep", "60"]) as other:
        assert not replace(now, pid=other.pid, at=now.at - 60.0).running, "it began after the run wrote"
        assert replace(now, pid=other.pid, at=time.time()).running
        other.kill()
    assert not replace(now, pid=other.pid).running


def test_an_imported_run_is_not_watched_before_the_running_one() -> None:
    folder = kept(OPEN)
    live.write(folder, "compile", "", 3.0, 9.0, 60.0)
    other = paths.home().studies / "imported"
    with closing(Record(other, create=True)) as record:
        record.restore(exchange._lines(Piece("imported", "one", 3).contest().made))
        record.append(RecordImported("imported.jsonl"))
    assert folder.name in watch("--once")
    (folder / live.FILE).unlink()
    assert folder.name in watch("--once")


def test_watching_ends_with_the_run() -> None:
    folder = kept(DONE)
    text = watch(folder.name)
    assert f"{folder.name}: finished; `burnish show {folder.name}` has" in text
    assert "ahead" in text
    assert "faster" not in text
    assert "1 of 1 cell decided for this sitting; verdicts come with the report" in text
    done = CliRunner().invoke(app, ["watch"])
    assert "no run is going on in this home" in str(done.exception)


def test_a_workbench_tells_what_it_does_and_how_long_all_takes(tmp_path: Path) -> None:
    folder = kept(OPEN)
    with closing(Record(folder)) as record:
        bench = Bench(record, tmp_path / "logs", Console(quiet=True))
        bench.expect(100_000.0)
        with bench.step("building", "build", expected=10.0):
            now = live.read(folder)
            assert now is not None
            assert (now.step, now.expected, now.running) == ("building", 10.0, True)
            assert now.left is not None
            assert 99_000 < now.left <= 100_000
            bench._told_at = 0.0
            bench.live("pair: a 10/s  b 11/s")
            again = live.read(folder)
            assert again is not None
            assert again.text == "pair: a 10/s  b 11/s"
        bench.expect(0.0)
        assert bench.left is None, "what has passed is not said"


def test_a_file_that_is_cut_off_or_of_another_version_says_nothing(tmp_path: Path) -> None:
    assert live.read(tmp_path) is None
    (tmp_path / live.FILE).write_text('{"pid": 1')
    assert live.read(tmp_path) is None
    (tmp_path / live.FILE).write_text('{"pid": 1, "other": 2}')
    assert live.read(tmp_path) is None
