"""What a build must be: made of its steps, with the flags that were asked for, and tested by its own tests."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import InfrastructureError, UserError
from burnish.engines.contract import BuildJob, Built, Command, Engine, Text
from burnish.engines.testing.base import FLAG, Contract, Made, PlainBench, again, digest_of_file, make_build
from burnish.program.elf import build_id


def text_of(engine: Engine, job: BuildJob) -> str:
    """All that an engine's steps say."""
    steps = engine.steps(job)
    return "\n".join(
        step.content if isinstance(step, Text) else "\n".join((*step.argv, *(value for _, value in step.env)))
        for step in steps
    )


class BuildContract(Contract):
    """A build keeps what it says it keeps, and its objects are read back."""

    def test_the_source_is_only_read(self, made: Made) -> None:
        """Other builds are made from the same tree."""
        assert made.changed == ()

    def test_steps_are_values(
        self, engine: Engine, job: BuildJob, bench: PlainBench, made: Made, tmp_path: Path
    ) -> None:
        """They are the same each time, and asking for them does nothing."""
        assert made.built.server.is_file()
        elsewhere, ran = replace(job, place=tmp_path / "none"), len(bench.commands)
        steps = engine.steps(elsewhere)
        assert steps == engine.steps(elsewhere)
        assert all(isinstance(step, Command | Text) for step in steps)
        assert not elsewhere.place.exists(), "steps() wrote to the build folder"
        assert len(bench.commands) == ran, "steps() ran a program"

    def test_steps_hold_what_the_job_asks_for(self, engine: Engine, job: BuildJob, tmp_path: Path) -> None:
        """Flags, a build id, relocations for BOLT, and what stands before the compiler."""
        plain = text_of(engine, replace(job, with_tools=False))
        assert FLAG in plain, "the job's flags"
        assert str(job.toolchain.cc) in plain, "the job's compiler"
        assert "--build-id=sha1" in plain, "link with -Wl,--build-id=sha1: by it the tested program is known again"
        assert "emit-relocs" not in plain
        assert "-Wl,--emit-relocs" in text_of(engine, replace(job, relocations=True)), "job.relocations"
        cached = replace(job, cache=tmp_path / "ccache")
        assert all(word in text_of(engine, cached) for word in cached.launcher), "job.launcher, before each compiler"

    def test_the_program_is_kept_where_the_description_says(self, engine: Engine, made: Made) -> None:
        """`server` in `engine.toml`, with a build id, and nothing from elsewhere beside it."""
        assert made.outside == (), "keep(): only what lies in the build folder"
        assert made.built.server == made.built.folder / engine.spec.server
        assert made.built.server.is_file()
        assert os.access(made.built.server, os.X_OK)
        assert build_id(made.built.server)

    def test_every_object_was_made_with_the_jobs_flags(self, made: Made, job: BuildJob) -> None:
        """By the job's compiler, as its own command says."""
        assert made.objects, "objects(): the measured program has some"
        assert made.missing == (), "objects(): paths are relative to the build folder"
        compilers = {str(job.toolchain.cc), str(job.toolchain.cxx)}
        for compiled in made.objects:
            assert FLAG in compiled.command, f"{compiled.path}: {' '.join(compiled.command)}"
            assert compilers & set(compiled.command), f"{compiled.path}: {' '.join(compiled.command)}"
            assert compiled.source

    def test_a_tree_that_is_none_of_its_own_is_refused(self, engine: Engine, job: BuildJob, tmp_path: Path) -> None:
        """An empty one: in a word, or by the compiler's."""
        empty = tmp_path / "empty"
        empty.mkdir()
        (tmp_path / "place").mkdir()
        with pytest.raises((UserError, InfrastructureError)):
            engine.build(replace(job, source=empty, place=tmp_path / "place"))

    def test_a_few_files_tell_its_source(self, engine: Engine, job: BuildJob, tmp_path: Path) -> None:
        """Those in `source_files` alone, as a plan lays them out of an archive."""
        tree = tmp_path / "tree"
        for name in engine.source_files:
            if (job.source / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(job.source / name, tree / name)
        if not tree.exists():
            pytest.skip("an archive of it is looked at when it is built: name the files in `source_files`")
        engine.check_source(tree)

    def test_the_same_build_is_the_same_program(
        self, engine: Engine, job: BuildJob, made: Made, tmp_path: Path
    ) -> None:
        """Made again from the same source in the same folder, to the bit: what was tested is what can be made again."""
        if not self.cheap:
            pytest.skip("a build takes long")
        with emptied(job.place):
            other = make_build(engine, replace(job, with_tools=False), tmp_path / "kept")
        assert digest_of_file(other.built.server) == digest_of_file(made.built.server)


@contextlib.contextmanager
def emptied(place: Path) -> Iterator[None]:
    """Puts a build folder aside while another build is made at its place."""
    aside = place.with_name("aside")
    place.rename(aside)
    try:
        yield
    finally:
        shutil.rmtree(place, ignore_errors=True)
        aside.rename(place)


class GateContract(Contract):
    """The gate passes a good build and finds a wrong one."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        """A scratch folder for the gate."""
        place = tmp_path / "gate"
        place.mkdir(mode=0o700)
        return place

    def test_a_good_build_passes(
        self, engine: Engine, built: Built, tools: Built, place: Path, bench: PlainBench
    ) -> None:
        """Every test of the list runs or says that it can't."""
        report = engine.gate(built, tools, place, bench)
        assert report.passed, report.failures
        assert report.failures == ()
        assert report.tests + report.skipped == len(engine.spec.gate_tests)
        assert report.tests > 0
        assert report.build_id == build_id(built.server), "of the very program that was tested"
        assert report.seconds > 0

    def test_only_what_is_asked_for_is_tested(
        self, engine: Engine, built: Built, tools: Built, place: Path, bench: PlainBench
    ) -> None:
        """A build's options may take out what some tests ask for."""
        report = engine.gate(built, tools, place, bench, engine.spec.gate_tests[:1])
        assert report.tests + report.skipped == 1

    def test_a_wrong_build_fails(
        self,
        engine: Engine,
        job: BuildJob,
        tools: Built,
        place: Path,
        bench: PlainBench,
        tmp_path: Path,
    ) -> None:
        """With the names of the tests that failed, a line each."""
        if not self.wrong_flags:
            pytest.skip("no flags that make a wrong build: say them in `wrong_flags` if there are any")
        wrong = make_build(engine, again(job, tmp_path / "wrong", *self.wrong_flags), tmp_path / "kept").built
        report = engine.gate(wrong, tools, place, bench)
        assert not report.passed
        assert report.failures
        for name, why in report.failures:
            assert name in engine.spec.gate_tests
            assert why
            assert "\n" not in why
