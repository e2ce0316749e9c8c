"""What the check prints of the tests themselves: skips by reason, one line for each part, no part in another's way."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

TESTS = """
import pytest

def test_good(): pass

@pytest.mark.parametrize("number", [1, 2])
def test_without_a_server(number): pytest.skip("no server here")

@pytest.mark.skipif(True, reason="no mold")
def test_without_mold(): pass

def test_bad(): assert not {fails}
"""


def part(folder: Path, *words: str, fails: bool = False, ci: bool = False) -> tuple[int, list[str]]:
    """Exit code and lines of a part that is one file with a good test, three that skip, and perhaps a bad one."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_some.py").write_text(TESTS.format(fails=fails))
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "closing", "-p", "no:cacheprovider", "test_some.py", *words]
    env = {name: value for name, value in os.environ.items() if name != "CI"}
    env |= {"PYTHONPATH": str(ROOT / "tests" / "support"), **({"CI": "true"} if ci else {})}
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_part_ends_with_its_name_and_its_skips_are_counted(tmp_path: Path, workers: tuple[str, ...]) -> None:
    code, lines = part(tmp_path, "--part", "fast", *workers)
    assert code == 0
    assert re.fullmatch(r"fast: 2 passed, 3 skipped in \d+\.\d\d s", lines[-1])
    skips = lines.index("skipped, by reason:") + 1
    assert lines[skips : skips + 2] == ["   2 x no server here", "   1 x no mold"]


def test_second_tries_are_counted_and_bounded(tmp_path: Path) -> None:
    tries = """
import pytest
TRIED = set()
@pytest.mark.flaky(reruns=1)
@pytest.mark.parametrize("number", range({count}))
def test_busy(number):
    first = number not in TRIED
    TRIED.add(number)
    assert not first
"""
    for count, expected in ((2, 0), (14, 1)):
        (tmp_path / "test_busy.py").write_text(tries.format(count=count))
        code, lines = part(tmp_path, "--part", "fast", "test_busy.py", "--deselect", "test_some.py", ci=True)
        assert code == expected, lines
        assert f"{count} rerun" in lines[-1]
    assert "14 tests were tried again, more than the 12 allowed" in lines


def test_a_part_that_fails_says_so_in_its_line(tmp_path: Path) -> None:
    code, lines = part(tmp_path, "--part", "real", fails=True)
    assert code == 1
    assert lines[-1].startswith("real: 1 failed, 1 passed, 3 skipped in ")


def test_in_ci_a_skip_that_is_not_listed_fails_its_part(tmp_path: Path) -> None:
    code, lines = part(tmp_path, "--part", "real", ci=True)
    assert code == 1
    assert "skipped, but not allowed: 'no server here' is not in tests/skips.toml" in lines
    assert "skipped, but not allowed: 'no mold' is not in tests/skips.toml" in lines


def test_every_listed_skip_says_why() -> None:
    entries = tomllib.loads((ROOT / "tests" / "skips.toml").read_text())["skip"]
    assert entries
    for entry in entries:
        assert set(entry) == {"reason", "why"}
        re.compile(entry["reason"])
        assert len(entry["why"]) > 30
    assert len({entry["reason"] for entry in entries}) == len(entries)


def test_what_is_no_part_has_no_such_line(tmp_path: Path) -> None:
    _, lines = part(tmp_path)
    assert lines[-1].startswith("2 passed, 3 skipped in ")


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


PYTHON = """
echo "$*" >>"$STATE"
case "$*" in *"--part $FAILS "*) exit 1 ;; esac
"""


def make_test(folder: Path, fails: str, *words: str) -> subprocess.CompletedProcess[str]:
    """`make test` with a Python that notes what it is called with in the file `state`, and fails in one part."""
    shutil.copy2(ROOT / "Makefile", folder)
    program(folder / ".venv/bin/python", PYTHON)
    program(folder / "burnish", "")
    unset = ("YES", "CI", "MAKEFLAGS", "MAKELEVEL", "BESIDE")  # we may run under make ourselves
    env = {name: value for name, value in os.environ.items() if name not in unset}
    env |= {"STATE": str(folder / "state"), "FAILS": fails}
    argv = ["make", "test", *words]
    return subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(("fails", "code"), [("none", 0), ("fast", 2), ("real", 2), ("measures", 2)])
def test_a_part_that_fails_keeps_no_other_from_running(tmp_path: Path, fails: str, code: int) -> None:
    done = make_test(tmp_path, fails)
    assert done.returncode == code, done.stderr
    ran = re.findall(r"--part (\w+)", (tmp_path / "state").read_text())
    assert ran == ["fast", "real", "measures"]
    assert (f"failed: {fails}" in done.stderr) == (fails != "none")


