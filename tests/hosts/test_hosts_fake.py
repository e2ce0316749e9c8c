"""A study on two hosts: a scheduler and two workers as real processes' worth of work, one of them over a slow cable."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from burnish.base import netns, paths, process, warden
from burnish.base.process import stop
from burnish.hosts import run as on_hosts
from burnish.hosts.host import Chosen
from burnish.hosts.place import folder, join_folder, read_joined
from burnish.record.events.builds import StageDone
from burnish.record.events.study import RecordsMerged
from burnish.record.events.trials import StartDone
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.study.constructors.tune import tune_study
from burnish.study.request.options import Options
from studying import FAR

RATE = "200kbit"
NAMES = ("one", "two")


@dataclass(frozen=True)
class Cable:
    """What connects the second host.

    Attributes:
        address: the scheduler's end of it.
        prefix: of the second host's command.
        devices: its ends, each as arguments of tc.
        lacking: why it is the loopback, without a limit; '' if it is not.
    """

    address: str = "127.0.0.1"
    prefix: tuple[str, ...] = ()
    devices: tuple[tuple[str, ...], ...] = ()
    lacking: str = ""

    def held_up(self) -> list[int]:
        """How often something had to wait for the cable, at each end."""
        counts = []
        for ends in self.devices:
            said = subprocess.run(["tc", "-s", "-j", *ends], check=True, capture_output=True).stdout
            counts += [queue["overlimits"] for queue in json.loads(said) if queue["kind"] == "tbf"]
        return counts


def test_builds_are_made_once_and_measured_on_each_host_though_the_cable_is_slow(tmp_path: Path) -> None:
    home = paths.home()
    own = tmp_path / "own.toml"
    own.write_text(FAR)
    words = ("tune", "fake", "--recipes", str(own), "--variant", "baseline,speed400", "--starts", "3",
             "--design", "duet", "--pairs", "1", "--layouts", "0")  # fmt: skip
    options = Options(
        variants=("baseline", "speed400"), recipes=own, starts=3, design="duet", pairs=1, layouts=0,
        command=words,
    )  # fmt: skip
    lines = io.StringIO()
    with cable_of(RATE) as cable, contextlib.ExitStack() as workers:
        _scheduler(home, cable.address, tmp_path / "shared")
        joined = read_joined(home)
        assert joined is not None
        for name in NAMES:
            worker = _worker(tmp_path / name, home, joined.address, name, cable.prefix if name == "two" else ())
            workers.callback(stop, worker, patience=0)
        study = tune_study("fake", options)
        (merged,) = on_hosts.run(home, study, options, Chosen(names=NAMES), Console(file=lines, width=200), 300)
        held_up = cable.held_up()
    said = lines.getvalue()
    assert all((join_folder(home) / name).stat().st_mode & 0o077 == 0 for name in ("key.pem", "ca.pem", "cert.pem"))
    with closing(Record(merged)) as record:
        hosts = record.last(RecordsMerged)
        verdict = record.last(VerdictReached)
        again = [done for done in record.events(StartDone) if done.event.invalid is not None]
    assert hosts is not None, said
    starts = [host.starts for host in hosts.event.hosts]
    assert min(starts) >= 4, "three of the cell, one of the canary"
    assert sum(starts) == 8 + len(again), "more only where one was spoiled"
    assert verdict is not None
    assert verdict.event.verdict == "faster"
    assert [host.host for host in verdict.event.hosts] == ["A", "B"], "each host is a block of its own"
    made = [key for name in NAMES for key in _stages(tmp_path / name)]
    assert len(made) == 2, "baseline and speed400 were built once, on whichever host"
    assert len(list((tmp_path / "shared").rglob("index/builds/*"))) == 2
    assert not list((folder(home) / "campaigns").iterdir()), "the run is finished: the same command begins another"
    if cable.lacking:
        pytest.skip(f"the cable was not slow: {cable.lacking}")
    assert len(held_up) == 2
    assert min(held_up) > 0, "both ways had to wait for it"


@contextlib.contextmanager
def cable_of(rate: str) -> Iterator[Cable]:
    """A network namespace with a cable to it of such a rate each way; the loopback where none can be made."""
    lacking = netns.lacking(rate)
    if lacking is not None:
        yield Cable(lacking=lacking)
        return
    space, device = f"{warden.NAMESPACE}{process.run_id()}-hosts", f"bn{os.getpid()}"
    number = os.getpid() % 2**15 * 4  # a network of its own, of those that are for tests of networks
    here, there = (f"198.{18 + (number >> 16)}.{number >> 8 & 255}.{(number & 255) + end}" for end in (1, 2))
    limit = ("root", "tbf", "rate", rate, "burst", str(netns.burst(rate)), "latency", "400ms")
    try:
        for words in (
            ("ip", "netns", "add", space),
            ("ip", "link", "add", device, "type", "veth", "peer", "name", "eth0", "netns", space),
            ("ip", "address", "add", f"{here}/30", "dev", device),
            ("ip", "-n", space, "address", "add", f"{there}/30", "dev", "eth0"),
            ("ip", "link", "set", device, "up"),
            ("ip", "-n", space, "link", "set", "eth0", "up"),
            ("ip", "-n", space, "link", "set", "lo", "up"),
            ("tc", "qdisc", "add", "dev", device, *limit),
            ("tc", "-n", space, "qdisc", "add", "dev", "eth0", *limit),
        ):
            subprocess.run(words, check=True, capture_output=True)
        ends = (("qdisc", "show", "dev", device), ("-n", space, "qdisc", "show", "dev", "eth0"))
        yield Cable(here, ("ip", "netns", "exec", space), ends)
    finally:
        for words in (("link", "del", device), ("netns", "del", space)):
            subprocess.run(["ip", *words], check=False, capture_output=True)


def _scheduler(home: paths.Home, address: str, shared: Path) -> None:
    """Runs a scheduler in this process until the tests end."""
    from burnish.hosts.up import up

    lines: list[str] = []
    threading.Thread(target=up, args=(home, f"{address}:0", str(shared), None, lines.append), daemon=True).start()
    while not lines:
        time.sleep(0.1)


def _worker(place: Path, home: paths.Home, address: str, name: str, prefix: tuple[str, ...]) -> subprocess.Popen[bytes]:
    joined = place / "hosts" / "join"
    joined.parent.mkdir(mode=0o700, parents=True)
    subprocess.run(["cp", "-pr", str(join_folder(home)), str(joined)], check=True)
    with (place / "worker.log").open("w") as log:
        return subprocess.Popen(
            [*prefix, sys.executable, "-m", "burnish", "worker", address, "--host", name],
            env=os.environ | {"BURNISH_HOME": str(place)},
            stdout=log,
            stderr=log,
        )


def _stages(place: Path) -> list[str]:
    """Keys of the builds that a host has made."""
    keys = []
    for run in (*(place / "hosts" / "builds").glob("*"), *(place / "studies").glob("*")):
        with closing(Record(run)) as record:
            keys += [done.event.key for done in record.events(StageDone) if done.event.stage == "compile"]
    return keys
