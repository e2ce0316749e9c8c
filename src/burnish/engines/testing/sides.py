"""What a side must be like from its start to its end."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from burnish.base import process, warden
from burnish.base.errors import InfrastructureError, UserError
from burnish.engines.contract import MARKER, Built, Condition, Engine, Side, SideSpec, Tick, Workload
from burnish.engines.testing.base import Contract, PlainBench, state_of_build

PATIENCE_S = 60.0
"""Seconds that a tick, a trouble or an end may take on a busy machine."""

MOST_TICKS = 1000
"""Ticks a second of a side, at most: Burnish reads all of them beside what it measures."""

Start = Callable[..., Side]


def ours() -> set[int]:
    """Processes that this run of the tests has started and that live."""
    return {pid for pid, mark in warden.marked(process.RUN_VARIABLE) if mark == process.run_id()}


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def cores_of(pid: int) -> list[set[int]]:
    """The cores that each thread of a process may run on, but for threads that end meanwhile, as servers' do."""
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(ProcessLookupError):
                found.append(os.sched_getaffinity(int(task.name)))
    return found


def ticks_of(side: Side, count: int) -> list[Tick]:
    """So many ticks of a loaded side, and of three or more, as many as it takes to finish something; fewer in trouble.

    On a busy machine a load may have had no turn between two ticks.
    """
    ticks = list(side.ticks())
    deadline = time.monotonic() + max(PATIENCE_S, side.silence())

    def enough() -> bool:
        return len(ticks) >= count and (count < 3 or ticks[-1].done > ticks[0].done)

    while not enough() and time.monotonic() < deadline and side.trouble() is None:
        time.sleep(0.02)
        ticks += side.ticks()
    return ticks


