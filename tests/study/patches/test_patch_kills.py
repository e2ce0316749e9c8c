"""kill -9 in the middle of studies of patches on the fake engine, and the same command once more."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from burnish.cli.results import result_of
from burnish.record.codec import encode
from burnish.record.events import Event
from burnish.record.events.builds import DatasetMade, GateRun, StageDone
from burnish.record.events.bundled import ComparisonLeft
from burnish.record.events.patches import SeriesRead, TwinFound
from burnish.record.events.trials import PairRead, StartDone
from burnish.record.events.verdicts import VerdictReached
from burnish.report.bundled.table import StudyTable
from patchfiles import COMMENT, FASTER, write
from shipping import quick
from studying import burnish, events, killed_at, study, text

QUICK = ["--starts", "2", "--pairs", "1", "--yes"]
FINISHED: tuple[type[Event], ...] = (
    SeriesRead,
    StageDone,
    DatasetMade,
    GateRun,
    TwinFound,
    ComparisonLeft,
    StartDone,
    VerdictReached,
)


def finished(home: Path) -> list[tuple[str, dict[str, Any]]]:
    """Every finished piece of work on record, as values that are equal where they say the same."""
    return [encode(event) for event in events(home, *FINISHED)]


def killed_at_each(moments: tuple[type[Event], ...], words: list[str], home: Path) -> None:
    """Killed at one moment after the other: what was on record stays as it was, and nothing that it says is redone."""
    done: list[tuple[str, dict[str, Any]]] = []
    for moment in moments:
        killed_at(moment, words)
        now = finished(home)
        assert now[: len(done)] == done, f"what was finished before {moment.kind()} is as it was"
        done = now
    again = burnish(*words)
    _, err = text(again)
    assert again.returncode == 0, err
    assert "resuming" in err
    assert finished(home)[: len(done)] == done
    made = Counter((each.stage, each.key) for each in events(home, StageDone))
    assert set(made.values()) == {1}, "no build, data or test is made twice"
    starts = Counter((each.cell, each.start) for each in events(home, StartDone))
    assert set(starts.values()) == {1}, "no start is measured twice"
    twins = Counter((each.variant, each.of) for each in events(home, TwinFound))
    assert set(twins.values()) <= {1}, "no twin is found twice"
    verdicts = Counter(each.cell for each in events(home, VerdictReached))
    assert set(verdicts.values()) == {1}


def told() -> dict[str, Any]:
    """What the newest study says that does not hang on the machine's noise."""
    found = json.loads(text(burnish("show", "--json"))[0])
    return {
        "patches": found["patched"]["patches"],
        "builds": [(each["variant"], each["patches"], each["twin"]) for each in found["patched"]["builds"]],
        "gates": [(each["variant"], each["gate"], each["same"], each["failure"]) for each in found["builds"]],
        "rows": [(row["candidate"], row["workload"], row["starts"]) for row in found["rows"]],
        "faster": [row["candidate"] for row in found["rows"] if row["capacity"] and row["capacity"]["ratio"] > 1.1],
        "identical": [row["candidate"] for row in found["rows"] if row["verdict"] == "no effect"],
        "exact": [each["patch"] for each in found["patched"]["adds"] if each["to_the_others"]["exact"]],
    }


@pytest.mark.measures
def test_a_study_of_patches_goes_on_where_it_was(burnish_home: Path, tmp_path: Path) -> None:
    words = ["patch", "fake", *write(tmp_path, fast=FASTER, comment=COMMENT), "--precision", "none", *QUICK]
    words += ["--design", "duet"]  # so that no winner is measured again apart
    killed_at_each((GateRun, TwinFound, PairRead), words, burnish_home)
    broken = told()
    assert broken["faster"] == ["fast"]
    assert broken["identical"] == ["comment"]
    assert ("all", ["fast", "comment"], "fast") in broken["builds"]
    whole = burnish(*words, "--fresh")
    assert whole.returncode == 0, text(whole)
    assert told() == broken, "an unbroken one says the same"


def lines(found: StudyTable) -> list[tuple[str, str, str, bool, bool]]:
    """What each row says that does not hang on the machine's noise."""
    return [
        (line.row, line.load, "" if line.verdict else line.reason, bool(line.verdict), line.settled)
        for line in found.lines
    ]


@pytest.mark.measures
def test_the_shipped_study_of_patches_goes_on_where_it_was(
    burnish_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ("crc32c-hardware", "rw-lock-word", "spin-wait-exchange")
    words = ["study", "run", "arm-2020", "--engine", "fake", "--row", ",".join(rows), *QUICK]
    killed_at_each((PairRead, ComparisonLeft), words, burnish_home)
    found = result_of(study(burnish_home)).shipped
    assert found is not None
    at = {line.row: line for line in found.lines}
    interval = at["crc32c-hardware"].interval
    assert interval is not None
    assert interval.ratio > 1.1
    assert at["rw-lock-word"].last == "identical code"
    monkeypatch.setenv("BURNISH_HOME", str(tmp_path / "unbroken"))
    whole, _ = quick(monkeypatch)("arm-2020", *rows)
    assert lines(found) == lines(whole), "an unbroken one says the same"
