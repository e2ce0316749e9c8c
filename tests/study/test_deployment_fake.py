"""`tune --deploy` on the fake engine, whose choices have known effects: one gains, one loses, one is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studying import FAR, QUICK, burnish, summary, text


@pytest.mark.measures
def test_choices_are_measured_one_by_one_and_together(burnish_home: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(FAR)
    words = ("tune", "fake", "--recipes", own, "--variant", "speed400", "--starts", "3", *QUICK)
    child = burnish(*words, "--deploy", "lighter,heavier,unknown", "--json")
    out, err = text(child)
    assert child.returncode == 0, err
    found = json.loads(out)["deployment"]
    assert (found["build"], found["done"], found["taken"]) == ("speed400", True, ["lighter"])
    by_name = {choice["choice"]: choice for choice in found["choices"]}
    assert by_name["lighter"]["loads"]["fake_mix"]["verdict"] == "faster"
    assert by_name["heavier"]["loads"]["fake_mix"]["verdict"] == "slower"
    assert by_name["unknown"]["loads"] == {}
    assert "no_such_setting" in by_name["unknown"]["failure"]
    (both,) = found["both"].values()
    assert both["throughput"]["ratio"] > by_name["lighter"]["loads"]["fake_mix"]["throughput"]["ratio"] * 0.9 > 2
    assert [row.candidate for row in summary(burnish_home).rows] == ["speed400"], "builds and deployment stay apart"
    whole, _ = text(burnish("show"))
    flat = " ".join(whole.split())
    assert "Deploy speed400 with lighter (--set work_percent=25)." in flat
    assert "times baseline's throughput: measured." in flat
    assert "unknown: not measured: " in flat
