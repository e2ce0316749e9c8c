"""A side of a start: which processes are suspended."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from burnish.bench.pairs import Contestant
from burnish.bench.running import Running
from burnish.engines.side import Side


class _Growing:
    """A load that starts another process after it was asked for its processes once."""

    def __init__(self, pids: list[int]) -> None:
        self.pids, self.asked = pids, 0

    def client_pids(self) -> list[int]:
        self.asked += 1
        return self.pids[: self.asked]

    def server_pids(self) -> list[int]:
        return []


@pytest.fixture
def sleepers() -> Iterator[list[int]]:
    children = [subprocess.Popen(["sleep", "60"]) for _ in range(2)]
    yield [child.pid for child in children]
    for child in children:
        child.send_signal(signal.SIGCONT)
        child.kill()
        child.wait()


def test_a_process_that_starts_while_a_load_is_suspended_is_suspended_too(sleepers: list[int]) -> None:
    running = Running(cast(Contestant, None), cast(Side, _Growing(sleepers)), frozenset({0}))
    running.freeze(frozen=True)
    deadline = time.monotonic() + 60
    while not all(_stopped(pid) for pid in sleepers) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [_stopped(pid) for pid in sleepers] == [True, True]


def _stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
