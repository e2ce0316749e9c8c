"""How the program ends: Ctrl-C, a disk that is full, output that the terminal can't show, nothing measured."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from burnish.base.paths import Home
from burnish.study.kept import runs as studies
from studying import OWN, QUICK, burnish, endless, marked, text

WORDS = ["tune", "fake", "--variant", "speed130", "--starts", "2", *QUICK, "--yes"]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    return path


def begun(home: Home, seconds: float = 120.0) -> Path:
    """The folder of the one run, as soon as it is there."""
    deadline = time.monotonic() + seconds
    while not studies.folders(home) and time.monotonic() < deadline:
        time.sleep(0.05)
    (folder,) = studies.folders(home)
    return folder


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "pipe"])
def test_ctrl_c_ends_with_130_and_says_that_the_same_command_resumes(
    burnish_home: Path, own: Path, tmp_path: Path, terminal: bool
) -> None:
    path = endless(tmp_path / "programs", "mkdir", '[ "${PWD##*/}" = build ]')  # so that the run is not over before
    ours, theirs = pty.openpty()
    output = theirs if terminal else subprocess.PIPE
    child = subprocess.Popen(
        [sys.executable, "-m", "burnish", *WORDS, "--recipes", own],
        stdin=theirs if terminal else subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=os.environ | {"COLUMNS": "200", "TERM": "xterm", "PATH": path},
        start_new_session=True,
    )
    os.close(theirs)
    folder = begun(Home(burnish_home))
    os.killpg(child.pid, signal.SIGINT)
    said = b""
    if terminal:
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # its end is closed
                break
            if not part:
                break
            said += part
    else:
        assert child.stdout is not None
        said = child.stdout.read()
    os.close(ours)
    assert child.wait(120) == 130, said.decode()
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode()).strip().splitlines()[-1]
    assert last == "burnish: interrupted; the same command resumes the run"
    assert b"Traceback" not in said
    deadline = time.monotonic() + 60
    while marked(child.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert marked(child.pid) == [], "a process was left behind"
    if terminal:
        return
    again = burnish(*WORDS, "--recipes", own)
    assert again.returncode == 0, text(again)
    assert studies.folders(Home(burnish_home)) == [folder], "it was resumed"


def test_where_nothing_could_be_measured_it_ends_with_1_and_a_sentence(burnish_home: Path, own: Path) -> None:
    child = burnish("tune", "fake", "--variant", "broken", "--recipes", own, "--yes")
    out, err = text(child)
    assert child.returncode == 1, err
    assert "nothing could be compared" in " ".join(out.split()).lower()
    assert burnish("show").returncode == 0, "showing it is no failure"


def test_the_counter_of_steps_ends_at_its_end_though_a_build_failed(burnish_home: Path, own: Path) -> None:
    _, err = text(burnish("tune", "fake", "--variant", "broken,wrong", "--recipes", own, "--yes"))
    assert "[4/7] broken: compile: failed" in err
    assert "[6/6] wrong: gate: done" in err, err


def test_a_call_that_is_named_is_one_that_can_be_typed(burnish_home: Path) -> None:
    env = os.environ | {"BURNISH_PROGRAM": "./burnish", "COLUMNS": "80"}
    for words, said in ((["runs"], "no run yet; `./burnish tune "), (["flags"], "`./burnish flags WORD`")):
        argv = [sys.executable, "-m", "burnish", *words]
        done = subprocess.run(argv, capture_output=True, env=env, text=True, check=False)
        assert said in " ".join(done.stdout.split()), done.stdout + done.stderr
        assert "`burnish" not in done.stdout


def test_a_full_disk_is_one_line() -> None:
    for words in (["variants"], ["variants", "--json"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "burnish", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 1, words
        assert done.stderr == "burnish: standard output: No space left on device\n", words


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    line = f"{sys.executable} -m burnish variants --full | head -n 1"
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "baseline"
    assert done.stderr == ""


def test_what_the_terminal_cannot_show_is_one_line(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[mine]\nreason = "Saves 3 \N{MICRO SIGN}s."\n', encoding="utf-8")
    env = os.environ | {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    argv = [sys.executable, "-m", "burnish", "variants", "mine", "--recipes", own]
    done = subprocess.run(argv, capture_output=True, env=env, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("burnish: the output has '\\xb5'")
    assert len(done.stderr.splitlines()) == 1
    assert "LC_ALL=C.UTF-8" in done.stderr


def test_ctrl_c_that_python_drops_prints_nothing() -> None:
    code = (
        "import os, signal; from burnish.base import interrupts; interrupts.watch()\n"
        "class Dropping:\n"
        "    def __init__(self, error=None): self.error = error\n"
        "    def __del__(self):\n"
        "        if self.error: raise self.error\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "Dropping(); Dropping(ValueError('seen'))\n"
        "try: interrupts.check()\n"
        "except KeyboardInterrupt: print('noted')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "noted\n"
    assert "KeyboardInterrupt" not in done.stderr
    assert "ValueError: seen" in done.stderr
