"""Runs of the command line on the fake engine, and what they left, for the tests of whole studies."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from burnish.record.record import Record
from burnish.report.summary import Summary, summarise

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
recipe = { c = ["-DFAKE_CRASH_AFTER=2500"] }
[missing]
reason = "A compiler that is not there, so that its row says so and the others go on."
recipe = { toolchain = "gcc-99" }
"""


def burnish(*words: str | Path, wait: bool = True) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-m", "burnish", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"COLUMNS": "80"},
    )
    if wait:
        child.wait(300)
    return child


def text(child: subprocess.Popen[str]) -> tuple[str, str]:
    assert child.stdout is not None
    assert child.stderr is not None
    return child.stdout.read(), child.stderr.read()


def study(home: Path) -> Path:
    found = list((home / "studies").glob("*"))
    assert len(found) == 1, found
    return found[0]


def summary(home: Path) -> Summary:
    with closing(Record(study(home))) as record:
        return summarise(record.events())


def kinds(home: Path, *names: str) -> list[dict[str, object]]:
    with closing(Record(study(home))) as record:
        return [dict(event.body) for event in record.events(*names)]
