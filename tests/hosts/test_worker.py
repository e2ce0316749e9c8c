"""What a worker answers when its host lets it down, and how often it reports."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import distributed
import pytest

from burnish.base import storage
from burnish.base.errors import BusyError, HostError, InfrastructureError, UserError
from burnish.base.paths import Home
from burnish.hosts import plumbing
from burnish.hosts import worker as workers
from burnish.hosts.carried import Carried
from burnish.hosts.dispatch import Work
from burnish.hosts.host import Host
from burnish.hosts.jobs import Job
from burnish.hosts.plumbing import HEARTBEAT_S, QUIET_S, outward, slowed
from burnish.hosts.up import up
from burnish.hosts.worker import do


@pytest.mark.parametrize(
    "error",
    [
        HostError("/home: No space left on device", kept="2 builds"),
        OSError(errno.ENOSPC, "No space left on device", "/home"),
    ],
)
def test_a_full_disk_is_worth_another_try_and_does_not_end_the_worker(tmp_path: Path, error: Exception) -> None:
    def call(_words: Sequence[str]) -> None:
        raise error

    said: list[str] = []
    job = Job("key", Work.BUILD, "build of x", Carried(("tune", "fake"), {}))
    answer = do(Home(tmp_path), job, call, said.append)
    assert answer.again
    assert answer.problem.startswith("/home: No space left on device")
    assert "/home: No space left on device" in said[-1]


def test_data_outside_of_the_home_do_not_outlive_a_job_that_failed(tmp_path: Path) -> None:
    """The worker goes on: until it is stopped, nobody would remove them."""

    def call(_words: Sequence[str]) -> None:
        (storage.on_device(tmp_path) / "data").write_text("rows")
        raise InfrastructureError("the server did not start")

    job = Job("key", Work.BENCH, "trials of x", Carried(("tune", "fake"), {}))
    do(Home(tmp_path / "home"), job, call, lambda _: None)
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_somebody_elses_work_on_the_machine_is_worth_many_tries(tmp_path: Path) -> None:
    def call(_words: Sequence[str]) -> None:
        raise BusyError("/run/lock/burnish.lock: another burnish is building")

    job = Job("key", Work.BUILD, "build of x", Carried(("tune", "fake"), {}))
    answer = do(Home(tmp_path), job, call, lambda _: None)
    assert (answer.again, answer.busy) == (True, True)


@pytest.mark.parametrize("store", ["s3://key:secret@bucket/place", "nowhere://x"])
def test_a_store_that_no_host_could_open_is_refused_before_it_is_written_down(tmp_path: Path, store: str) -> None:
    home = Home(tmp_path / "home")
    with pytest.raises(UserError) as refused:
        up(home, None, store, None, print, yes=False, ask=None)
    assert "secret" not in str(refused.value)
    assert not home.root.exists()


@pytest.mark.parametrize(("doing", "next_s"), [("bench-run-a", QUIET_S), ("build-key", HEARTBEAT_S), ("", HEARTBEAT_S)])
def test_a_host_reports_less_often_while_trials_run_on_it(doing: str, next_s: float) -> None:
    answer = {"status": "OK", "heartbeat-interval": HEARTBEAT_S}
    assert slowed(answer, {"burnish": {"doing": doing}}) == {"status": "OK", "heartbeat-interval": next_s}


def test_a_host_that_is_not_known_yet_is_answered_as_ever() -> None:
    assert slowed({"status": "missing"}, {}) == {"status": "missing"}


@pytest.mark.parametrize(
    ("own", "printed"),
    [
        (["127.0.0.1", "10.79.0.2", "192.0.2.7"], "tls://10.79.0.2:8786"),
        (["127.0.0.1"], "tls://127.0.0.1:8786"),
    ],
)
def test_without_a_way_to_the_internet_the_scheduler_names_an_address_that_others_reach(
    own: list[str], printed: str
) -> None:
    assert outward("tls://127.0.0.1:8786", own) == printed
    assert outward("tls://192.0.2.7:8786", own) == "tls://192.0.2.7:8786", "Dask has found the right one"


@pytest.mark.parametrize(
    ("listens", "dask", "printed"),
    [
        ("", "tls://127.0.0.1:8786", "tls://192.0.2.7:8786"),
        ("0.0.0.0", "tls://127.0.0.1:8786", "tls://192.0.2.7:8786"),  # noqa: S104
        ("::", "tls://[::1]:8786", "tls://[2001:db8::7]:8786"),
        ("[::]", "tls://[::1]:8786", "tls://[2001:db8::7]:8786"),
        ("127.0.0.1", "tls://127.0.0.1:8786", "tls://127.0.0.1:8786"),
    ],
)
def test_a_scheduler_that_listens_everywhere_is_known_by_an_address_that_others_reach(
    listens: str, dask: str, printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {
        "lo": [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")],
        "eth0": [
            *((socket.AF_INET6, "fe80::1%eth0"), (socket.AF_INET6, "2001:db8::7")),
            *((socket.AF_INET, "169.254.1.1"), (socket.AF_INET, "192.0.2.7"), (socket.AF_PACKET, "02:fc:00:00:00:01")),
        ],
    }
    interfaces = {name: [SimpleNamespace(family=of, address=at) for of, at in each] for name, each in own.items()}
    monkeypatch.setattr("psutil.net_if_addrs", lambda: interfaces)
    assert plumbing.reached(dask, listens) == printed


def test_a_second_worker_of_a_name_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would say for ever that there is no connection."""
    said = []

    async def two() -> None:
        async with distributed.Scheduler(host="127.0.0.1", port=0, dashboard=False, dashboard_address=":0") as there:
            first = asyncio.Event()
            at_work = asyncio.create_task(
                plumbing.work(Home(tmp_path / "one"), there.address, "rack1", dict[str, Any], first.set)
            )
            await first.wait()
            try:
                await plumbing.work(Home(tmp_path / "two"), there.address, "rack1", dict[str, Any], lambda: None)
            except UserError as error:
                said.append(str(error).removeprefix(there.address))
            at_work.cancel()
            await asyncio.gather(at_work, return_exceptions=True)

    monkeypatch.setattr(plumbing, "security", lambda _home: None)
    plumbing.run(two())
    assert said == [": another worker is called rack1; name this one otherwise with --host, or stop that one"]
    assert not plumbing.is_taken(OSError("refused"))


def test_why_a_worker_is_not_connected_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = UserError("its certificates are valid from tomorrow")
    met: list[Exception | None] = [OSError("refused"), OSError("refused"), clock, clock, None, OSError("gone")]

    async def work(*words: Any) -> None:
        if not met:
            raise KeyboardInterrupt
        error = met.pop(0)
        if error is not None:
            raise error
        words[-1]()

    monkeypatch.setattr(plumbing, "work", work)
    monkeypatch.setattr(workers, "AGAIN_S", 0.0)
    said: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        workers._linked(Home(tmp_path), Host("one"), "tls://here:1", said.append)
    there, when = "tls://here:1", "trying again every 0 s"
    assert [line.partition(" ")[2] for line in said] == [
        f"{there}: no connection; {when}",
        f"{clock}; {when}",
        f"connected to {there}",
        f"{there}: no connection; {when}",
    ]
