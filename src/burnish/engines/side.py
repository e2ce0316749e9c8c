"""A side of a trial: one server of one build under one load, from its start to its end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from burnish.engines.reported import Reported
from burnish.model.condition import Condition
from burnish.model.histogram import Histogram
from burnish.model.workload import Workload
from burnish.program.built import Built

MARKER = ".burnish-data"
"""Every data folder that Burnish made holds this file; no other folder is ever started on, written to or removed."""

TICK_S = 0.05
"""Seconds between ticks: short enough to cut a turn sharply. Load programs tick on multiples of this on the monotonic
clock, all sides at the same instants; those that tick once a unit of work do not."""


CLEAN_END_S = 3600.0
"""Seconds that a server may take to end where all that it does at its end must be done: old rows purged, the change
buffer merged, counts of a training written. On a busy disk a large pool of pages takes minutes to write."""


@dataclass(frozen=True)
class Tick:
    """Counters of one side at one instant, read by the load program itself; all but latencies cumulative.

    Attributes:
        at: CLOCK_MONOTONIC, seconds.
        done: transactions (or units) finished since the load began; may be fractional.
        errors: failed transactions, reconnects and ignored errors since the load began.
        server_cpu: CPU seconds of the server so far, at the same instant: of all of its processes, and of those that
            have ended; it never falls.
        client_cpu: CPU seconds of the load process so far; 0 where the server is its own client.
        latency: seconds over the interval since the last tick, by name (``p50``, ``p95``, ``p99``, ``max``). A request
            that was under way while the load was stopped (SIGSTOP) is left out, since that wait is not the server's;
            ``left_out`` is the share of those, 0 to 1.
        steps: statements answered since the load began; 0 where none are counted.
        times: the requests that `latency` is of, in buckets; without any where the load program does not count so.
    """

    at: float
    done: float
    errors: int
    server_cpu: float
    client_cpu: float
    latency: Mapping[str, float] = field(default_factory=dict)
    steps: float = 0.0
    times: Histogram = field(default_factory=Histogram)


@dataclass(frozen=True)
class Writes:
    """A server's own counters of what it writes to its data.

    Attributes:
        done: cumulative counts by name: ``flushes`` (calls that wait until data are on the device), ``log_bytes``,
            ``pages`` (of data files).
        left: what it has yet to do, by name: ``dirty_pages``, ``purge`` (transactions whose old rows are still there).
    """

    done: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)

    def since(self, before: Writes) -> dict[str, int]:
        """What was written since an earlier reading, and what is left to do now."""
        return {name: count - before.done.get(name, 0) for name, count in self.done.items()} | dict(self.left)


@dataclass(frozen=True)
class SideSpec:
    """One side of a start: (build, launch environment, condition, data), and the load on it.

    Attributes:
        label: short name for logs, unique within the start.
        built: the build.
        condition: how it is deployed, as `Engine.ready` returned it.
        workload: the load, as `Loads.checked` returned it.
        data: this side's own copy of what `Engine.create_dataset` made, with `MARKER` in it; may be written to. For
            loads without data an empty folder.
        folder: private scratch folder of this side (socket, logs): there, empty, mode 0700, perhaps with a path that
            is too long for a Unix socket's name (107 bytes).
        seed: for the load's random keys; the same for all sides of a start.
        cores: CPU numbers at launch; Burnish moves the processes of `Side.server_pids` and `Side.client_pids` later.
        environment: extra variables for the server (profile paths in training), over those of `built`.
    """

    label: str
    built: Built
    condition: Condition
    workload: Workload
    data: Path
    folder: Path
    seed: int
    cores: frozenset[int]
    environment: tuple[tuple[str, str], ...] = ()


class Side(ABC):
    """A side that lives: its server, then its load; ended in any case by `stop`.

    Called in this order: `launch`, `boot`, `fingerprint`, `load`, then the others again and again, `stop` last. `stop`
    comes in any case, after a `boot` that failed too; `launch` may be left out. The load's processes may be stopped
    (SIGSTOP) for seconds while the other side is read, and go on after that: this is no trouble. Where there are none,
    the server's are stopped.

    Processes are started by `burnish.base.process.start`, which gives them `SideSpec.cores` and sees to it that nothing
    outlives Burnish. A side keeps all of its files in `SideSpec.folder` and `SideSpec.data`, listens where no other
    side does, and reads no configuration of the user's.
    """

    spec: SideSpec

    def launch(self) -> None:  # noqa: B027 - not every server can be started without waiting for it
        """Starts the server without waiting for it, which `boot` then does; by default nothing, and `boot` does both.

        The sides of a start are launched one right after the other, so that their servers take their memory at the same
        time: the one that comes first otherwise gets the smallest pieces that are free, and is slower
        (docs/BIAS.md, "Launched first").

        Raises:
            InfrastructureError: as `boot`, as far as it is known so early.
            UserError: as `boot`.
        """

    @abstractmethod
    def boot(self) -> None:
        """Starts the server where `launch` has not, and waits until it answers.

        Raises:
            InfrastructureError: it ended or did not answer in time; with its log.
            UserError: it would write to data, and `MARKER` is not in their folder.
        """

    @abstractmethod
    def fingerprint(self) -> str:
        """A digest of the data that the load reads, taken after `boot` and before `load`; '' without data.

        Equal for all copies of one dataset: what the server writes at its start must not change it. It is called in a
        thread, at the same time as the other sides', and starts no process.

        Raises:
            InfrastructureError: the data can't be read.
        """

    @abstractmethod
    def load(self) -> None:
        """Starts the load, which runs until `stop`; returns at once.

        Raises:
            InfrastructureError: it can't be started.
        """

    @abstractmethod
    def ticks(self) -> list[Tick]:
        """The ticks that have come since the last call, in order; never blocks. Empty before `load`.

        They come every `TICK_S`, or with each unit of work if that takes some milliseconds or more: Burnish cannot read
        more than a thousand per second without disturbing the measurement. For long units override `silence`.
        """

    @abstractmethod
    def server_pids(self) -> list[int]:
        """Processes of the server, alive now: first the one that was started, then its children.

        Called at each move between cores, so that it must not take more than a millisecond or so.
        """

    @abstractmethod
    def client_pids(self) -> list[int]:
        """Processes of the load, alive now; empty where the server is its own client."""

    def silence(self) -> float:
        """Seconds for which a working load may write no tick; 0 if it ticks all the time."""
        return 0.0

    def misses(self) -> int | None:
        """Pages that the server reports to have read from disk since it started; None if it does not report that."""
        return None

    def writes(self) -> Writes:
        """What the server reports of its writes; `Writes` without figures if it reports none."""
        return Writes()

    def facts(self) -> dict[str, str]:
        """Facts about the side's deployment for the record, by name: the transport, the cipher."""
        return {}

    def reported(self) -> Reported:
        """What the server says of itself under the load, just before `stop`; nothing if it does not answer.

        It is asked once in a start, after its last reading.
        """
        return Reported()

    def waits_for(self) -> str | None:
        """What its server says that it waits for, in a few words; None if it does not say.

        It is asked once, when its load finishes nothing for so long that the start ends; it may take some seconds.
        """
        return None

    def complaints(self) -> list[str]:
        """The errors in the server's log so far, in order; none if it is not known which lines are errors.

        Asked after a `boot` that failed, so that a refusal is in the server's own words.
        """
        return []

    @abstractmethod
    def trouble(self) -> str | None:
        """Why this side cannot continue (server died, load ended, error lines), in one line; else None.

        Never blocks for more than a moment. None before `boot` and after `stop`.
        """

    def finish(self, patience: float) -> None:  # noqa: ARG002
        """Ends a training as `stop` does, with up to `patience` seconds for the server to end; by default `stop`.

        `stop` comes after it.

        Raises:
            InfrastructureError: the server did not end by itself, or not with exit code 0: its counts are not whole.
        """
        self.stop()

    @abstractmethod
    def stop(self) -> None:
        """Ends load and server, the load first, so that the server ends cleanly; may be called twice.

        The server gets a request to end (SIGTERM or its own way) and time to do so, since an instrumented build writes
        its profile at its end; it is killed after that. No process is left, and nothing is raised for one that is
        gone already.
        """
