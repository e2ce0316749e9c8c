"""kill -9 at every kind of moment of a study on the fake engine, and the same command once more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from burnish.record.codec import encode
from burnish.record.events import Event
from burnish.record.events.builds import BuildMade, DatasetMade, GateRun, ProfileMade
from burnish.record.events.bundled import ConfirmationBegun
from burnish.record.events.study import CommandRun, StudyFinished
from burnish.record.events.trials import PairRead, StartBegun, StartDone
from burnish.record.events.verdicts import FamilyJudged, HostCalibrated, VerdictReached
from studying import FAR, burnish, events, killed_at, summary, text

FINISHED: tuple[type[Event], ...] = (BuildMade, ProfileMade, DatasetMade, GateRun, StartDone, VerdictReached)


def finished(home: Path) -> list[tuple[str, dict[str, Any]]]:
    """Every finished piece of work on record, as values that are equal where they say the same."""
    return [encode(event) for event in events(home, *FINISHED)]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(FAR)
    return path


@pytest.mark.measures
@pytest.mark.parametrize(
    "moments",
    [(CommandRun, BuildMade, GateRun, StartBegun, PairRead), (DatasetMade, ProfileMade, StartDone, VerdictReached)],
    ids=lambda moments: "-".join(kind.kind() for kind in moments),
)
def test_kill_and_resume(burnish_home: Path, own: Path, moments: tuple[type[Event], ...]) -> None:
    """Killed at any moment, and again when it goes on, the same command goes on from what was finished.

    Nothing finished is made again or lost, and nothing is left behind. Two rows of moments, as what comes once in a
    study (data set, profile) can't be waited for behind what comes at the same time.
    """
    words = ["tune", "fake", "--variant", "gcc-pgo,speed400", "--recipes", str(own)]
    # gcc-pgo may truly be some per cent faster or slower, which would be measured again in builds of other layouts.
    words += ["--precision", "none", "--max-starts", "3", "--pairs", "1", "--layouts", "0"]
    # Once with the winner measured again apart: after the kill at the verdict that it is picked by.
    words += [] if VerdictReached in moments else ["--design", "duet"]
    done: list[tuple[str, dict[str, Any]]] = []
    for moment in moments:
        killed_at(moment, words)
        now = finished(burnish_home) if moment is not CommandRun else []
        assert now[: len(done)] == done, f"what was finished before {moment.kind()} is as it was"
        done = now
    again = burnish(*words)
    _out, err = text(again)
    assert again.returncode == 0, err
    assert "resuming" in err
    assert "speed400 faster" in " ".join(text(burnish("show", "--full"))[0].split())
    result = summary(burnish_home)
    verdicts = {row.verdict for row in result.rows}
    assert verdicts <= {"faster", "slower", "equivalent", "undecided"}, [row.reason for row in result.rows]
    assert finished(burnish_home)[: len(done)] == done
    compiled = [command for command in events(burnish_home, CommandRun) if command.what == "compile server.c"]
    # baseline, instrumented, with profile, speed400: a finished build is never compiled again. The kill at the first
    # command may fall into the baseline's own compile, which is then made again.
    assert len(compiled) - 4 <= (CommandRun in moments)
    starts = [(each.cell, each.start) for each in events(burnish_home, StartDone)]
    assert len(starts) == len(set(starts)), "no start is measured twice"


def resumed(words: Sequence[str]) -> None:
    """Calls a killed run's command again, which succeeds."""
    again = burnish(*words)
    _out, err = text(again)
    assert again.returncode == 0, err


@pytest.mark.measures
def test_a_calibration_that_was_killed_after_its_last_start_is_kept(burnish_home: Path) -> None:
    words = ["calibrate", "fake", "--design", "duet", "--pairs", "1"]
    killed_at(VerdictReached, words)
    assert not events(burnish_home, HostCalibrated)
    resumed(words)
    (kept,) = events(burnish_home, HostCalibrated)
    assert (kept.calibration.design, kept.calibration.starts) == ("duet", 12)
    assert list(burnish_home.glob("calibration/fake-fake_mix-duet.json"))
    assert events(burnish_home, StudyFinished)


@pytest.mark.measures
def test_killed_once_all_is_judged_the_winner_is_measured_again_all_the_same(burnish_home: Path, own: Path) -> None:
    words = ["tune", "fake", "--variant", "speed400", "--recipes", str(own)]
    words += ["--precision", "none", "--max-starts", "3", "--pairs", "1", "--layouts", "0"]
    killed_at(FamilyJudged, words)
    assert not events(burnish_home, ConfirmationBegun)
    resumed(words)
    (begun,) = events(burnish_home, ConfirmationBegun)
    assert begun.cell in [verdict.cell for verdict in events(burnish_home, VerdictReached)]
    assert len(events(burnish_home, FamilyJudged)) == 1, "the claims were judged already"
    assert events(burnish_home, StudyFinished)
