"""What is printed of several runs at once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.cli import results
from burnish.report.committed import result_of_file

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
