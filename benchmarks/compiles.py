"""What scripts begin with that compile some of an engine's files by themselves: its build, configured."""

from __future__ import annotations

import random
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from burnish.base import process
from burnish.engines.contract import BuildJob, Engine
from burnish.engines.steps import Command
from burnish.model.recipe import Flags
from burnish.record.workbench import Bench
from burnish.toolchain.toolchains import Toolchain


def job_of(engine: Engine, source: Path, folder: Path, toolchain: Toolchain, flags: str) -> BuildJob:
    """A build of the default features with these flags, in a new folder `build` of `folder`."""
    place = folder / "build"
    place.mkdir()
    words = tuple(shlex.split(flags))
    return BuildJob(
        source=source.resolve(),
        place=place,
        toolchain=toolchain,
        flags=Flags(words, words, ()),
        features=engine.spec.features[engine.spec.default_features],
        options=(),
        hardening=True,
        with_tools=False,
        relocations=False,
        jobs=2,
        bench=Bench(None, folder, Console(stderr=True)),
    )


def configured(engine: Engine, job: BuildJob) -> Command:
    """Configures a build; returns the command that would make all of it."""
    configure, build = (step for step in engine.steps(job) if isinstance(step, Command))
    run(configure.argv, job.place)
    return build


def drawn(names: Iterable[str], count: int | None) -> list[str]:
    """So many of the names, the same ones each time; all of them if `count` is None."""
    chosen = sorted(names)
    if count is not None:
        random.Random(1).shuffle(chosen)
    return chosen[:count]


def run(argv: Sequence[str], cwd: Path, variables: Mapping[str, str] | None = None) -> float:
    """Runs a program, with these environment variables in addition; CPU seconds that it took."""
    done = process.run(argv, cwd=cwd, env=variables).check(Path(argv[0]).name)
    return done.user_seconds + done.system_seconds
