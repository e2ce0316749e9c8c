"""What one measuring verb can do, all of them can: one table of verbs and abilities."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.main import get_command
from typer.testing import CliRunner

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.builds.evidence import Portable
from burnish.cli import app
from burnish.cli.binding import VerbCommand
from burnish.model.cell import Role
from burnish.model.workload import Design
from burnish.study.constructors import bundled, calibrate, compare, patch, tune
from burnish.study.planning.study_plan import plan_of
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked, by_name
from burnish.study.study import Study
from burnish.study.trials.replicates import Factors
from conftest import BuildFake
from patchfiles import FASTER

Make = Callable[[Options], Study]
"""The study of a verb's constructor."""

VERBS = ("tune", "compare", "patch", "calibrate", "study run")
BUILDING = ("tune", "patch", "study run")
"""Verbs whose builds can have replicates: the others have one program a side, and say so."""

FLAGS = (
    "--set", "--data", "--database", "--defaults-file", "--strict", "--portable", "--emulate", "--budget", "--dry-run",
    "--pairs", "--starts", "--seed", "--fresh", "--yes", "--quiet", "--json",
)  # fmt: skip
"""What every measuring verb takes."""

CLAIMING = ("--why", "--seconds", "--precision", "--max-starts", "--force")
"""What every verb takes that comes to verdicts."""

REFUSED = {
    "compare": ("--layouts", "--trainings"),
    "calibrate": ("--layouts", "--trainings", "--why", "--seconds", "--sittings"),
}
"""What a verb can't have, and says why."""


@pytest.fixture
def verbs(build_fake: BuildFake, tmp_path: Path) -> dict[str, Make]:
    """Every verb's constructor, with the least that it needs."""
    programs = [build_fake().server, build_fake("-DFAKE_SPEED=130").server]
    file = tmp_path / "faster.patch"
    file.write_text(FASTER)
    asked = patch.Asked("fake", (str(file),))
    console = Console(file=io.StringIO())
    return {
        "tune": lambda options: tune.tune_study("fake", replace(options, variants=("gcc-o3",))),
        "compare": lambda options: compare.compare_study("fake", programs, options),
        "patch": lambda options: patch.patch_study(paths.home(), asked, options, console, None),
        "calibrate": lambda options: calibrate.calibrate_study("fake", [Design.DUET], options, twin_cores=True),
        "study run": lambda options: bundled.bundled_study("mysql-manual", "fake", Asked(), options),
    }


def command(verb: str) -> VerbCommand:
    found = get_command(app)
    for word in verb.split():
        found = found.commands[word]  # type: ignore[attr-defined]
    assert isinstance(found, VerbCommand)
    return found


def flags_of(verb: str) -> set[str]:
    return {flag for parameter in command(verb).params for flag in parameter.opts}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("flag", FLAGS)
def test_every_measuring_verb_takes(verb: str, flag: str) -> None:
    assert flag in flags_of(verb)


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "calibrate"])
@pytest.mark.parametrize("flag", CLAIMING)
def test_every_verb_with_verdicts_takes(verb: str, flag: str) -> None:
    assert flag in flags_of(verb)


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_asked_reaches_the_study(verbs: dict[str, Make], verb: str) -> None:
    seconds = None if "--seconds" in REFUSED.get(verb, ()) else 9.0
    study = verbs[verb](Options(seconds=seconds, portable="x86-64-v2", portability=True, features=None, seed=7))
    assert study.sample_seconds == seconds
    assert study.portable == Portable("x86-64-v2", emulate=True)
    assert study.definition.seed == 7
    assert study.comparisons


@pytest.mark.parametrize("verb", VERBS)
def test_replicates_are_of_what_is_built(verbs: dict[str, Make], verb: str) -> None:
    asked = Options(layouts=3)
    if verb in BUILDING:
        assert verbs[verb](asked).replicates == Factors(3, 0)
    else:
        with pytest.raises(UserError, match=r"--layouts 3: .*leave it out"):
            verbs[verb](asked)


@pytest.mark.parametrize(("verb", "flag"), [(verb, flag) for verb, flags in REFUSED.items() for flag in flags])
def test_what_a_verb_cannot_have_is_refused_in_one_sentence(build_fake: BuildFake, verb: str, flag: str) -> None:
    server = str(build_fake().server)
    words = [*(["fake"] if verb == "calibrate" else [server, server, "--engine", "fake"]), flag]
    words += [] if flag == "--why" else ["9"]
    done = CliRunner().invoke(app, [verb, *words])
    assert isinstance(done.exception, UserError)
    assert re.fullmatch(rf"{flag}( 9)?: [^;\n]+; leave it out", str(done.exception))
    assert flag not in CliRunner().invoke(app, [verb, "--help-all"], catch_exceptions=False).output


def known_different(*designs: Design, twin_cores: bool = True) -> list[Design | None]:
    """The designs under which a calibration reads the known difference."""
    study = calibrate.calibrate_study("fake", designs, Options(), twin_cores=twin_cores)
    return [each.design for each in study.comparisons if each.role is Role.CONFIRMATION]


def test_a_calibration_takes_the_designs_that_are_requested_and_no_other() -> None:
    for designs in ([Design.DUET], [Design.INTERLEAVED], [Design.SOLO], list(Design)):
        study = calibrate.calibrate_study("fake", designs, Options(), twin_cores=True)
        assert {each.design for each in study.comparisons} == set(designs)
    assert known_different(*Design) == [Design.DUET, Design.SOLO]
    assert known_different(*Design, twin_cores=False) == [Design.SOLO]
    assert known_different(Design.INTERLEAVED) == []


def test_a_calibration_in_a_duet_alone_is_refused_where_there_is_none() -> None:
    with pytest.raises(UserError, match="--design duet: this host has no two cores alike"):
        calibrate.calibrate_study("fake", [Design.DUET], Options(), twin_cores=False)


@pytest.mark.parametrize("verb", VERBS)
def test_every_study_has_a_plan_with_minutes(verbs: dict[str, Make], verb: str) -> None:
    study = verbs[verb](Options())
    plan = plan_of(paths.home(), study, by_name(study, Asked()), Options())
    assert plan.selection.chosen
    assert plan.forecast.costs
    assert sum(cost.trials for cost in plan.forecast.costs) > 0


def test_the_plan_of_a_comparison_has_its_trials(build_fake: BuildFake) -> None:
    one, other = build_fake().server, build_fake("-DFAKE_SPEED=130").server
    words = ["compare", f"a={one}", f"b={other}", "--engine", "fake", "--dry-run"]
    text = CliRunner().invoke(app, words, env={"COLUMNS": "80", "TERM": "dumb"}, catch_exceptions=False).stdout
    assert "nothing is built\ntrials of 1 cell take " in text
    assert "1 trials of 1 cell " in text


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "study run"])
def test_a_budget_that_is_too_small_is_refused_before_anything_is_built(verbs: dict[str, Make], verb: str) -> None:
    study = verbs[verb](Options(budget=0.5))
    with pytest.raises(UserError, match="--budget"):
        plan_of(paths.home(), study, by_name(study, Asked()), Options(budget=0.5))


def test_a_dry_run_prints_the_plan_and_begins_nothing(burnish_home: Path) -> None:
    words = ["calibrate", "fake", "--design", "duet", "--dry-run", "--json"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "80", "TERM": "dumb"})
    assert done.exit_code == 0, (done.output, done.exception)
    assert json.loads(done.stdout)["engine"] == "fake"
    assert not list((burnish_home / "studies").glob("*"))
