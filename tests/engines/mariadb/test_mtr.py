"""The gate on mtr's recorded output; every failing run is a real one, of servers that were made to misbehave."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from burnish.engines.mariadb.product import PRODUCT
from burnish.engines.mysql_family import mtr
from burnish.engines.mysql_family.mtr import LIST, Results
from burnish.program.built import Built
from mariadb_support import PlainBench, engine

RECORDED = Path(__file__).with_name("mtr")


def read(name: str) -> Results:
    results = Results()
    for line in (RECORDED / name).read_text().splitlines():
        results.see(line)
    return results


def test_wrong_results_are_failures_with_the_tests_names() -> None:
    results = read("wrong.log")
    assert results.failures == [
        ("main.func_math", "Result length mismatch"),
        ("main.select nm", "Result length mismatch"),
    ]
    assert ("innodb.row_lock", "") in results.passed
    assert results.ran == 6


def test_a_crash_is_a_failure_with_the_tests_name() -> None:
    results = read("crash.log")
    assert [name for name, _ in results.failures] == ["main.connect"]
    assert "failed during test run" in results.failures[0][1]


def test_a_hang_is_a_failure_with_the_tests_name() -> None:
    assert read("hang.log").failures == [("main.connect", "timeout after 60 seconds")]


def test_a_server_that_does_not_start_is_a_failure() -> None:
    results = read("nostart.log")
    assert results.failures == [("mtr", "Could not find version of MariaDB")]
    assert results.ran == 0
    assert results.silent(["main.select,nm"]) == ["main.select,nm"]


def test_skips_are_counted_and_combinations_told_apart() -> None:
    results = read("skips.log")
    assert ("period.versioning", "trx_id") in results.skipped
    assert ("connect.bin", "") in results.skipped
    assert ("innodb_zip.page_size", "8k,strict_full_crc32") in results.passed
    assert [name for name, _ in results.failures] == [
        "encryption.tempfiles_encrypted cbc",
        "encryption.tempfiles_encrypted ctr",
    ]
    assert results.silent(["innodb_zip.page_size,8k", "connect.bin", "main.never"]) == ["main.never"]


def test_errors_in_the_log_after_a_test_that_passed_are_a_failure() -> None:
    results = Results()
    for line in (
        "main.select 'nm'                         w1 [ pass ]     65",
        "Errors/warnings were found in logfiles during server shutdown after running the",
        "following sequence(s) of tests:",
        "    main.select",
        "",
    ):
        results.see(line)
    assert results.failures == [("main.select", "errors in the server's log while it was shut down")]


STAND_IN = """\
import os, pathlib, sys
print("ran with", sys.argv[1:])
var = pathlib.Path(next(word.partition("=")[2] for word in sys.argv if word.startswith("--vardir=")))
var.mkdir()
server = pathlib.Path(os.environ["MTR_BINDIR"], "sql/mariadbd")
verdict = server.read_text().strip()
pathlib.Path("main/select.reject").write_text("what mtr leaves beside a test that failed")
for word in sys.argv:
    if word.startswith("main."):
        print(f"{word:40} w1 [ {verdict} ] 17")
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Built:
    """Kept tools whose mtr is a stand-in: each test's verdict is what the server's file says."""
    folder = tmp_path / "store"
    for name in ("client/mariadb-test", "sql/mariadbd", "sql/share/english/errmsg.sys", "mysql-test/main/x"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("pass")
    (folder / "mysql-test/mariadb-test-run.pl").write_text(STAND_IN)
    (folder / "mysql-test" / LIST).write_text("main.select present\nmain.join present\nmain.gone absent\n")
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "perl").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{bin_folder}:{os.environ['PATH']}")
    return engine().built("tools", folder, "key")


