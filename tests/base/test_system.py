"""Installing packages, with a dpkg-query, an apt-get and a sudo that keep their state in files."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from burnish.base import process, system
from burnish.base.errors import InfrastructureError, UserError

DPKG = """#!/bin/sh
while read -r name; do printf 'installed\\t%s\\t\\n' "$name"; done <"$STATE/installed"
printf 'installed\\tbig\\tsmall (= 1.0), other\\n'
printf 'config-files\\tremoved\\t\\n'
"""
APT = """#!/bin/sh
echo "$*" >>"$STATE/apt"
while [ "$1" = -o ]; do shift 2; done
case "$1" in
    update) : >"$STATE/lists"; rm -f "$STATE/outdated" ;;
    --simulate)
        [ -e "$STATE/lists" ] || { echo "E: Unable to locate package"; exit 100; }
        case "$*" in *nowhere*) echo "E: Unable to locate package nowhere"; exit 100 ;; esac ;;
    install)
        [ ! -e "$STATE/outdated" ] || { echo "404 Not Found"; exit 100; }
        shift 3
        for name in "$@"; do echo "$name" >>"$STATE/installed"; done ;;
esac
"""
SUDO = """#!/bin/sh
echo "$*" >>"$STATE/sudo"
[ -e "$STATE/allowed" ] || exit 1
shift
exec "$@"
"""


@dataclass(frozen=True)
class Machine:
    """Where the programs are and what they noted."""

    bin: Path
    state: Path

    def apt(self) -> list[str]:
        """The words of each apt-get call that are no options of it."""
        file = self.state / "apt"
        calls = file.read_text().splitlines() if file.exists() else []
        return [call.split("APT::Color=0 ")[1] for call in calls]

    def program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    made = Machine(tmp_path / "bin", tmp_path / "state")
    made.bin.mkdir()
    made.state.mkdir()
    for name in ("env", "rm", "true", "setsid", "sh", "sleep", "touch"):
        (made.bin / name).symlink_to(str(shutil.which(name)))
    made.program("dpkg-query", DPKG)
    made.program("apt-get", APT)
    (made.state / "installed").write_text("gcc\n")
    (made.state / "lists").touch()
    monkeypatch.setenv("PATH", str(made.bin))
    monkeypatch.setenv("STATE", str(made.state))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    system.clang_to_install.cache_clear()
    yield made
    system.clang_to_install.cache_clear()


def test_groups_have_packages_and_a_reason() -> None:
    every = system.groups()
    assert {"base-build", "clang", "bolt", "sysbench", "mariadb-build", "mtr"} <= every.keys()
    for name, group in every.items():
        assert group.packages, name
        assert len(group.reason) > 40, name
    with pytest.raises(UserError, match="did you mean 'clang'"):
        system.group("clangg")


def test_missing_packages_keeps_order_and_counts_what_is_provided(machine: Machine) -> None:
    names = ["zeta", "gcc", "small", "removed", "alpha"]
    assert system.missing_packages(names) == ["zeta", "removed", "alpha"]


def test_without_dpkg_everything_is_missing(machine: Machine) -> None:
    (machine.bin / "dpkg-query").unlink()
    assert system.missing_packages(["gcc"]) == ["gcc"]


def test_nothing_missing_asks_and_says_nothing(machine: Machine) -> None:
    def never(text: str) -> bool:
        raise AssertionError(text)

    messages: list[str] = []
    system.ensure_packages(["gcc"], why="to build", yes=False, ask=never, say=messages.append)
    assert not messages
    assert not machine.apt()


def test_yes_installs_only_what_is_missing_and_says_why(machine: Machine) -> None:
    messages: list[str] = []
    system.ensure_packages(["gcc", "cmake"], why="to build", yes=True, ask=None, say=messages.append)
    assert messages == ["installing cmake: to build"]
    assert machine.apt()[-1] == "install --yes --no-install-recommends cmake"
    assert not any("update" in call for call in machine.apt())
    assert system.missing_packages(["cmake"]) == []


@pytest.mark.parametrize("state", ["no lists", "outdated lists"])
def test_package_lists_are_fetched_when_needed(machine: Machine, state: str) -> None:
    if state == "no lists":
        (machine.state / "lists").unlink()
    else:
        (machine.state / "outdated").touch()
    system.ensure_packages(["cmake"], why="to build", yes=True, ask=None, say=lambda _: None)
    assert machine.apt().count("update") == 1
    assert system.missing_packages(["cmake"]) == []


def test_the_question_names_packages_and_reason_and_no_means_no(machine: Machine) -> None:
    asked: list[str] = []

    def refuse(question: str) -> bool:
        asked.append(question)
        return False

    with pytest.raises(UserError, match=r"the answer was no.*apt-get install --no-install-recommends cmake"):
        system.ensure_packages(["cmake"], why="to build", yes=False, ask=refuse)
    assert asked == ["Install cmake? (to build)"]
    assert not machine.apt()


def test_a_yes_to_the_question_installs(machine: Machine) -> None:
    system.ensure_packages(["cmake"], why="to build", yes=False, ask=lambda _: True, say=lambda _: None)
    assert system.missing_packages(["cmake"]) == []


def test_nobody_to_ask_names_the_command(machine: Machine) -> None:
    with pytest.raises(UserError, match=r"apt-get install --no-install-recommends cmake.*--yes"):
        system.ensure_packages(["cmake"], why="to build", yes=False, ask=None)
    assert not machine.apt()


def test_no_apt_names_what_to_install(machine: Machine) -> None:
    (machine.bin / "apt-get").unlink()
    with pytest.raises(UserError, match=r"no apt-get: cmake \(to build\)"):
        system.ensure_packages(["cmake"], why="to build", yes=True, ask=None)


def test_not_root_uses_sudo_and_hands_the_proxy_on(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    with pytest.raises(UserError, match="needs root: run `sudo apt-get install"):
        system.ensure_packages(["cmake"], why="to build", yes=True, ask=None)
    machine.program("sudo", SUDO)
    with pytest.raises(UserError, match="needs root"):  # sudo that wants a password
        system.ensure_packages(["cmake"], why="to build", yes=True, ask=None)
    (machine.state / "allowed").touch()
    system.ensure_packages(["cmake"], why="to build", yes=True, ask=None, say=lambda _: None)
    assert "http_proxy=http://proxy:3128 apt-get" in (machine.state / "sudo").read_text()
    assert system.missing_packages(["cmake"]) == []


def test_a_package_file_that_cant_be_installed_is_named_with_a_command_that_can(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (tmp_path / "my packages").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as raised:
        system.install_file(Path("my packages/server.deb"), ["tools=1.2"], yes=True, ask=None)
    message = str(raised.value)
    assert message.startswith("my packages/server.deb is made and not installed: that needs root; ")
    whole = f"'{tmp_path.resolve()}/my packages/server.deb'"
    words = "--no-install-recommends --allow-downgrades --no-remove"
    assert f"`sudo apt-get install {words} {whole} tools=1.2`" in message
    machine.program("sudo", SUDO)
    (machine.state / "allowed").touch()
    system.install_file(Path("my packages/server.deb"), yes=True, ask=None, say=lambda _: None)
    assert machine.apt() == [f"install --yes {words} {tmp_path.resolve()}/my packages/server.deb"]


def test_a_package_that_the_archive_lacks_is_named(machine: Machine) -> None:
    with pytest.raises(UserError, match="Unable to locate package nowhere"):
        system.ensure_packages(["nowhere"], why="to build", yes=True, ask=None, say=lambda _: None)


def test_an_installation_that_fails_shows_apts_last_lines(machine: Machine) -> None:
    machine.program("apt-get", APT.replace('[ ! -e "$STATE/outdated" ]', "false"))
    with pytest.raises(InfrastructureError, match="404 Not Found"):
        system.ensure_packages(["cmake"], why="to build", yes=True, ask=None, say=lambda _: None)


def test_an_installation_is_not_cut_off_when_we_are_killed(machine: Machine) -> None:
    slow = 'touch "$STATE/begun"; while [ ! -e "$STATE/go" ]; do sleep 0.02; done; echo lots of words; shift 3'
    machine.program("apt-get", APT.replace("shift 3", slow))
    ours = process.start([sys.executable, "-m", "burnish.base.system", "--yes", "sysbench"])
    wait_for(machine.state / "begun")
    os.killpg(ours.pid, signal.SIGKILL)
    process.stop(ours)
    time.sleep(0.5)  # the warden, which kills what is ours, has had its time
    (machine.state / "go").touch()
    deadline = time.monotonic() + 60
    while system.missing_packages(["sysbench"]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert system.missing_packages(["sysbench"]) == []


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.02)


def test_the_command_installs_groups(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    assert system.main(["--yes", "sysbench", "mtr"]) == 0
    assert system.missing_packages(["sysbench", "perl"]) == []
    assert len([call for call in machine.apt() if call.startswith("install")]) == 1
    assert system.main(["--yes", "nonsense"]) == 2
    assert "unknown package group" in capsys.readouterr().err


ARCHIVE = ["clang-19", "lld-19", "clang-22", "lld-22", "clang-23", "clang-format-30", "clang-9", "lld-9", "lld-100"]


def test_the_newest_is_the_highest_number_that_is_whole() -> None:
    assert system.resolve(["clang-{newest}", "lld-{newest}", "file"], ARCHIVE) == ["clang-22", "lld-22", "file"]
    assert system.resolve(["clang-{newest}"], ARCHIVE) == ["clang-23"]
    assert system.resolve(["file"], []) == ["file"]
    with pytest.raises(UserError, match=r"no number for which all of bolt-\{newest\} are there"):
        system.resolve(["bolt-{newest}"], ARCHIVE)


CACHE = """#!/bin/sh
[ ! -e "$STATE/lists" ] || for number in 19 22; do
    for name in clang-N lld-N llvm-N libclang-rt-N-dev bolt-N libbolt-N-dev; do
        echo "${name%N*}$number${name#*N} - of LLVM"
    done
