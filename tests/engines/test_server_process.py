"""A server's life, with a stand-in for the server: what it prints, how it ends, which processes are its own."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from burnish.base import temporary
from burnish.engines.contract import MARKER
from burnish.engines.shared import server_process
from burnish.engines.shared.server_process import ForkingServer, Launch
from burnish.engines.testing.sides import alive

WAIT_S = 60.0

FORKING = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open(sys.argv[1], "w").close()
    time.sleep(600)
time.sleep(600)
"""


class Forking(ForkingServer):
    """A process with a child that leads a group of its own and does not end when it is asked to."""

    def words(self) -> Sequence[str | Path]:
        return ["python3", "-c", FORKING, self.launch.folder / "ready"]

    def ready(self) -> bool:
        return (self.launch.folder / "ready").is_file()


@pytest.fixture
def server(tmp_path: Path) -> Forking:
    (tmp_path / MARKER).touch()
    return Forking(Launch(Path("python3"), tmp_path, tmp_path), name="forking", socket="socket")


def test_a_sockets_name_is_short_enough_in_bytes_wherever_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel takes 107 bytes; a letter with an accent is two."""

    def socket(folder: Path) -> Path:
        server = Forking(Launch(Path("python3"), tmp_path, folder), name="forking", socket="socket")
        try:
            return server.socket
        finally:
            server.stop()

    assert socket(Path("/short")) == Path("/short/socket")
    accents = socket(Path("/" + "é" * 60))
    assert len(os.fsencode(accents)) <= 100
    far = tmp_path / ("f" * 100)
    far.mkdir()
    monkeypatch.setattr(temporary, "base", lambda: far)
    last = socket(Path("/" + "é" * 60))
    assert last.parent.parent.parent == Path("/tmp")
    assert len(os.fsencode(last)) <= 100


@pytest.mark.parametrize("killed", [False, True])
def test_no_child_of_a_server_is_left(server: Forking, killed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_process, "_KILLED_S", 60.0)  # sooner, as soon as it gets a core to end on
    server.boot()
    first, child = server.pids()
    assert first == server.pid
    if killed:
        os.kill(first, signal.SIGKILL)
    server.stop(patience=WAIT_S)
    assert server.pids() == []
    assert not alive(child)
    assert "ended by" in server.ending()
