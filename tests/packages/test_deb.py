"""From a run to a Debian package, on the fake engine with a package of its baseline made by the test."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from debfiles import deb
from fakerun import called

SUDO = "" if os.geteuid() == 0 else "sudo "


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def base(tuned_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = Path(called(tuned_home, "path", "baseline").stdout.strip())
    return deb(tmp_path_factory.mktemp("base"), program)


def make(home: Path, output: Path, *words: str | Path) -> dict[str, Any]:
    done = called(home, "package", "--output", output, "--json", "--quiet", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    return value


def refused(home: Path, output: Path, *words: str | Path) -> str:
    done = called(home, "package", "--output", output, "--quiet", *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert not output.exists() or not list(output.glob("*.deb"))
    assert len(done.stderr.splitlines()) == 1
    return done.stderr


def test_the_measured_program_is_in_the_distributions_package(tuned_home: Path, base: Path, tmp_path: Path) -> None:
    value = make(tuned_home, tmp_path / "out", "--variant", "speed400", "--base", base, "--accept", "source")
    file = Path(value["files"][0])
    assert file.name == "fake-server-core_1.0-1+burnish1_amd64.deb"
    subprocess.run(["dpkg-deb", "-R", file, tmp_path / "un"], check=True)
    measured = Path(called(tuned_home, "path", "speed400").stdout.strip())
    assert digest(tmp_path / "un/usr/sbin/server") == digest(measured) == value["program"]
    assert digest(file) == value["sha256"]
    assert (tmp_path / "un/usr/share/doc/fake-server-core/copyright").read_text() == "nobody's\n"
    field = subprocess.run(["dpkg-deb", "-f", file], capture_output=True, text=True, check=True).stdout
    assert "Version: 1.0-1+burnish1\n" in field
    assert "Source: fake (1.0-1)\n" in field
    assert f"Burnish-Program: sha256:{value['program']}\n" in field
    assert "variant speed400" in field
    assert "FORCED" not in field
    assert "libc6 (>= 2.3" in field
    sums = (tmp_path / "un/DEBIAN/md5sums").read_text()
    subprocess.run(["md5sum", "-c", "--quiet", "-"], input=sums, text=True, cwd=tmp_path / "un", check=True)
    assert "usr/share/doc/fake-server-core/burnish/provenance.intoto.json" in sums
    listed = subprocess.run(["dpkg-deb", "-c", file], capture_output=True, text=True, check=True).stdout
    assert all(" root/root " in line for line in listed.splitlines())
    assert f"back: {SUDO}apt-get install --allow-downgrades {base}" in value["says"]
    words = "--no-install-recommends --allow-downgrades --no-remove"
    assert f"install: {SUDO}apt-get install {words} {file}" in value["says"], "from any folder"
    assert not list((tuned_home / "scratch").glob("package"))


def test_it_is_made_the_same_again(tuned_home: Path, base: Path, tmp_path: Path) -> None:
    words = ("--variant", "speed400", "--base", base, "--accept", "source")
    first = make(tuned_home, tmp_path / "a", *words)
    again = make(tuned_home, tmp_path / "b", *words)
    assert first["sha256"] == again["sha256"]
    for one, other in zip(first["files"], again["files"], strict=True):
        assert digest(Path(one)) == digest(Path(other)), one


def test_without_a_name_it_is_the_recommended_one(tuned_home: Path, base: Path, tmp_path: Path) -> None:
    value = make(tuned_home, tmp_path / "out", "--base", base, "--accept", "source")
    assert value["variant"] == "speed400"
    runs = json.loads(called(tuned_home, "runs", "--json").stdout)["runs"]
    assert value["variant"] == runs[0]["winner"]


def test_stripped_what_is_loaded_is_as_measured(tuned_home: Path, base: Path, tmp_path: Path) -> None:
    from burnish.program import program

    value = make(tuned_home, tmp_path / "o", "--variant", "speed400", "--base", base, "--accept", "source", "--strip")
    subprocess.run(["dpkg-deb", "-x", value["files"][0], tmp_path / "un"], check=True)
    measured = program.read(Path(called(tuned_home, "path", "speed400").stdout.strip()))
    packed = program.read(tmp_path / "un/usr/sbin/server")
    assert (packed.code, packed.data) == (measured.code, measured.data)
    assert measured.symbols
    assert not packed.symbols


def test_another_source_is_refused_and_named(tuned_home: Path, base: Path, tmp_path: Path) -> None:
    said = refused(tuned_home, tmp_path / "out", "--variant", "speed400", "--base", base)
    assert "the package of fake 1.0-1" in said
    assert "--accept source" in said
    said = refused(tuned_home, tmp_path / "out", "--variant", "speed400", "--base", base, "--accept", "nothing")
    assert "--accept nothing: no difference is called that; there are: source" in said


@pytest.mark.parametrize(("variant", "why"), [("wrong", "its gate failed"), ("unsafe", "it weakens security")])
def test_what_may_not_be_shipped_is_refused_and_marked_if_forced(
    tuned_home: Path, base: Path, tmp_path: Path, variant: str, why: str
) -> None:
    said = refused(tuned_home, tmp_path / "out", "--variant", variant, "--base", base, "--accept", "source")
    assert why in said
    assert "--force" in said
    words = ("--variant", variant, "--base", base, "--accept", "source", "--force")
    value = make(tuned_home, tmp_path / "forced", *words)
    assert value["version"] == "1.0-1+burnish1.forced"
    assert why in value["forced"][0]
    field = subprocess.run(["dpkg-deb", "-f", value["files"][0]], capture_output=True, text=True, check=True).stdout
    assert "FORCED, in spite of: " in field
    stated = json.loads(Path(value["files"][0] + ".verdict.intoto.json").read_text())
    assert why in stated["predicate"]["forced"][0]


def test_another_architecture_is_refused(tuned_home: Path, tmp_path: Path) -> None:
    program = Path(called(tuned_home, "path", "baseline").stdout.strip())
    foreign = deb(tmp_path, program, architecture="arm64")
    said = refused(tuned_home, tmp_path / "out", "--variant", "speed400", "--base", foreign, "--accept", "source")
    assert "for arm64" in said


def test_another_package_is_refused(tuned_home: Path, tmp_path: Path) -> None:
    program = Path(called(tuned_home, "path", "baseline").stdout.strip())
    other = deb(tmp_path, program, name="other")
    assert "the server is in fake-server-core" in refused(
        tuned_home, tmp_path / "o", "--base", other, "--variant", "speed400"
    )
    (tmp_path / "no.deb").write_text("no package")
    said = refused(tuned_home, tmp_path / "o", "--base", tmp_path / "no.deb", "--variant", "speed400")
    assert "not a Debian package" in said


def test_without_a_package_of_the_source_it_is_said(tuned_home: Path, tmp_path: Path) -> None:
    said = refused(tuned_home, tmp_path / "out", "--variant", "speed400")
    assert "name the package to put it into with --base" in said


def test_names_that_there_are_not(tuned_home: Path, tmp_path: Path) -> None:
    assert "did you mean 'speed400'" in refused(tuned_home, tmp_path / "o", "--variant", "speed40")
    assert "unknown format 'dep' (did you mean 'deb'?)" in refused(tuned_home, tmp_path / "o", "--as", "dep")


def test_nothing_is_installed_unasked(tuned_home: Path, base: Path) -> None:
    done = called(tuned_home, "install", "--variant", "speed400", "--base", base, "--accept", "source", "--quiet")
    assert done.returncode == 2
    assert "is made and not installed (nobody to ask)" in done.stderr
    assert f"back: {SUDO}apt-get install --allow-downgrades {base}\n" in done.stdout, "apt lists no such version"
    assert (tuned_home / "packages/fake-server-core_1.0-1+burnish1_amd64.deb").is_file()


def test_a_root_is_only_for_what_is_known(tuned_home: Path, base: Path, tmp_path: Path) -> None:
    said = refused(tuned_home, tmp_path / "o", "--variant", "speed400", "--base", base, "--try-in-root")
    assert "--try-in-root: it is known for no package of this engine what to try" in said
    said = refused(tuned_home, tmp_path / "o", "--variant", "speed400", "--as", "rebuild", "--try-in-root")
    assert "--try-in-root: for --as deb and oci, not rebuild; leave it out" in said


def test_losses_that_only_the_comparison_finds_mark_an_image_too(tuned_home: Path, base: Path, tmp_path: Path) -> None:
    value = make(tuned_home, tmp_path, "--variant", "speed400", "--base", base, "--as", "oci", "--force")
    assert value["forced"], "another source is a loss"
    file = Path(value["files"][0])
    assert file.parent.name.endswith("-forced")
    assert file.is_file()
    said = "\n".join(value["says"])
    assert f"burnish-fake:{value['build'][:8]}-forced" in said
