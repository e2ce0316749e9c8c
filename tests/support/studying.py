"""Runs of the command line on the fake engine, and what they left, for the tests of whole studies."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from burnish.base import process, warden
from burnish.record.events import Event
from burnish.record.record import FILE, Record
from burnish.report.fold import fold
from burnish.report.result import Result
from forking import STOPS_AT, Call

E = TypeVar("E", bound=Event)

QUICK = ("--design", "duet", "--pairs", "1")
"""Starts of a second, and a winner that is not measured again apart: for what is about neither."""

OWN = """
[speed130]
reason = "Known truth: thirty per cent more capacity than the baseline."
recipe = { c = ["-DFAKE_SPEED=130"] }
[near]
reason = "Other code for half of the requests, which takes a hundredth less of their work: next to no difference."
recipe = { c = ["-DFAKE_LOW=101"] }
[wrong]
reason = "Answers wrongly, so that its gate must fail and name the test."
recipe = { c = ["-DFAKE_WRONG"] }
[broken]
reason = "Does not compile, so that its row says so and the others go on."
recipe = { c = ["-DFAKE_BROKEN"] }
[crash]
reason = "Dies under load, so that its cell is invalid and says why."
recipe = { c = ["-DFAKE_CRASH_AFTER=250"] }
[missing]
reason = "A compiler that is not there, so that its row says so and the others go on."
recipe = { toolchain = "gcc-99" }
"""


FAR = """
[speed400]
reason = "Known truth: four times the baseline's capacity, which three starts tell on any machine."
recipe = { c = ["-DFAKE_SPEED=400"] }
"""
"""For what comes of a winner: no noise has a part in who that is."""


def burnish(*words: str | Path, wait: bool = True) -> Call:
    child = Call(*words, env=os.environ | {"COLUMNS": "80"})
    if wait:
        child.wait(timeout=550)
    return child


def text(child: Call) -> tuple[str, str]:
    return child.stdout.read(), child.stderr.read()


def study(home: Path) -> Path:
    found = list((home / "studies").glob("*"))
    assert len(found) == 1, found
    return found[0]


def summary(home: Path) -> Result:
    with closing(Record(study(home))) as record:
        return fold(record.every())


def events(home: Path, kind: type[E], *others: type[E]) -> list[E]:
    """Events of these types of the only study, in order."""
    with closing(Record(study(home))) as record:
        return [each.event for each in record.events(kind, *others)]


def marked(pid: int) -> list[int]:
    return [found for found, mark in warden.marked(process.RUN_VARIABLE) if mark.startswith(f"{pid}-")]


def stopped_at(moment: type[Event], words: Sequence[str | Path]) -> Call:
    """Begins the command, which stops as soon as it has recorded an event of this type: no turn comes too late."""
    with tempfile.TemporaryDirectory() as place:
        stopped = Path(place, "stopped")
        child = Call(*words, env=os.environ | {"COLUMNS": "80", STOPS_AT: f"{moment.kind()} {stopped}"})
        deadline = time.monotonic() + 300
        while not stopped.exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        assert stopped.exists(), text(child)
    return child


def killed_at(moment: type[Event], words: Sequence[str | Path]) -> None:
    """Runs the command and kills it as soon as the record has one more event of this type than before.

    Nothing that it started may be left.
    """
    child = stopped_at(moment, words)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    gone = time.monotonic() + 60
    while marked(child.pid) and time.monotonic() < gone:
        time.sleep(0.1)
    assert marked(child.pid) == [], "a process was left behind"


def endless(place: Path, program: str, where: str) -> str:
    """A PATH whose `program` does its work, and then does not end where this condition of the shell holds."""
    place.mkdir()
    (place / program).write_text(
        f'#!/bin/sh\n{shutil.which(program)} "$@" || exit\nif {where}; then exec sleep 600; fi\n'
    )
    (place / program).chmod(0o755)
    return f"{place}:{os.environ['PATH']}"


def aged(folder: Path, seconds: float) -> None:
    """Makes a run older: all of its events, as if it had been that many seconds earlier."""
    with closing(Record(folder)) as record:
        lines = list(record.lines())
    (folder / FILE).unlink()
    with closing(Record(folder, create=True)) as record:
        record.restore(line._replace(at=_earlier(line.at, seconds)) for line in lines)


def _earlier(at: str, seconds: float) -> str:
    return (datetime.fromisoformat(at) - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
