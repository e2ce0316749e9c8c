"""What is shown of runs and of what is kept, and what a call has in common with every other."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.cli import measuring
from burnish.cli.common import app, progress
from burnish.record import exchange
from burnish.record.record import FILE, Record
from burnish.report.fold import fold
from burnish.report.render import terminal
from burnish.report.sections import kept as report
from pieces import Piece, whole

RESULTS = Path(__file__).parents[2] / "docs" / "results"
ONE = whole("fake-tune-20260101", "one", 1, [0.1, 0.11, 0.12, 0.1])
TWO = whole("fake-tune-20260102", "one", 2, [0.1, 0.11, 0.12])
OPEN = Piece("fake-tune-20260103", "one", 3).contest().starts([0.1, 0.1])


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "80", "TERM": "dumb", "TZ": "UTC"})


def run(*words: str | Path) -> str:
    done = call(*words)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.fixture
def kept() -> Path:
    """A home with two finished runs, one that is not, and one that explains, the newest."""
    studies = paths.home().studies
    explained = Piece("fake-why-20260104", "one", 4, verb="why").finish()
    for age, piece in ((40, ONE), (30, TWO), (20, OPEN), (10, explained)):
        name = exchange.study_name(Path("run"), piece.made)
        with closing(Record(studies / name, create=True)) as record:
            record.restore(exchange._lines(piece.made))
        path = studies / name / FILE
        then = path.stat().st_mtime - age
        os.utime(path, (then, then))
    return studies


def test_runs_are_listed_with_what_they_came_to(kept: Path) -> None:
    rows = [re.split(r"\s{2,}", row.strip()) for row in run("runs").splitlines()]
    assert rows[0] == ["run", "engine", "verb", "ended", "verdicts", "winner"]
    assert re.match(r"fake-tune-20260101 +fake +tune +01 Jan 2026 00:\d\d +1 of 1 +one", " ".join(rows[1]))
    assert "unfinished" in plain(run("runs"))
    assert run("show", "--list") == run("runs")
    values: list[dict[str, Any]] = json.loads(run("runs", "--json"))["runs"]
    assert [(value["run"], value["verb"], value["winner"]) for value in values] == [
        ("fake-tune-20260101", "tune", "one"),
        ("fake-tune-20260102", "tune", "one"),
        ("fake-tune-20260103", "tune", None),
        ("fake-why-20260104", "why", None),
    ]
    assert values[2]["ended"] is None


def test_a_record_of_a_newer_burnish_is_left_out_of_lists(kept: Path) -> None:
    """It can't be read here, and the other runs can."""
    with closing(sqlite3.connect(kept / "fake-tune-20260101" / FILE)) as db:
        db.execute("PRAGMA user_version=99")
    done = call("runs")
    assert done.exit_code == 0
    assert "fake-tune-20260102" in done.stdout
    assert "fake-tune-20260101" not in done.stdout
    assert re.search(r"left out: .*fake-tune-20260101/record\.sqlite: written in format 99", plain(done.stderr))
    assert run("builds")
    assert "unknown variant or build 'nothing'" in str(call("path", "nothing").exception)


def test_the_whole_report_has_its_details_on_a_terminal() -> None:
    """A report's details are for files, and for who asks for everything."""
    record = Path(__file__).parents[2] / "docs/results/mariadb-pgo.jsonl.xz"
    reasons = "Ratios of builds can be compared between hosts, transactions per second cannot."
    assert reasons in " ".join(run("show", str(record), "--markdown").split())
    assert reasons in " ".join(run("show", str(record), "--full").split())


def test_a_record_of_a_run_that_is_kept_here_counts_once_in_history(kept: Path) -> None:
    before = json.loads(run("history", "--json"))
    run("record", "export", "fake-tune-20260102", "-o", str(kept / "same.jsonl"))
    assert json.loads(run("history", str(kept / "same.jsonl"), "--json")) == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("show", "--json", "--markdown"), "--json and --markdown: each prints another form; give one of them"),
        (("show", "--export", "--json"), "--json and --export: each prints another form"),
        (("show", "--list", "fake-w"), "--list lists all runs; leave fake-w out"),
        (("history", "mariadbb"), r"unknown engine or package 'mariadbb' \(did you mean 'mariadb'\?\)"),
        (("history", "mariadb", "--only", "two"), "unknown variant with speeds 'two'"),
    ],
)
def test_words_that_would_be_passed_over_are_refused(kept: Path, words: tuple[str, ...], says: str) -> None:
    done = call(*words)
    assert isinstance(done.exception, UserError)
    assert re.search(says, str(done.exception)), done.exception


def test_a_terminal_that_says_it_has_no_columns_gets_lines(kept: Path) -> None:
    done = CliRunner().invoke(app, ["show"], env={"COLUMNS": "0", "TERM": "dumb"})
    assert done.exit_code == 0, done.exception
    assert "one" in done.stdout