def test_the_gate_tests_the_subjects_server_and_leaves_the_store_alone(tools: Built, tmp_path: Path) -> None:
    bench = PlainBench(tmp_path)
    subject = tmp_path / "subject"
    names = ("main.select", "main.join", "main.gone")
    before = sorted(tools.folder.rglob("*"))
    for verdict, passed in (("pass", True), ("fail", False), ("skipped", False)):
        subject.write_text(verdict)
        build = replace(tools, server=subject, environment=(("LD_PRELOAD", "/x.so"),))
        report = mtr.gate(PRODUCT, names, build, tools, tmp_path / "place", bench, "cafe")
        assert report.passed is passed, verdict
        assert report.build_id == "cafe"
    assert sorted(tools.folder.rglob("*")) == before
    assert "main.gone" in bench.said[0]
    assert "--mysqld-env=LD_PRELOAD=/x.so" in bench.commands[0][1].argv
    assert not list(Path("/dev/shm").glob(f"burnish-mtr-{os.getpid()}-*"))


def test_a_test_without_a_verdict_fails_the_gate(tools: Built, tmp_path: Path) -> None:
    script = tools.folder / "mysql-test/mariadb-test-run.pl"
    script.write_text(STAND_IN.replace('startswith("main.")', 'startswith("main.select")'))
    report = mtr.gate(PRODUCT, ("main.select", "main.join"), tools, tools, tmp_path / "p", PlainBench(tmp_path), "")
    assert not report.passed
    assert report.failures == (("main.join", "never came to a verdict"),)


MOODY = """\
import pathlib, sys
var = pathlib.Path(next(word.partition("=")[2] for word in sys.argv if word.startswith("--vardir=")))
var.mkdir()
again = pathlib.Path(sys.argv[0]).with_name("ran-before")
for word in sys.argv:
    if word.startswith("main."):
        wrong = word == "main.select" and (not again.exists() or ALWAYS)
        print(f"{word:40} w1 [ {'fail' if wrong else 'pass'} ]")
        if wrong:
            print(WHY)
again.touch()
"""


@pytest.mark.parametrize(("why", "always", "passed"), [
    ("mysqltest: Result content mismatch", False, True),
    ("mysqltest: Result content mismatch", True, False),
    ("mysqltest: Lost connection to MySQL server during query", False, False),
])  # fmt: skip
def test_only_an_answer_that_differs_is_asked_for_a_second_time(
    tools: Built, tmp_path: Path, why: str, always: bool, passed: bool
) -> None:
    script = tools.folder / "mysql-test/mariadb-test-run.pl"
    script.write_text(MOODY.replace("WHY", repr(why)).replace("ALWAYS", str(always)))
    bench = PlainBench(tmp_path)
    report = mtr.gate(PRODUCT, ("main.select", "main.join"), tools, tools, tmp_path / "p", bench, "")
    assert (report.passed, report.tests) == (passed, 2)
    assert report.again == (("main.select",) if passed else ())
    assert report.failures == (() if passed else (("main.select", why),))
    asked = [[word for word in run.argv if word.startswith("main.")] for _, run in bench.commands]
    assert asked == [["main.select", "main.join"], *([["main.select"]] if "mismatch" in why else [])]


def test_many_wrong_answers_are_no_accident() -> None:
    few, many = Results(), Results()
    for results, count in ((few, 3), (many, 4)):
        results.failures += [(f"main.t{number}", "Result content mismatch") for number in range(count)]
    assert few.doubtful() == ["main.t0", "main.t1", "main.t2"]
    assert many.doubtful() == []


@pytest.mark.parametrize("free", [0, 1 << 40])
def test_what_a_killed_run_left_in_memory_is_removed(
    tools: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int
) -> None:
    """Also where it is what takes the room."""
    monkeypatch.setattr(mtr.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        pytest.skip("no /dev/shm to write to")
    left = memory / "burnish-mtr-4194305-left"  # above the highest process id there can be
    (left / "var").mkdir(parents=True)
    mtr.gate(PRODUCT, ("main.select",), tools, tools, tmp_path / "place", PlainBench(tmp_path), "")
    assert not left.exists()


def test_the_gates_list_is_well_formed() -> None:
    names = engine().spec.gate_tests
    assert len(set(names)) == len(names) > 200
    assert all(mtr.split(name)[0] and mtr.split(name)[1] for name in names)
