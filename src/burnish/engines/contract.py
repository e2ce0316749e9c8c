"""What an engine must be able to do beyond what its TOML says.

An engine is stateless: every method takes what it needs and either returns values or runs programs through
the `Workbench`, which records them. Folders handed to an engine are private (0700) and Burnish's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from burnish.base.errors import UserError
from burnish.base.workbench import Workbench
from burnish.engines.steps import Step
from burnish.model.condition import Condition
from burnish.model.engine import EngineSpec, FeatureSet, PrecompiledHeaders
from burnish.model.recipe import Flags
from burnish.model.workload import Workload
from burnish.program.built import Built, CompiledObject, Identity, named
from burnish.toolchain import ccache
from burnish.workload.loads import Parameter

if TYPE_CHECKING:
    from burnish.toolchain.compile_costs import Meter
    from burnish.toolchain.toolchains import Toolchain


MARKER = ".burnish-data"
"""Every data folder that Burnish made holds this file; no other folder is ever started on, written to or removed."""


@dataclass(frozen=True)
class BuildJob:
    """Everything that one build needs to know.

    Attributes:
        source: the unpacked tree (constant path; must not be written to).
        place: the build folder (constant path, empty at the start).
        toolchain: compilers and friends, as found.
        flags: complete flags, package's own included, in order.
        features: the feature set.
        options: configure options of the recipe, as (name, value); they win over the feature set's.
        hardening: whether the engine's own hardening switch stays on.
        with_tools: whether to build the gate's and dataset's tools too (done once for each source).
        relocations: whether the link must keep relocations (BOLT comes after).
        jobs: parallel compile jobs.
        bench: recorded processes and progress.
        cache: folder of the compiler cache (ccache), so that a compile that was killed goes on where it was, and
            builds that differ in their link only are not compiled again; None where there is no ccache.
        cache_gb: bound on its size, GB.
        link_jobs: parallel links; None: as many as compile jobs.
        link_threads: threads of one link; None: the linker's own choice, all cores.
        keep_debug: whether debug sections stay in the program although the engine's own link drops them.
        full_debug: whether objects carry all of the compiler's debug information: samples are mapped by it.
        meter: what notes the memory and time of each compile and link; None: nothing does.
        precompiled: headers that the engine's build may read once for many files.
    """

    source: Path
    place: Path
    toolchain: Toolchain
    flags: Flags
    features: FeatureSet
    options: tuple[tuple[str, str], ...]
    hardening: bool
    with_tools: bool
    relocations: bool
    jobs: int
    bench: Workbench
    cache: Path | None = None
    cache_gb: float = ccache.USUAL_GB
    link_jobs: int | None = None
    link_threads: int | None = None
    keep_debug: bool = False
    full_debug: bool = False
    meter: Meter | None = None
    precompiled: tuple[PrecompiledHeaders, ...] = ()

    @property
    def launcher(self) -> tuple[str, ...]:
        """Words before a compiler in its command line."""
        if self.cache is None:
            return self.metered
        return ccache.launcher((*self.flags.c, *self.flags.cxx), precompiled=bool(self.precompiled))

    @property
    def cache_log(self) -> Path:
        """File that tells what became of each compilation."""
        return self.place / "burnish-ccache.log"

    @property
    def metered(self) -> tuple[str, ...]:
        """Words before a compiler or linker that no cache stands before."""
        return (str(self.meter.script),) if self.meter else ()

    @property
    def meter_environment(self) -> dict[str, str]:
        """Variables for whatever runs the words of `metered`."""
        return self.meter.variables if self.meter else {}

    @property
    def cache_environment(self) -> dict[str, str]:
        """Variables for whatever runs the compilers."""
        if self.cache is None:
            return self.meter_environment
        behind = {"CCACHE_PREFIX": str(self.meter.script)} if self.meter else {}
        flags = (*self.flags.c, *self.flags.cxx)
        cache = ccache.environment(self.cache, self.cache_log, flags, self.cache_gb, precompiled=bool(self.precompiled))
        return {**cache, **behind, **self.meter_environment}


@dataclass(frozen=True)
class GateReport:
    """What the gate found.

    Attributes:
        passed: whether the build may be measured.
        tests: number of tests that ran.
        skipped: number of tests that could not run here.
        failures: names of the tests that failed, with one line each.
        build_id: build id of the very program that was tested.
        seconds: wall time.
        left_out: names of the tests that were not asked for, since the build's options take out what they test.
    """

    passed: bool
    tests: int
    skipped: int
    failures: tuple[tuple[str, str], ...]
    build_id: str
    seconds: float
    left_out: tuple[str, ...] = ()


TICK_S = 0.05
"""Seconds between ticks: short enough to cut a turn sharply. Load programs tick on multiples of this on the monotonic
clock, all sides at the same instants; those that tick once a unit of work do not."""


@dataclass(frozen=True)
class Tick:
    """Counters of one side at one instant, read by the load program itself; all but latencies cumulative.

    Attributes:
        at: CLOCK_MONOTONIC, seconds.
        done: transactions (or units) finished since the load began; may be fractional.
        errors: failed transactions, reconnects and ignored errors since the load began.
        server_cpu: CPU seconds of the server process so far, at the same instant.
        client_cpu: CPU seconds of the load process so far; 0 where the server is its own client.
        latency: seconds over the interval since the last tick, by name (``p50``, ``p95``, ``p99``, ``max``).
        steps: statements answered since the load began; 0 where none are counted.
    """

    at: float
    done: float
    errors: int
    server_cpu: float
    client_cpu: float
    latency: Mapping[str, float] = field(default_factory=dict)
    steps: float = 0.0


@dataclass(frozen=True)
class SideSpec:
    """One side of a start: (build, launch environment, condition, data), and the load on it.

    Attributes:
        label: short name for logs, unique within the start.
        built: the build.
        condition: how it is deployed.
        workload: the load.
        data: this side's own copy of the dataset (may be written to); an empty folder for loads without data.
        folder: private scratch folder of this side (socket, logs).
        seed: for the load's random keys; the same for all sides of a start.
        cores: CPU numbers at launch.
        environment: extra variables for the server (profile paths in training).
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
    """A side that lives: its server, then its load; ended in any case by `stop`."""

    spec: SideSpec

    @abstractmethod
    def boot(self) -> None:
        """Starts the server and waits until it answers; raises InfrastructureError with its log otherwise."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A digest of the data that the load reads, taken after `boot` and before `load`; '' without data."""

    @abstractmethod
    def load(self) -> None:
        """Starts the load, which goes on until `stop`; returns at once."""

    @abstractmethod
    def ticks(self) -> list[Tick]:
        """The ticks that have come since the last call; never blocks."""

    @abstractmethod
    def server_pids(self) -> list[int]:
        """Processes of the server, alive now."""

    @abstractmethod
    def client_pids(self) -> list[int]:
        """Processes of the load, alive now; empty where the server is its own client."""

    def silence(self) -> float:
        """Seconds for which the load may write no tick and yet be at work; 0 where it ticks all the time."""
        return 0.0

    def misses(self) -> int | None:
        """Pages that the server has read from disk since it began, by its own account; None: it can't say."""
        return None

    def facts(self) -> dict[str, str]:
        """What is to be recorded of how the side was deployed, by name: the transport, the cipher."""
        return {}

    @abstractmethod
    def trouble(self) -> str | None:
        """Why this side can't go on (server died, load ended by itself, error lines), else None."""

    @abstractmethod
    def stop(self) -> None:
        """Ends load and server cleanly (a profile is written), kills what does not end; may be called twice."""


