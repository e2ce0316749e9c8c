"""The launcher, with a Python and an apt-get that only note what they are asked; once with the real ones."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from burnish.base import process
from burnish.base.process import Completed

ROOT = Path(__file__).parent.parent
FILES = ("burnish", "pyproject.toml", "requirements.lock", "requirements-dev.lock")
TOOLS = "sh cat sha256sum cut dirname readlink flock mv rm mkdir mktemp tail env sleep cp touch"

PYTHON = """#!/bin/sh
echo "python $*" >>"$STATE/log"
case "$*" in
    *version_info*) [ ! -e "$STATE/old" ] ;;
    -V) echo "Python 3.9.2" ;;
    *ensurepip*) [ -e "$STATE/venv-package" ] ;;
    "-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
    *"-m pip"*) sleep "${PIP_SECONDS:-0}"; [ ! -e "$STATE/pip-fails" ] || { echo "no network" >&2; exit 1; } ;;
    "-P -m burnish"*) shift 3; for word in "$@"; do printf 'word:%s\\n' "$word"; done ;;
esac
"""
APT = """#!/bin/sh
echo "apt-get $*" >>"$STATE/log"
case "$*" in
    *update*) touch "$STATE/lists" ;;
    *install*) [ -e "$STATE/lists" ] || { echo "E: Unable to locate package" >&2; exit 100; }
               touch "$STATE/venv-package" ;;
esac
"""
SUDO = """#!/bin/sh
echo "sudo $*" >>"$STATE/log"
[ "$1" != -n ] || shift
exec "$@"
"""


@dataclass(frozen=True)
class Machine:
    """A checkout, a PATH that holds only what a base system has, and what the programs on it noted."""

    checkout: Path
    bin: Path
    state: Path

    def env(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        return {"PATH": str(self.bin), "STATE": str(self.state), "BURNISH_PREPARE": "", **(extra or {})}

    def run(self, *words: str, env: Mapping[str, str] | None = None, program: Path | None = None) -> Completed:
        argv = [str(program or self.checkout / "burnish"), *words]
        return process.run(argv, cwd=self.state, env=self.env(env), timeout=300)

    def log(self, pattern: str = "") -> list[str]:
        file = self.state / "log"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line for line in lines if re.search(pattern, line)]

    def set(self, *names: str) -> None:
        for name in names:
            (self.state / name).touch()

    def program(self, name: str, text: str) -> None:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with python3-venv, and no .venv yet."""
    made = Machine(tmp_path / "a checkout", tmp_path / "bin", tmp_path / "state")
    for folder in (made.checkout, made.bin, made.state):
        folder.mkdir()
    for name in FILES:
        shutil.copy2(ROOT / name, made.checkout / name)
    for name in TOOLS.split():
        where = shutil.which(name)
        assert where, name
        (made.bin / name).symlink_to(where)
    made.program("python3", PYTHON)
    made.program("apt-get", APT)
    made.program("id", "#!/bin/sh\necho 0\n")
    made.set("venv-package", "lists")
    return made


def lines(done: Completed) -> list[str]:
    return done.output.splitlines()


def test_first_use_makes_the_environment_and_the_second_only_runs(machine: Machine) -> None:
    first = machine.run("tune", "sql ite", "")
    assert first.ok, first.output
    assert lines(first)[-3:] == ["word:tune", "word:sql ite", "word:"]
    assert len(machine.log("-m venv")) == 1
    pinned, itself = machine.log("-m pip")
    assert "--require-hashes" in pinned
    assert f"-r {machine.checkout}/requirements.lock" in pinned
    assert "--no-build-isolation" in itself
    assert not machine.log("apt-get")
    (machine.state / "log").unlink()

    second = machine.run("doctor")
    assert lines(second) == ["word:doctor"]
    assert machine.log() == ["python -P -m burnish doctor"]


def test_the_exit_code_is_that_of_the_command_line(machine: Machine) -> None:
    machine.program("python3", PYTHON.replace("shift 3;", "exit 7;"))
    assert machine.run("tune").exit_code == 7


def test_it_tells_how_it_was_called(machine: Machine) -> None:
    machine.program("python3", PYTHON.replace("shift 3;", 'echo "program:$BURNISH_PROGRAM";'))
    assert f"program:{machine.checkout / 'burnish'}" in lines(machine.run("doctor"))
    assert "program:../a checkout/burnish" in lines(machine.run("doctor", program=Path("../a checkout/burnish")))


