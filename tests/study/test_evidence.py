"""No variant is what it isn't: identical code is not measured, a demand is kept, failures tell their first error."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from burnish.builds import evidence
from burnish.builds.evidence import Examiner, Portable
from burnish.catalogue.instructions import processors
from burnish.cli import app
from burnish.engines.fake.engine import FakeEngine
from burnish.model.recipe import Recipe
from burnish.program import emulation
from burnish.program.built import Built
from burnish.record.events.builds import BuildMade
from burnish.record.events.trials import StartBegun, TrialsPlanned
from burnish.record.record import Record
from burnish.record.store import Store
from burnish.toolchain.toolchains import Toolchain
from studying import QUICK, burnish, study, text

x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="compiles for x86-64")
emulated = pytest.mark.skipif(emulation.find() is None, reason="qemu's user-mode emulation is not here")

OWN = """
[unused]
reason = "A macro that nothing looks at: the same program, to the byte."
recipe = { c = ["-DUNUSED_MACRO"] }
[speed130]
reason = "Known truth: thirty per cent more capacity than the baseline; a check of its configuration fails."
recipe = { c = ["-DFAKE_SPEED=130", "-DFAKE_UNCONFIGURED"] }
[third-level]
reason = "Vector code that old processors lack, so that a demand refuses it."
recipe = { level = "-O3", c = ["-march=x86-64-v3", "-DFAKE_SPEED=131"] }
[broken]
reason = "Does not compile, so that its row has the compiler's first error line."
recipe = { c = ["-DFAKE_BROKEN"] }
[no-such-flag]
reason = "A flag that no compiler has, so that its row has the driver's words."
recipe = { c = ["-fno-such-flag"] }
"""


@x86
def test_rows_of_what_is_not_measured(burnish_home: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN)
    names = "unused,speed130,third-level,broken,no-such-flag"
    words = ["tune", "fake", "--variant", names, "--recipes", str(own), "--portable", "x86-64-v2"]
    child = burnish(*words, "--starts", "2", *QUICK, "--json")
    out, err = text(child)
    assert child.returncode == 0, err
    found = json.loads(out)
    rows = {row["candidate"]: row for row in found["rows"]}
    builds = {row["variant"]: row for row in found["builds"]}
    assert set(rows) == {"unused", "speed130"}
    assert rows["unused"]["verdict"] == "no effect"
    assert rows["unused"]["reason"] == "no effect: identical code"
    assert (builds["unused"]["failure"], builds["unused"]["gate"]) == (None, "no effect: identical code")
    assert builds["third-level"]["failure"] == "needs x86-64-v3, the study demands x86-64-v2"
    assert "error: #error" in builds["broken"]["failure"]
    assert "unrecognized command-line option" in builds["no-such-flag"]["failure"]
    assert builds["broken"]["failure"].endswith(".log)")
    assert builds["baseline"]["needs"].startswith("x86-64, glibc 2.")
    (note,) = (note for note in builds["speed130"]["notes"] if note.startswith("configured"))
    assert note == "configured otherwise than baseline: HAVE_FORK undefined instead of 1"
    with closing(Record(study(burnish_home))) as record:
        cells = {each.event.cell.name for each in record.events(StartBegun)}
        assert not any("unused" in cell or "third" in cell for cell in cells)
        planned = next(iter(record.events(TrialsPlanned)))
        assert [cell.name for cell in planned.event.cells] == ["speed130 / fake_mix"]
        about = next(each.event.about for each in record.events(BuildMade))
    assert "3 have none (made without -g" in about["record"]
    if shutil.which("time"):
        assert about["costs"]["compiled"] == 3
        assert about["costs"]["link"][0] > 1_000_000
    assert "same code" in text(burnish("show"))[0]
    shown, _ = text(burnish("show", "--full"))
    assert "no effect" in shown
    wide = [line for line in shown.splitlines() if len(line) > 80]
    assert [line for line in wide if " " in line.strip()] == [], "only a path, which is never broken, may be wider"

    planned, _ = text(burnish("plan", "fake", "--variant", "unused,speed130", "--recipes", str(own), "--json"))
    steps = json.loads(planned)["steps"]
    assert [step["variants"] for step in steps if step["same"]] == [["unused"]]
    assert all(step["cached"] for step in steps if step["kind"] not in ("trials", "again")), (
        "what is not tested needs no gate"
    )
    assert {"unused"} not in [set(step["variants"]) for step in steps if step["kind"] == "gate"]
    assert next(step["title"] for step in steps if step["kind"] == "trials") == "trials of 1 cell"
    shown, _ = text(burnish("plan", "fake", "--variant", "unused,speed130", "--recipes", str(own)))
    assert "identical code: not measured" in " ".join(shown.split())
    assert "nothing to build" in shown


def test_kept_builds_are_listed_with_what_is_known_of_them(
    burnish_home: Path, build_fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = build_fake()
    folder = burnish_home / "store" / "builds" / "abc123"
    shutil.copytree(built.folder, folder)
    costs = {
        "compiled": 1,
        "known": 1,
        "of": 1,
        "compile_cpu_seconds": 2,
        "heaviest": [["a.o", 9e6, 1]],
        "link": [5e6, 1],
    }
    about = {"engine": "fake", "toolchain": "gcc-12", "costs": costs, "cpu_seconds": 61.0}
    (folder / "burnish.json").write_text(json.dumps(about))
    monkeypatch.setenv("COLUMNS", "80")
    listed = CliRunner().invoke(app, ["builds"]).output
    assert re.search(r"^abc123 .* 9 +5 1 min 01 s$", listed, re.MULTILINE)
    assert max(map(len, listed.splitlines())) <= 80
    detail = CliRunner().invoke(app, ["builds", "abc"]).output
    assert "symbol versions: GLIBC_2" in detail
    assert "peak memory: 5 MB, 1.0 s: the link" in detail
    values = json.loads(CliRunner().invoke(app, ["builds", "--json"]).output)["builds"]
    assert values[0]["program"]["needed"] == ["libc.so.6"]


def test_a_kept_build_is_held_against_another_function_by_function(
    burnish_home: Path, build_fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, flag in {"abc1": "-DUNUSED_MACRO", "abc2": "-DFAKE_SPEED=130"}.items():
        folder = burnish_home / "store" / "builds" / key
        shutil.copytree(build_fake(flag).folder, folder)
        (folder / "burnish.json").write_text(json.dumps({"engine": "fake", "toolchain": "gcc-12", "costs": None}))
    other = burnish_home / "store" / "builds" / "other"
    other.mkdir()
    (other / "burnish.json").write_text(json.dumps({"engine": "sqlite"}))
    monkeypatch.setenv("COLUMNS", "120")

    def said(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["builds", *words])
        return done.exit_code, done.output + (str(done.exception) if done.exception else "")

    code, out = said("abc2", "--against", "abc1")
    assert code == 0
    if platform.machine() == "x86_64":
        assert re.search(r"against abc1: 1 of \d+ functions differs: fake_work$", out, re.MULTILINE)
    (value,) = json.loads(said("abc2", "--against", "abc1", "--json")[1])["builds"]
    assert value["changed"]["of"] == "abc1"
    for words, why in {
        ("abc", "--against", "abc1"): "abc: 2 builds have keys that begin like this (abc1, abc2)",
        ("abc2", "--against", "no"): "unknown --against build 'no'; there are: abc1, abc2, other",
        ("abc2", "--against", "other"): "--against other: a build of sqlite, abc2 is one of fake; name one of fake",
        ("abc2", "--against", "abc"): "--against abc: 2 builds have keys that begin like this (abc1, abc2)",
        ("--against", "abc1"): "no build is named",
    }.items():
        code, out = said(*words)
        assert code != 0
        assert why in out
        assert out.count("\n") <= 1


@pytest.mark.parametrize(
    ("recipe", "only"),
    [
        (Recipe(patches=("a",)), True),
        (Recipe(patches=("b", "-R a")), True),
        (Recipe(), False),
        (Recipe(patches=("a",), c=("-O3",)), False),
    ],
)
def test_recipes_that_differ_in_patches_alone(recipe: Recipe, only: bool) -> None:
    assert evidence.only_patched(recipe, Recipe()) is only


def examiner(tmp_path: Path, engine: FakeEngine, bench: Any) -> Examiner:
    return Examiner(engine, Store(tmp_path / "store"), bench, tmp_path / "scratch")


def test_the_same_program_is_measured_when_it_is_launched_differently(
    build_fake: Any, fake_engine: FakeEngine, bench: Any, tmp_path: Path
) -> None:
    plain, unused, fast = build_fake(), build_fake("-DUNUSED_MACRO"), build_fake("-DFAKE_SPEED=130")
    look = examiner(tmp_path, fake_engine, bench).look
    usual = Recipe()

    def same(built: Built, recipe: Recipe = usual) -> bool:
        return evidence.same(look(built), look(plain), built, plain, recipe, usual)

    assert same(unused)
    assert not same(fast)
    assert not same(replace(unused, environment=(("LD_PRELOAD", "libx.so"),)))
    assert not same(unused, replace(usual, allocator="jemalloc", preload=True))
    assert same(replace(unused, options=(f"--messages={unused.folder}/share",))) is False


def test_a_look_is_kept_and_used_again(
    build_fake: Any, fake_engine: FakeEngine, bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = build_fake()
    first = examiner(tmp_path, fake_engine, bench).look(built)
    monkeypatch.setattr("burnish.program.program.read", None)
    again = examiner(tmp_path, fake_engine, bench).look(built)
    assert json.dumps(again) == json.dumps(first, default=str)


@x86
@emulated
def test_a_build_is_tried_on_another_processor(
    gcc: Toolchain, build_fake: Any, fake_engine: FakeEngine, bench: Any, tmp_path: Path
) -> None:
    looking = examiner(tmp_path, fake_engine, bench)
    wanted = {name: processors()[name] for name in ("Nehalem", "Haswell")}
    assert looking.try_on(build_fake(), wanted) == {"Nehalem": None, "Haswell": None}
    modern = build_fake("-O3", "-march=x86-64-v3")
    said = looking.try_on(modern, wanted)
    assert said["Haswell"] is None
    assert "signal" in (said["Nehalem"] or "")
    before = len(bench.shown)
    assert looking.try_on(modern, wanted) == said
    assert len(bench.shown) == before, "the answer is kept"


def test_what_can_not_be_tried_says_why(
    build_fake: Any, fake_engine: FakeEngine, bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emulation, "find", lambda architecture="x86-64": None)
    said = examiner(tmp_path, fake_engine, bench).try_on(build_fake(), {"Nehalem": processors()["Nehalem"]})
    assert said == {"Nehalem": "not tried: qemu's user-mode emulation is not installed (qemu-user)"}


def facts(level: str, *beyond: str) -> dict[str, Any]:
    return {"needs": {"level": level, "beyond": list(beyond)}}


@pytest.mark.parametrize(
    ("level", "beyond", "demand", "tried", "why"),
    [
        ("x86-64", (), "x86-64", {}, None),
        ("x86-64-v2", (), "x86-64-v3", {}, None),
        ("x86-64-v3", (), "x86-64-v2", {}, "needs x86-64-v3, the study demands x86-64-v2"),
        ("x86-64-v2", ("AES",), "x86-64-v2", {}, "needs AES, which x86-64-v2 does not hold"),
        ("x86-64-v3", (), "Nehalem", {"Nehalem": None}, "needs x86-64-v3, the study demands Nehalem"),
        ("x86-64-v2", (), "Nehalem", {"Nehalem": None}, None),
        ("x86-64", (), "Nehalem", {"Nehalem": "the server ended"}, "on Nehalem: the server ended"),
        ("x86-64", (), "Nehalem", {"Nehalem": "not tried: no qemu"}, "Nehalem: not tried: no qemu"),
        ("", (), "x86-64-v2", {}, "what it needs could not be read, the study demands x86-64-v2"),
    ],
)
def test_demands(
    level: str, beyond: tuple[str, ...], demand: str, tried: dict[str, str | None], why: str | None
) -> None:
    assert evidence.refused(facts(level, *beyond), tried, Portable(demand)) == why
    assert evidence.refused(facts(level, *beyond), tried, Portable()) is None


def test_an_unknown_processor_is_one_line_before_anything_is_begun(burnish_home: Path) -> None:
    child = burnish("tune", "fake", "--portable", "Nehalam")
    _, err = text(child)
    assert child.returncode == 2
    assert "did you mean 'Nehalem'?" in err
    assert not (burnish_home / "studies").exists() or not list((burnish_home / "studies").glob("*"))


@x86
@emulated
def test_an_emulated_program_can_not_take_the_hosts_memory(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        "#include <sys/mman.h>\n#include <stdio.h>\n"
        "int main(void) { void *p = mmap(0, 1L << 43, 0, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);"
        ' puts(p == MAP_FAILED ? "refused" : "granted"); return 0; }\n'
    )
    subprocess.run(["cc", "a.c", "-o", "a"], cwd=tmp_path, check=True)
    found = emulation.find()
    assert found is not None
    done = subprocess.run(
        [*found.launcher(processors()["Nehalem"]), tmp_path / "a"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "refused\n"
