"""Builds of real SQLite at a low level of optimisation, which take seconds."""

from __future__ import annotations

from pathlib import Path

from burnish.catalogue import load
from burnish.engines.contract import BuildJob
from burnish.engines.sqlite.engine import Sqlite
from burnish.engines.testing import PlainBench, make_build
from burnish.model.recipe import Flags
from burnish.program.built import Built
from burnish.toolchain.toolchains import Toolchain

SPEC = load.engine("sqlite")


def job_for(toolchain: Toolchain, source: Path, place: Path, bench: PlainBench) -> BuildJob:
    place.mkdir(exist_ok=True)
    return BuildJob(
        source=source,
        place=place,
        toolchain=toolchain,
        flags=Flags(c=("-O1", "-w", *SPEC.package_c), cxx=(), link=SPEC.package_link, level="-O1"),
        features=SPEC.features["debian"],
        options=(),
        hardening=True,
        with_tools=False,
        relocations=False,
        jobs=2,
        bench=bench,
    )


def build(engine: Sqlite, job: BuildJob, folder: Path) -> Built:
    folder.mkdir()
    return make_build(engine, job, folder).built
