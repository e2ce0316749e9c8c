"""Runs of the command line that are disturbed: started, killed, and what they leave behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.base import process, warden

HOOK = Path(__file__).parent / "hook"
PATIENCE_S = 3600.0
GONE_S = 20.0
"""Seconds within which the warden must have cleaned up, on a busy machine."""


@dataclass(frozen=True)
class Place:
    """Where one study is disturbed.

    Attributes:
        root: the folder of everything below; the same for all cases of a campaign, as builds carry its path.
    """

    root: Path

    @property
    def home(self) -> Path:
        """Burnish's home."""
        return self.root / "home"

    @property
    def temporary(self) -> Path:
        """Where programs put short-lived files."""
        return self.root / "tmp"

    def empty(self) -> None:
        """Removes what an earlier case left."""
        for folder in (self.home, self.temporary):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)


@dataclass(frozen=True)
class Ended:
    """How a call ended.

    Attributes:
        code: its exit code; negative: the signal that killed it.
        out: what it printed.
        err: what it said.
        seconds: wall time.
        pid: of the process.
    """

    code: int
    out: str = field(repr=False)
    err: str
    seconds: float
    pid: int

    @property
    def traceback(self) -> bool:
        """Whether it ended with one, which is never right."""
        return "Traceback (most recent call last)" in self.err

    @property
    def last(self) -> str:
        """The last words of what it said: from its message on."""
        lines = self.err.strip().splitlines()
        begin = max((number for number, line in enumerate(lines) if line.startswith("burnish: ")), default=-1)
        return " / ".join(lines[begin:]) if lines else ""


def call(
    place: Place,
    words: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
    kill: tuple[float, str] | None = None,
) -> Ended:
    """Runs the command line to its end, or kills it.

    Args:
        place: where.
        words: the words of the command line.
        environment: more variables.
        prefix: words before the program.
        kill: (seconds after its start, what is killed: see `kill_run`).
    """
    env = {**os.environ, "BURNISH_HOME": str(place.home), "TMPDIR": str(place.temporary), "COLUMNS": "200"}
    began = time.monotonic()
    said = place.root / "said"
    with said.open("w+") as out, said.with_suffix(".err").open("w+") as err:
        child = subprocess.Popen(
            [*prefix, sys.executable, "-m", "burnish", *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**env, **(environment or {})},
            start_new_session=True,
        )
        try:
            child.wait(kill[0] if kill else PATIENCE_S)
        except subprocess.TimeoutExpired:
            kill_run(child.pid, kill[1] if kill else "all")
            child.wait()
        spent = time.monotonic() - began
    texts = [path.read_text(errors="replace") for path in (said, said.with_suffix(".err"))]
    return Ended(child.returncode, texts[0], texts[1], spent, child.pid)


def kill_run(pid: int, what: str) -> None:
    """Kills a run with SIGKILL.

    Args:
        pid: of Burnish.
        what: "driver": only this process; "group": its group; "all": also its warden and everything that it started,
            as when a container is killed.
    """
    if what == "driver":
        os.kill(pid, signal.SIGKILL)
        return
    wardens = wardens_of(pid) if what == "all" else []
    for other in [*wardens, *marked(pid)] if what == "all" else []:
        with contextlib.suppress(ProcessLookupError):
            os.kill(other, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def marked(pid: int) -> list[int]:
    """Processes that a run started and that are still there."""
    return [found for found, mark in warden.marked(process.RUN_VARIABLE) if mark.startswith(f"{pid}-")]


def wardens_of(pid: int) -> list[int]:
    """The wardens of a run that are still there."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if any(word.endswith(b"/warden.py") for word in words) and any(
                word.startswith(f"{pid}-".encode()) for word in words
            ):
                found.append(int(folder.name))
    return found


def left_running(pid: int) -> list[str]:
    """What a killed run has left running, mounted or named after the warden's time, in words."""
    deadline = time.monotonic() + GONE_S
    while (marked(pid) or wardens_of(pid)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return _left(pid)


def _left(pid: int) -> list[str]:
    found = []
    for other in marked(pid):
        with contextlib.suppress(OSError):
            found.append(f"process {Path(f'/proc/{other}/comm').read_text().strip()}")
    found += [f"warden {other}" for other in wardens_of(pid)]
    found += [f"namespace {name}" for name in warden.namespaces(f"{pid}-")]
    found += [f"folder {path}" for path in warden.stores(warden.STORES, f"{pid}-")]
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    found += [f"mount {line.split()[1]}" for line in mounts if f"burnish-{pid}-" in line]
    return found


def files_of(home: Path) -> set[str]:
    """Names of everything in a home that does not belong to one run or to a cache of compilers."""
    found = set()
    for path in home.rglob("*"):
        name = str(path.relative_to(home))
        parts = name.split("/")
        if name.startswith(("store/ccache/", "store/thinlto/")):
            continue
        if parts[0] == "studies":
            if len(parts) < 2 or parts[-2] == "logs":
                continue
            parts[1] = "RUN"
        found.add("/".join(parts))
    return found
