"""A side's trouble, with stand-ins for its server and its load: which of the two is named as the cause."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from burnish.base.errors import InfrastructureError
from burnish.engines.contract import MARKER, SideSpec
from burnish.engines.shared import server_side
from burnish.engines.shared.load_process import LoadProcess
from burnish.engines.shared.server_process import Launch, ServerProcess
from burnish.engines.shared.server_side import ServerSide
from burnish.model.condition import Condition
from burnish.model.workload import Workload
from burnish.program.built import Built

LOST = "sysbench said: FATAL: Lost connection to server"


class Waiting(ServerProcess):
    """A process that runs until it is ended."""

    def words(self) -> Sequence[str | Path]:
        return ["sleep", "600"]

    def ready(self) -> bool:
        return True


class Lost(LoadProcess):
    """A load that has just lost its connection; as it says so, its server gets a signal.

    A server that dies closes its connections before its end can be seen, so that a side which looks for that end first
    sees a server that lives.
    """

    def __init__(self, folder: Path, server: ServerProcess, number: int) -> None:
        files = {"log": folder / "log", "ticks": folder / "ticks", "folder": folder}
        super().__init__(["sleep", "600"], environment={}, cores=None, **files)
        self.server, self.number = server, number

    def trouble(self) -> str | None:
        if self.server.alive:
            os.kill(self.server.pid, self.number)
        return LOST


class LostSide(ServerSide[Waiting]):
    def __init__(self, spec: SideSpec, number: int) -> None:
        super().__init__(spec, Waiting(Launch.of(spec, ()), name="server", socket="socket"))
        self.number = number

    def new_load(self) -> LoadProcess:
        return Lost(self.spec.folder, self.server, self.number)

    def fingerprint(self) -> str:
        return ""


@pytest.fixture
def side(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LostSide]:
    (tmp_path / MARKER).touch()
    built = Built("sleep", tmp_path, Path("sleep"), "key")
    load = Workload("w", "fake", "for this test", program="p", dataset="none")
    cores = frozenset(os.sched_getaffinity(0))
    spec = SideSpec("a", built, Condition(), load, data=tmp_path, folder=tmp_path, seed=7, cores=cores)
    side = LostSide(spec, request.param)
    side.boot()
    side.load()
    yield side
    side.stop()


@pytest.mark.parametrize("side", [signal.SIGKILL], indirect=True)
def test_a_servers_end_is_named_before_what_its_load_says_of_it(
    side: LostSide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_side, "_ENDING_S", 60.0)  # it ends sooner, at whatever moment it gets a core
    ended = f"a: the server was ended by SIGKILL (its log: {side.server.log}); {LOST}"
    assert [side.trouble(), side.trouble()] == [ended, ended]
    side.stop()
    assert side.trouble() is None


@pytest.mark.parametrize("side", [signal.SIGCONT], indirect=True)
def test_a_load_in_trouble_on_a_server_that_lives_is_waited_for_once(
    side: LostSide, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(side.server, "ends_within", waits.append)
    assert [side.trouble(), side.trouble()] == [f"a: {LOST}"] * 2
    assert waits == [server_side._ENDING_S]


@pytest.mark.parametrize("side", [signal.SIGCONT], indirect=True)
def test_a_side_has_the_errors_of_its_servers_log(side: LostSide, monkeypatch: pytest.MonkeyPatch) -> None:
    assert side.complaints() == []
    monkeypatch.setattr(Waiting, "complaint", re.compile(r"ERROR: (.*)"))
    side.server.log.write_text("begun\nERROR: cannot upgrade\nERROR: aborting\n")
    assert side.complaints() == ["cannot upgrade", "aborting"]


class Clean(Waiting):
    """One that ends by itself when it is asked to."""

    def words(self) -> Sequence[str | Path]:
        return ["sh", "-c", "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done"]

    def ready(self) -> bool:
        return "up" in self.log.read_text()


@pytest.mark.parametrize("side", [signal.SIGKILL], indirect=True)
def test_a_training_needs_a_server_that_ends_by_itself(side: LostSide) -> None:
    with pytest.raises(
        InfrastructureError, match=r"^a: the server was ended by SIGTERM at the end of its load, so its"
    ):
        side.finish(60.0)
    side.server = Clean(side.server.launch, name="clean", socket="socket")
    side.boot()
    side.finish(60.0)
    assert not side.server.alive
