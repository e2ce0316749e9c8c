"""The check of a pipeline on the fake engine, whose speeds are known: exit codes, files, bad calls."""

from __future__ import annotations

import json
import math
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Tree

import pytest
from typer.testing import CliRunner

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.cli.common import app
from burnish.cli.pipeline import checking
from burnish.model.cell import CellId, Role
from burnish.record.events.trials import StartDone
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.study.study import Confirmation, Study
from burnish.study.trials import trials
from burnish.study.trials.readings import start_done
from conftest import BuildFake
from studying import burnish, text

QUICK = ("--engine", "fake", "--workload", "fake_mix", "--pairs", "1", "--minutes", "0.45", "--seed", "1")


@pytest.fixture
def programs(build_fake: BuildFake) -> list[Path]:
    return [build_fake(*flags).server for flags in ((), ("-DFAKE_SPEED=400",))]


@pytest.mark.measures
def test_exit_codes_and_files(burnish_home: Path, programs: list[Path], tmp_path: Path) -> None:
    slow, fast = programs
    page, xml = tmp_path / "comment.md", tmp_path / "junit.xml"
    worse = burnish("check", f"old={fast}", f"new={slow}", *QUICK, "--markdown", page, "--junit", xml)
    out, err = text(worse)
    assert worse.returncode == 3, (out, err)
    assert out.startswith("new is slower than old by more than 1 % on fake_mix: proved.")
    assert re.search(r"\| fake_mix \| slower \| -[5-9]\d", page.read_text())
    suite = Tree.parse(xml).getroot().find("testsuite")  # noqa: S314 - written here
    assert suite is not None
    assert suite.get("failures") == "1"
    better = burnish("check", f"old={slow}", f"new={fast}", *QUICK, "--json")
    out, err = text(better)
    assert better.returncode == 0, (out, err)
    assert json.loads(out)["outcome"] == "passed"


@pytest.mark.parametrize("option", ["--markdown", "--junit"])
def test_files_that_cant_be_written_are_refused_before_anything_is_measured(
    burnish_home: Path, programs: list[Path], tmp_path: Path, option: str
) -> None:
    slow, fast = programs
    child = burnish("check", f"old={slow}", f"new={fast}", *QUICK, option, tmp_path / "absent/file")
    assert child.returncode == 2
    assert f"{tmp_path}/absent: there is no such folder" in text(child)[1]
    assert not (burnish_home / "studies").exists()


def test_none_of_many_loads_is_measured_again(
    burnish_home: Path, programs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Starts that nobody uses would be beyond the minutes that were asked for."""
    asked: list[Study] = []

    def run(home: Home, study: Study, *_: Any, **__: Any) -> Path:
        asked.append(study)
        raise UserError("enough")

    monkeypatch.setattr(checking.runner, "run", run)
    words = ["check", *(f"{name}={path}" for name, path in zip(("old", "new"), programs, strict=True)), *QUICK]
    CliRunner().invoke(app, words)
    assert asked[0].confirmation == Confirmation(more_than=None)


def test_a_load_is_judged_by_its_claim_and_not_by_fresh_starts_after_it(tmp_path: Path) -> None:
    claim, again = (CellId("new", "fake_mix", role) for role in (Role.CLAIM, Role.CONFIRMATION))
    with closing(Record(tmp_path / "run", create=True)) as record:
        for cell, reading in ((claim, 0.1), (again, 0.3)):
            record.append(StartDone(cell, 1, None, True, 1.0, "data", readings={"capacity": reading}))
            record.append(VerdictReached(cell, "duet", "capacity", "unit", "faster", "", {}, 1))
    assert checking._readings(tmp_path / "run") == {"fake_mix": [0.1]}


def test_too_little_time_is_undecided_not_a_pass(
    burnish_home: Path, programs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is measured is given: starts that lie about the bound, far from each other."""

    def read(cell: CellId, number: int, *more: Any, **found: Any) -> StartDone:
        done = start_done(cell, number, *more, **found)
        return replace(done, readings=dict.fromkeys(done.readings, math.log(0.77) + 0.1 * (-1) ** number))

    monkeypatch.setattr(trials, "start_done", read)
    words = ["check", *(f"{name}={path}" for name, path in zip(("old", "new"), programs, strict=True)), *QUICK]
    done = CliRunner().invoke(app, [*words, "--fail-if", "slower>23%"])
    assert done.exit_code == 4, done.output
    assert "Undecided" in done.output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--fail-if", "faster"), "--fail-if 'faster': give 'slower>N%'"),
        (("--minutes", "0.1"), "--minutes 0.1: 3 starts of 1 load, and"),
        (("--minutes", "-1"), "--minutes -1: give a number from 0.1 to 600"),
    ],
)
def test_wrong_calls_are_one_line(burnish_home: Path, programs: list[Path], words: tuple[str, ...], says: str) -> None:
    child = burnish("check", f"old={programs[0]}", f"new={programs[1]}", *QUICK, *words)
    _, err = text(child)
    assert child.returncode == 2
    assert says in err.strip().splitlines()[-1]
