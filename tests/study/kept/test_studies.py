"""Studies on disk: what is resumed, what is begun, and which one a name means."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.model.cell import CellId
from burnish.record.events.study import StudyBegun, StudyFinished
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import FILE, Record
from burnish.study import runner
from burnish.study.kept.runs import (
    Definition,
    begin_or_resume,
    find,
    finished,
    folders,
    is_finished,
    lock,
    repair,
    unfinished,
)

ASKED = Definition(
    verb="tune",
    engine="fake",
    variants=("baseline", "gcc-o3"),
    workloads=("fake_mix",),
    features="full",
    source="shipped",
    precision=0.01,
    max_starts=8,
    pairs=3,
    turns=None,
    starts=None,
    design=None,
    explore=False,
    layouts=0,
    trainings=0,
    seed=1,
    recipes={"baseline": {"level": None}, "gcc-o3": {"level": "-O3"}},
)


@pytest.fixture
def home() -> Home:
    return paths.home()


def begin(
    home: Home, definition: Definition = ASKED, *, fresh: bool = False, finish: bool = False
) -> tuple[Path, bool]:
    record, resumed = begin_or_resume(home, definition, fresh=fresh)
    with closing(record):
        if finish:
            record.append(StudyFinished())
    return record.folder, resumed


def test_a_new_study_says_what_is_asked(home: Home) -> None:
    folder, resumed = begin(home)
    assert not resumed
    assert folder.parent == home.studies
    assert folder.name.startswith("fake-tune-20")
    with closing(Record(folder)) as record:
        (first,) = record.every()
    assert isinstance(first.event, StudyBegun)
    assert first.event.name == folder.name
    assert first.event.digest == ASKED.digest
    assert first.event.definition["variants"] == ["baseline", "gcc-o3"]


def test_the_same_definition_goes_on_until_it_is_finished(home: Home) -> None:
    folder, _ = begin(home)
    assert begin(home) == (folder, True)
    assert begin(home, finish=True) == (folder, True)
    another, resumed = begin(home)
    assert (another != folder, resumed) == (True, False)
    assert begin(home) == (another, True)


DIFFERENT: dict[str, Any] = {
    "verb": "compare",
    "engine": "sqlite",
    "variants": ("baseline",),
    "workloads": ("fake_mix", "fake_write"),
    "features": "trimmed",
    "source": "debian",
    "precision": None,
    "max_starts": 9,
    "pairs": 4,
    "turns": 8,
    "starts": 5,
    "design": "solo",
    "explore": True,
    "layouts": 6,
    "trainings": 3,
    "conditions": ("binlog=on",),
    "patches": {"gcc-o3": ["0123"]},
    "portable": "x86-64-v2",
    "placement": "whole",
    "deploy": ("pool",),
    "keep_cached": True,
    "search": {"strategy": "ladder"},
    "seed": 2,
    "recipes": {"baseline": {"level": None}, "gcc-o3": {"level": "-O2"}},
}


def test_every_field_of_a_definition_counts() -> None:
    assert set(DIFFERENT) == set(asdict(ASKED))


@pytest.mark.parametrize("field", sorted(DIFFERENT))
def test_another_definition_is_another_study(home: Home, field: str) -> None:
    folder, _ = begin(home)
    other = replace(ASKED, **{field: DIFFERENT[field]})
    another, resumed = begin(home, other)
    assert not resumed
    assert another != folder
    assert begin(home) == (folder, True), "the first one is still there to be resumed"


def test_a_search_with_another_budget_names_the_unfinished_one(home: Home) -> None:
    def said(definition: Definition) -> list[str]:
        lines: list[str] = []
        runner._note_another_budget(home, cast("Any", SimpleNamespace(definition=definition)), lines.append)
        return lines

    search = replace(ASKED, search={"strategy": "default", "budget": 10800.0, "weights": {"fake_mix": 1.0}})
    longer, unbounded = (replace(search, search={**search.search, "budget": budget}) for budget in (14400.0, None))
    assert said(search) == []
    folder, _ = begin(home, search)
    ahead = f"{folder.name}: an unfinished search like this one, which the same command "
    assert said(longer) == said(unbounded) == [f"{ahead}with --budget 3h resumes; this is a new run"]
    assert said(search) == [], "it is resumed"
    assert said(ASKED) == said(replace(longer, seed=2)) == [], "another run altogether"
    begin(home, search, finish=True)
    assert said(longer) == []
    begin(home, unbounded)
    (line,) = said(longer)
    assert line.endswith("the same command without --budget resumes; this is a new run")


def test_fresh_begins_anew_and_the_newest_is_resumed(home: Home) -> None:
    first, _ = begin(home)
    second, resumed = begin(home, fresh=True)
    assert (second != first, resumed) == (True, False)
    assert begin(home) == (second, True)


KILLED = """
import os, sys, traceback
from burnish.base import paths
from burnish.study.kept.runs import begin_or_resume
from test_studies import ASKED
import sqlite3
moment, count = 0, 0
def trace(frame, event, argument):
    global count
    if event == "line" and ("studies.py" in frame.f_code.co_filename or "record.py" in frame.f_code.co_filename):
        count += 1
        if count == moment:
            os.kill(os.getpid(), 9)
    return trace
