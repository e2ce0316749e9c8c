"""What a search's head says: the known-good builds that its budget has time for, and those that it lacks time for."""

from __future__ import annotations

import io
import shutil
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.cli import measuring
from burnish.source import sources
from burnish.study import runner
from burnish.study.constructors.tune import tune_study
from burnish.study.extras import foreseen as module
from burnish.study.extras.foreseen import Head, foreseen, head_of, in_time
from burnish.study.planning.study_plan import StudyPlan, plan_of
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked, by_name
from burnish.study.study import Study
from conftest import FAKE_SOURCE
from spaces import rung, speed, written


@pytest.fixture
def options(tmp_path: Path) -> Options:
    """A search with three known-good builds on a server that compiles in a second, and no bound to its time."""
    parts = [rung(name, "Known to be good, so that it is tried early.", speed=name) for name in ("low", "mid", "high")]
    space = written(tmp_path / "space.toml", speed(low=110, mid=120, high=130), *parts)
    return Options(strategy="ladder", space=space)


def planned(options: Options) -> tuple[Study, StudyPlan]:
    study = tune_study("fake", options)
    return study, plan_of(paths.home(), study, by_name(study, Asked()), replace(options, budget=None))


def fitting(study: Study, whole: StudyPlan, options: Options) -> StudyPlan:
    home = paths.home()
    return in_time(home, study, whole, options, head_of(home, study, whole, options))


def short(options: Options) -> Options:
    """The same with time for the baseline, one candidate and measuring it again."""
    study, plan = planned(options)
    head = head_of(paths.home(), study, plan, options)
    assert head is not None
    return replace(options, budget=foreseen(head, options).least + 1.0)


def test_a_budget_leaves_out_what_it_has_no_time_for(burnish_home: Path, options: Options) -> None:
    study, whole = planned(options)
    assert fitting(study, whole, options) is whole, "there is time for all"
    asked = short(options)
    study, whole = planned(asked)
    found = fitting(study, whole, asked)
    assert (whole.builds.full_compiles, found.builds.full_compiles) == (4, 2)
    assert found.seconds < whole.seconds
    said = "\n".join(found.lines)
    assert "left out: mid, high: the budget has time for 1 of 3 known-good builds" in said
    assert "1 cell to measure" in said


def test_a_run_says_so_before_its_first_build(
    burnish_home: Path, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads: list[Sequence[str]] = []

    def stop(_: object, __: object, plan: StudyPlan, shown: Sequence[str]) -> None:
        heads.append(shown)
        assert {one.candidate for one in plan.selection.chosen} == {"low", "mid", "high"}, (
            "what is known of all is used"
        )
        raise UserError("far enough")

    monkeypatch.setattr(runner, "prepare", stop)
    asked = short(options)
    with pytest.raises(UserError, match="far enough"):
        runner.run(paths.home(), tune_study("fake", asked), asked, Console(file=io.StringIO()), None)
    assert "left out: mid, high: the budget has time for 1 of 3 known-good builds" in heads[0]


def test_a_plan_reads_its_searchs_record_once(
    burnish_home: Path, options: Options, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[object] = []
    really = module.open_record
    monkeypatch.setattr(module, "open_record", lambda *words: (opened.append(words), really(*words))[1])
    measuring.measure(tune_study("fake", options), options, as_json=True, dry_run=True)
    assert '"search"' in capsys.readouterr().out
    assert len(opened) == 1


def test_a_plan_and_a_run_read_an_archive_through_once(
    burnish_home: Path, tmp_path: Path, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although their budget has no time for all known-good builds, so that those that fit are planned once more."""
    read, plans = list[Path](), list[StudyPlan]()
    some_of, fit = sources.some_of, module.in_time

    def reading(local: Path, names: Collection[str], place: Path) -> Path:
        read.append(local)
        return some_of(local, names, place)

    def fitted(home: Home, study: Study, plan: StudyPlan, options: Options, head: Head | None) -> StudyPlan:
        plans.append(fit(home, study, plan, options, head))
        assert plans[-1] is not plan, "it is planned again"
        return plans[-1]

    def stop(*_: object) -> None:
        raise UserError("far enough")

    archive = Path(shutil.make_archive(str(tmp_path / "fake-1.0"), "gztar", FAKE_SOURCE))
    asked = short(replace(options, source=archive))
    monkeypatch.setattr(sources, "some_of", reading)
    for place in (measuring, runner):
        monkeypatch.setattr(place, "in_time", fitted)
    monkeypatch.setattr(runner, "prepare", stop)
    measuring.measure(tune_study("fake", asked), asked, as_json=True, dry_run=True)
    assert (len(plans), read) == (1, [archive])
    with pytest.raises(UserError, match="far enough"):
        runner.run(paths.home(), tune_study("fake", asked), asked, Console(file=io.StringIO()), None)
    assert (len(plans), read) == (2, [archive] * 2)