class Engine(ABC):
    """Behaviour of one engine."""

    spec: EngineSpec

    def __init__(self, spec: EngineSpec) -> None:
        self.spec = spec

    makers: tuple[str, ...] = ()
    """Programs beside the compilers whose version may show in the server: what configures it and writes its code."""

    @abstractmethod
    def steps(self, job: BuildJob) -> tuple[Step, ...]:
        """What makes the server in the empty `job.place`, in order: all of it, and nothing that is not data."""

    @abstractmethod
    def build(self, job: BuildJob) -> None:
        """Performs `steps`, and what the gate needs beside the server; InfrastructureError with the log on failure."""

    def build_objects(self, job: BuildJob, words: Sequence[str]) -> list[CompiledObject]:
        """Makes those objects of the measured program whose names hold one of these words, and tells them.

        Here the whole program is made; an engine that can does less.
        """
        self.build(job)
        return named(self.objects(job), words)

    @abstractmethod
    def keep(self, job: BuildJob) -> list[tuple[Path, str]]:
        """What is kept of a build: (file or folder in `job.place`, its relative place in the build's folder)."""

    @abstractmethod
    def objects(self, job: BuildJob) -> list[CompiledObject]:
        """Every object of the measured program with the command that made it, read back from the build."""

    @abstractmethod
    def built(self, name: str, folder: Path, key: str) -> Built:
        """The build that was kept in `folder`."""

    @abstractmethod
    def existing(self, program: Path) -> Built:
        """A server program that exists already; UserError when it is none of this engine's."""

    @abstractmethod
    def identity(self, built: Built, bench: Workbench) -> Identity:
        """Version and features as the program itself tells them."""

    @abstractmethod
    def gate(
        self, subject: Built, tools: Built, place: Path, bench: Workbench, tests: Sequence[str] | None = None
    ) -> GateReport:
        """Tests `subject` with the server's own tests.

        Args:
            subject: the build that is tested.
            tools: the build made `with_tools`.
            place: private scratch folder.
            bench: recorded processes and progress.
            tests: names of the tests; None: all of the engine's list.
        """

    @abstractmethod
    def answers(self, built: Built, place: Path, bench: Workbench, launcher: Sequence[str] = ()) -> str | None:
        """Starts a build, asks it queries with known answers, writes and reads back; None when all is well.

        Args:
            built: the build.
            place: private scratch folder, empty.
            bench: recorded processes.
            launcher: words before the program: an emulator of another processor.

        Returns:
            Why not, in one line.
        """

    @abstractmethod
    def create_dataset(self, built: Built, tools: Built, workload: Workload, folder: Path, bench: Workbench) -> None:
        """Prepares `workload`'s data in the empty `folder`, with no server left running on it."""

    @abstractmethod
    def side(self, spec: SideSpec) -> Side:
        """A side, not yet booted."""

    def parameters(self, workload: Workload, bench: Workbench) -> Mapping[str, Parameter] | None:  # noqa: ARG002
        """The parameters that `workload`'s program takes; None: those that the catalogue gives it and no others."""
        return None

    def ready(self, asked: Condition, folder: Path, bench: Workbench) -> Condition:  # noqa: ARG002
        """The condition with whatever it needs made in the private `folder`; a `UserError` when it can't be had."""
        if asked.transport != "unix" or asked.settings:
            raise UserError(
                f"{self.spec.title} has no server: --set, --versus and --defaults-file say how one is deployed; "
                "leave them out"
            )
        return asked

    def examine(
        self,
        built: Built,
        workload: Workload,
        condition: Condition,
        data: Path | None,
        place: Path,
        bench: Workbench,
    ) -> list[str]:
        """Warnings about a load under a condition before anything is measured, each a line that names its setting.

        Args:
            built: the server.
            workload: the load.
            condition: how it is deployed.
            data: the dataset's data, not to be touched; None for a load without data.
            place: empty private folder.
            bench: recorded processes.

        Raises:
            UserError: it can't work at all: an unknown server variable, a script or statement that fails.
        """
        del built, workload, condition, data, place, bench
        return []

    def unit(self, spec: SideSpec) -> list[str | Path]:  # noqa: ARG002
        """The command line that does one unit of the load and ends; empty where a server is loaded from outside."""
        return []
