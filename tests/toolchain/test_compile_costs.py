"""Memory and time of each compile: noted beside the compiler, kept for what comes from the cache."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from burnish.program.built import CompiledObject
from burnish.toolchain import compile_costs
from burnish.toolchain.compile_costs import Cost

needs_time = pytest.mark.skipif(shutil.which("time") is None, reason="GNU time is not here")


@needs_time
def test_a_compile_is_noted_by_what_it_made(tmp_path: Path) -> None:
    meter = compile_costs.lay(tmp_path, "key")
    assert meter is not None
    (tmp_path / "a b.c").write_text("int x;\n")
    words = [str(meter.script), "cc", "-c", "a b.c", "-o", "a b.o"]
    subprocess.run(words, cwd=tmp_path, env={"PATH": "/usr/bin:/bin", **meter.variables}, check=True)
    noted = compile_costs.parse(meter.notes.read_text())
    assert list(noted) == ["a b.o"]
    assert noted["a b.o"].peak_bytes > 1_000_000
    assert (tmp_path / "a b.o").is_file()


@needs_time
def test_the_compilers_exit_code_and_words_pass_through(tmp_path: Path) -> None:
    meter = compile_costs.lay(tmp_path, "key")
    assert meter is not None
    words = [str(meter.script), "sh", "-c", "echo out; echo err >&2; exit 3"]
    for extra in ({}, meter.variables):
        done = subprocess.run(
            words, env={"PATH": "/usr/bin:/bin", **extra}, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")


@needs_time
def test_what_was_noted_of_a_build_stays_until_it_is_finished(tmp_path: Path) -> None:
    first = compile_costs.lay(tmp_path, "key")
    assert first is not None
    first.notes.write_text("2048 0.50 0.40 0.05 a.o\n2048 0.5")
    again, other = (compile_costs.lay(tmp_path, key) for key in ("key", "another"))
    assert again is not None
    assert other is not None
    with again.notes.open("a") as notes:
        notes.write("2048 0.50 0.40 0.05 b.o\n")
    assert list(compile_costs.parse(again.notes.read_text())) == ["a.o", "b.o"]
    assert other.notes.read_text() == ""


@needs_time
@pytest.mark.skipif(shutil.which("ccache") is None, reason="ccache is not here")
def test_behind_ccache_only_a_miss_is_noted_and_hits_stay_hits(tmp_path: Path) -> None:
    meter = compile_costs.lay(tmp_path, "key")
    assert meter is not None
    (tmp_path / "a.c").write_text("int x;\n")
    cache = {"CCACHE_DIR": str(tmp_path / "cache"), "CCACHE_CONFIGPATH": "/dev/null", "PATH": "/usr/bin:/bin"}
    words = ["ccache", "gcc", "-c", "a.c", "-o", "a.o"]
    subprocess.run(words, cwd=tmp_path, env=cache, check=True)  # without the wrapper: the cache does not mind
    behind = {**cache, "CCACHE_PREFIX": str(meter.script), **meter.variables}
    subprocess.run(words, cwd=tmp_path, env=behind, check=True)
    assert meter.notes.read_text() == ""
    subprocess.run([*words, "-O1"], cwd=tmp_path, env=behind, check=True)
    assert list(compile_costs.parse(meter.notes.read_text())) == ["a.o"]


def test_notes_are_read_and_others_skipped() -> None:
    text = "2048 0.50 0.40 0.05 sql/a b.o\nCommand terminated by signal 9\n4096 1.00 0.90 0.05 x.o\n1024 9 9 9 x.o\n\n"
    assert compile_costs.parse(text) == {
        "sql/a b.o": Cost(2 << 20, 0.5, pytest.approx(0.45)),
        "x.o": Cost(4 << 20, 1.0, pytest.approx(0.95)),
    }


def test_summary_has_the_heaviest_first_and_knows_what_came_from_the_cache() -> None:
    objects = [CompiledObject(f"{n}.o", f"{n}.c", ("cc", f"{n}.c")) for n in range(12)]
    noted = {f"{n}.o": Cost(n << 20, 1.0, 0.5) for n in range(6)} | {"bin/server": Cost(99 << 20, 3.0, 2.0)}
    earlier = {"11.o": Cost(200 << 20, 7.0, 6.5)}
    facts = compile_costs.summary(objects, noted, earlier, "bin/server")
    assert (facts["compiled"], facts["known"], facts["of"]) == (6, 7, 12)
    assert facts["heaviest"][0] == ["11.o", 200 << 20, 7.0]
    assert facts["link"] == [99 << 20, 3.0]
    assert facts["compile_cpu_seconds"] == 9.5


def test_an_object_costs_the_same_whoever_read_its_source(tmp_path: Path) -> None:
    """clang's two steps: the first is done once for two builds, which differ in their profile."""
    (tmp_path / "a.c").write_text("int x;\n")
    one, other = (
        CompiledObject("a.o", "a.c", ("clang", "-O2", flag, "-c", "a.c", "-o", "a.o"))
        for flag in ("-fprofile-generate", "-fprofile-use=/p")
    )
    assert compile_costs.reading_key(one, tmp_path) == compile_costs.reading_key(other, tmp_path)
    read, made = Cost(300, 8.0, 7.5), Cost(200, 1.0, 1.0)
    first = compile_costs.in_one([one], {"a.bc": read, "a.o": made}, {})
    assert first["a.o"] == Cost(300, 9.0, 8.5)
    kept = compile_costs.fresh([one], first, tmp_path)
    assert kept[compile_costs.reading_key(one, tmp_path)] == read
    earlier = {"a.o": kept[compile_costs.reading_key(other, tmp_path)]}
    assert compile_costs.in_one([other], {"a.o": made}, earlier)["a.o"] == Cost(300, 9.0, 8.5)
    assert compile_costs.in_one([other], {"a.o": made}, {})["a.o"] == made, "where nothing is known of the first"


def test_a_compile_is_known_again_by_command_and_source(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int x;\n")
    item = CompiledObject("a.o", "a.c", ("cc", "a.c"))
    first = compile_costs.command_key(item, tmp_path)
    assert compile_costs.command_key(item, tmp_path) == first
    assert compile_costs.command_key(CompiledObject("a.o", "a.c", ("cc", "-O2", "a.c")), tmp_path) != first
    (tmp_path / "a.c").write_text("int y;\n")
    assert compile_costs.command_key(item, tmp_path) != first