BESIDE = """
echo "beside began, niceness $(nice)" >>"$STATE"
for _ in $(seq 1000); do ! grep -q -e "--part real" "$STATE" || break; sleep 0.02; done
sleep 0.3
echo "beside ended" >>"$STATE"
"""
"""A command that ends some time after the real part has."""


def test_what_runs_beside_the_real_part_has_ended_before_anything_is_measured(tmp_path: Path) -> None:
    program(tmp_path / "beside", BESIDE)
    done = make_test(tmp_path, "none", "BESIDE=./beside")
    assert done.returncode == 0, done.stderr
    events = re.findall(r"--part (\w+)|beside (began|ended)", (tmp_path / "state").read_text())
    order = [part or what for part, what in events]
    assert order[0] == "fast"
    assert sorted(order[1:3]) == ["began", "real"]
    assert order[3:] == ["ended", "measures"]
    (niceness,) = re.findall(r"niceness (\d+)", (tmp_path / "state").read_text())
    assert int(niceness) >= min(os.nice(0) + 10, 19)


LINES = {
    "fast": "fast: 2337 passed, 21 skipped in 920.12 s",
    "real": "real: 1 failed, 60 passed in 300.00 s",
    "measures": "measures: 12 passed in 150.10 s",
    "lowest": "lowest: 274 passed in 31.00 s",
}
TESTS_PASS = "\n".join(f"echo '{line}'" for part, line in LINES.items() if part != "lowest")
LOWEST_PASSES = f"echo '{LINES['lowest']}'"


def check(folder: Path, make: str, lowest: str = LOWEST_PASSES, python: str = "") -> subprocess.CompletedProcess[str]:
    """`.ci/run` with a make that runs what it is given in BESIDE first; it, `.ci/lowest` and Python do only this."""
    shutil.copytree(ROOT / ".ci", folder / ".ci")
    program(folder / ".ci/lowest", lowest)
    program(folder / ".venv/bin/python", python)
    program(folder / "bin/make", "${2#BESIDE=}\n" + make)
    env = {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    argv = [folder / ".ci/run"]
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("lacking", [None, *LINES])
def test_the_check_wants_a_closing_line_of_each_part(tmp_path: Path, lacking: str | None) -> None:
    printed = [line for part, line in LINES.items() if part != lacking]
    make = "\n".join(f"echo '{line}'" for line in printed if line != LINES["lowest"])
    done = check(tmp_path, make, lowest="" if lacking == "lowest" else LOWEST_PASSES)
    *lines, last = done.stdout.splitlines()[-len(printed) - 1 :]
    assert lines == printed, "all parts together, at the end"
    assert done.returncode == (lacking is not None)
    assert last.endswith(f"failed: {lacking} has no closing line" if lacking else "failed: nothing")


@pytest.mark.parametrize(("words", "step"), [("mypy --strict", "types"), ("mypy --config-file", "names")])
def test_every_step_that_fails_is_named_at_the_end(tmp_path: Path, words: str, step: str) -> None:
    done = check(tmp_path, f"{TESTS_PASS}\nexit 1", python=f'case "$*" in *"{words}"*) exit 1 ;; esac')
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].endswith(f"failed: tests,{step}")


def test_lowest_versions_that_fail_are_named_at_the_end(tmp_path: Path) -> None:
    done = check(tmp_path, TESTS_PASS, lowest=f"{LOWEST_PASSES}\nexit 1")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].endswith("failed: lowest")


def test_what_ran_beside_the_tests_prints_after_them(tmp_path: Path) -> None:
    done = check(tmp_path, f"{TESTS_PASS}\necho measured", python="echo no finding")
    assert done.returncode == 0, done.stdout
    printed = done.stdout.splitlines()
    assert printed.index("measured") < printed.index("== lint: .venv/bin/python -m ruff check .")
    assert printed.count("no finding") == 4


def test_modules_are_compiled_once_for_all_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    says = 'echo "{} ${{PYTHONDONTWRITEBYTECODE:-kept}} in $PYTHONPYCACHEPREFIX"'
    done = check(tmp_path, *(says.format(who) for who in ("test", "lowest", "python")))
    places = re.findall(r"^(test|lowest|python) kept in (/.+)$", done.stdout, re.MULTILINE)
    assert [who for who, _ in places] == ["test", "python", "python", "python", "python", "lowest"]
    assert len({place for _, place in places}) == 1


def test_linters_that_did_not_come_to_their_end_have_failed(tmp_path: Path) -> None:
    done = check(tmp_path, TESTS_PASS, python="kill -9 $PPID")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].endswith("failed: linters and lowest,lowest has no closing line")
