"""A study on two hosts: a scheduler and two workers as real processes' worth of work, on the loopback."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

from rich.console import Console

from burnish.base import paths
from burnish.base.process import stop
from burnish.hosts import run as on_hosts
from burnish.hosts.host import Chosen
from burnish.hosts.place import folder, join_folder, read_joined
from burnish.record.events.builds import StageDone
from burnish.record.events.study import RecordsMerged
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.study.constructors.tune import tune_study
from burnish.study.request.options import Options
from studying import OWN


def test_builds_are_made_once_and_measured_on_each_host(tmp_path: Path) -> None:
    home = paths.home()
    own = tmp_path / "own.toml"
    own.write_text(OWN)
    _scheduler(home, tmp_path / "shared")
    joined = read_joined(home)
    assert joined is not None
    assert all((join_folder(home) / name).stat().st_mode & 0o077 == 0 for name in ("key.pem", "ca.pem", "cert.pem"))
    workers = [_worker(tmp_path / name, home, joined.address, name) for name in ("one", "two")]
    words = ("tune", "fake", "--recipes", str(own), "--variant", "baseline,speed130", "--starts", "2",
             "--design", "duet", "--pairs", "1", "--layouts", "0")  # fmt: skip
    options = Options(
        variants=("baseline", "speed130"), recipes=own, starts=2, design="duet", pairs=1, layouts=0,
        command=words,
    )  # fmt: skip
    said = io.StringIO()
    try:
        study = tune_study("fake", options)
        (merged,) = on_hosts.run(home, study, options, Chosen(names=("one", "two")), Console(file=said, width=200), 300)
    finally:
        for worker in workers:
            stop(worker, patience=0)
    with closing(Record(merged)) as record:
        hosts = record.last(RecordsMerged)
        verdict = record.last(VerdictReached)
    assert hosts is not None, said.getvalue()
    assert [host.starts for host in hosts.event.hosts] == [3, 3], "two of the cell, one of the canary"
    assert verdict is not None
    assert verdict.event.verdict == "faster"
    assert [host.host for host in verdict.event.hosts] == ["A", "B"], "each host is a block of its own"
    made = [key for name in ("one", "two") for key in _stages(tmp_path / name)]
    assert len(made) == 2, "baseline and speed130 were built once, on whichever host"
    assert len(list((tmp_path / "shared").rglob("index/builds/*"))) == 2
    assert not list((folder(home) / "campaigns").iterdir()), "the run is finished: the same command begins another"


def _scheduler(home: paths.Home, shared: Path) -> None:
    """Runs a scheduler in this process until the tests end."""
    from burnish.hosts.up import up

    lines: list[str] = []
    threading.Thread(target=up, args=(home, "127.0.0.1:0", str(shared), None, lines.append), daemon=True).start()
    while not lines:
        time.sleep(0.1)


def _worker(place: Path, home: paths.Home, address: str, name: str) -> subprocess.Popen[bytes]:
    joined = place / "hosts" / "join"
    joined.parent.mkdir(mode=0o700, parents=True)
    subprocess.run(["cp", "-pr", str(join_folder(home)), str(joined)], check=True)
    with (place / "worker.log").open("w") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "burnish", "worker", address, "--host", name],
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