def trouble_of(side: Side) -> str:
    """Why a side can't go on, once it has said so; '' when it never does."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if (trouble := side.trouble()) is not None:
            return trouble
        time.sleep(0.02)
    return ""


class SideContract(Contract):
    """A side's life, and what can go wrong in it; every side has a folder and data of its own."""

    @pytest.fixture
    def start(
        self,
        engine: Engine,
        built: Built,
        workload: Workload,
        dataset: Path | None,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> Iterator[Start]:
        """Makes a side, as a start does; changes to its `SideSpec` by name."""
        made: list[Side] = []
        here = tmp_path / "here"
        here.mkdir()
        monkeypatch.chdir(here)
        before, kept = ours(), state_of_build(engine, built)

        def make(**changes: object) -> Side:
            number = len(made)
            # The second side's folder has a path that is too long for a Unix socket's name.
            folder = tmp_path / (f"side{number}-" + "long" * 30 if number == 1 else f"side{number}")
            folder.mkdir(mode=0o700)
            data = tmp_path / f"data{number}"
            if dataset is None:
                data.mkdir(mode=0o700)
            else:
                shutil.copytree(dataset, data, symlinks=True)
                if not (data / MARKER).is_file():
                    (data / MARKER).write_text("contract\n")
            spec = SideSpec(
                label=f"side {number}",
                built=built,
                condition=Condition(),
                workload=workload,
                data=data,
                folder=folder,
                seed=7,
                cores=frozenset(os.sched_getaffinity(0)),
            )
            made.append(engine.side(replace(spec, **changes)))  # type: ignore[arg-type]
            return made[-1]

        yield make
        for side in made:
            side.stop()
        deadline = time.monotonic() + PATIENCE_S
        while (left := ours() - before) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not left, f"processes are left: {left}"
        assert state_of_build(engine, built) == kept, "a side changed the build's folder"
        assert not list(here.iterdir()), "a side wrote to the working folder"

    def test_data_are_made_in_their_folder(self, dataset: Path | None, start: Start, workload: Workload) -> None:
        """Every copy of them has the same fingerprint; a load without data has none. Servers start at the same time."""
        one, other = start(), start()
        one.launch()
        other.launch()
        one.boot()
        other.boot()
        assert one.fingerprint() == other.fingerprint()
        assert bool(one.fingerprint()) == (dataset is not None)
        assert (workload.dataset == "none") == (dataset is None)

    def test_two_sides_live_side_by_side(self, start: Start) -> None:
        """Booted, loaded, read and ended, at the same time."""
        sides = [start(), start()]
        for side in sides:
            assert side.trouble() is None
            assert side.server_pids() == []
            side.boot()
            assert side.server_pids()
            assert all(map(alive, side.server_pids()))
            assert side.ticks() == [], "no load yet"
            assert side.silence() >= 0
        for side in sides:
            side.load()
        for side in sides:
            ticks = ticks_of(side, 6)
            assert side.trouble() is None
            assert len(ticks) >= 6
            for before, after in pairwise(ticks):
                assert after.at > before.at
                assert after.done >= before.done
                assert after.errors >= before.errors
                assert after.server_cpu >= before.server_cpu
                assert after.client_cpu >= before.client_cpu
                assert after.steps >= before.steps
            last = ticks[-1]
            assert last.done > ticks[0].done
            assert len(ticks) - 1 <= MOST_TICKS * (last.at - ticks[0].at), "more ticks than anybody can read"
            assert last.errors == 0
            assert last.server_cpu > 0
            assert abs(time.monotonic() - last.at) < PATIENCE_S, "at: on the monotonic clock"
            assert all(value >= 0 for value in last.latency.values())
            assert all(isinstance(value, str) for value in side.facts().values())
            reported = side.reported()
            assert all(isinstance(value, str) for value in reported.settings.values())
            assert all(rate >= 0 for rate in reported.rates().values())
            misses = side.misses()
            assert misses is None or misses >= 0
        pids = [pid for side in sides for pid in (*side.server_pids(), *side.client_pids())]
        assert len(set(pids)) == len(pids), "no process is two sides'"
        for side in sides:
            side.stop()
            side.stop()
            assert side.server_pids() == side.client_pids() == []
            assert side.trouble() is None, "an end that was asked for is no trouble"
            assert stat.S_IMODE(side.spec.folder.stat().st_mode) == 0o700
        assert not any(map(alive, pids))

    def test_a_load_that_is_said_to_read_leaves_the_data(self, start: Start, workload: Workload) -> None:
        """`writes` in its entry: data that change are restored before each start."""
        if workload.writes or workload.dataset == "none":
            pytest.skip("a load that writes, or has no data")
        side = start()
        side.boot()
        before = side.fingerprint()
        side.load()
        assert len(ticks_of(side, 3)) >= 3
        side.stop()
        later = start(data=side.spec.data)
        later.boot()
        assert later.fingerprint() == before

    def test_it_runs_where_and_as_it_is_told(self, start: Start) -> None:
        """All of its threads on its cores; its variables are the server's."""
        core = frozenset({min(os.sched_getaffinity(0))})
        side = start(cores=core, environment=(("BURNISH_CONTRACT", "yes"),))
        side.boot()
        side.load()
        assert len(ticks_of(side, 2)) >= 2
        where = [cores for pid in (*side.server_pids(), *side.client_pids()) for cores in cores_of(pid)]
        assert where
        assert all(cores == core for cores in where)
        # A child may have written its title over its environment.
        assert b"BURNISH_CONTRACT=yes" in Path(f"/proc/{side.server_pids()[0]}/environ").read_bytes().split(b"\0")

    def test_a_stopped_load_is_no_trouble(self, start: Start) -> None:
        """One side waits while the other is read, and goes on after that."""
        side = start()
        side.boot()
        side.load()
        assert len(ticks_of(side, 2)) >= 2
        frozen = side.client_pids() or side.server_pids()
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(1.0)
        assert side.trouble() is None
        before = side.ticks()
        resumed = time.monotonic()  # before it is: this process may have to wait for a core after that
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
        after = ticks_of(side, 3)
        assert side.trouble() is None
        for tick in after[1:]:  # the first may have begun before
            slowest = tick.latency.get("max", 0.0)
            assert slowest <= tick.at - resumed + 0.1, "a request's wait while its load is stopped is not the server's"
        assert after[-1].done > (before[-1].done if before else 0)
        assert after[-1].errors == 0

    def test_a_killed_server_is_trouble(self, start: Start) -> None:
        """In one line; and it can be stopped all the same."""
        side = start()
        side.boot()
        side.load()
        assert len(ticks_of(side, 2)) >= 2
        for pid in side.server_pids():
            with contextlib.suppress(ProcessLookupError):  # it may end with the first, before its turn
                os.kill(pid, signal.SIGKILL)
        trouble = trouble_of(side)
        assert trouble
        assert "\n" not in trouble
        side.stop()
        assert side.server_pids() == side.client_pids() == []

    def test_a_killed_load_is_trouble(self, start: Start) -> None:
        """A load that ended by itself has measured nothing."""
        side = start()
        side.boot()
        side.load()
        assert len(ticks_of(side, 2)) >= 2
        if not side.client_pids():
            pytest.skip("the server is its own client")
        os.kill(side.client_pids()[0], signal.SIGKILL)
        trouble = trouble_of(side)
        assert trouble
        assert "\n" not in trouble

    def test_a_server_that_does_not_start_is_told(self, start: Start, built: Built) -> None:
        """At once, and nothing of it is left."""
        side = start(built=replace(built, server=Path("/bin/false")))
        began = time.monotonic()
        with pytest.raises(InfrastructureError):
            side.boot()
        assert time.monotonic() - began < PATIENCE_S, "boot() waited for a server that had ended"
        side.stop()
        assert side.server_pids() == []

    def test_a_folder_that_is_not_burnishs_is_left_alone(
        self, start: Start, dataset: Path | None, tmp_path: Path
    ) -> None:
        """No server is started on it, and nothing is written there."""
        if dataset is None:
            pytest.skip("a load without data")
        foreign = tmp_path / "foreign"
        foreign.mkdir()
        (foreign / "precious").write_text("somebody's\n")
        side = start(data=foreign)
        with pytest.raises((InfrastructureError, UserError)):
            side.boot()
        side.stop()
        assert [path.name for path in foreign.iterdir()] == ["precious"]

    def test_one_unit_ends(self, engine: Engine, start: Start, bench: PlainBench) -> None:
        """The command line of one unit, for simulators."""
        side = start()
        words = engine.unit(side.spec)
        if not words:
            pytest.skip("a server is loaded from outside")
        done = bench.run("unit", words, cwd=side.spec.folder, env=dict(side.spec.built.environment), timeout=600)
        done.check("one unit")
