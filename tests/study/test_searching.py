"""`tune` as a search: what asks for one, what is refused, what a kill costs, and one from the command line."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from burnish.base.errors import UserError
from burnish.model.cell import Role
from burnish.model.workload import Design, Placement, Timing
from burnish.record import exchange, live
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import StageDone
from burnish.record.events.searches import FinalistOn, MainEffect, SearchBegun, SearchEnded, SearchTold
from burnish.record.events.study import Configured, SessionBegun, StudyBegun, StudyFinished
from burnish.record.events.trials import StartBegun, StartDone, TrialsPlanned
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import FILE, Record
from burnish.report.answer import search as report
from burnish.report.document import Document
from burnish.report.render.markdown import markdown
from burnish.search.asks import Objective
from burnish.search.search import replayed
from burnish.statistics.sequential import Rule
from burnish.study.constructors.tune import tune_study
from burnish.study.extras import deployment, fastest, search_steps
from burnish.study.extras.searched import lost_seconds, settings_of, told_of
from burnish.study.request.options import Options
from burnish.study.trials.starts import BegunOtherwiseError
from burnish.study.workshop.workshop import NotMeasured, Workshop
from spaces import choice, rung, speed, written
from studying import FAR, QUICK, burnish, events, killed_at, study, summary, text

SPEED = speed(fast=400, slow=25)
BROKEN = choice(
    "broken",
    "Does not compile, so that the search says so and goes on without it.",
    marks=("weakens security",),
    yes="FAKE_BROKEN",
)
KNOWN = (
    rung("fast", "Known to be the best, so that the ladder finds it at once.", speed="fast"),
    rung("broken", "Can not be had, so that the search goes on without it.", broken="yes"),
)


@pytest.fixture
def space(tmp_path: Path) -> Path:
    return written(tmp_path / "space.toml", SPEED, BROKEN, *KNOWN)


def test_only_a_budget_without_variants_or_a_strategy_makes_it_a_search() -> None:
    assert tune_study("fake", Options()).search is None
    assert tune_study("fake", Options(variants=("gcc-o3",), budget=3600.0)).search is None
    assert "search" not in tune_study("fake", Options()).definition.as_dict()
    found = tune_study("fake", Options(budget=3600.0)).search
    assert found is not None
    assert (found.strategy, found.budget) == ("default", 3600.0)
    assert tune_study("fake", Options(strategy="ladder")).search is not None


def test_a_search_deploys_its_winner_where_that_is_asked() -> None:
    study = tune_study("mariadb", Options(strategy="ladder", deploy=("no-spinning", "thread-pool")))
    assert [choice.name for choice in study.deploy] == ["no-spinning", "thread-pool"]
    with pytest.raises(UserError, match="sync_binlog decides about durability"):
        tune_study("mariadb", Options(strategy="ladder", deploy=("sync_binlog=0",)))


def test_a_files_search_is_not_of_who_names_builds() -> None:
    """A file with a budget and an objective refused `tune --variant NAME` by an option that nobody had typed."""
    words = ("--strategy=default", "--objective=p99@400", "--guard=oltp_point_select", "--budget=2h")
    asked = Options(
        strategy="default",
        objective="p99@400",
        guards=("oltp_point_select",),
        budget=7200.0,
        workloads=("oltp_read_only",),
        configured=Configured("burnish.toml", "0", words),
    )
    study = tune_study("mariadb", replace(asked, variants=("gcc-pgo",)))
    assert study.search is None
    assert {comparison.candidate for comparison in study.comparisons} == {"gcc-pgo"}
    with pytest.raises(UserError, match="--variant: a search makes its own builds"):
        tune_study("mariadb", Options(strategy="default", variants=("gcc-pgo",)))


def test_weights_and_guards_make_the_objective() -> None:
    study = tune_study(
        "mariadb", Options(strategy="default", workloads=("oltp_read_only",), guards=("oltp_point_select",))
    )
    assert study.search is not None
    assert study.search.objective.weights == {"oltp_read_only": 1.0}
    assert study.search.objective.loads == ("oltp_read_only", "oltp_point_select")
    assert {comparison.load for comparison in study.comparisons} == {"oltp_read_only", "oltp_point_select"}
    two = Options(
        strategy="default", workloads=("oltp_read_only", "oltp_point_select"), weights=(("oltp_read_only", 3.0),)
    )
    search = tune_study("mariadb", two).search
    assert search is not None
    assert search.objective.weights == {"oltp_read_only": 3.0, "oltp_point_select": 1.0}


def test_weights_and_guards_are_of_the_loads_that_are_meant() -> None:
    """With parameters in any order, and of each number of threads of a load that is named without."""
    asked = Options(
        strategy="default",
        workloads=("oltp_read_only", "oltp_insert:tables=8,rand-type=pareto"),
        ladder=(2, 16),
        weights=(("oltp_read_only", 3.0), ("oltp_read_only:threads=16", 2.0)),
        guards=("oltp_insert:rand_type=pareto,tables=8",),
    )
    with pytest.raises(UserError, match="named twice"):  # a guard beside the same load is not another one
        tune_study("mariadb", asked)
    search = tune_study("mariadb", replace(asked, workloads=asked.workloads[:1])).search
    assert search is not None
    assert search.objective.weights == {"oltp_read_only:threads=2": 3.0, "oltp_read_only:threads=16": 2.0}
    guarded = {f"oltp_insert:rand-type=pareto,tables=8,threads={number}" for number in (2, 16)}
    assert set(search.objective.guards) == guarded
    with pytest.raises(UserError, match=r"unknown load of --weight 'oltp_insert'"):
        tune_study("mariadb", replace(asked, workloads=("oltp_read_only",), weights=(("oltp_insert", 2.0),)))


def test_a_response_time_is_searched_for_at_a_rate_one_side_at_a_time() -> None:
    asked = Options(strategy="ladder", objective="p99@300", workloads=("oltp_read_only",), guards=("oltp_insert",))
    study = tune_study("mariadb", replace(asked, weights=(("oltp_read_only", 2.0),)))
    assert study.search is not None
    assert study.search.objective == Objective({"oltp_read_only:rate=300": 2.0}, ("oltp_insert:rate=300",))
    for comparison in (*study.comparisons, *study.search.pattern):
        assert comparison.quantity == "p99"
        assert (comparison.design, comparison.placement) == (Design.SOLO, Placement.APART)
        assert comparison.workload is not None
        assert comparison.workload.parameter("rate") == "300"
        assert not comparison.workload.saturated
    plain = tune_study("mariadb", Options(strategy="ladder"))
    assert study.definition.digest != plain.definition.digest
    assert all(comparison.quantity is None for comparison in plain.comparisons)
    whole = tune_study("mariadb", replace(asked, placement="whole"))
    assert {comparison.placement for comparison in whole.comparisons} == {Placement.WHOLE}
    for given in ({"design": "duet"}, {"placement": "shared"}):
        with pytest.raises(UserError, match="in a duet a request waits for the other side's server too"):
            tune_study("mariadb", replace(asked, **given))
    with pytest.raises(UserError, match="requests that are due in the other's turn wait for its end"):
        tune_study("mariadb", replace(asked, design="interleaved"))
    duet = tune_study("mariadb", replace(asked, design="duet", objective="capacity@300"))
    assert {comparison.design for comparison in duet.comparisons} == {Design.DUET}
    with pytest.raises(UserError, match="--objective: is of a search; add --budget TIME or --strategy NAME"):
        tune_study("mariadb", replace(asked, strategy=None))


def test_a_search_begins_with_what_earlier_ones_found(burnish_home: Path, tmp_path: Path) -> None:
    best = {"compiler": "clang", "profile": "trained", "calls": "direct"}
    effects = (MainEffect("calls", "direct", 1.05, 1.04, 1.06, 12),)
    ended = SearchEnded("search-07", "search-07", (), 9, 0, "", (), effects, {}, 0.0, 100.0, best)
    file = tmp_path / "elsewhere.jsonl"
    begun = StudyBegun("fake-there", {"verb": "tune", "engine": "fake"})
    exchange.write(file, [at(1, begun), at(2, ended)])
    plain = tune_study("fake", Options(strategy="default"))
    study = tune_study("fake", Options(strategy="default", prior=(str(file),)))
    assert plain.search is not None
    assert study.search is not None
    assert study.search.prior == ("fake-there",)
    assert dict(study.search.space.rungs["earlier-1"].settings) == best
    assert "earlier-1" in {comparison.candidate for comparison in study.comparisons}
    assert study.search.space.choice("calls").expected > plain.search.space.choice("calls").expected
    assert study.definition.digest != plain.definition.digest
    with pytest.raises(UserError, match=r"elsewhere.jsonl: it is of fake, not of mariadb"):
        tune_study("mariadb", Options(strategy="default", prior=(str(file),)))
    exchange.write(file, [at(1, begun)])
    with pytest.raises(UserError, match=r"it has no search that came to its end"):
        tune_study("fake", Options(strategy="default", prior=(str(file),)))


def test_a_report_says_what_was_trained_and_what_that_costs_elsewhere() -> None:
    loads = (FinalistOn("mine", True, 1.0, 1.31, 1.3, 1.32), FinalistOn("backup", False, 0.0, 0.97, 0.96, 0.98))
    ended = SearchEnded("pgo", "pgo", (), 3, 0, "", (), (), {}, 0.0, 100.0, {}, trained=("mine",), loads=loads)
    said = markdown(Document("", (report.section(BEGUN, ended),)))
    assert "pgo is trained on mine" in said
    assert "| mine | 1 | yes | +31.0 % | +30.0 % to +32.0 % |" in said
    assert "| backup | guarded | no | -3.0 % | -4.0 % to -2.0 % |" in said
    assert "is not known" not in said
    alone = markdown(Document("", (report.section(BEGUN, replace(ended, loads=loads[:1])),)))
    assert "what its profile costs on other loads is not known" in alone
    timed = replace(BEGUN, objective="p99@300", prior=("fake-there",))
    assert "for the best p99@300, beginning with what fake-there found" in markdown(
        Document("", (report.section(timed, ended),))
    )


def test_a_load_at_another_rate_is_the_one_that_was_trained() -> None:
    assert fastest._plain("oltp_insert:rate=300,tables=4") == fastest._plain("oltp_insert:threads=8") == "oltp_insert"
    assert fastest._plain("mine:rate=3#cafe@sbtest") == "mine#cafe@sbtest", "a file of the user's is its content"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(strategy="ladder", weights=(("oltp", 1.0),)), r"load of --weight"),
        (Options(strategy="ladder", weights=(("fake_mix", 0.0),)), r"no load has a weight above 0"),
        (Options(strategy="ladder", space=Path("/none.toml")), r"/none.toml: there is no such file"),
    ],
)
def test_requests_that_are_wrong(options: Options, message: str) -> None:
    with pytest.raises(UserError, match=message):
        tune_study("fake", options)


@pytest.mark.parametrize(
    "options",
    [
        Options(weights=(("fake_mix", 2.0),)),
        Options(guards=("fake_mix",)),
        Options(allow=("weakens security",)),
        Options(space=Path("/mine.toml")),
        Options(space=Path("/mine.toml"), budget=3600.0, variants=("gcc-o3",)),
    ],
)
def test_what_is_of_a_search_is_refused_without_one(options: Options) -> None:
    with pytest.raises(UserError, match="is of a search; add --budget TIME or --strategy NAME, and name no variants"):
        tune_study("fake", options)


@pytest.mark.parametrize("option", ["--variant", "--recipes"])
def test_a_search_with_builds_of_ones_own_is_refused(tmp_path: Path, option: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(FAR)
    named = Options(variants=("gcc-o3",)) if option == "--variant" else Options(recipes=own)
    asked = replace(named, strategy="screen")
    with pytest.raises(UserError, match=f"{option}: a search makes its own builds .* or leave --strategy screen out"):
        tune_study("fake", asked)
    given = Configured("burnish.toml", "0", (f"{option}=what a settings file has for other calls",))
    assert tune_study("fake", replace(asked, configured=given)).search is not None


@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("--layouts", 6),
        ("--trainings", 6),
        ("--starts", 20),
        ("--precision", 0.005),
        ("--why", True),
        ("--seconds", 60.0),
    ],
)
def test_what_a_search_has_no_use_for_is_refused(option: str, given: float) -> None:
    plain = Options(strategy="screen")
    asked = replace(plain, **{option.removeprefix("--"): given})  # type: ignore[arg-type]
    with pytest.raises(UserError, match=rf"^{option}: a search .*; leave {option} out, or name builds by --variant"):
        tune_study("fake", asked)
    found = tune_study("fake", replace(asked, configured=Configured("burnish.toml", "0", (f"{option}={given}",))))
    usual = tune_study("fake", plain)
    assert (found.rule, found.definition) == (usual.rule, usual.definition), "a settings file is for other calls too"


def test_what_a_search_does_anyway_may_be_given() -> None:
    study = tune_study("fake", Options(strategy="screen", layouts=0, precision=None))
    assert study.rule == tune_study("fake", Options(strategy="screen")).rule


def test_a_space_without_a_choice_for_the_engine_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "other.toml", SPEED.replace("step =", 'engines = ["mariadb"]\nstep ='))
    with pytest.raises(UserError, match="the space of fake is empty"):
        tune_study("fake", Options(strategy="ladder", space=path))


BEGUN = SearchBegun("default", 7200.0, 1, "", 28, 71_884_800, {}, 10.0, 600.0, 10.0, {"w": 1.0})
TOLD = SearchTold(1, "fast", {"speed": "fast"}, "ladder", "", 3, False, {"w": (0.2,)}, 10.0, 60.0)


def at(second: int, event: Event) -> Recorded[Event]:
    return Recorded(second, f"2026-11-26T02:{second // 60:02}:{second % 60:02}+00:00", event)


def test_what_no_finished_step_used_was_lost_to_kills() -> None:
    begun = replace(BEGUN, before=600.0)
    assert lost_seconds(begun, [], 600.0) == 0.0
    assert lost_seconds(begun, [TOLD, TOLD], 720.0) == 0.0
    assert lost_seconds(begun, [TOLD, TOLD], 750.0) == 30.0
    assert lost_seconds(begun, [TOLD, TOLD], 700.0) == 0.0, "a record whose sessions do not say what they used"


def test_a_report_has_path_effects_and_what_was_left() -> None:
    ended = SearchEnded(
        winner="search-07",
        finalist="search-07",
        slower_on=(),
        tried=40,
        failed=2,
        common_failure="",
        path=("ladder: 3 of 3 known-good builds measured",),
        effects=(),
        untried={"bolt=yes": "the budget lacks the time"},
        another_hour=0.0123,
        seconds=7100.0,
        settings={"lto": "thin"},
    )
    said = markdown(Document("", (report.section(BEGUN, ended),)))
    assert "searched 28 choices, 71,884,800 builds allowed (default) within 2 h 00 min" in said
    assert "40 builds tried in 1 h 58 min, 2 of which could not be measured" in said
    assert "search-07 is lto=thin: faster on fresh starts" in said
    assert "ladder: 3 of 3" in said
    assert "not tried: bolt=yes (the budget lacks the time)" in said
    assert "another hour would probably bring 1.2 %, judged by what such changes usually do" in said
    assert "it is not at its end" in markdown(Document("", (report.section(BEGUN, None),)))
    assert report.section(None, None).blocks == ()


@pytest.mark.parametrize(
    ("hour", "words"),
    [
        (
            ("bolt",),
            "bring 1.2 %, by bolt, judged by what such changes usually do (a change counts only where it gains)",
        ),
        ((), "another hour is not enough for any of these"),
    ],
)
def test_a_report_says_what_another_hour_would_be_spent_on(hour: tuple[str, ...], words: str) -> None:
    ended = SearchEnded("one", "one", (), 4, 0, "", (), (), {"bolt=yes": "dear"}, 0.0123, 7100.0, hour=hour)
    assert words in markdown(Document("", (report.section(BEGUN, ended),)))


def test_a_search_from_the_command_line_is_resumed_after_a_kill(burnish_home: Path, space: Path) -> None:
    words = ["tune", "fake", "--space", str(space), "--strategy", "ladder", "--allow", "weakens-security"]
    words += ["--max-starts", "3", *QUICK]
    killed_at(SearchTold, words)
    first = events(burnish_home, SearchTold)
    _, err = text(burnish(*words))
    told = events(burnish_home, SearchTold)
    assert told[: len(first)] == first, err
    assert [(event.number, event.stage) for event in told] == [(1, "ladder"), (2, "ladder"), (3, "confirm")], err
    assert [bool(event.failed) for event in told] == [False, True, False]
    assert told[0].costs is not None
    assert {load: len(costs) for load, costs in told[0].costs.items()} == {
        load: len(readings) for load, readings in told[0].readings.items()
    }, "what the baseline's transactions cost in each of these starts"
    (ended,) = events(burnish_home, SearchEnded)
    assert (ended.winner, ended.failed, ended.settings) == ("fast", 1, {"speed": "fast"})
    assert summary(burnish_home).searched is not None
    verdicts = events(burnish_home, VerdictReached)
    assert {verdict.cell.role for verdict in verdicts if verdict.cell.candidate == "fast"} == {
        Role.CLAIM,
        Role.CONFIRMATION,
    }
    assert ended.seconds >= sum(event.seconds for event in told)


def test_a_search_with_other_times_now_is_refused_and_no_build_fails(burnish_home: Path, space: Path) -> None:
    """As of another version of Burnish: the times that the record has are not those of a start now."""
    words = ["tune", "fake", "--space", str(space), "--strategy", "ladder", "--allow", "weakens-security"]
    words += ["--max-starts", "3", *QUICK]
    killed_at(SearchTold, words)
    folder = study(burnish_home)
    with closing(Record(folder)) as record:
        lines = list(record.lines())
    times = [line for line in lines if line.kind == TrialsPlanned.kind()]
    assert times, "or this test shows nothing"
    for line in times:
        line.body["timings"]["duet"]["window"] *= 2.0
    (folder / FILE).unlink()
    with closing(Record(folder, create=True)) as record:
        record.restore(lines)
    told, compiled = events(burnish_home, SearchTold), len(events(burnish_home, StageDone))
    child = burnish(*words)
    out, err = text(child)
    assert child.returncode == 2, (out, err)
    assert "duet.window was " in " ".join(err.split()), err
    assert events(burnish_home, SearchTold) == told
    assert len(events(burnish_home, StageDone)) == compiled, "before anything is compiled"


def test_a_search_whose_baseline_took_all_of_its_budget_comes_to_its_end(burnish_home: Path, space: Path) -> None:
    words = ["tune", "fake", "--space", str(space), "--strategy", "ladder", "--budget", "10m", "--max-starts", "3"]
    words += QUICK
    killed_at(StageDone, words)
    folder = study(burnish_home)
    with closing(Record(folder)) as record:
        lines = list(record.lines())
    (folder / FILE).unlink()
    (folder / live.FILE).unlink(missing_ok=True)  # it says how long the session took, however its events are dated
    with closing(Record(folder, create=True)) as record:  # as if the session had begun half an hour before
        record.restore(line._replace(at="2026-01-01T00:00:00Z") for line in lines[:-1])
        record.restore([lines[-1]._replace(at="2026-01-01T00:30:00Z")])
    child = burnish(*words)
    out, err = text(child)
    assert "too small" not in err, err
    (ended,) = events(burnish_home, SearchEnded)
    assert (ended.winner, ended.finalist, ended.tried) == (None, None, 0), (out, err)
    assert events(burnish_home, StudyFinished)
    assert "there was nothing beside the baseline" in out


@pytest.mark.parametrize("known", [True, False])
def test_what_changed_for_every_build_is_no_failure_of_one(monkeypatch: pytest.MonkeyPatch, known: bool) -> None:
    ask = SimpleNamespace(starts=3)
    step = search_steps._Step(cast("Any", ask), "one", [cast("Any", None)], wanted=3)
    error = BegunOtherwiseError("changed") if known else UserError("no room")

    def refused(*_: object) -> Any:
        raise error

    monkeypatch.setattr(search_steps, "trial_of", lambda *_: SimpleNamespace(cell=None))
    monkeypatch.setattr(search_steps, "begin_trials", refused)
    if known:
        with pytest.raises(BegunOtherwiseError):
            search_steps._take(cast("Any", None), [step])
    else:
        search_steps._take(cast("Any", None), [step])
    assert step.failed == ("" if known else "no room")


def test_a_step_that_the_host_alone_disturbed_is_told_as_such() -> None:
    def failed(*disturbed: bool) -> bool:
        step = search_steps._Step(cast("Any", None), "one", ())
        for each in disturbed:
            step.fail("one / load: taken", disturbed=each)
        return step.disturbed

    assert failed(True)
    assert failed(True, True)
    assert not failed(True, False)
    assert not failed(False, True), "what one load says of the build is not undone by another"


@pytest.mark.parametrize("disturbed", [3, 2])
def test_a_build_that_lacks_starts_says_whether_the_host_was_disturbed(
    monkeypatch: pytest.MonkeyPatch, disturbed: int
) -> None:
    trial = SimpleNamespace(cell=SimpleNamespace(name="one / load", id=None), comparison=None)
    starts = SimpleNamespace(valid=0, invalid=["taken"] * 3, disturbed=disturbed)
    runner = SimpleNamespace(take=lambda _: None)
    monkeypatch.setattr(search_steps, "trial_of", lambda *_: trial)
    monkeypatch.setattr(search_steps, "begin_trials", lambda *_: runner)
    monkeypatch.setattr(search_steps, "cell_starts", lambda *_, **__: starts)
    step = search_steps._Step(cast("Any", None), "one", (cast("Any", None),), wanted=3)
    search_steps._take(cast("Workshop", SimpleNamespace(record=None)), [step])
    assert (step.failed, step.disturbed) == ("load: taken", disturbed == 3)


@pytest.mark.parametrize(("verdict", "read"), [("invalid", ()), ("faster", (0.3, 0.31))])
def test_fresh_starts_without_a_verdict_announce_no_winner(
    monkeypatch: pytest.MonkeyPatch, verdict: str, read: tuple[float, ...]
) -> None:
    """Two readings that agree would, whatever made the other starts invalid."""
    reached = SimpleNamespace(event=SimpleNamespace(verdict=verdict))
    workshop = SimpleNamespace(
        record=SimpleNamespace(last=lambda *_, **__: reached),
        cell=lambda _: None,
        study=SimpleNamespace(confirmation=None),
    )
    cell = SimpleNamespace(id=None, headline="capacity")
    monkeypatch.setattr(search_steps, "conclude", lambda _: None)
    monkeypatch.setattr(search_steps, "measure_again", lambda *_: None)
    monkeypatch.setattr(search_steps, "again", lambda *_: cell)
    monkeypatch.setattr(search_steps, "cell_starts", lambda *_: SimpleNamespace(of=lambda _: [0.3, 0.31]))
    found = search_steps._fresh(cast("Workshop", workshop), [cast("Any", SimpleNamespace(load="load"))])
    assert found == {"load": read}


def test_a_search_whose_every_build_fails_names_the_common_cause(burnish_home: Path, space: Path) -> None:
    """Each build has a name and a log of its own, which are no part of the cause."""
    text_ = space.read_text().replace("-DFAKE_SPEED=25", "-DFAKE_BROKEN").replace("-DFAKE_SPEED=400", "-DFAKE_BROKEN")
    space.write_text(text_[: text_.index("[rung.fast]")])
    words = ["tune", "fake", "--space", str(space), "--strategy", "screen", "--max-starts", "3", *QUICK]
    child = burnish(*words)
    out, err = text(child)
    assert child.returncode == 1, err
    failed = [event.failed for event in events(burnish_home, SearchTold)]
    assert len(failed) == 2
    assert all(why.startswith("build failed: ") for why in failed), failed
    (ended,) = events(burnish_home, SearchEnded)
    assert ended.common_failure.startswith("build failed: ")
    assert "FAKE_BROKEN" in ended.common_failure
    assert "log" not in ended.common_failure
    assert "Nothing could be compared: search-01, search-02: build failed: " in " ".join(out.split())


def test_two_builds_share_a_baseline_where_sides_take_turns(burnish_home: Path, tmp_path: Path) -> None:
    """A search that is killed after their starts tells both of them the same again."""
    space = written(
        tmp_path / "space.toml",
        SPEED,
        BROKEN,
        rung("slow", "The other known-good build, so that two are asked for at once.", speed="slow"),
        *KNOWN,
    )
    words = ["tune", "fake", "--space", str(space), "--strategy", "ladder", "--allow", "weakens-security"]
    words += ["--max-starts", "3", "--design", "interleaved", "--pairs", "1"]
    killed_at(SearchTold, words)
    child = burnish(*words)
    _, err = text(child)
    assert child.returncode == 0, err
    told = {event.variant: event for event in events(burnish_home, SearchTold) if not event.fresh}
    assert set(told) == {"slow", "fast", "broken"}
    assert told["slow"].readings["fake_mix"] != told["fast"].readings["fake_mix"]
    begun = [event for event in events(burnish_home, StartBegun) if event.cell.role is Role.CLAIM]
    together = {(event.cell.candidate, *(event.beside or ())) for event in begun}
    assert together == {("slow", "fast"), ("fast", "slow")}
    done = [event for event in events(burnish_home, StartDone) if event.cell.role is Role.CLAIM and not event.invalid]
    assert len(done) == 2 * len(told["fast"].readings["fake_mix"]), "no start was taken again"
    assert len(events(burnish_home, SearchEnded)) == 1


@pytest.mark.measures
def test_a_budget_is_for_all_sessions_of_a_search(burnish_home: Path, space: Path) -> None:
    """Killed while the baseline is built, and again after a step; the budget ends it, and holds.

    Seen by the times on record: whatever was asked for fitted what the sessions before had left, however long it took
    in the end, and the search ended as the next build did not fit any more.
    """
    budget = 55.0
    # By this seed the first build is fast, and no later one is better: enough of them, however few there is time for.
    why = "More than the budget has time for, so that it ends the search."
    more = [choice(f"c{number}", why, on=f"FAKE_C{number}") for number in range(40)]
    written(space, SPEED, BROKEN, *more, *KNOWN)
    words = ["tune", "fake", "--space", str(space), "--strategy", "random", "--budget", f"{budget:.0f}s"]
    words += ["--max-starts", "3", "--seed", "9", *QUICK]
    request = tune_study("fake", Options(space=space, strategy="random", budget=budget)).search
    assert request is not None
    killed_at(StageDone, words)
    assert not events(burnish_home, SearchBegun), "its baseline was not there yet"
    killed_at(SearchTold, words)
    child = burnish(*words)
    _, err = text(child)
    assert child.returncode == 0, err
    used = [session.used for session in events(burnish_home, SessionBegun)]
    assert used[0] is None
    assert 0.0 < (used[1] or 0.0) < (used[2] or 0.0), used
    (begun,), (ended,) = events(burnish_home, SearchBegun), events(burnish_home, SearchEnded)
    assert begun.before >= (used[1] or 0.0), "the session that was killed before it began counts"
    told = events(burnish_home, SearchTold)
    assert ended.seconds == pytest.approx(begun.before + sum(event.seconds for event in told))
    assert any(event.fresh for event in told), "the time of the confirmation was kept"
    assert "random: 1 build is left out, the budget lacks the time" in ended.path
    by_number = {event.number: event for event in told}
    under_way, spent = replayed(request.space, settings_of(request, begun), {}), begun.before
    kept = begun.confirmation * begun.again * len(begun.weights)
    dearest = max(event.making for event in told) + begun.steps["compile"] + begun.cap * begun.start
    while asks := under_way.ask():
        if asks[0].fresh:
            assert spent + kept + dearest > 0.95 * budget, "it went on as long as there was time"
        else:
            assert spent + sum(ask.starts for ask in asks) * begun.start + kept <= budget
        for ask in asks:
            event = by_number.pop(ask.number)
            spent += event.seconds
            under_way.tell(ask.number, told_of(event))
    assert not by_number
    assert spent == pytest.approx(ended.seconds)


def test_what_a_kill_used_is_gone_for_a_searchs_deployment_and_confirmation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another study's session has the budget anew, as its message says; a search's has what is left of it."""

    def workshop(search: object, earlier: float) -> Any:
        study = SimpleNamespace(search=search, rule=Rule.fixed(2))
        bench = SimpleNamespace(say=lines.append)
        session = SimpleNamespace(
            options=Options(budget=100.0), bench=bench, earlier=earlier, used=earlier + 1.0, record=record
        )
        return Workshop(cast("Any", session), cast("Any", study), cast("Any", None))

    def measured(*_: object, **__: object) -> None:
        lines.append("measured")

    lines: list[str] = []
    verdicts: list[str] = []
    record = SimpleNamespace(
        last=lambda *_, cell=None, cells=None: cell if cell in verdicts else None,
        events=lambda *_: (),
        append=lambda _: None,
    )
    cell = SimpleNamespace(design=Design.DUET, workload=SimpleNamespace(name="load"), id="cell")
    trial = SimpleNamespace(cell=cell, candidate=SimpleNamespace(label="deployed"))
    for name, value in {
        "_examined": lambda *_: trial,
        "timings": lambda _: dict.fromkeys(Design, Timing(0.02, 0.2, 0.1, 2, 2)),
        "note_times": lambda *_: None,
        "measure": measured,
    }.items():
        monkeypatch.setattr(deployment, name, value)
    comparisons = cast("Any", [None])
    deployment._measure(workshop(object(), 10.0), comparisons)
    assert lines == ["measured"]
    with pytest.raises(NotMeasured, match=r"cut by --budget: 1 min 38 s of 1 min 40 s were used up .* needs about"):
        deployment._measure(workshop(object(), 97.0), comparisons)
    deployment._measure(workshop(None, 97.0), comparisons)
    with pytest.raises(NotMeasured, match=r"and it needs about .*, what comes after it "):
        deployment._measure(workshop(object(), 80.0), comparisons, then=3)
    deployment._measure(workshop(None, 80.0), comparisons, then=3)
    lines.remove("measured")
    verdicts.append("cell")
    deployment._measure(workshop(object(), 97.0), comparisons)
    assert lines == ["measured"] * 3, "what was measured before a kill is taken, whatever is left"