def test_a_winner_that_costs_something_is_marked_and_dates_are_whole() -> None:
    lines = [
        report.RunLine("fake-calibrate-20260101-000000", "fake", "calibrate", "", "2026-01-01T00:00:00Z", 1, 1, None),
        report.RunLine("fake-tune-20260101-000000", "fake", "tune", "", "2026-01-01T00:00:00Z", 1, 1, "unsafe", "S"),
    ]
    text = "\n".join("".join(span.text for span in line) for line in terminal.lines(report.runs(lines), 80))
    assert "unsafe !S" in text
    assert "!S weakens security" in text
    assert len(re.findall(r"01 Jan 2026 \d\d:\d\d", text)) == 2


def test_a_runs_name_is_whole_whatever_its_winner() -> None:
    name, winner = "fake-compare-20260101-000000", "/opt/another/installation/of/it/bin/faked-with-a-long-name"
    lines = [report.RunLine(name, "fake", "compare", "", "2026-01-01T00:00:00Z", 1, 1, winner)]
    for width in (80, 100):
        shown = ["".join(span.text for span in line) for line in terminal.lines(report.runs(lines), width)]
        assert any(line.startswith(f"{name} ") for line in shown), shown
        assert max(map(len, shown)) <= width


def test_a_runs_name_is_whole_beside_a_winner_that_needs_one_column_too_many() -> None:
    name, winner = "mariadb-tune-20260101-000000", "clang-pgo-thinlto-bolt"
    lines = [report.RunLine(name, "mariadb", "tune", "", "2026-01-01T00:00:00Z", 12, 12, winner)]
    shown = ["".join(span.text for span in line) for line in terminal.lines(report.runs(lines), 80)]
    assert any(line.startswith(f"{name} ") for line in shown), shown
    assert max(map(len, shown)) <= 80
    shown = ["".join(span.text for span in line) for line in terminal.lines(report.runs(lines), 81)]
    assert any(name in line and winner in line for line in shown), shown


