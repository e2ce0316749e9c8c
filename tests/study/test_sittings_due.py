"""A study in several sittings: each call runs what is due, says when the next is due, and loses nothing."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from burnish.base.errors import HostError, UserError
from burnish.cli.common import progress
from burnish.cli.pipeline import resuming
from burnish.model.cell import Role
from burnish.model.sittings import Schedule
from burnish.record.events.study import Call, Configured, SessionBegun, StudyBegun, StudyFinished
from burnish.record.events.trials import StartDone
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.study.kept.runs import Unfinished
from burnish.study.kept.sittings import Next
from burnish.study.trials.schedule import cell_sittings, is_due
from studying import FAR, QUICK, aged, burnish, events, killed_at, study, text

WORDS = (
    "tune", "fake", "--recipes", "own.toml", "--variant", "speed400", "--precision", "none", "--max-starts", "3",
    *QUICK, "--sittings", "2", "--apart", "30m", "--json",
)  # fmt: skip


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the command was given; beside its home, whose run has its first sitting behind it, a copy."""
    place = tmp_path_factory.mktemp("sittings")
    (place / "own.toml").write_text(FAR)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BURNISH_HOME", str(place / "home"))
        patch.chdir(place)
        out, err = text(burnish(*WORDS))
    assert "sitting 2 of 2 is due at" in err, err
    (row,) = json.loads(out)["rows"]
    assert (row["starts"], row["sitting"]["sittings"]) == (3, 1)
    shutil.copytree(place / "home", place / "kept", symlinks=True)
    return place


@pytest.fixture
def begun(first: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a run whose first sitting is over, as it was then and where it was."""
    home = first / "home"
    shutil.rmtree(home)
    shutil.copytree(first / "kept", home, symlinks=True)
    monkeypatch.setenv("BURNISH_HOME", str(home))
    monkeypatch.chdir(first)
    return home


def test_a_run_whose_host_fails_does_not_keep_the_others_from_theirs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone: list[str] = []

    def go_on(one: Unfinished, *, yes: bool) -> None:
        gone.append(one.folder.name)
        if one.folder.name == "first":
            raise HostError("/mnt: No space left on device")

    monkeypatch.setattr(resuming, "_go_on", go_on)
    due = [Unfinished(Path(name), (), "", Next(2, 2, 0.0)) for name in ("first", "second")]
    with pytest.raises(typer.Exit) as ended:
        resuming._resume_due(due, yes=False)
    assert (gone, ended.value.exit_code) == (["first", "second"], 1)
    assert "first: /mnt: No space left on device" in capsys.readouterr().err


def test_a_search_is_resumed_with_what_a_settings_file_gave_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was given for other calls too, and a search that has no use for it passes it over."""
    one = Unfinished(tmp_path, ("plan", "fake", "--budget", "2h", "--starts=20"), "", None)
    with pytest.raises(UserError, match=r"^--starts: a search"):
        resuming._go_on(one, yes=True)
    given = Configured("burnish.toml", "0", ("--starts=20",))
    resuming._go_on(replace(one, configured=given), yes=True)
    assert "search" in capsys.readouterr().out


def valid(home: Path) -> int:
    return sum(done.invalid is None and done.cell.role is Role.CLAIM for done in events(home, StartDone))


def test_a_sitting_is_taken_when_it_is_due(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, err = text(burnish(*WORDS))
    assert "sitting 2 of 2 is due at" in err, "the same command, too early"
    out, _ = text(burnish("resume", "--due"))
    assert "sitting 2 of 2 is due at" in out
    assert valid(begun) == 3, "nothing is taken before it is due"
    aged(study(begun), 3600)
    monkeypatch.chdir("/")  # the command is called again in its own folder
    child = burnish("resume", "--due")
    out, err = text(child)
    assert child.returncode == 0, err
    (row,) = json.loads(out[out.index("{") :])["rows"]
    assert (row["starts"], row["sitting"]["sittings"]) == (6, 2)
    assert row["verdict"] == "faster"
    assert len(events(begun, StudyFinished)) == 1
    first, second = (event for event in events(begun, VerdictReached) if event.cell.role is Role.CLAIM)
    assert (first.starts, second.starts) == (3, 3), "each is about its own sitting"
    out, _ = text(burnish("resume", "--due"))
    assert out == "no run waits for a sitting\n"


def test_a_killed_sitting_is_resumed(begun: Path) -> None:
    aged(study(begun), 3600)
    while (taken := valid(begun)) < 4:  # a start may be spoiled, and is then no start of the sitting
        killed_at(StartDone, WORDS)
    assert taken == 4
    child = burnish("resume")
    out, err = text(child)
    assert child.returncode == 0, err
    (row,) = json.loads(out[out.index("{") :])["rows"]
    assert (row["starts"], row["sitting"]["sittings"]) == (6, 2), "what was taken before is not taken again"
    seeds = {session.seed for session in events(begun, SessionBegun)}
    assert len(seeds) == 1, "drawn when the run began, and kept"
    assert seeds != {1}


def test_when_a_cell_is_due(begun: Path) -> None:
    with closing(Record(study(begun))) as record:
        cell = events(begun, VerdictReached)[0].cell
        now = cell_sittings(record, cell, "")
        assert now is not None
        later = now.ended + 7200
        assert (now.target, now.full, now.taken) == (3, 1, 3)
        then = cell_sittings(record, cell, "", later)
        assert then is not None
        assert then.taken == 0, "its sitting is over"
        assert not is_due(then, Schedule(1), later)
        assert is_due(then, Schedule(2, 3600), later)
        assert not is_due(then, Schedule(2, 10800), later)
        rebooted = cell_sittings(record, cell, "another boot")
        assert rebooted is not None
        assert rebooted.taken == 0, "a reboot begins a new sitting"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--apart", "10m"), "--apart 10m: starts that are closer than 30m are one sitting; give 30m or more"),
        (("--sittings", "0"), "--sittings 0: give a whole number from 1 to 60"),
    ],
)
def test_a_wrong_schedule_is_one_line(burnish_home: Path, words: tuple[str, ...], line: str) -> None:
    child = burnish("tune", "fake", *words)
    assert child.returncode == 2
    assert text(child)[1] == f"burnish: {line}\n"


