"""What is printed of several runs at once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.cli import results
from burnish.cli.common import app
from burnish.record import exchange
from burnish.report.committed import result_of_file
from burnish.report.contents import answer
from drawn import drawn
from pieces import whole

RECORD = Path(__file__).parents[2] / "docs/results/sqlite-tune.jsonl.xz"


def test_several_runs_are_one_json_document(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs of hosts whose records are not merged, as of a calibration."""
    result = result_of_file(RECORD)
    monkeypatch.setattr(results, "result_of", lambda folder: replace(result, name=folder.name))
    results.finish_all([Path("one"), Path("two")], as_json=True, full=False)
    value = json.loads(capsys.readouterr().out)
    assert value["schema"] == 1
    assert [run["name"] for run in value["runs"]] == ["one", "two"]
    results.finish_all([Path("one")], as_json=True, full=False)
    assert json.loads(capsys.readouterr().out)["name"] == "one"


def test_commands_that_take_no_file_name_the_run_of_an_exported_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, file = tmp_path / "server", tmp_path / "sent.jsonl.xz"
    program.touch()
    monkeypatch.setattr(results, "program_of", lambda *_, **__: program)
    made = whole("fake-tune-1", "here", 1, [0.1, 0.11, 0.12, 0.1]).made
    exchange.write(file, made)

    def said() -> str:
        result = result_of_file(file)
        return drawn(answer(result, results.around(result, file)), 80)

    assert str(program) in said()
    assert not any(verb in said() for verb in ("burnish install", "burnish package", "burnish reproduce"))
    exchange.import_study(paths.home(), file)
    assert "burnish install fake-tune-1 --variant one" in said()
    assert "burnish package fake-tune-1 --variant one" in said()
    assert f"burnish show {file} --full" in said(), "what takes a file names it"
    exchange.write(file, whole("fake-tune-1", "here", 1, [0.1, 0.11, 0.12, 0.1], seed=2).made)
    assert "burnish install" not in said(), "another run of that name"


def test_an_exported_record_is_shown_without_a_home_and_none_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown() -> None:
        done = CliRunner().invoke(app, ["show", str(RECORD)])
        assert done.exit_code == 0, done.exception
        assert "not on this machine" in done.stdout

    home = tmp_path / "none-yet"
    monkeypatch.setenv("BURNISH_HOME", str(home))
    shown()
    assert not home.exists()
    home.mkdir()
    shown()
    assert list(home.iterdir()) == [], "a folder that is read gets no marker, store or lock"
    (tmp_path / "file").touch()
    monkeypatch.setenv("BURNISH_HOME", str(tmp_path / "file" / "home"))
    shown()


def test_a_record_where_a_run_is_wanted_is_called_that(tmp_path: Path) -> None:
    file = tmp_path / "a run.jsonl.xz"
    exchange.write(file, whole("fake-tune-1", "here", 1, [0.1, 0.11, 0.12, 0.1]).made)
    with pytest.raises(UserError, match=r"is an exported record, .* a run; `burnish record import '/.*xz'` makes"):
        results.run_named(str(file))
