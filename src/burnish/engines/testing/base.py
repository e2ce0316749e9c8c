"""What the contract's tests share: the engine, a workbench without a record, one build, a load, its data."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import pytest

from burnish.base import process
from burnish.base.process import Completed
from burnish.catalogue import load
from burnish.engines.contract import BuildJob, Built, CompiledObject, Engine, Workload
from burnish.engines.registry import create
from burnish.model.recipe import Flags
from burnish.toolchain.toolchains import Toolchain, find_toolchains

FLAG = "-DBURNISH_CONTRACT=1"
"""A flag of every job here: it changes nothing and is found again in the commands that made the objects."""


@dataclass
class PlainBench:
    """A `Workbench` without a record, that keeps what it was told.

    As with the real one, a program's output goes to a log, so `Completed.output` is empty.

    Attributes:
        logs: its folder of logs.
        said: lines that stay.
        shown: lines of progress.
        commands: what ran, as (what, how it ended).
    """

    logs: Path
    said: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    commands: list[tuple[str, Completed]] = field(default_factory=list)

    def run(
        self,
        what: str,
        argv: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin_file: Path | None = None,
        timeout: float | None = None,
        on_line: Callable[[str], None] | None = None,
        log: Path | None = None,
    ) -> Completed:
        """See `Workbench.run`."""
        done = process.run(
            argv,
            cwd=cwd,
            env=env,
            stdin_file=stdin_file,
            timeout=timeout,
            on_line=on_line,
            log=log or self.log_path("bench.log"),
        )
        self.commands.append((what, done))
        return done

    def say(self, text: str) -> None:
        """See `Workbench.say`."""
        self.said.append(text)

    def live(self, text: str, share: float = 0.0) -> None:  # noqa: ARG002
        """See `Workbench.live`."""
        self.shown.append(text)

    def log_path(self, name: str) -> Path:
        """See `Workbench.log_path`."""
        return self.logs / name


@dataclass(frozen=True)
class Made:
    """A build as `make_build` made it.

    Attributes:
        job: what was asked for; its folder is gone but for what was not kept.
        objects: what `Engine.objects` read back.
        missing: paths of objects that were not there when the build was finished.
        kept: what `Engine.keep` said, with sources that are moved by now.
        outside: paths of `kept` that were not in the build folder, or lead out of the build's.
        changed: files of the source that building changed, made or removed.
        built: the build.
    """

    job: BuildJob
    objects: tuple[CompiledObject, ...]
    missing: tuple[str, ...]
    kept: tuple[tuple[Path, str], ...]
    outside: tuple[str, ...]
    changed: tuple[str, ...]
    built: Built


def make_build(engine: Engine, job: BuildJob, folder: Path) -> Made:
    """Builds, reads the objects back, and moves what is kept to `folder`, as Burnish does."""
    job.place.mkdir(mode=0o700, parents=True, exist_ok=True)
    before = state_of(job.source)
    engine.build(job)
    after = state_of(job.source)
    changed = tuple(sorted(name for name, _ in before.items() ^ after.items()))
    objects = tuple(engine.objects(job))
    missing = tuple(compiled.path for compiled in objects if not (job.place / compiled.path).is_file())
    kept, outside = tuple(engine.keep(job)), []
    for path, where in kept:
        target = folder / where
        if not path.is_relative_to(job.place) or not target.resolve().is_relative_to(folder.resolve()):
            outside.append(f"{path} as {where}")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, target)
    built = engine.built("contract", folder, "0123456789abcdef")
    return Made(job, objects, missing, kept, tuple(outside), changed, built)


def state_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of every file below a folder, by relative path."""
    facts = ((path, path.lstat()) for path in sorted(folder.rglob("*")) if not path.is_dir())
    return {str(path.relative_to(folder)): (fact.st_size, fact.st_mtime_ns) for path, fact in facts}


def is_kept(engine: Engine, built: Built) -> bool:
    """Whether it is a build of Burnish's, in a folder of its own; else a program that somebody installed."""
    return built.server == built.folder / engine.spec.server