def test_compiled_modules_are_kept_where_files_beside_the_sources_are_forbidden(machine: Machine) -> None:
    told = 'echo "compiled:${PYTHONDONTWRITEBYTECODE:-}:${PYTHONPYCACHEPREFIX:-}";'
    machine.program("python3", PYTHON.replace("shift 3;", told))
    usual, own = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": ""}, f"{machine.checkout}/.venv/pycache"
    for given, kept in (("", ""), ("1", own)):
        done = machine.run("doctor", env={**usual, "PYTHONDONTWRITEBYTECODE": given})
        assert f"compiled::{kept}" in lines(done)
    done = machine.run("doctor", env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "/own"})
    assert "compiled::/own" in lines(done)


def test_it_works_through_symlinks(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("a checkout/burnish")
    (tmp_path / "two").symlink_to("one")
    assert machine.run("doctor", program=tmp_path / "two").ok
    assert (machine.checkout / ".venv/.made").exists()


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
def test_changed_requirements_make_it_anew(machine: Machine, name: str) -> None:
    machine.run("doctor")
    (machine.checkout / ".venv/left-over").touch()
    with (machine.checkout / name).open("a") as file:
        file.write("\n")
    machine.run("doctor")
    assert len(machine.log("-m venv")) == 2
    assert not (machine.checkout / ".venv/left-over").exists()
    machine.run("doctor")
    assert len(machine.log("-m venv")) == 2


def test_a_moved_checkout_makes_it_anew(machine: Machine, tmp_path: Path) -> None:
    machine.run("doctor")
    moved = Machine(machine.checkout.rename(tmp_path / "moved"), machine.bin, machine.state)
    assert moved.run("doctor").ok
    assert len(machine.log("-m venv")) == 2


def test_an_environment_whose_python_is_gone_is_made_anew(machine: Machine) -> None:
    machine.run("doctor")
    (machine.checkout / ".venv/bin/python").unlink()
    assert machine.run("doctor").ok
    assert len(machine.log("-m venv")) == 2


def test_an_environment_made_by_hand_is_kept(machine: Machine) -> None:
    (machine.checkout / ".venv/bin").mkdir(parents=True)
    shutil.copy2(machine.bin / "python3", machine.checkout / ".venv/bin/python")
    (machine.checkout / ".venv/mine").touch()
    assert machine.run("doctor").ok
    assert (machine.checkout / ".venv/mine").exists()
    assert not machine.log("-m venv")
    assert len(machine.log("-m pip")) == 2


def test_killed_half_way_it_starts_over(machine: Machine) -> None:
    child = process.start([machine.checkout / "burnish", "doctor"], env=machine.env({"PIP_SECONDS": "60"}))
    deadline = time.monotonic() + 60
    while not machine.log("-m pip") and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGKILL)
    process.stop(child)
    assert not (machine.checkout / ".venv/.made").exists()
    assert machine.run("doctor").ok
    assert len(machine.log("-m venv")) == 2


def test_when_pip_fails_it_says_so_and_starts_over(machine: Machine) -> None:
    machine.set("pip-fails")
    failed = machine.run("doctor")
    assert failed.exit_code == 1
    assert "no network" in failed.output
    assert "word:doctor" not in failed.output
    (machine.state / "pip-fails").unlink()
    assert machine.run("doctor").ok


