"""kill -9 at every kind of moment of a study on the fake engine, and the same command once more."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from studying import OWN, burnish, kinds, summary, text

from burnish import process, warden


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    return path


def marked(pid: int) -> list[int]:
    return [found for found, mark in warden.marked(process.RUN_VARIABLE) if mark.startswith(f"{pid}-")]


@pytest.mark.parametrize(
    "moment",
    ["command", "build", "profile", "gate", "dataset", "start", "pair", "start_done", "verdict"],
)
def test_kill_and_resume(burnish_home: Path, own: Path, moment: str) -> None:
    """Killed at any moment, the same command goes on: nothing finished is redone, nothing is left behind."""
    words = ["tune", "fake", "--variants", "gcc-pgo,speed130", "--recipes", str(own)]
    words += ["--precision", "none", "--max-starts", "3"]
    child = burnish(*words, wait=False)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.02)
        try:
            if kinds(burnish_home, moment):
                break
        except Exception:  # noqa: S112 - the record may not be there yet
            continue
    assert child.poll() is None, text(child)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    gone = time.monotonic() + 5
    while marked(child.pid) and time.monotonic() < gone:
        time.sleep(0.1)
    assert marked(child.pid) == [], "a process was left behind"
    done = {str(body["key"]) for body in kinds(burnish_home, "build")}
    started = len(kinds(burnish_home, "start_done"))
    again = burnish(*words)
    out, err = text(again)
    assert again.returncode == 0, err
    assert "going on with" in err
    assert "speed130 faster" in " ".join(out.split())
    result = summary(burnish_home)
    assert {row.verdict for row in result.rows} <= {"faster", "slower", "equivalent", "undecided"}
    keys = [str(body["key"]) for body in kinds(burnish_home, "build")]
    assert done <= set(keys)
    compiled = [body for body in kinds(burnish_home, "command") if body["what"] == "compile server.c"]
    if moment != "command":
        # baseline, instrumented, with profile, speed130: a finished build is never compiled again
        assert len(compiled) == 4
    assert len(kinds(burnish_home, "start_done")) >= started
