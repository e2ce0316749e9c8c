"""What the host disturbed is measured again by the same command, in another sitting; nothing else is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.model.cell import Role
from burnish.record.events.study import StudyFinished
from burnish.record.events.trials import StartDone
from burnish.record.events.verdicts import VerdictReached
from burnish.study.trials.starts import INVALID_STARTS
from studying import FAR, QUICK, aged, burnish, events, study, text

WORDS = (
    *("tune", "fake", "--recipes", "own.toml", "--variant", "speed400", "--precision", "none", "--max-starts", "3"),
    *QUICK,
)

NOISY = """
from burnish.bench import watch
taken = watch.Flaw("the hypervisor took 20% of the CPU (bound 5%); try at a quieter hour", passing=True)
watch.Watch._disturbance = lambda *_: taken
from burnish.cli import main
main()
"""
"""Burnish on a host whose processor is taken away in every pair."""


def claims(home: Path) -> list[StartDone]:
    return [done for done in events(home, StartDone) if done.cell.role is Role.CLAIM]


def test_a_cell_that_the_host_disturbed_is_measured_again(
    burnish_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.toml").write_text(FAR)
    monkeypatch.chdir(tmp_path)
    noisy = subprocess.run([sys.executable, "-c", NOISY, *WORDS], capture_output=True, text=True, check=False)
    assert noisy.returncode == 1, noisy.stderr
    assert "the hypervisor took 20%" in noisy.stderr
    assert "while 1 of 1 cells were measured; the same command measures them again, 30 min" in noisy.stderr
    assert "The same command measures it again, half an hour after that or later." in " ".join(noisy.stdout.split())
    out, _ = text(burnish("show", "--full"))
    assert "not complete: the undisturbed cells (0 of 1)" in out
    assert len(claims(burnish_home)) == INVALID_STARTS
    assert not events(burnish_home, StudyFinished)

    child = burnish(*WORDS)
    text(child)
    assert child.returncode == 1
    assert len(claims(burnish_home)) == INVALID_STARTS, "not in the same sitting"
    out, _ = text(burnish("resume", "--due"))
    assert "measuring 1 disturbed cell again is due at" in out
    assert len(claims(burnish_home)) == INVALID_STARTS

    aged(study(burnish_home), 3600)
    child = burnish("resume", "--due")
    out, err = text(child)
    assert child.returncode == 0, err
    (row,) = json.loads(text(burnish("show", "--json"))[0])["rows"]
    assert (row["verdict"], row["starts"], row["invalid_starts"]) == ("faster", 3, INVALID_STARTS)
    assert row["sitting"]["sittings"] == 1
    assert len(events(burnish_home, StudyFinished)) == 1
    assert [reached.verdict for reached in events(burnish_home, VerdictReached)] == ["invalid", "faster"]


NOISY_APART = NOISY.replace("lambda *_: taken", "lambda self, *_: taken if self.loaded else usual(self, *_)").replace(
    "watch.Watch._disturbance =", "usual = watch.Watch._disturbance\nwatch.Watch._disturbance ="
)
"""On a host that is noisy while a winner's fresh starts are taken, with servers and clients on cores of their own."""


@pytest.mark.measures
def test_a_confirmation_that_the_host_disturbed_is_measured_again(
    burnish_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.toml").write_text(FAR)
    monkeypatch.chdir(tmp_path)
    words = [word for word in WORDS if word not in ("--design", "duet")]
    noisy = subprocess.run([sys.executable, "-c", NOISY_APART, *words], capture_output=True, text=True, check=False)
    assert "while 1 of 2 cells were measured; the same command measures them again, 30 min" in noisy.stderr
    assert not events(burnish_home, StudyFinished)
    assert [reached.verdict for reached in events(burnish_home, VerdictReached)] == ["faster", "invalid"]
    out, _ = text(burnish("resume", "--due"))
    assert "measuring 1 disturbed cell again is due at" in out

    aged(study(burnish_home), 3600)
    child = burnish("resume", "--due")
    _, err = text(child)
    assert child.returncode == 0, err
    *_, again = events(burnish_home, VerdictReached)
    assert (again.cell.role, again.verdict) == (Role.CONFIRMATION, "faster")
    assert len(events(burnish_home, StudyFinished)) == 1