done
while read -r name; do echo "$name - installed"; done <"$STATE/installed"
"""


@pytest.mark.parametrize("lists", [True, False])
def test_the_command_finds_the_newest_clang_in_the_archive(machine: Machine, lists: bool) -> None:
    machine.program("apt-cache", CACHE)
    if not lists:
        (machine.state / "lists").unlink()
    assert system.main(["--yes", "clang-newest"]) == 0
    assert system.missing_packages(["clang-22", "lld-22", "libclang-rt-22-dev", "libbolt-22-dev"]) == []
    assert machine.apt().count("update") == (not lists)


def test_without_package_lists_the_newest_clang_that_is_installed_does(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.program("apt-cache", CACHE)
    (machine.state / "lists").unlink()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert system.main(["--yes", "clang-newest"]) == 2
    assert "apt-get update" in capsys.readouterr().err
    words = "clang-19 lld-19 llvm-19 libclang-rt-19-dev bolt-19 libbolt-19-dev"
    (machine.state / "installed").write_text("\n".join(words.split()) + "\n")
    assert system.main(["--yes", "clang-newest"]) == 0


def test_the_newest_is_named_without_installing_it(machine: Machine) -> None:
    machine.program("apt-cache", CACHE)
    words = "clang-22 lld-22 llvm-22 libclang-rt-22-dev bolt-22 libbolt-22-dev"
    assert system.newest("clang-newest") == words.split()
    assert not any(call.startswith("install") for call in machine.apt())
    (machine.state / "lists").unlink()
    assert system.newest("clang-newest") == []


def test_a_machine_without_clang_gets_the_newest_and_another_keeps_its_own(machine: Machine) -> None:
    machine.program("apt-cache", CACHE)
    assert system.packages("clang") == ("clang-22", "lld-22", "llvm-22", "libclang-rt-22-dev")
    assert system.packages("bolt", 19) == ("bolt-19", "libbolt-19-dev")
    assert system.packages("sysbench", 19) == ("sysbench",)


def test_without_package_lists_it_is_the_oldest_until_they_are_fetched(machine: Machine) -> None:
    machine.program("apt-cache", CACHE)
    (machine.state / "lists").unlink()
    assert system.packages("clang")[0] == "clang-19"
    system.fetch_lists(["sysbench"], "a load")
    assert machine.apt() == []
    system.fetch_lists(["sysbench", "clang"], "the variants")
    assert machine.apt() == ["update"]
    assert system.packages("clang")[0] == "clang-22"
    system.fetch_lists(["clang"], "the variants")
    assert machine.apt() == ["update"]


def test_the_archive_is_asked_as_often_for_many_groups_as_for_one(machine: Machine) -> None:
    machine.program("apt-cache", CACHE.replace("#!/bin/sh\n", '#!/bin/sh\necho asked >>"$STATE/cache"\n'))
    assert system.main(["--yes", "sysbench", "mtr"]) == 0
    assert not (machine.state / "cache").exists()
    assert system.main(["--yes", "clang-newest", "sysbench", "mtr", "gcc"]) == 0
    assert len((machine.state / "cache").read_text().splitlines()) == 2  # are there lists, and what is in them


def test_find_programs(machine: Machine) -> None:
    result = system.find_programs(["apt-get", "no-such-program"])
    assert result == {"apt-get": machine.bin / "apt-get", "no-such-program": None}
