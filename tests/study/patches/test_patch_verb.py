"""The verb `patch` on the fake engine: whole studies, and everything that is refused before anything is built."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from burnish.base.errors import UserError
from burnish.base.paths import home
from burnish.bench.sampling import find_ability, find_perf
from burnish.catalogue import load
from burnish.record.events.builds import BuildMade, GateRun
from burnish.record.events.trials import StartBegun
from burnish.study import runner
from burnish.study.constructors.patch import Asked, patch_study
from burnish.study.request.options import Options
from conftest import FAKE_SOURCE
from patchfiles import COMMENT, FASTER, OTHER_COMMENT, OVERHEAD, ROUNDS, diff, git, git_tree, write
from studying import burnish, events, text

QUICK = ["--precision", "none", "--starts", "2", "--pairs", "1", "--yes"]


def asked(*patches: str | Path, target: str | Path = "fake", **more: Any) -> Asked:
    return Asked(str(target), tuple(str(word) for word in patches), **more)


def refused(*patches: str | Path, options: Options | None = None, **more: Any) -> str:
    """What the verb says of a request that it refuses, in one line, before anything is built."""
    given, console = options or Options(yes=True), Console(stderr=True)

    def patch() -> None:
        study = patch_study(home(), asked(*patches, **more), given, console, None)
        runner.run(home(), study, given, console, None)

    with pytest.raises(UserError) as error:
        patch()
    said = str(error.value)
    assert "\n" not in said
    root = home().root
    assert not list(root.glob("studies/*")), "nothing half-made is left behind"
    assert not list(root.glob("store/builds/*"))
    return said


@pytest.mark.measures
def test_a_range_of_a_tree_with_all_its_rows(burnish_home: Path, tmp_path: Path) -> None:
    """One patch helps, two change no machine code: seven builds, of which one need be measured."""
    work = git_tree(tmp_path / "work", FASTER, COMMENT, OTHER_COMMENT)
    git(work, "tag", "done")
    git(work, "checkout", "-q", "unpatched")
    child = burnish("patch", work, "unpatched..done", *QUICK)
    out, err = text(child)
    assert child.returncode == 0, err
    assert max(map(len, out.splitlines())) <= 80
    found = json.loads(text(burnish("show", "--json"))[0])
    names = [patch["name"] for patch in found["patched"]["patches"]]
    assert [name[:2] for name in names] == ["01", "02", "03"]
    fast, comment, other = names
    builds = {each["variant"]: each for each in found["patched"]["builds"]}
    assert list(builds) == [*names, "all", *(f"all-but-{name}" for name in names)]
    verdicts = {row["candidate"]: row for row in found["rows"]}
    assert set(verdicts) == {fast, comment, other, f"all-but-{fast}"}
    for name in (comment, other, f"all-but-{fast}"):
        assert verdicts[name]["verdict"] == "no effect"
    row = verdicts[fast]
    assert row["verdict"] in ("faster", "undecided")
    assert row["capacity"]["ratio"] > 1.1
    twins = {name: each["twin"] for name, each in builds.items() if each["twin"]}
    assert twins == dict.fromkeys(("all", f"all-but-{comment}", f"all-but-{other}"), fast)
    adds = {each["patch"]: each["to_the_others"] for each in found["patched"]["adds"]}
    assert adds[comment]["exact"]
    assert adds[other]["exact"]
    assert adds[fast]["ratio"] == pytest.approx(row["capacity"]["ratio"])
    if shutil.which("ccache"):
        assert builds[fast]["compiled"] == [1, 3], "the two objects that it does not touch come from the cache"
        assert builds["all"]["compiled"][0] <= 1, "fake_serve.o as for the last patch alone"
        assert builds[f"all-but-{comment}"]["compiled"] == [0, 3], "each of its objects was compiled before"
    assert f"{comment}: changes no machine code here alone: identical code" in " ".join(
        text(burnish("show", "--full"))[0].split()
    )
    assert (work / "fake_work.c").read_text() == (FAKE_SOURCE / "fake_work.c").read_text(), "the tree is not touched"


@pytest.fixture
def can_sample() -> bool:
    """Whether perf is there and may sample."""
    try:
        find_ability(find_perf(), pmu=False, lbr=False)
    except UserError:
        return False
    return True


@pytest.mark.measures
def test_what_the_tree_has_is_compared_without(burnish_home: Path, tmp_path: Path, can_sample: bool) -> None:
    work = git_tree(tmp_path / "work", FASTER)
    words = ["patch", str(work), "unpatched..", "--reverse", "all", "--variant", "gcc-o3"]
    words += ["--why", "--seconds", "2"] if can_sample else []
    child = burnish(*words, *QUICK, "--json")
    out, err = text(child)
    assert child.returncode == 0, err
    found = json.loads(out)
    (patch,) = found["patched"]["patches"]
    assert patch["reverted"]
    assert patch["name"].startswith("without-01-")
    (row,) = found["rows"]
    assert row["verdict"] in ("slower", "undecided")
    assert row["capacity"]["ratio"] < 0.9
    assert found["patched"]["recipe"] == "gcc-o3"
    assert found["baseline"] == "unpatched"
    if not can_sample:
        assert text(burnish(*words, *QUICK, "--why"))[1].count("perf") >= 1, "refused before anything is built"
        return
    (symbols,) = found["patched"]["symbols"]
    assert symbols["variant"] == patch["name"]
    before, after = symbols["cpu"]
    assert 0 < before < after
    assert "failure" not in symbols
    assert {path.name.split("-")[1] for path in (burnish_home / "studies").iterdir()} == {"patch", "why"}


def test_patches_that_conflict(tmp_path: Path) -> None:
    words = write(tmp_path, one=FASTER, two=COMMENT, three=diff(ROUNDS, "#define ROUNDS 2000UL"))
    said = refused(*words)
    assert said.startswith(f"one and three conflict: after one, {words[2]} no longer applies (hunk #1 of fake_work.c")


def test_patches_of_another_tree(tmp_path: Path) -> None:
    stale = diff(OVERHEAD, "#define OVERHEAD 16UL").replace("-#define OVERHEAD 15UL", "-#define OVERHEAD 14UL")
    words = write(tmp_path, good=COMMENT, stale=stale, lost=FASTER.replace("fake_work.c", "nowhere.c"))
    said = refused(*words[:2])
    assert f"{words[1]}: does not apply to fake " in said
    assert "hunk #1 of fake_work.c" in said
    assert "there is no file nowhere.c" in refused(words[2])


def test_what_is_no_patch(tmp_path: Path) -> None:
    empty, prose = write(tmp_path, empty="", prose="Nothing to see.\n")
    assert f"{empty}: the file is empty" in refused(empty)
    assert f"{prose}: holds no unified diff" in refused(prose)
    (tmp_path / "series").write_text("empty.patch\nnone.patch\n")
    assert "series: line 2: names none.patch, which does not exist" in refused(tmp_path / "series")


def test_samples_that_may_not_be_taken_are_said_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    perf = tmp_path / "bin" / "perf"
    perf.parent.mkdir()
    perf.write_text("#!/bin/sh\nexit 255\n")
    perf.chmod(0o755)
    monkeypatch.setenv("PATH", f"{perf.parent}:{os.environ['PATH']}")
    said = refused(*write(tmp_path, fast=FASTER), options=Options(yes=True, why=True, seconds=2.0))
    assert said.startswith("perf may not sample here (kernel.perf_event_paranoid")
    assert "CAP_PERFMON" in said


def test_replicates_that_make_no_sense(tmp_path: Path) -> None:
    (fast,) = write(tmp_path, fast=FASTER)
    said = refused(fast, options=Options(layouts=6, starts=20, yes=True))
    assert said.startswith("--starts 20: --layouts 6 gives each start a fresh pair of builds")
    assert "--trainings 3: nothing is trained for baseline" in refused(fast, options=Options(trainings=3, yes=True))


@pytest.mark.measures
def test_each_patch_in_several_layouts(burnish_home: Path, tmp_path: Path) -> None:
    """Every row in as many shuffled links: a start takes a fresh pair, and what is the same in each is not measured."""
    words = ["patch", "fake", *write(tmp_path, fast=FASTER, comment=COMMENT), "--layouts", "3", "--pairs", "1"]
    child = burnish(*words, "--precision", "none", "--yes", "--json")
    out, err = text(child)
    assert child.returncode == 0, err
    found = json.loads(out)
    assert found["replicates"] == 3
    builds = events(burnish_home, BuildMade)
    names = ("unpatched", "fast", "comment", "all")
    assert [made.build.name for made in builds] == [f"{name}#{number}" for name in names for number in (1, 2, 3)]
    keys = {made.build.name: made.key for made in builds}
    assert len(set(keys.values())) == 12, "a link for each layout of each tree"
    assert all(gate.report.passed for gate in events(burnish_home, GateRun))
    rows = {row["candidate"]: row for row in found["rows"]}
    assert rows.keys() == {"fast", "comment"}
    assert rows["comment"]["verdict"] == "no effect"
    assert (rows["fast"]["starts"], rows["fast"]["verdict"]) in ((3, "faster"), (3, "undecided"))
    assert rows["fast"]["capacity"]["ratio"] > 1.1
    pairs = [begun.builds for begun in events(burnish_home, StartBegun) if begun.cell.name == "fast / fake_mix"]
    assert pairs == [{name: keys[f"{name}#{number}"] for name in ("unpatched", "fast")} for number in (1, 2, 3)]
    told = {each["variant"]: each for each in found["patched"]["builds"]}
    assert told["all"]["twin"] == "fast", "the same program in each layout"
    adds = {each["patch"]: each["to_the_others"] for each in found["patched"]["adds"]}
    assert adds["comment"]["exact"]
    if shutil.which("ccache"):
        assert told["fast"]["compiled"] == [1, 3], "of the first layout; the others have their objects from the cache"
    shown, _ = text(burnish("show", "--full"))
    assert "each start has a fresh pair of builds (3 of each variant)" in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80


def test_ranges(tmp_path: Path) -> None:
    work = git_tree(tmp_path / "work", FASTER)
    assert "the range is empty" in refused("work..unpatched", target=work)
    assert "has no commit 'other'" in refused("unpatched..other", target=work)
    assert "is not a git tree" in refused(f"{tmp_path}:a..b")
    assert "a git range needs a folder" in refused("unpatched..work")


def test_a_patch_that_the_tree_has_is_offered_the_other_way_round(tmp_path: Path) -> None:
    work = git_tree(tmp_path / "work", FASTER)
    (fast,) = write(tmp_path, fast=FASTER)
    said = refused(fast, target=work)
    assert f"{fast}: fake " in said
    assert "has it already; leave it out, or say --reverse fast" in said
    assert "does not have it, so it cannot be taken out" in refused(fast, reverse=("fast",))
    assert "unknown patch in --reverse 'fats' (did you mean 'fast'?)" in refused(fast, reverse=("fats",))


def test_what_is_no_tree(tmp_path: Path) -> None:
    (fast,) = write(tmp_path, fast=FASTER)
    assert "sqlit: neither an engine nor a source tree (did you mean 'sqlite'?)" in refused(fast, target="sqlit")
    said = refused(fast, target=tmp_path)
    assert f"{tmp_path}: no engine's source tree" in said
    assert "storage/maria" in said
    assert "name it with --engine" in refused(fast, target=fast)
    assert "--engine sqlite: fake is an engine itself" in refused(fast, engine="sqlite")
    assert "unknown variant 'gcc-o33' (did you mean 'gcc-o3'?)" in refused(fast, recipe="gcc-o33")


def test_trees_show_whose_they_are(tmp_path: Path) -> None:
    assert load.engine_of(FAKE_SOURCE).name == "fake"
    for spec in load.engines().values():
        assert spec.markers, "every engine's tree can be recognised"
        for name in spec.markers:
            place = tmp_path / spec.name / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        assert load.engine_of(tmp_path / spec.name) is spec


def test_the_verb_says_it_in_one_line(burnish_home: Path, tmp_path: Path) -> None:
    words = write(tmp_path, one=FASTER, two=diff(ROUNDS, "#define ROUNDS 2000UL"))
    child = burnish("patch", "fake", *words, "--yes")
    out, err = text(child)
    assert child.returncode == 2
    assert out == ""
    *progress, last = err.strip().splitlines()
    assert last.startswith("burnish: one and two conflict")
    assert all(line.strip().startswith("copying ") for line in progress)


def test_recipes_with_patches_of_their_own_keep_them(tmp_path: Path) -> None:
    """The recipe's own patch is part of every row: a series may build on it, and must not repeat it."""
    own = tmp_path / "mine.toml"
    (fast,) = write(tmp_path, fast=FASTER)
    own.write_text('[mine]\nreason = "A recipe with a patch."\nrecipe = { patches = ["fast.patch"] }\n')
    more = diff("#define ROUNDS 1000UL", "#define ROUNDS 2000UL", after=(ROUNDS, "#define ROUNDS 1000UL"))
    (on_top,) = write(tmp_path, more=more)
    assert "hunk #1 of fake_work.c" in refused(on_top)
    said = refused(fast, recipe="mine", options=Options(recipes=own, yes=True))
    assert f"{fast}: fake " in said
    assert "has it already" in said
