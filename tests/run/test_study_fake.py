"""The whole road on the fake engine: truths found, failures as rows, kill -9 and resume, bad input in one line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from burnish import process, warden
from burnish.record.record import Record
from burnish.report.summary import Summary, summarise

OWN = """
[speed130]
reason = "Known truth: thirty per cent more capacity than the baseline."
recipe = { c = ["-DFAKE_SPEED=130"] }
[wrong]
reason = "Answers wrongly, so that its gate must fail and name the test."
recipe = { c = ["-DFAKE_WRONG"] }
[broken]
reason = "Does not compile, so that its row says so and the others go on."
recipe = { c = ["-DFAKE_BROKEN"] }
[crash]
reason = "Dies under load, so that its cell is invalid and says why."
recipe = { c = ["-DFAKE_CRASH_AFTER=2500"] }
[missing]
reason = "A compiler that is not there, so that its row says so and the others go on."
recipe = { toolchain = "gcc-99" }
"""


def burnish(*words: str | Path, wait: bool = True) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-m", "burnish", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"COLUMNS": "80"},
    )
    if wait:
        child.wait(300)
    return child


def text(child: subprocess.Popen[str]) -> tuple[str, str]:
    assert child.stdout is not None
    assert child.stderr is not None
    return child.stdout.read(), child.stderr.read()


def study(home: Path) -> Path:
    found = list((home / "studies").glob("*"))
    assert len(found) == 1, found
    return found[0]


def summary(home: Path) -> Summary:
    with closing(Record(study(home))) as record:
        return summarise(record.events())


def kinds(home: Path, *names: str) -> list[dict[str, object]]:
    with closing(Record(study(home))) as record:
        return [dict(event.body) for event in record.events(*names)]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    return path


def test_truths_and_failures_are_rows(burnish_home: Path, own: Path) -> None:
    child = burnish("tune", "fake", "--recipes", own, "--precision", "none", "--max-starts", "4", "--json")
    out, err = text(child)
    assert child.returncode == 0, err
    found = json.loads(out)
    rows = {row["candidate"]: row for row in found["rows"]}
    builds = {row["variant"]: row for row in found["builds"]}
    assert rows["speed130"]["verdict"] == "faster"
    assert 1.25 < rows["speed130"]["capacity"]["ratio"] < 1.35
    assert rows["gcc-o3"]["verdict"] != "slower"
    assert 0.95 < rows["gcc-o3"]["capacity"]["ratio"] < 1.05
    assert rows["crash"]["verdict"] == "invalid"
    assert "signal 6" in rows["crash"]["reason"]
    assert "failed its gate: answers" in builds["wrong"]["failure"]
    assert builds["broken"]["failure"].startswith("build failed: compiling server.c")
    assert "gcc-99" in builds["missing"]["failure"]
    assert not {"wrong", "broken", "missing"} & set(rows)
    assert "Fastest: speed130" in found["sentences"][0]
    with closing(Record(study(burnish_home))) as record:
        for event in record.events("pair"):
            first, second = event.body["halves"]
            for label in first:
                assert first[label]["cores"] != second[label]["cores"], "the sides swap half-way"
        slots = [json.dumps(event.body["slots"]) for event in record.events("start_done")]
        assert len(set(slots)) > 1, "slots are drawn anew for each start"


def test_show_prints_from_the_record_alone(burnish_home: Path, own: Path, tmp_path: Path) -> None:
    child = burnish(
        "tune", "fake", "--variants", "speed130", "--recipes", own, "--precision", "none", "--max-starts", "3"
    )
    printed, err = text(child)
    assert child.returncode == 0, err
    (burnish_home / "store").rename(tmp_path / "elsewhere")
    shown, _ = text(burnish("show"))
    assert shown == printed
    assert max(map(len, shown.splitlines())) <= 80
    exported, _ = text(burnish("show", "--export"))
    path = tmp_path / "record.jsonl"
    path.write_text(exported)
    again, _ = text(burnish("show", path))
    assert again == printed
    markdown, _ = text(burnish("show", path, "--markdown"))
    assert "| speed130 | faster |" in markdown


def marked(pid: int) -> list[int]:
    return [found for found, mark in warden.marked(process.RUN_VARIABLE) if mark.startswith(f"{pid}-")]


@pytest.mark.parametrize(
    "moment",
    ["command", "build", "profile", "gate", "dataset", "start", "pair", "start_done", "verdict"],
)
def test_kill_and_resume(burnish_home: Path, own: Path, moment: str) -> None:
    """Killed at any moment, the same command goes on: nothing finished is redone, nothing is left behind."""
    words = ["tune", "fake", "--variants", "gcc-pgo,speed130", "--recipes", str(own)]
    words += ["--precision", "none", "--max-starts", "3"]
    child = burnish(*words, wait=False)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.02)
        try:
            if kinds(burnish_home, moment):
                break
        except Exception:  # noqa: S112 - the record may not be there yet
            continue
    assert child.poll() is None, text(child)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    gone = time.monotonic() + 5
    while marked(child.pid) and time.monotonic() < gone:
        time.sleep(0.1)
    assert marked(child.pid) == [], "a process was left behind"
    done = {str(body["key"]) for body in kinds(burnish_home, "build")}
    started = len(kinds(burnish_home, "start_done"))
    again = burnish(*words)
    out, err = text(again)
    assert again.returncode == 0, err
    assert "going on with" in err
    assert "speed130 faster" in " ".join(out.split())
    result = summary(burnish_home)
    assert {row.verdict for row in result.rows} <= {"faster", "slower", "equivalent", "undecided"}
    keys = [str(body["key"]) for body in kinds(burnish_home, "build")]
    assert done <= set(keys)
    compiled = [body for body in kinds(burnish_home, "command") if body["what"] == "compile server.c"]
    if moment != "command":
        # baseline, instrumented, with profile, speed130: a finished build is never compiled again
        assert len(compiled) == 4
    assert len(kinds(burnish_home, "start_done")) >= started


def test_a_second_run_begins_a_new_study_and_builds_nothing(burnish_home: Path, own: Path) -> None:
    words = ["tune", "fake", "--variants", "speed130", "--recipes", str(own), "--precision", "none"]
    words += ["--max-starts", "3"]
    assert burnish(*words).returncode == 0
    assert burnish(*words).returncode == 0
    folders = sorted((burnish_home / "studies").glob("*"))
    assert len(folders) == 2
    with closing(Record(folders[1])) as record:
        whats = {str(event.body["what"]) for event in record.events("command")}
        assert all(event.body["cached"] for event in record.events("gate"))
    assert not any("compil" in what for what in whats), whats


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["tune", "sqlit"], "unknown engine 'sqlit' (did you mean 'sqlite'?)"),
        (["tune", "fake", "--variants", "gcc-o33"], "unknown variant 'gcc-o33' (did you mean 'gcc-o3'?)"),
        (["tune", "fake", "--workloads", "fake_mx"], "unknown workload of fake 'fake_mx' (did you mean 'fake_mix'?)"),
        (["tune", "fake", "--features", "ful"], "unknown feature set of fake 'ful' (did you mean 'full'?)"),
        (["tune", "fake", "--precision", "banana"], "--precision banana: give a half-width"),
        (["tune", "fake", "--source", "/no/such/tree"], "--source /no/such/tree: there is no such file or folder"),
        (["tun"], "unknown verb 'tun' (did you mean 'tune'?)"),
        (["tune", "fake", "--varaints", "x"], "--varaints"),
        (["compare", "/no/a", "/no/b", "--engine", "fake"], "A: /no/a: there is no such file"),
        (["compare", "/bin/true", "/bin/false", "--engine", "fake"], "/bin/true"),
        (["show", "nothing"], "unknown study 'nothing'"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(burnish_home: Path, words: list[str], says: str) -> None:
    child = burnish(*words)
    out, err = text(child)
    assert child.returncode == 2
    assert says in err
    assert len(err.strip().splitlines()) == 1, err
    assert out == ""
    assert not list(burnish_home.glob("studies/*")), "nothing half-made is left behind"


def test_bolt_leaves_its_input_as_it_was(burnish_home: Path, clang: object) -> None:
    words = ["--precision", "none", "--max-starts", "3", "--json"]
    child = burnish("tune", "fake", "--variants", "clang-pgo-thinlto,clang-pgo-thinlto-bolt", *words)
    out, err = text(child)
    assert child.returncode == 0, err
    builds = {row["variant"]: row for row in json.loads(out)["builds"]}
    assert builds["clang-pgo-thinlto-bolt"]["toolchain"].endswith("+ BOLT")
    abouts = [json.loads(path.read_text()) for path in burnish_home.glob("store/builds/*/burnish.json")]
    bolted = [about for about in abouts if about.get("bolt")]
    assert len(bolted) == 2, "the instrumented and the optimised program"
    bases = {about["base"] for about in bolted}
    (base,) = [burnish_home / "store/builds" / key / "burnish.json" for key in bases]
    assert "bolt" not in json.loads(base.read_text())


def test_two_runs_in_one_home(burnish_home: Path) -> None:
    first = burnish("tune", "fake", "--precision", "none", "--max-starts", "3", wait=False)
    deadline = time.monotonic() + 60
    while not list(burnish_home.glob("studies/*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    second = burnish("tune", "fake", "--precision", "none", "--max-starts", "3")
    _, err = text(second)
    first.kill()
    first.wait()
    assert second.returncode == 2
    assert "another burnish" in err


def test_compare_names_what_differs(burnish_home: Path, build_fake: object) -> None:
    one = build_fake()  # type: ignore[operator]
    two = build_fake("-DFAKE_SPEED=130", features="trimmed")  # type: ignore[operator]
    child = burnish(
        "compare", one.server, two.server, "--engine", "fake", "--precision", "none", "--max-starts", "4", "--json"
    )
    out, err = text(child)
    assert child.returncode == 0, err
    found = json.loads(out)
    assert found["rows"][0]["verdict"] == "faster"
    assert found["differences"], "features differ and are named"