home = paths.home()
for line in sys.stdin:
    moment = int(line)
    child = os.fork()  # so that all of this is imported once, not for each moment
    if not child:
        try:
            sys.settrace(trace)
            begin_or_resume(home, ASKED, fresh=False)
            sys.settrace(None)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def test_a_run_of_a_newer_burnish_is_passed_over(home: Home) -> None:
    """Two versions share a home, or the newer one was removed again."""
    first, _ = begin(home)
    newer, _ = begin(home, replace(ASKED, engine="sqlite"))
    with closing(sqlite3.connect(newer / FILE)) as db:
        db.execute("PRAGMA user_version=99")
    said: list[str] = []
    repair(home, ASKED, said.append)
    assert begin(home) == (first, True)
    assert not is_finished(newer)
    assert unfinished(home, "here") == []
    assert finished(home, ASKED) is None
    assert said == []


def test_killed_while_it_begins_there_is_no_study_or_a_whole_one(home: Home) -> None:
    """At lines spread over the whole of it; the next run has no trouble with what was left."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    pipe = subprocess.PIPE
    ended = False
    with subprocess.Popen([sys.executable, "-c", KILLED], env=env, stdin=pipe, stdout=pipe, text=True) as driver:
        assert driver.stdin is not None
        assert driver.stdout is not None
        for moment in range(1, 400, 6):
            print(moment, file=driver.stdin, flush=True)
            code = int(driver.stdout.readline())
            ended = code == 0
            assert ended or code == -9
            for folder in folders(home):
                with closing(Record(folder)) as record:
                    assert record.last(StudyBegun) is not None
            folder, _ = begin(home)
            assert [path.name for path in home.studies.iterdir()] == [folder.name]
            shutil.rmtree(folder)
            if ended:
                break
        driver.stdin.close()
    assert ended
    assert moment > 20


def put(home: Home, name: str, age: float = 0.0, verb: str | None = None, *, finished: bool = False) -> Path:
    """A run; of a verb that is named, with a verdict."""
    with closing(Record(home.studies / name, create=True)) as record:
        record.append(StudyBegun(name, {"verb": verb}))
        if verb is not None:
            record.append(VerdictReached(CellId("one", "load"), "duet", "capacity", "unit", "faster", "", {}, 3))
        if finished:
            record.append(StudyFinished())
    then = time.time() - age
    os.utime(home.studies / name / FILE, (then, then))
    return home.studies / name


def test_find_by_name_beginning_or_path(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = put(home, "fake-tune-1"), put(home, "sqlite-tune-1")
    longer = put(home, "fake-tune-12")
    assert find(home, "fake-tune-1") == one, "a whole name before the beginning of another"
    assert find(home, "fake-tune-12") == longer
    assert find(home, "sql") == two
    assert find(home, str(two)) == two
    monkeypatch.chdir(home.studies)
    assert find(home, "./fake-tune-1") == Path("fake-tune-1")
    with pytest.raises(UserError) as caught:
        find(home, "fake")
    assert str(caught.value).startswith("run 'fake' could be fake-tune-1")
    assert "fake-tune-12" in str(caught.value)
    assert "of which none is finished" in str(caught.value)
    with pytest.raises(UserError, match=r"unknown run 'squlite-tune-1' \(did you mean 'sqlite-tune-1'\?\)"):
        find(home, "squlite-tune-1")


def test_a_beginning_means_the_newest_finished_one(home: Home) -> None:
    for name in ("fake-tune-1", "fake-tune-2", "fake-tune-3"):
        put(home, name, finished=name != "fake-tune-3")
    assert find(home, "fake-tune") == home.studies / "fake-tune-2"
    assert find(home, "fake-tune-3").name == "fake-tune-3", "a name that is whole, or meets one alone, means that one"


def test_without_a_name_it_is_the_one_last_written_to(home: Home) -> None:
    put(home, "b", age=100)
    newest = put(home, "a", age=10)
    put(home, "c", age=50)
    assert find(home, None) == newest


def test_without_a_name_it_is_one_that_has_verdicts_where_there_is_one(home: Home) -> None:
    put(home, "begun", age=10)
    verdicts = [
        put(home, f"{verb}-1", age=age, verb=verb) for age, verb in ((40, "tune"), (30, "why"), (20, "calibrate"))
    ]
    assert find(home, None) == verdicts[0]
    newer = put(home, "patch-1", age=35, verb="patch")
    assert find(home, None) == newer
    equal = put(home, "tune-2", finished=True, age=5)
    assert find(home, None) == equal, "one whose only candidate was the same code"


def test_no_run_yet(home: Home) -> None:
    assert folders(home) == []
    with pytest.raises(UserError, match=r"no run yet; `burnish tune sqlite` makes the first one"):
        find(home, None)
    with pytest.raises(UserError, match=r"unknown run 'x'"):
        find(home, "x")


def test_one_run_at_a_time(home: Home) -> None:
    with lock(home):
        assert (home.root / "lock").read_text() == str(os.getpid())
        with pytest.raises(UserError, match=rf"another burnish \(process {os.getpid()}\) is running"), lock(home):
            pass
    with lock(home):
        pass


def test_the_lock_goes_with_a_killed_run(home: Home) -> None:
    script = "from burnish.base import paths\nfrom burnish.study.kept.runs import lock\n"
    script += "with lock(paths.home()):\n    print(flush=True)\n    import time; time.sleep(300)\n"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(UserError, match=rf"process {other.pid}"), lock(home):
            pass
        other.kill()
        other.wait()
        with lock(home):
            pass