def test_a_file_that_is_no_record_is_not_called_an_unknown_run(kept: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.json").touch()
    assert str(call("show", tmp_path / "mine.json").exception) == (
        f"{tmp_path}/mine.json: no record; a record's name ends in .jsonl, .jsonl.gz, .jsonl.xz or .html"
    )


def test_what_there_is_none_of_is_not_proposed() -> None:
    first = f"no run yet; `burnish tune {load.example()}` makes the first one"
    assert str(call("show", "none").exception) == f"unknown run 'none': {first}"
    assert str(call("report", "none").exception) == f"unknown run 'none': {first}"
    assert str(call("why", "a", "b", "--run", "none").exception) == f"unknown run 'none': {first}"
    assert str(call("path", "none").exception) == f"unknown variant or build 'none': {first}"
    assert str(call("builds", "none").exception) == f"none: no build is kept here; {first}"


def test_a_variant_that_no_run_has_made_says_what_makes_it() -> None:
    says = "gcc-pgo: no run here made it; `burnish tune ENGINE --variant gcc-pgo` does"
    assert str(call("path", "gcc-pgo").exception) == says
    assert str(call("path", "baseline").exception) == "baseline: no run here made it; `burnish tune ENGINE` does"


def test_it_says_so_beside_other_runs_too(kept: Path) -> None:
    assert str(call("path", "gcc-pgo").exception).startswith("gcc-pgo: no run here made it; ")


def test_without_a_name_the_newest_with_verdicts_is_shown_and_said(kept: Path, tmp_path: Path) -> None:
    assert run("show", "--json") == run("show", "fake-tune-20260102", "--json")
    for words in (("show",), ("record", "export", "--output", str(tmp_path / "mine.jsonl"))):
        said = plain(call(*words).stderr)
        assert said.startswith("fake-tune-20260102: the newest run with verdicts"), said


def test_a_beginning_is_the_newest_finished_one_and_is_said(kept: Path) -> None:
    done = call("show", "fake-tune", "--json")
    assert json.loads(done.stdout)["name"] == "fake-tune-20260102"
    assert "fake-tune: fake-tune-20260102, the newest finished of 3 runs whose names begin so" in done.stderr
    for exact in ("fake-tune-20260101", kept / "fake-tune-20260101", "fake-w"):
        assert "newest" not in call("show", exact).stderr


def test_clean_sums_by_kind_and_removes_unfinished_runs_when_asked(kept: Path) -> None:
    (paths.home().store / "ccache" / "0").mkdir(parents=True)
    (paths.home().store / "ccache" / "1").mkdir()
    rows = run("clean").splitlines()
    assert rows[0].split() == ["kind", "entries", "MB", "folder"]
    kinds = [row.split()[:2] for row in rows[1:] if row[:1].isalpha()]
    assert kinds == [["ccache", "2"], ["studies", "4"]]
    assert str(paths.home().root) in plain(run("clean")).replace(" ", "")
    assert "fake-tune-20260103" in run("clean", "--full")
    with pytest.raises(UserError, match=r"clean: nothing was removed of 1 entries, .* MB; answer yes, or give --yes"):
        CliRunner().invoke(app, ["clean", "--runs"], catch_exceptions=False)
    assert call("clean", "--runs", "--yes").exit_code == 0
    assert not (kept / "fake-tune-20260103").exists()
    assert len(list(kept.iterdir())) == 3


@pytest.mark.parametrize("words", [("-y", "runs"), ("runs", "--yes"), ("profile", "list", "-y"), ("help", "-y", "-q")])
def test_yes_is_taken_everywhere_as_the_launcher_asks_for_it_on_first_use(words: tuple[str, ...]) -> None:
    assert call(*words).exit_code == 0
    for verb in ("runs", "doctor", "variants"):
        assert "--yes" not in run(verb, "--help-all"), "help has it where it means something"
    assert "--yes" in run("tune", "--help")


def test_yes_before_the_verb_is_the_verbs(kept: Path) -> None:
    assert call("-y", "clean", "--runs").exit_code == 0
    assert not (kept / "fake-tune-20260103").exists()


def test_quiet_is_about_one_call(kept: Path) -> None:
    assert call("show", "fake-tune", "-q").stderr == ""
    assert call("show", "fake-tune").stderr != ""
    assert not progress.quiet


def test_an_old_spelling_works_and_says_the_new_one(tmp_path: Path) -> None:
    done = call("plan", "fake", "--variants", "gcc-o3,gcc-pgo", "--workloads=fake_mix", "--json")
    assert done.exit_code == 0, done.output
    assert done.stderr.splitlines() == [
        "burnish: --variants is now --variant; the next version takes the new name only",
        "burnish: --workloads is now --workload; the next version takes the new name only",
    ]
    new = call("plan", "fake", "--variant", "gcc-o3", "--variant", "gcc-pgo", "--workload", "fake_mix", "--json")
    assert new.stderr == ""
    assert new.stdout == done.stdout


def test_objects_for_machines_say_the_version_of_their_form(kept: Path) -> None:
    for words in (("show",), ("plan", "fake"), ("doctor",)):
        assert next(iter(json.loads(run(*words, "--json")).items())) == ("schema", 1)


def test_the_doctor_examines_a_machine_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("BURNISH_HOME", str(tmp_path / "file" / "home"))
    found = {finding["name"]: finding for finding in json.loads(run("doctor", "--json"))["findings"]}
    assert found["home"]["state"] == "lack"
    assert found["home"]["fix"] == "name another one in BURNISH_HOME"


@pytest.mark.parametrize("words", [("--version",), ("-V",)])
def test_version(words: tuple[str, ...]) -> None:
    assert re.fullmatch(r"burnish \d+\.\d+\.\d+\n", run(*words))


def test_programs_may_be_named(tmp_path: Path) -> None:
    program, odd = tmp_path / "server", tmp_path / "a=b"
    program.touch()
    odd.touch()
    assert measuring.named_program("A", str(program)) == (None, program)
    assert measuring.named_program("A", f"old={program}") == ("old", program)
    assert measuring.named_program("A", str(odd)) == (None, odd), "a path that is there is a path"
    for word in (f"two words={program}", "old=/no/such", "/no/such"):
        with pytest.raises(UserError, match=r"^B: .*: there is no such file; give the path of a server program, or"):
            measuring.named_program("B", word)


def test_a_folder_is_not_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"A: .*: is a folder; give the path of a server program"):
        measuring.named_program("A", str(tmp_path))
    assert f"--config {tmp_path}: is a folder; name a settings file" in str(
        call("plan", "sqlite", "--config", tmp_path).exception
    )


def test_one_load_is_explained_at_a_time() -> None:
    for name, word in (("--workload", "a,b"), ("--threads", "1,4")):
        done = call("why", "x", "y", name, word)
        assert isinstance(done.exception, UserError)
        assert str(done.exception).startswith(f"{name} {word}: one load is sampled; give one")


def test_kept_builds_are_called_by_their_variants() -> None:
    names = {"aaaaaaaaaaaa": ["baseline"], "bbbbbbbbbbbb": ["one", "two"], "dddddddddddd": ["one", "two"]}
    assert report.labels(["aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc", "dddddddddddd"], names) == {
        "aaaaaaaaaaaa": "baseline",
        "bbbbbbbbbbbb": "one, two bbbbbbbb",
        "cccccccccccc": "cccccccccccc",
        "dddddddddddd": "one, two dddddddd",
    }


@pytest.mark.parametrize(
    ("name", "winner"),
    [("mariadb-train-robust", None), ("mariadb-sun-2008-whole", "gcc.fbo"), ("mariadb-patch-crc32c", None)],
)
def test_a_bundled_studys_line_names_what_its_report_recommends(name: str, winner: str | None) -> None:
    """Its rows are about one change each, with loads and baselines of their own: they have no ranking."""
    result = fold(exchange.read_events(RESULTS / f"{name}.jsonl.xz"))
    assert report.run_line(result).winner == winner