def state_of_build(engine: Engine, built: Built) -> dict[str, tuple[int, int]]:
    """`state_of` a kept build; of an installed program nothing, since its folder is the whole system's."""
    return state_of(built.folder) if is_kept(engine, built) else {}


def digest_of_file(path: Path) -> str:
    """SHA-256 of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Contract:
    """What the tests of one engine begin with; a fixture that does not fit an engine is overridden in its class.

    Attributes:
        name: the engine's.
        cheap: whether a build takes seconds, so that tests may build again.
        wrong_flags: compile flags that make a build which answers wrongly, for the gate to find; () if there are none.
    """

    name: ClassVar[str]
    cheap: ClassVar[bool] = True
    wrong_flags: ClassVar[tuple[str, ...]] = ()

    @pytest.fixture(scope="class")
    @classmethod
    def engine(cls) -> Engine:
        """The engine."""
        return create(load.engine(cls.name))

    @pytest.fixture(scope="class")
    @classmethod
    def bench(cls, tmp_path_factory: pytest.TempPathFactory) -> PlainBench:
        """A workbench."""
        return PlainBench(tmp_path_factory.mktemp("logs"))

    @pytest.fixture(scope="class")
    @classmethod
    def toolchain(cls) -> Toolchain:
        """The newest gcc; the test is skipped without one."""
        compilers = [toolchain for toolchain in find_toolchains() if toolchain.family == "gcc"]
        if not compilers:
            pytest.skip("no gcc on this machine")
        return compilers[0]

    @pytest.fixture(scope="class")
    @classmethod
    def source(cls, engine: Engine) -> Path:
        """A source tree: the one that comes with the engine."""
        source = load.shipped_source(engine.spec)
        if source is None:
            pytest.fail(f"{engine.spec.name} brings no source: override the fixture `source` in its test class")
        return source

    @pytest.fixture(scope="class")
    @classmethod
    def job(
        cls,
        engine: Engine,
        toolchain: Toolchain,
        source: Path,
        bench: PlainBench,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> BuildJob:
        """A build with plain flags, the gate's tools included."""
        flags = ("-O2", "-g", FLAG)
        return BuildJob(
            source=source,
            place=tmp_path_factory.mktemp("work") / "build",
            toolchain=toolchain,
            flags=Flags(c=flags, cxx=flags, link=()),
            features=engine.spec.features[engine.spec.default_features],
            options=(),
            hardening=True,
            with_tools=True,
            relocations=False,
            jobs=2,
            bench=bench,
        )

    @pytest.fixture(scope="class")
    @classmethod
    def made(cls, engine: Engine, job: BuildJob, tmp_path_factory: pytest.TempPathFactory) -> Made:
        """The one build that all tests share."""
        return make_build(engine, job, tmp_path_factory.mktemp("kept"))

    @pytest.fixture(scope="class")
    @classmethod
    def built(cls, made: Made) -> Built:
        """The program that is run and measured."""
        return made.built

    @pytest.fixture(scope="class")
    @classmethod
    def tools(cls, built: Built) -> Built:
        """The build with the gate's tools."""
        return built

    @pytest.fixture(scope="class")
    @classmethod
    def workload(cls, engine: Engine) -> Workload:
        """The load that sides are tried under."""
        return load.workload(engine.spec, engine.spec.workloads[0])

    @pytest.fixture(scope="class")
    @classmethod
    def dataset(
        cls,
        engine: Engine,
        built: Built,
        tools: Built,
        workload: Workload,
        bench: PlainBench,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> Path | None:
        """The load's data as the engine made them; None for a load without."""
        if workload.dataset == "none":
            return None
        folder = tmp_path_factory.mktemp("dataset") / "data"
        folder.mkdir(mode=0o700)
        engine.create_dataset(built, tools, workload, folder, bench)
        return folder


def again(job: BuildJob, place: Path, *flags: str) -> BuildJob:
    """The same job at another place, with flags behind its own."""
    more = Flags(c=(*job.flags.c, *flags), cxx=(*job.flags.cxx, *flags), link=job.flags.link)
    return replace(job, place=place, flags=more)
