"""The verb `why` on the fake engine: two builds explained; what it refuses; and that trials are never sampled."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import burnish
import studying
from burnish.base.errors import UserError
from burnish.base.paths import home
from burnish.bench.sampling import Ability, find_ability, find_perf
from burnish.cli.options import SECONDS
from burnish.study.why import sampling
from conftest import BuildFake


@pytest.fixture
def permitted() -> None:
    """Skips where perf is not there or may not sample."""
    try:
        find_ability(find_perf(), pmu=False, lbr=False)
    except UserError as error:
        pytest.skip(str(error))


@pytest.mark.measures
def test_two_builds_are_explained(build_fake: BuildFake, burnish_home: Path, permitted: None) -> None:
    one, other = build_fake().server, build_fake("-DFAKE_SPEED=130").server
    child = studying.burnish("why", one, other, "--seconds", "3", "--yes")
    said, progress = studying.text(child)
    assert child.returncode == 0, progress
    lines = said.splitlines()
    assert all(len(line) <= 80 for line in lines if not line.startswith("pictures: "))
    assert any(line.startswith("The ceiling") for line in lines)

    folder = studying.study(burnish_home)
    for name in ("before", "after", "difference"):
        ET.parse(folder / f"flame-{name}.svg")  # noqa: S314 - our own
    told = json.loads(studying.text(studying.burnish("show", "--json"))[0])["explanation"]
    before, after = told["cpu"].values()
    assert 1.05 < before / after < 1.6, "1.3 but for a noisy hour"
    assert told["workload"] == "fake_mix"
    assert all(count > 50 for count in told["samples"].values())
    assert sum(row["before"] for row in told["functions"]) == pytest.approx(before, rel=1e-6)
    heaviest = told["functions"][0]
    assert heaviest["part"] == "own"
    assert heaviest["difference"] < 0
    assert told["text"][next(iter(told["text"]))]["pages"] >= 1
    assert "sampled" not in studying.text(studying.burnish("show", "--list"))[0]


def test_what_is_no_program_and_no_variant(tmp_path: Path, burnish_home: Path) -> None:
    with pytest.raises(UserError, match=r"A: nowhere: there is no such file"):
        sampling.requested(home(), "nowhere", "nowhere", None, None)
    text = tmp_path / "text"
    text.write_text("no program")
    with pytest.raises(UserError, match=r"not the program of any engine; name the engine with --engine"):
        sampling.requested(home(), str(text), str(text), None, None)
    with pytest.raises(UserError, match="unknown run"):
        sampling.requested(home(), "a", "b", "none", None)


def test_how_long_it_samples_when_nobody_says_is_what_the_help_says() -> None:
    counter, timer = Ability("cycles:P", by_core=True), Ability("cpu-clock", by_core=True)
    said = re.fullmatch(r"(\d+), or (\d+) without a PMU", SECONDS.unset)
    assert said is not None
    for told, ability in zip(said.groups(), (counter, timer), strict=True):
        assert sampling._enough(ability) == pytest.approx(float(told), rel=0.01)


def test_the_engine_is_found_out(build_fake: BuildFake, burnish_home: Path) -> None:
    program = str(build_fake().server)
    found = sampling.requested(home(), program, program, None, None)
    assert found.engine == "fake"
    assert len(set(found.names)) == 2, "a build against itself is a check of the method"


def test_variants_of_a_study(burnish_home: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(studying.OWN)
    words = ("tune", "fake", "--variant", "speed130", "--recipes", own, "--starts", "2", "--yes")
    child = studying.burnish(*words, *studying.QUICK)
    assert child.returncode == 0, studying.text(child)
    name = studying.study(burnish_home).name
    found = sampling.requested(home(), "baseline", "speed130", name, None)
    assert found.engine == "fake"
    assert found.names == ("baseline", "speed130")
    assert all(built.server.is_file() for built in found.built)
    with pytest.raises(UserError, match=r"unknown variant of study .* \(did you mean 'speed130'\?\)"):
        sampling.requested(home(), "baseline", "speed13", name, None)
    with pytest.raises(UserError, match="named twice"):
        sampling.requested(home(), "baseline", "baseline", name, None)
    with pytest.raises(UserError, match=f"--engine sqlite: study {name} is of fake"):
        sampling.requested(home(), "baseline", "speed130", name, "sqlite")
    shutil.rmtree(found.built[1].folder)
    says = f"no longer in the store; `burnish tune fake --variant speed130 --recipes {own} --starts 2 --yes "
    with pytest.raises(UserError, match=re.escape(says)):
        sampling.requested(home(), "baseline", "speed130", name, None)


@pytest.fixture
def forbidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A perf that may sample nothing."""
    program = tmp_path / "bin" / "perf"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'No permission to enable cpu-clock event.' >&2\nexit 255\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def test_without_permission_for_perf_nothing_is_begun(
    build_fake: BuildFake, burnish_home: Path, forbidden: None
) -> None:
    program = build_fake().server
    child = studying.burnish("why", program, program, "--seconds", "2", "--yes")
    said, progress = studying.text(child)
    assert child.returncode == 2
    assert said == ""
    assert progress.startswith("burnish: perf may not sample here (kernel.perf_event_paranoid")
    for word in ("sudo sysctl kernel.perf_event_paranoid=1", "CAP_PERFMON", "seccomp", "No permission to enable"):
        assert word in progress
    assert len(progress.strip().splitlines()) == 1
    assert not list(burnish_home.glob("studies/*"))


def test_of_a_stripped_program_it_says_what_is_lost(
    build_fake: BuildFake, tmp_path: Path, burnish_home: Path, permitted: None
) -> None:
    one = build_fake().server
    other = Path(shutil.copytree(one.parent, tmp_path / "stripped")) / one.name
    subprocess.run(["strip", "-s", other], check=True)
    child = studying.burnish("why", one, other, "--seconds", "2", "--yes")
    said, progress = studying.text(child)
    assert child.returncode == 0, progress
    lost = (
        "is stripped: its own functions are told by pages of its file only, which can't be set beside another build's"
    )
    flat = " ".join(said.split())
    assert lost in flat
    assert "strip --strip-debug" in flat


def test_more_threads_than_the_server_takes(build_fake: BuildFake, burnish_home: Path, permitted: None) -> None:
    program = build_fake().server
    child = studying.burnish("why", program, program, "--threads", "1000", "--yes")
    _, progress = studying.text(child)
    assert child.returncode == 2
    assert "burnish: max_connections is 256, but fake_mix:threads=1000 has 1000 client threads" in progress
    assert not list(burnish_home.glob("studies/*"))


def test_only_why_observes_what_it_measures() -> None:
    """A trial that gives a verdict has no observer: nothing but the verb `why` names one."""
    root = Path(burnish.__file__).parent
    naming = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.keyword) and node.arg == "observe"
    }
    assert naming == {"bench/trials.py", "study/why/sampling.py"}