def test_a_plan_says_in_how_many_sittings_it_is_measured(burnish_home: Path) -> None:
    planned = ("plan", "fake", "--variant", "gcc-o3", *QUICK)
    out, err = text(burnish(*planned, "--sittings", "3", "--apart", "3h"))
    assert "in 3 sittings at least 3 h 00 min apart" in " ".join(out.split()), err
    assert "sittings" not in text(burnish(*planned))[0]


def kept(home: Path, name: str, verb: str) -> Path:
    with closing(Record(home / "studies" / name, create=True)) as record:
        record.append(StudyBegun(name, {"verb": verb}))
        record.append(SessionBegun({}, call=Call((verb, "fake"), str(home), Schedule())))
    return home / "studies" / name


def test_a_run_is_resumed_by_its_name_or_its_folder(burnish_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resumed: list[str] = []
    monkeypatch.setattr(resuming, "_go_on", lambda one, yes: resumed.append(one.folder.name))
    folder = kept(burnish_home, "fake-tune-1", "tune")
    kept(burnish_home, "fake-tune-1-2", "tune")
    kept(burnish_home, "fake-why-1", "why")
    monkeypatch.chdir(folder.parent)
    for run in ("fake-tune-1", str(folder), "./fake-tune-1", "fake-tune", None):
        resuming.resume(run, due=False, yes=False)
    assert resumed == ["fake-tune-1", "fake-tune-1", "fake-tune-1", "fake-tune-1-2", "fake-tune-1-2"]
    with pytest.raises(UserError, match="unknown unfinished run 'fake-why-1'"):
        resuming.resume("fake-why-1", due=False, yes=False)


def test_a_finished_run_is_said_to_be_finished(burnish_home: Path) -> None:
    with closing(Record(kept(burnish_home, "fake-tune-1", "tune"))) as record:
        record.append(StudyFinished())
    with pytest.raises(UserError, match=r"^fake-tune-1: is finished; `burnish show fake-tune-1` has its result$"):
        resuming.resume("fake-tune-1", due=False, yes=False)
    with pytest.raises(UserError, match=r"^unknown unfinished run 'none'; there are: none$"):
        resuming.resume("none", due=False, yes=False)


def test_what_a_resumed_run_prints_has_nothing_before_it(
    burnish_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    burnish_home.mkdir(exist_ok=True)
    monkeypatch.setattr(resuming, "app", lambda args, **_: print("{}"))
    due, later = (
        Unfinished(burnish_home / name, ("tune", "fake", "--json"), str(burnish_home), Next(2, 2, at))
        for name, at in (("due", 0.0), ("later", 4e9))
    )
    resuming._resume_due([later, due], yes=False)
    out, err = capsys.readouterr()
    assert out == "{}\n"
    assert "due: burnish tune fake --json" in err
    assert "later: sitting 2 of 2 is due at" in err
    resuming._resume_due([later], yes=False)
    assert "later: sitting 2 of 2 is due at" in capsys.readouterr().out, "here it is all that there is to say"


def test_what_was_given_to_resume_is_given_on(burnish_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    burnish_home.mkdir(exist_ok=True)
    called: list[list[str]] = []
    monkeypatch.setattr(resuming, "app", lambda args, **_: called.append(args))
    one = Unfinished(burnish_home, ("tune", "fake"), str(burnish_home), None)
    resuming._go_on(one, yes=False)
    monkeypatch.setattr(progress, "quiet", True)
    resuming._go_on(one, yes=True)
    assert called == [["--config", "none", "tune", "fake"], ["--yes", "--config", "none", "tune", "fake", "--quiet"]]


def test_a_missing_file_of_a_run_is_not_said_to_be_its_folder(burnish_home: Path) -> None:
    burnish_home.mkdir(exist_ok=True)
    one = Unfinished(burnish_home / "fake-tune-1", (), str(burnish_home / "gone"), None)
    with pytest.raises(UserError, match="the folder in which fake-tune-1 was begun is gone"), resuming._as_called(one):
        pass
    with pytest.raises(FileNotFoundError), resuming._as_called(Unfinished(burnish_home, (), str(burnish_home), None)):
        Path("absent").read_text()


def test_resume_without_a_run_says_so(burnish_home: Path) -> None:
    child = burnish("resume")
    assert child.returncode == 2
    assert "unfinished run" in text(child)[1]
