"""The interface of an engine, beside its TOML files; everything that an engine's author derives from or uses.

An engine is stateless: every method takes what it needs and either returns values or runs programs through the
`Workbench`, which records them (engines start processes in no other way, except for sides, which use
`burnish.base.process.start`). Folders handed to an engine are Burnish's own, private (mode 0700) and removed by
Burnish; an engine writes nowhere else.

There are two kinds of error. A `UserError` says in one line why the request is impossible: what was found, what is
allowed, what to do. An `InfrastructureError` says that something broke, with the log if there is one
(`Completed.check` raises it for a program that failed). docs/ENGINES.md walks through an engine from the first file to
the first verdict; `burnish.engines.testing` has the tests that every engine passes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from burnish.base.errors import UserError
from burnish.base.files import sha256_of
from burnish.base.workbench import Workbench, output_of
from burnish.engines.build_job import BuildJob
from burnish.engines.gate_report import GateReport
from burnish.engines.loads import Loads, OwnData
from burnish.engines.side import CLEAN_END_S, MARKER, TICK_S, Side, SideSpec, Tick, Writes
from burnish.engines.steps import Command, Step, Text, perform
from burnish.model.condition import Condition, Transport
from burnish.model.engine import EngineSpec
from burnish.model.workload import Workload
from burnish.program.built import Built, CompiledObject, Identity, named
from burnish.program.elf import holds

__all__ = [
    "CLEAN_END_S",
    "MARKER",
    "TICK_S",
    "BuildJob",
    "Built",
    "Command",
    "CompiledObject",
    "Condition",
    "Engine",
    "EngineSpec",
    "GateReport",
    "Identity",
    "Loads",
    "OwnData",
    "Side",
    "SideSpec",
    "Step",
    "Text",
    "Tick",
    "Transport",
    "Workbench",
    "Workload",
    "Writes",
    "output_of",
    "perform",
]


class Engine(ABC):
    """Behaviour of one engine: how it is built, tested, given data and loaded.

    Attributes:
        spec: its description, from its `engine.toml`.
        loads: what it can be loaded with.
    """

    makers: ClassVar[tuple[str, ...]] = ()
    """Programs beside the compilers whose version may show in the server: what configures it and writes its code."""

    marks: ClassVar[tuple[bytes, ...]] = ()
    """Texts of which every program of this engine holds one, and no other's does."""

    source_files: ClassVar[tuple[str, ...]] = ()
    """All files that `check_source` looks at, from the tree's top; without any it is not asked about archives."""

    loads_class: ClassVar[type[Loads]] = Loads
    """Class of `loads`, for an engine that takes more than the loads of its files."""

    transports: ClassVar[tuple[Transport, ...]] = ()
    """Ways between its load and its server (`--set transport=`); none for an engine without a server."""

    def __init__(self, spec: EngineSpec) -> None:
        self.spec = spec
        self.loads = self.loads_class(spec)

    # Building. A build is made in one and the same folder each time, from one and the same place of the source.

    @abstractmethod
    def steps(self, job: BuildJob) -> tuple[Step, ...]:
        """What makes the server in the empty `job.place`, in order: all of it, and nothing that is not data.

        Runs nothing and writes nothing; called for a build, and once more for the script that makes the same build
        without Burnish. Files that a command names lie below `job.place`, in `job.source` or in the engine's folder.
        The compilers and flags are those of the job: `BuildJob.launcher` stands before each compiler and
        `BuildJob.metered` before the linker, `BuildJob.cache_environment` goes with them. The link has a build id
        (``-Wl,--build-id=sha1``), and what a program's link needs besides (`jobs.program_words`): relocations
        (``-Wl,--emit-relocs``) where `job.relocations` asks for them, the folder of `job.archives`.

        Raises:
            UserError: an option of the recipe or the feature set that this engine does not know.
        """

    def check_source(self, source: Path) -> None:  # noqa: B027 - an engine may leave it out
        """Refuses a folder that is no clean source tree of this engine; reads a few files of it, writes none.

        Called for a plan with the folder that the user named, or with no more than the `source_files` of an archive or
        a revision; and by `build`. By default all are taken.

        Raises:
            UserError: it is no such tree.
        """

    def source_note(self, source: Path) -> str | None:  # noqa: ARG002 - an engine may leave it out
        """What a user should know of a tree that `check_source` takes, in one line; None if nothing.

        Called for a plan with what `check_source` was given; `build` says it too.
        """
        return None

    @abstractmethod
    def build(self, job: BuildJob) -> None:
        """Performs `steps` (with `perform`), and with `job.with_tools` makes what the gate needs beside the server.

        `job.source` is read only. On return `spec.server` is below `job.place`.

        Raises:
            UserError: `job.source` is no source tree of this engine (`check_source`); see `steps`.
            InfrastructureError: a step failed; with its log.
        """

    def build_objects(self, job: BuildJob, words: Sequence[str]) -> list[CompiledObject]:
        """The objects whose names contain one of these words, by default made with all others; raises as `build`."""
        self.build(job)
        return named(self.objects(job), words)

    @abstractmethod
    def keep(self, job: BuildJob) -> list[tuple[Path, str]]:
        """What is kept of a finished build: (file or folder in `job.place`, its relative path in the build's folder).

        Called after `build`. It must include `spec.server` and everything that the program needs at run time; with
        `job.with_tools` also what the gate and `create_dataset` need of `tools`. Burnish moves it there.
        """

    @abstractmethod
    def objects(self, job: BuildJob) -> list[CompiledObject]:
        """Every object of the measured program with the command that made it, read back from the finished build.

        Called after `build` and before kept files are moved. It must be read back from the build, because
        Burnish proves by it which flags were in force. Paths are relative to `job.place`.
        """

    # Programs.

    def built(self, name: str, folder: Path, key: str) -> Built:
        """The build that was kept in `folder`, as a value; runs nothing. An engine may add what a launch needs.

        Args:
            name: for people.
            folder: the build's folder, at any path; `Built.server` is `spec.server` in it.
            key: the build's content address.
        """
        return Built(name=name, folder=folder, server=folder / self.spec.server, key=key)

    def existing(self, program: Path) -> Built:
        """A server program that exists already, from any source, with what it needs found around it.

        `Built.key` is a digest of the program's content. Engines are tried in turn to identify a program, so an engine
        must refuse another's program by its content, before it is run. By default one that holds none of `marks`.

        Raises:
            UserError: it is not a program of this engine, does not exist, or does not run on this machine.
        """
        program, title, name = program.expanduser().resolve(), self.spec.title, self.spec.server
        if not program.is_file():
            raise UserError(f"{program}: there is no such file; name a {name}")
        if not holds(program, self.marks):
            raise UserError(f"{program}: no program of {title}; name a {name}")
        return Built(name=str(program), folder=program.parent, server=program, key=sha256_of(program)[:16])

    @abstractmethod
    def identity(self, built: Built, bench: Workbench) -> Identity:
        """Version and features as the program itself tells them: what must not differ between builds but by intent.

        Raises:
            InfrastructureError: it does not run here.
            UserError: it is none of this engine's after all.
        """

    @abstractmethod
    def gate(
        self, subject: Built, tools: Built, place: Path, bench: Workbench, tests: Sequence[str] | None = None
    ) -> GateReport:
        """Tests whether `subject` answers as it must, with the engine's own tests; a failed test is no error.

        Args:
            subject: the build that is tested: the very program that will be measured.
            tools: the build made with `BuildJob.with_tools`, the baseline; it may be `subject` itself.
            place: private scratch folder, empty.
            bench: recorded processes and progress.
            tests: names from `spec.gate_tests`; None: all of them.

        Raises:
            InfrastructureError: the tests could not be run.
        """

    @abstractmethod
    def answers(self, built: Built, place: Path, bench: Workbench, launcher: Sequence[str] = ()) -> str | None:
        """Starts a build, asks it queries with known answers, writes and reads back.

        Args:
            built: the build.
            place: private scratch folder, empty.
            bench: recorded processes.
            launcher: words before the server, and before other programs of the build: an emulator of another
                processor, some ten times slower.

        Returns:
            Why it is not all right, in one line: a wrong answer, a signal, no answer in time; None when it is.
        """

    # Data and load.

    @abstractmethod
    def create_dataset(self, built: Built, tools: Built, workload: Workload, folder: Path, bench: Workbench) -> None:
        """Prepares `workload`'s data in `folder`, with no server left running on it and everything flushed.

        Called once for all loads of one `Workload.dataset` of one size, so that what is made must depend on nothing of
        the load but `Workload.dataset`, `Workload.data_parameters` and those of its settings that shape data. Burnish
        copies the folder for each side, with its `MARKER` (which it writes where this method has not).

        Args:
            built: the baseline's build.
            tools: the build made with `BuildJob.with_tools`.
            workload: a load with data.
            folder: private folder, there and empty.
            bench: recorded processes and progress.

        Raises:
            UserError: the user's own data can't be used.
            InfrastructureError: making the data failed; with the log.
        """

    @abstractmethod
    def side(self, spec: SideSpec) -> Side:
        """A side, not yet booted: nothing is started.

        Raises:
            UserError: its load or its condition is none that can be.
        """

    def unit(self, spec: SideSpec) -> list[str | Path]:  # noqa: ARG002
        """The command line that does one unit of the load and ends; empty where a server is loaded from outside.

        For simulators of the processor, which look at one pass of an embedded engine.
        """
        return []

    # Conditions.

    def check_condition(self, asked: Condition) -> None:
        """Refuses a condition that this engine has on no host; runs nothing. Called for a plan, and by `ready`.

        Args:
            asked: settings and transport, as asked for.

        Raises:
            UserError: none of its `transports`, or a setting without a server. Unknown names may be left to `examine`,
                which has the server.
        """
        if not self.transports and (asked.transport != "unix" or asked.settings):
            raise UserError(
                f"{self.spec.title} has no server: --set, --versus and --defaults-file say how one is deployed; "
                "leave them out"
            )
        if self.transports and asked.transport not in self.transports:
            raise UserError(
                f"transport={asked.transport}: {self.spec.title} is loaded by transport={' or '.join(self.transports)} "
                "only; leave it out"
            )

    def ready(self, asked: Condition, folder: Path, bench: Workbench) -> Condition:  # noqa: ARG002
        """The condition, with everything that it needs made in `folder`; by default it needs nothing.

        Args:
            asked: settings and transport, as asked for.
            folder: the run's own folder, which is kept: files in it are used again when the run is resumed.
            bench: recorded processes.

        Raises:
            UserError: it is not possible (`check_condition`), or not on this host.
        """
        self.check_condition(asked)
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
        """Warnings about a load under a condition before anything is measured; by default none.

        Called twice: with the baseline's build before there are data, and with every side and its data before trials.

        Args:
            built: the server.
            workload: the load.
            condition: how it is deployed, as `ready` returned it.
            data: the dataset's data, not to be touched; None for a load without data, or while there are none.
            place: private scratch folder, empty.
            bench: recorded processes.

        Returns:
            One line for each poorly tuned setting, beginning with its name.

        Raises:
            UserError: it cannot work: an unknown setting, too many client threads, a statement that fails.
        """
        del built, workload, condition, data, place, bench
        return []
