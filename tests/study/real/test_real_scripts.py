"""The real thing: SQLite built, then made again by its script, without Burnish; the same program, bit for bit."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from burnish.builds.builder import Builder
from burnish.builds.stages import Compile, Train, stages
from burnish.builds.training import Trainer
from burnish.catalogue import load
from burnish.engines.sqlite.engine import Sqlite
from burnish.model.recipe import Recipe, Variant
from burnish.record.store import Store
from burnish.record.workbench import Bench
from burnish.source import sources
from burnish.study.builds.make import package_flags
from burnish.toolchain.toolchains import Toolchain

pytestmark = pytest.mark.real

SPEC = load.engine("sqlite")


@pytest.fixture(scope="session")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("family", "recipe"),
    [
        ("clang", Recipe(toolchain="clang", pgo=True, lto="thin", link=("-fuse-ld=lld",))),
    ],
    ids=["clang-pgo-thinlto"],  # gcc -O2 and the others are in the fast tests, on the fake engine
)
def test_sqlite_comes_out_the_same(
    family: str, recipe: Recipe, tmp_path: Path, downloads: Path, request: pytest.FixtureRequest
) -> None:
    toolchain: Toolchain = request.getfixturevalue(family)
    home = tmp_path / "home"
    work = home / "work/sqlite"
    asked = sources.SourceRequest("sqlite", sources.DebianSource("sqlite3"))
    origin = sources.resolve(asked, cache=downloads, say=print)
    tree = sources.unpack(origin, asked, cache=downloads, place=work / "source")
    bench = Bench(None, tmp_path / "logs", Console(file=io.StringIO(), width=200))
    jobs = len(os.sched_getaffinity(0))
    builder = Builder(Sqlite(SPEC), Store(home / "store"), work, tree, bench, jobs, origin=origin)
    chain = stages(
        Variant("v", recipe, "for a test of scripts"),
        spec=SPEC,
        source=origin.digest,
        toolchain=toolchain,
        package=package_flags(SPEC, tree, hardening=True),
        features=SPEC.default_features,
        with_tools=False,
        bolt=None,
        profile_place=str(builder.profile_place),
        training=(("speedtest1", 2.0),),
    )
    names = {name for stage in chain if isinstance(stage, Train) for name, _ in stage.training}
    loads = {name: load.workload(SPEC, name) for name in names}
    trainer = Trainer(builder, loads, {}, None, frozenset(os.sched_getaffinity(0)), tmp_path / "scratch")
    for stage in chain:
        if isinstance(stage, Compile):
            entry = builder.compile(replace(stage, with_tools=False), "v")
        else:
            assert isinstance(stage, Train)
            trainer.train(stage, "v")
    (archives,) = downloads.glob("debian/sqlite3_*")
    place = tmp_path / "elsewhere"
    place.mkdir()
    done = subprocess.run(
        ["sh", entry.folder / "build.sh", archives],
        cwd=place,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same program, bit for bit" in done.stdout
    made = hashlib.sha256((place / "burnish-sqlite").read_bytes()).hexdigest()
    assert made == entry.about["sha256"] == hashlib.sha256((entry.folder / SPEC.server).read_bytes()).hexdigest()
