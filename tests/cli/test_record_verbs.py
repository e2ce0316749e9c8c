"""The verbs about records as a person and as a machine call them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.cli.common import app
from burnish.record import exchange
from burnish.record.events import Event, Recorded
from burnish.record.events.study import RecordImported, StudyBegun
from pieces import Piece, whole

MONDAY = whole("fake-tune-1", "one", 1, [0.1, 0.11, 0.12, 0.1])
TUESDAY = whole("fake-tune-2", "other", 2, [0.1, 0.14, 0.12])


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "80", "TERM": "dumb"})


def run(*words: str | Path) -> str:
    done = call(*words)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def wrong(*words: str | Path) -> str:
    done = call(*words)
    assert isinstance(done.exception, UserError), done.output
    return str(done.exception)


def file(folder: Path, piece: Piece | Sequence[Recorded[Event]], name: str) -> Path:
    exchange.write(folder / name, piece.made if isinstance(piece, Piece) else piece)
    return folder / name


def test_a_record_is_exported_shown_imported_and_exported_again(tmp_path: Path) -> None:
    source = file(tmp_path, MONDAY, "whole.jsonl")
    small = tmp_path / "small.jsonl.xz"
    told = json.loads(run("record", "export", source, "-o", small, "--json"))
    assert told == {"schema": 1, "file": str(small), "events": len(MONDAY.made) - 2, "bytes": small.stat().st_size}
    for words in (("--full",), ("--json",), ("--markdown",)):
        assert run("show", small, *words) == run("show", source, *words)
    assert json.loads(run("record", "import", small, "--json"))["made"] is True
    assert json.loads(run("record", "import", small, "--json"))["made"] is False
    assert run("show", "fake-tune-1", "--full") == run("show", small, "--full")
    again = tmp_path / "again.jsonl.xz"
    run("record", "export", "fake-tune-1", "-o", again)
    assert again.read_bytes() == small.read_bytes()
    every = tmp_path / "every.jsonl.gz"
    run("record", "export", "fake-tune-1", "-o", every, "--whole")
    assert exchange.read_events(every)[-1].event == RecordImported("small.jsonl.xz")


def test_the_file_is_named_after_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("record", "import", file(tmp_path, MONDAY, "whole.jsonl.gz"))
    run("record", "export")
    assert isinstance(exchange.read_events(tmp_path / "fake-tune-1.jsonl.xz")[0].event, StudyBegun)


def test_records_are_merged(tmp_path: Path) -> None:
    one, other = file(tmp_path, MONDAY, "one.jsonl.xz"), file(tmp_path, TUESDAY, "other.jsonl.xz")
    both, round_about = tmp_path / "both.jsonl.xz", tmp_path / "round.jsonl.xz"
    done = call("record", "merge", one, other, "-o", both)
    assert done.exit_code == 0
    assert f"{both}: 7 starts on 2 hosts, " in done.output
    run("record", "import", other)
    run("record", "merge", "fake-tune-2", one, other, one, "-o", round_about)
    assert round_about.read_bytes() == both.read_bytes()
    assert "merged from fake-tune-1 (4 starts on A), fake-tune-2 (3 starts on B)" in " ".join(
        run("show", both, "--full").split()
    )
    assert max(map(len, run("show", both, "--full").splitlines())) <= 80


def test_reports_are_rendered_and_checked(tmp_path: Path) -> None:
    place = tmp_path / "results"
    place.mkdir()
    path = file(place, MONDAY, "one.jsonl.xz")
    assert call("record", "render", place, "--check").exit_code == 1
    assert not (place / "one.md").exists()
    run("record", "render", path)
    assert (place / "one.md").read_text() == run("show", path, "--markdown")
    assert json.loads(run("record", "render", place, "--check", "--json")) == {"schema": 1, "files": 1, "different": []}
    report = (place / "one.md").read_text().splitlines(keepends=True)
    (place / "one.md").write_text("".join([*report[:6], "| made up |\n", *report[6:]]))
    done = call("record", "render", place, "--check")
    assert done.exit_code == 1
    assert "one.md: line 7: found '| made up |', the record gives" in done.output
    assert json.loads(call("record", "render", place, "--check", "--json").stdout)["different"][0]["line"] == 7
    run("record", "render", place)
    run("record", "render", place, "--check")


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl.xz"
    cut.write_bytes(file(tmp_path, MONDAY, "one.jsonl.xz").read_bytes()[:-40])
    for words in (("show", cut), ("record", "import", cut), ("record", "export", cut, "-o", tmp_path / "x.jsonl")):
        assert "cut off: " in wrong(*words)
    letter = tmp_path / "letter.jsonl.xz"
    letter.write_text("Dear reader,\n")
    assert "its content does not match its suffix" in wrong("record", "import", letter)
    empty = file(tmp_path, [], "empty.jsonl.xz")
    assert "holds no study" in wrong("show", empty)
    assert "holds no study" in wrong("record", "import", empty)
    assert "name ends in" in wrong("record", "merge", empty, empty, "-o", tmp_path / "both.zip")
    assert "name ends in" in wrong("record", "render", tmp_path / "x.md")
    assert "is the record itself" in wrong(
        "record", "export", tmp_path / "one.jsonl.xz", "-o", tmp_path / "one.jsonl.xz"
    )
    assert "unknown run 'nothing'" in wrong("record", "export", "nothing")
    assert not list(paths.home().studies.glob("*"))