def test_two_first_uses_at_once_make_one_environment(machine: Machine) -> None:
    env = machine.env({"PIP_SECONDS": "0.3"})
    children = [process.start([machine.checkout / "burnish", f"n{number}"], env=env) for number in range(3)]
    outputs = [child.communicate(timeout=300)[0].decode() for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    assert all(f"word:n{number}" in output for number, output in enumerate(outputs))
    assert len(machine.log("-m venv")) == 1
    assert len(machine.log("-m pip")) == 2


@pytest.mark.parametrize("state", ["old", "none"])
def test_without_a_recent_python_one_line_and_exit_code_2(machine: Machine, state: str) -> None:
    if state == "old":
        machine.set("old")
    else:
        (machine.bin / "python3").unlink()
    done = machine.run("doctor", "--yes")
    assert done.exit_code == 2
    assert len(lines(done)) == 1
    assert "Python 3.11" in done.output
    assert ("3.9.2" if state == "old" else "none") in done.output
    assert not (machine.checkout / ".venv").exists()


def test_nobody_to_ask_and_no_yes_is_one_line_with_the_command(machine: Machine) -> None:
    (machine.state / "venv-package").unlink()
    done = machine.run("doctor")
    assert done.exit_code == 2
    assert len(lines(done)) == 1
    assert "apt-get install --no-install-recommends python3-venv" in done.output
    assert not machine.log("apt-get")
    assert not (machine.checkout / ".venv").exists()


@pytest.mark.parametrize("words", [("tune", "sqlite", "--yes"), ("-y", "doctor")])
def test_yes_anywhere_installs_what_the_environment_needs(machine: Machine, words: Sequence[str]) -> None:
    (machine.state / "venv-package").unlink()
    done = machine.run(*words)
    assert done.ok, done.output
    assert [line.split("=300 ")[1] for line in machine.log("apt-get")] == [
        "install -y --no-install-recommends python3-venv"
    ]
    assert "installing python3-venv" in done.output


def test_package_lists_are_fetched_only_when_they_are_needed(machine: Machine) -> None:
    for name in ("venv-package", "lists"):
        (machine.state / name).unlink()
    assert machine.run("doctor", "--yes").ok
    assert [line.split()[3] for line in machine.log("apt-get")] == ["install", "update", "install"]


def test_sudo_is_used_when_not_root_and_its_lack_is_named(machine: Machine) -> None:
    (machine.state / "venv-package").unlink()
    machine.program("id", "#!/bin/sh\necho 1000\n")
    without = machine.run("doctor", "--yes")
    assert without.exit_code == 2
    assert len(lines(without)) == 1
    assert "sudo apt-get install" in without.output
    machine.program("sudo", SUDO)
    assert machine.run("doctor", "--yes").ok
    assert machine.log("^sudo -n env DEBIAN_FRONTEND=noninteractive apt-get")


@pytest.mark.parametrize(("answer", "exit_code"), [("y", 0), ("", 0), ("n", 2)])
def test_it_asks_at_a_terminal(machine: Machine, answer: str, exit_code: int) -> None:
    (machine.state / "venv-package").unlink()
    ours, theirs = os.openpty()
    child = process.start([machine.checkout / "burnish", "doctor"], env=machine.env(), stdin=theirs)
    os.write(ours, f"{answer}\n".encode())
    output = child.communicate(timeout=300)[0].decode()
    os.close(ours)
    os.close(theirs)
    assert child.returncode == exit_code, output
    assert "install python3-venv? (makes Python environments)" in output
    assert bool(machine.log("apt-get")) == (exit_code == 0)


def test_preparing_installs_the_test_tools_once_and_runs_nothing(machine: Machine) -> None:
    dev = {"BURNISH_PREPARE": "dev"}
    assert machine.run(env=dev).ok
    assert len(machine.log("requirements-dev.lock")) == 1
    machine.run(env=dev)
    machine.run("doctor")
    machine.run(env=dev)
    assert len(machine.log("requirements-dev.lock")) == 1
    assert len(machine.log("-m venv")) == 1
    assert len(machine.log("-m burnish")) == 1


def pins(name: str) -> dict[str, str]:
    """Package and version of each line, after checking that each has a digest."""
    text = (ROOT / name).read_text().replace("\\\n", " ")
    entries = [line for line in text.splitlines() if re.match(r"[a-z]", line)]
    assert all("--hash=sha256:" in line for line in entries)
    return dict(re.findall(r"^([\w.-]+)==(\S+)", "\n".join(entries), re.MULTILINE))


def test_the_locks_pin_what_pyproject_asks_for_and_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    run, dev = pins("requirements.lock"), pins("requirements-dev.lock")

    def wanted(entries: Sequence[str]) -> set[str]:
        return {re.split(r"[ ;<>=]", entry)[0].lower() for entry in entries}

    assert wanted(project["dependencies"] + extras["checkout"]) <= run.keys()
    assert wanted(extras["dev"]) <= dev.keys()
    assert run.items() <= dev.items()


@pytest.mark.parametrize(("variables", "asks"), [({}, True), ({"YES": "1"}, False), ({"CI": "true"}, False)])
def test_make_says_yes_only_when_told(variables: Mapping[str, str], asks: bool) -> None:
    ours = ("YES", "CI", "MAKEFLAGS", "MAKELEVEL")  # we may run under make ourselves
    unset = [word for name in ours for word in ("-u", name)]
    given = [f"{name}={value}" for name, value in variables.items()]
    done = process.run(["env", *unset, *given, "make", "-n", "test"], cwd=ROOT)
    assert done.ok, done.output
    assert ("--yes" not in done.output) == asks
    assert done.output.index('-m "not real"') < done.output.index('-m "real and not measures"')
    assert done.output.index('-m "real and not measures"') < done.output.index('-m "real and measures"')


@pytest.mark.real
def test_a_real_environment_from_a_clean_copy(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT / "src", checkout / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in (*FILES, "PYPI.md", "LICENSE", "NOTICE"):
        shutil.copy2(ROOT / name, checkout / name)
    argv = [str(checkout / "burnish"), "doctor"]
    done = process.run(argv, cwd=tmp_path, env={"BURNISH_PREPARE": ""}, timeout=500)
    assert done.ok, done.output
    assert "gcc" in done.output
    again = process.run(argv, cwd=tmp_path, env={"BURNISH_PREPARE": ""}, timeout=300)
    assert not any(line.startswith("burnish:") for line in again.output.splitlines())
