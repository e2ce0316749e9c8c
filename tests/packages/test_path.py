"""Where a variant's program lies, and which variants a build is."""

from __future__ import annotations

import json
from pathlib import Path

from fakerun import called


def test_the_path_is_the_measured_programs(tuned_home: Path) -> None:
    done = called(tuned_home, "path", "speed400")
    program = Path(done.stdout.rstrip("\n"))
    assert program.is_file()
    assert program.name == "server"
    assert program.is_relative_to(tuned_home / "store/builds")
    value = json.loads(called(tuned_home, "path", "speed400", "--json").stdout)
    assert (value["path"], value["variant"], value["engine"]) == (str(program), "speed400", "fake")
    assert called(tuned_home, "path", value["build"]).stdout == done.stdout


def test_an_unknown_name_is_refused_with_those_that_there_are(tuned_home: Path) -> None:
    done = called(tuned_home, "path", "speed40")
    assert done.returncode == 2
    assert "did you mean 'speed400'" in done.stderr
    assert "baseline" in done.stderr
    assert not done.stdout


def test_another_runs_names_are_not_taken(tuned_home: Path) -> None:
    done = called(tuned_home, "path", "speed400", "--run", "mariadb")
    assert done.returncode == 2
    assert "unknown run 'mariadb'" in done.stderr


def test_builds_are_listed_with_their_variants(tuned_home: Path) -> None:
    values = json.loads(called(tuned_home, "builds", "--json").stdout)["builds"]
    names = {tuple(value["variants"]) for value in values}
    assert {("baseline",), ("speed400",)} <= names
    key = next(value["key"] for value in values if value["variants"] == ["speed400"])
    assert f"{key} (speed400): fake" in called(tuned_home, "builds").stdout
    assert f"{key} (speed400) fake" in called(tuned_home, "builds", key).stdout
