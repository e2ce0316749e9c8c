"""Archives, scripts and files for other build systems."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.cli.results import result_of
from burnish.engines.steps import Command
from burnish.packages import chosen
from burnish.packages.formats import cmake, tarball
from burnish.packages.statements import Made
from burnish.record.exchange import read_events
from burnish.report.fold import fold
from fakerun import called


def make(home: Path, output: Path, kind: str) -> dict[str, Any]:
    done = called(home, "package", "--as", kind, "--variant", "speed400", "--output", output, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    assert all(Path(file).is_file() for file in value["files"])
    return value


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_an_archive_has_the_program_and_says_how_to_start_it(tuned_home: Path, tmp_path: Path) -> None:
    value = make(tuned_home, tmp_path, "tar")
    file = Path(value["files"][0])
    assert value["says"] == [f"unpack: tar xzf {file.absolute()}; README in it says how to start it"]
    with tarfile.open(file) as archive:
        archive.extractall(tmp_path / "un", filter="data")
        assert {(member.uid, member.uname) for member in archive} == {(0, "root")}
    (folder,) = (tmp_path / "un").iterdir()
    assert digest(folder / "bin/server") == value["program"]
    assert (folder / "bin/server").stat().st_mode & 0o111
    readme = (folder / "README").read_text()
    assert value["program"] in readme
    assert "./bin/server" in readme
    assert not (folder / "burnish.json").exists()
    stated = json.loads((folder / "provenance.intoto.json").read_text())
    assert stated["subject"] == [{"name": "bin/server", "digest": {"sha256": value["program"]}}]
    beside = json.loads(Path(f"{file}.provenance.intoto.json").read_text())
    assert beside["subject"][0] == {"name": file.name, "digest": {"sha256": digest(file)}}
    again = make(tuned_home, tmp_path / "again", "tar")
    assert digest(Path(again["files"][0])) == digest(file)


def test_the_script_makes_the_program_again(tuned_home: Path, tmp_path: Path) -> None:
    value = make(tuned_home, tmp_path, "rebuild")
    script = Path(value["files"][0])
    assert script.name == "build.sh"
    assert value["program"] in script.read_text()
    said = called(tuned_home, "package", "--as", "rebuild", "--variant", "speed400", "--output", tmp_path)
    assert said.returncode == 2
    assert "is there already" in said.stderr


def test_what_cant_be_filled_is_not_in_the_way(tuned_home: Path, tmp_path: Path) -> None:
    """A profile that `clean` removed, say: the next call finds no half of a folder."""
    build = Path(called(tuned_home, "path", "speed400").stdout.strip()).parents[1]
    script = build / "build.sh"
    script.rename(build / "away")
    for number in range(2):
        done = called(tuned_home, "package", "--as", "rebuild", "--variant", "speed400", "--output", tmp_path)
        assert done.returncode != 0
        assert "is there already" not in done.stderr, number
        assert not list(tmp_path.iterdir())
    (build / "away").rename(script)


def test_links_within_a_build_are_in_its_archive(tmp_path: Path) -> None:
    (tmp_path / "build/lib").mkdir(parents=True)
    (tmp_path / "build/lib/libpq.so.5.15").touch()
    (tmp_path / "build/lib/libpq.so.5").symlink_to("libpq.so.5.15")
    (tmp_path / "build/lib/host.so").symlink_to("/etc/passwd")
    (tmp_path / "outside").touch()
    (tmp_path / "build/lib/outside.so").symlink_to("../../outside")
    assert [path.name for path in tarball._kept(tmp_path / "build")] == ["libpq.so.5", "libpq.so.5.15"]


def test_cmake_takes_the_toolchain_file_and_the_preset(tuned_home: Path, tmp_path: Path) -> None:
    home, (run,) = Home(tuned_home), (tuned_home / "studies").iterdir()
    found = chosen.choose(home, run, result_of(run), "speed400")
    configured = Command("configure", ("cmake", "-S", f"{found.making.root}/source"))
    by_cmake = replace(found, making=replace(found.making, steps=(configured, *found.making.steps)))
    files, _ = cmake.make(home, by_cmake, Made(), tmp_path)
    folder = files[0].parent
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(x C)\nadd_executable(x x.c)\n"
    )
    (folder / "x.c").write_text("int main(void) { return FAKE_SPEED != 400; }\n")
    subprocess.run(["cmake", "--preset", "burnish-speed400"], cwd=folder, check=True, capture_output=True)
    subprocess.run(["cmake", "--build", "build-burnish"], cwd=folder, check=True, capture_output=True)
    subprocess.run([folder / "build-burnish/x"], check=True)


def test_cmakes_files_are_refused_of_what_it_did_not_configure(tuned_home: Path, tmp_path: Path) -> None:
    done = called(tuned_home, "package", "--as", "cmake", "--variant", "speed400", "--output", tmp_path)
    assert done.returncode == 2
    assert "--as cmake: speed400 of fake was not built with cmake; --as rebuild" in " ".join(done.stderr.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("flag", "written"),
    [
        ('-DA="x y"', '"\'-DA=\\"x y\\"\'"'),
        ("-DB=$(reboot)", "\"'-DB=\\$(reboot)'\""),
        ("-DC=${ENV{HOME}}", "\"'-DC=\\${ENV{HOME}}'\""),
        ("-fprofile-use=${CMAKE_CURRENT_LIST_DIR}/p", '"-fprofile-use=${CMAKE_CURRENT_LIST_DIR}/p"'),
        ("-DD=a\\b", "\"'-DD=a\\\\b'\""),
    ],
)
def test_flags_mean_nothing_to_cmake(flag: str, written: str) -> None:
    assert cmake.quoted(cmake.joined((flag,))) == written


def test_a_spec_fragment_has_the_flags(tuned_home: Path, tmp_path: Path) -> None:
    value = make(tuned_home, tmp_path, "rpm")
    text = Path(value["files"][0]).read_text()
    assert "-DFAKE_SPEED=400" in text
    assert "%global build_cflags " in text
    assert str(tuned_home) not in text


def test_options_of_the_deb_are_refused_for_others(tuned_home: Path, tmp_path: Path) -> None:
    done = called(tuned_home, "package", "--as", "tar", "--strip", "--output", tmp_path / "o", "--variant", "speed400")
    assert done.returncode == 2
    assert "--strip are for --as deb and oci" in done.stderr


def test_what_a_run_did_not_measure_is_not_packaged_under_its_verdict(
    tuned_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key says how a build is made: cleaned away and trained anew, it has the same key and another program."""
    home, (run,) = Home(tuned_home), (tuned_home / "studies").iterdir()
    good = chosen.choose(home, run, result_of(run), "speed400")
    assert chosen._measured(run, good.found.entry.key) == {good.making.sha256}
    monkeypatch.setattr(chosen, "_measured", lambda *_: {"0" * 64})
    with pytest.raises(UserError, match=r"speed400: the store has another program than \S+ measured: .* with --fresh"):
        chosen.choose(home, run, result_of(run), "speed400")


