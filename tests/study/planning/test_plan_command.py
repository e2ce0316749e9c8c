"""The verb `plan` on the fake engine: it says what `tune` then does, builds nothing, and is quick about nothing new."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark_scripts import benchmark_script
from burnish.base.paths import Home
from burnish.catalogue import load
from burnish.record.costs import Costs
from burnish.record.events.builds import BuildFailed, BuildsPlanned
from burnish.record.events.study import CommandRun, StudyBegun
from burnish.record.record import Record
from burnish.record.store import Store
from burnish.study.request.options import Options
from planned import plan
from studying import burnish, events, study, text

OWN = """
[linked]
reason = "Differs from the baseline in its link only, so that nothing is compiled again."
recipe = { link = ["-Wl,-z,max-page-size=65536"] }
[broken-thin]
reason = "Shares an instrumented build with the next one that does not compile."
recipe = { toolchain = "clang", pgo = true, lto = "thin", c = ["-DFAKE_BROKEN"], link = ["-fuse-ld=lld"] }
[broken-plain]
reason = "Shares an instrumented build with the last one that does not compile."
recipe = { toolchain = "clang", pgo = true, c = ["-DFAKE_BROKEN"], link = ["-fuse-ld=lld"] }
"""


def test_trials_are_planned_by_the_starts_that_are_asked_for(burnish_home: Path) -> None:
    def seconds(*words: str) -> list[float]:
        printed, err = text(burnish("plan", "fake", "--variant", "gcc-o3", "--deploy", "all", *words, "--json"))
        steps = [step for step in json.loads(printed)["steps"] if step["kind"] == "trials"]
        assert len(steps) == 2, err
        return [step["seconds"]["value"] for step in steps]

    usual, few, many = seconds(), seconds("--starts", "4"), seconds("--starts", "24")
    assert many == pytest.approx([6 * one for one in few])
    assert [2 * one for one in few] == pytest.approx(usual), "eight starts, where a precision is to be reached"


def test_a_plan_its_study_and_what_the_study_cost(burnish_home: Path, tmp_path: Path, clang: object) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN)
    words = ["fake", "--recipes", str(own), "--variant", "linked,broken-thin,broken-plain"]
    child = burnish("plan", *words)
    printed, err = text(child)
    assert child.returncode == 0, err
    assert max(map(len, printed.splitlines())) <= 80
    builds = "2 full compiles, 1 build from cached objects, 2 builds of sources read before"
    assert f"{builds}, 1 training" in " ".join(printed.split())
    assert not (burnish_home / "studies").exists(), "nothing was begun"
    assert not list((burnish_home / "store").rglob("burnish.json")), "nothing was built"

    short = ["--precision", "none", "--starts", "2", "--pairs", "1", "--layouts", "0"]
    child = burnish("tune", *words, *short)
    _, err = text(child)
    assert child.returncode == 0, err
    assert "2 full compiles" in " ".join(err.split()), "tune shows the plan before it begins"
    (planned,) = events(burnish_home, BuildsPlanned)
    assert planned.totals.full_compiles == 2
    tried = [command for command in events(burnish_home, CommandRun) if "FAKE_BROKEN" in str(command.argv)]
    assert len(tried) == 1, "a shared stage that fails is not tried again for the next variant"
    failed = {each.build.name: each.why for each in events(burnish_home, BuildFailed)}
    assert failed.keys() == {"broken-thin", "broken-plain"}
    assert all("(compile server.c)" in why for why in failed.values()), failed

    costs = Costs(burnish_home / "store" / "costs.sqlite").history("fake")
    for step in ("compile", "compile (objects cached)"):
        assert costs.figure(f"{step} by gcc", "new", "seconds") is not None
    assert costs.figure("compile by clang", "new", "seconds") is None, "its compile failed: nothing is to be learnt"

    ladder = benchmark_script("ladder")
    found = ladder.of_study(study(burnish_home))
    assert [step.title for step in found.steps] == ["compile", "fake", "gate", "compile", "gate"]
    assert found.full_compiles == 1, "the other build was put together from cached objects"
    assert found.ratio == pytest.approx(1.0 + found.steps[3].seconds / found.steps[0].seconds)
    table = ladder.markdown(found)
    assert "| **compile** | baseline |" in table
    assert "3 of 3 objects from the cache" in table
    assert re.search(r"Full compiles \(bold\): 1 \(at most 7\)", table)

    planned_again = json.loads(text(burnish("plan", *words, "--json"))[0])
    cached = {(step["title"], *step["variants"]): step["cached"] for step in planned_again["steps"]}
    assert cached["compile", "baseline"]
    assert cached["compile", "linked"]
    assert not cached["instrumented", "broken-thin", "broken-plain"]


def test_dry_run_is_the_plan(burnish_home: Path) -> None:
    dry, err = text(burnish("tune", "fake", "--dry-run", "--json"))
    assert json.loads(dry)["engine"] == "fake", err
    assert dry == text(burnish("plan", "fake", "--json"))[0]
    assert "--dry-run" not in text(burnish("plan", "--help"))[0]


def test_a_source_that_must_be_fetched_is_said_and_not_fetched(burnish_home: Path) -> None:
    found = plan(Home(burnish_home), "mariadb", Options(variants=("gcc-o3",)))
    assert found.source == "Debian source package mariadb, to be fetched first"
    assert not any(step.cached for step in found.steps)
    assert not list(burnish_home.rglob("*.tar.*"))


def cpu_seconds(*words: str) -> float:
    """CPU time of a plan that finds nothing to build, and of all that it ran.

    The clock on the wall also counts what else the machine is doing.
    """
    child = subprocess.Popen(
        [sys.executable, "-m", "burnish", "plan", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert child.stdout is not None
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, said
    assert "nothing to build" in said
    return usage.ru_utime + usage.ru_stime


def test_thirty_variants_and_nothing_new_take_hardly_longer_than_two(burnish_home: Path, tmp_path: Path) -> None:
    """benchmarks/rerun.py has the seconds."""
    rerun = benchmark_script("rerun")
    recipes = tmp_path / "own.toml"
    recipes.write_text(rerun.own_variants())
    names = ("baseline", *load.read_variants(recipes))
    assert len(names) == rerun.VARIANTS
    options = Options(variants=names, recipes=recipes)
    store = Store(burnish_home / "store")
    for step in plan(Home(burnish_home), "fake", options).building:
        kind = {"dataset": "datasets", "gate": "gates", "training": "profiles"}.get(step.kind, "builds")
        store.begin(kind, step.key)
        store.admit(kind, step.key, {"engine": "fake"})
    least = dict.fromkeys((2, len(names)), math.inf)
    for _ in range(20):  # what else the machine does costs CPU time too, by its caches: the least is the plan's own
        for n in least:
            seconds = cpu_seconds("fake", "--recipes", str(recipes), "--variant", ",".join(names[:n]))
            least[n] = min(least[n], seconds)
        few, all_of_them = least.values()
        if all_of_them < 1.5 * few:
            break
    assert all_of_them < 1.5 * few


def test_a_home_without_the_ccache_limit_it_was_given(burnish_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNISH_CCACHE_GB", "lots")
    child = burnish("plan", "fake")
    assert child.returncode == 2
    assert "BURNISH_CCACHE_GB=lots: give the compiler cache's size in GB" in text(child)[1]


def test_an_older_record_has_no_ladder(burnish_home: Path) -> None:
    with closing(Record(burnish_home / "studies/old", create=True)) as record:
        record.append(StudyBegun("old", {}))
    found = benchmark_script("ladder").of_study(burnish_home / "studies/old")
    assert found.steps == ()
    assert found.ratio is None
    assert "no share" in benchmark_script("ladder").markdown(replace(found))