def test_a_debian_patch_needs_a_source_package(tuned_home: Path, tmp_path: Path) -> None:
    done = called(tuned_home, "package", "--as", "debian-patch", "--output", tmp_path / "o", "--variant", "speed400")
    assert done.returncode == 2
    assert "not built from a Debian source package" in done.stderr
    words = ("--as", "debian-patch", "--output", tmp_path / "o", "--variant", "speed400", "--base", tmp_path / "b.deb")
    assert "not built from a Debian source package" in called(tuned_home, "package", *words).stderr, "takes --base"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mariadb-train-robust", "its report recommends no single build; name one with --variant"),
        ("mariadb-patch-crc32c", "its report recommends no single build; name one with --variant"),
        ("mariadb-sun-2008-whole", r"the build of gcc\.fbo$"),
    ],
)
def test_without_a_name_the_build_is_the_one_that_the_report_recommends(
    name: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a bundled study have loads and baselines of their own: they have no ranking."""

    def find(_: Home, variant: str, __: str) -> None:
        raise UserError(f"the build of {variant}")

    monkeypatch.setattr("burnish.packages.chosen.reproducing.find", find)
    result = fold(read_events(Path(__file__).parents[2] / "docs" / "results" / f"{name}.jsonl.xz"))
    with pytest.raises(UserError, match=says):
        chosen.choose(Home(tmp_path), tmp_path, result, None)
