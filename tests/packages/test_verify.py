"""What is said of a good package, and that every change to one is found."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.base.files import held, remove_tree, sha256_of
from debfiles import deb
from fakerun import called


def made(home: Path, output: Path, *words: str | Path) -> Path:
    done = called(home, "package", "--variant", "speed400", "--output", output, "--json", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return Path(json.loads(done.stdout)["files"][0])


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("key") / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "a b", "-f", place], check=True)
    return place


@pytest.fixture(scope="module")
def package(tuned_home: Path, key: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("verified")
    base = deb(place, Path(called(tuned_home, "path", "baseline").stdout.strip()))
    return made(tuned_home, place / "out", "--base", base, "--accept", "source", "--sign-key", key)


def copied(package: Path, place: Path) -> Path:
    shutil.copytree(package.parent, place / "copy")
    return place / "copy" / package.name


def test_a_good_package(tuned_home: Path, package: Path, key: Path) -> None:
    done = called(tuned_home, "verify", package, "--key", f"{key}.pub")
    assert done.returncode == 0, done.stderr
    assert "signature: signed by that key" in done.stdout
    assert "byte for byte the one that was measured" in done.stdout
    assert "checksums: all " in done.stdout
    assert done.stdout.count("about this file") == 2
    assert "study: variant speed400 of fake-tune-" in done.stdout
    assert "FORCED" not in done.stdout
    value = json.loads(called(tuned_home, "verify", package, "--json").stdout)
    assert value["verdict"]["variant"] == "speed400"


def test_an_archive(tuned_home: Path, tmp_path: Path) -> None:
    file = made(tuned_home, tmp_path, "--as", "tar")
    done = called(tuned_home, "verify", file)
    assert done.returncode == 0, done.stderr
    assert "signature: no signature" in done.stdout
    assert "byte for byte" in done.stdout


def test_another_key_and_no_signature(tuned_home: Path, package: Path, tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "other"], check=True)
    done = called(tuned_home, "verify", package, "--key", tmp_path / "other.pub")
    assert done.returncode == 2
    assert "not a valid signature" in done.stderr
    copy = copied(package, tmp_path)
    Path(f"{copy}.sig").unlink()
    done = called(tuned_home, "verify", copy, "--key", tmp_path / "other.pub")
    assert done.returncode == 2
    assert "no signature beside it" in done.stderr


def test_a_changed_file_is_found_by_its_signature(tuned_home: Path, package: Path, tmp_path: Path) -> None:
    copy = copied(package, tmp_path)
    copy.write_bytes(copy.read_bytes() + b"\n")
    done = called(tuned_home, "verify", copy)
    assert done.returncode == 2
    assert "not a valid signature" in done.stderr


def test_a_package_of_the_same_name_takes_its_signature_with_it(tuned_home: Path, key: Path, tmp_path: Path) -> None:
    base = deb(tmp_path, Path(called(tuned_home, "path", "baseline").stdout.strip()))
    words = ("--base", base, "--accept", "source")
    signed = made(tuned_home, tmp_path / "out", *words, "--sign-key", key)
    assert made(tuned_home, tmp_path / "out", *words) == signed
    assert Path(f"{signed}.sig").exists(), "it is the same, byte for byte"
    stripped = made(tuned_home, tmp_path / "out", *words, "--strip")
    assert stripped == signed
    assert not Path(f"{signed}.sig").exists()
    done = called(tuned_home, "verify", signed)
    assert done.returncode == 0, done.stderr
    assert not [path for path in signed.parent.iterdir() if path.name.startswith(".")], "no draft is left"


def test_a_key_that_is_no_text_is_named(tuned_home: Path, package: Path, tmp_path: Path) -> None:
    (tmp_path / "builder.gpg").write_bytes(b"\x99\x01\xff\xfe")
    done = called(tuned_home, "verify", package, "--key", tmp_path / "builder.gpg")
    assert done.returncode == 2
    assert "builder.gpg: is no text; name the signer's public SSH key" in done.stderr


def test_a_check_beside_a_measurement_leaves_what_that_unpacked(tuned_home: Path, package: Path) -> None:
    place = tuned_home / "verified" / sha256_of(package)[:16]
    place.mkdir(parents=True)
    (place / "program").touch()
    assert called(tuned_home, "verify", package).returncode == 0
    assert (place / "program").exists()
    with held(tuned_home / "lock", str):
        done = called(tuned_home, "verify", package, "--measure")
    assert done.returncode == 2
    assert "another burnish" in done.stderr
    assert (place / "program").exists()
    remove_tree(place)


def rebuilt(package: Path, place: Path, change: str) -> Path:
    """The package with one of its files changed, packed again; without its signature."""
    copy = copied(package, place)
    Path(f"{copy}.sig").unlink()
    subprocess.run(["dpkg-deb", "-R", copy, place / "un"], check=True)
    path = place / "un" / change
    path.write_bytes(path.read_bytes().replace(b"speed400", b"speed131") + b"\n")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", place / "un", copy], check=True, capture_output=True)
    return copy


@pytest.mark.parametrize(
    ("change", "beside", "why"),
    [
        ("usr/share/doc/fake-server-core/copyright", True, "it is not about this file"),
        ("usr/share/doc/fake-server-core/copyright", False, "not all files in it have the checksums"),
        ("usr/sbin/server", False, "its program usr/sbin/server has SHA-256"),
    ],
)
def test_a_package_that_was_changed_inside(
    tuned_home: Path, package: Path, tmp_path: Path, change: str, beside: bool, why: str
) -> None:
    """By the statements beside it or, where these are not there, by those in it and its checksums."""
    copy = rebuilt(package, tmp_path, change)
    for file in () if beside else copy.parent.glob("*.json"):
        file.unlink()
    done = called(tuned_home, "verify", copy)
    assert done.returncode == 2
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_is_no_package(tuned_home: Path, tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_text("no archive")
    assert "neither a .deb nor a whole .tar.gz" in called(tuned_home, "verify", tmp_path / "x.tar.gz").stderr
    with tarfile.open(tmp_path / "hostile.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "x.tar.gz", "package/../../outside")
    refused = called(tuned_home, "verify", tmp_path / "hostile.tar.gz")
    assert refused.returncode == 2
    assert "'package/../../outside' would be written outside its folder" in refused.stderr
    base = deb(tmp_path, Path(called(tuned_home, "path", "baseline").stdout.strip()))
    assert "package`?" in called(tuned_home, "verify", base).stderr
    absent = called(tuned_home, "verify", base, "--key", tmp_path / "absent.pub")
    assert "absent.pub: there is no such file; name the signer's public key" in absent.stderr
    done = called(tuned_home, "verify", tmp_path / "not-there.deb")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.fixture
def measuring_home(tuned_home: Path) -> Iterator[Path]:
    """The home that tests share, without the run that is made in it afterwards: theirs is the newest."""
    before = set((tuned_home / "studies").iterdir())
    yield tuned_home
    for added in set((tuned_home / "studies").iterdir()) - before:
        shutil.rmtree(added)


def test_the_gain_is_measured_against_the_studys(measuring_home: Path, tmp_path: Path) -> None:
    """Without a package of the distribution it is measured against the baseline of its run, if that is here."""
    file = made(measuring_home, tmp_path, "--as", "tar")
    done = called(measuring_home, "verify", file, "--measure", "--starts", "2", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert "byte for byte" in "".join(value["checked"])
    (row,) = value["rows"]
    assert (value["baseline"], row["candidate"]) == ("baseline", "package")
    (one,) = value["verified"]
    assert one["study"]["ratio"] == pytest.approx(one["here"]["ratio"], rel=0.5), "of the same four times"
    quotient = one["of_study"]
    assert quotient["ratio"] == pytest.approx(one["here"]["ratio"] / one["study"]["ratio"])
    # One in a hundred such intervals leaves out that they are equal; test_gains.py has what is called equal.
    outside = "larger" if quotient["low"] > 1 else "smaller"
    assert one["outcome"] == ("equal" if quotient["low"] < 1 < quotient["high"] else outside)
    assert not list((measuring_home / "verified").iterdir())
    elsewhere = tmp_path / "home"
    done = called(elsewhere, "verify", file, "--measure")
    assert done.returncode == 2
    assert "the baseline of its run is not on this machine; name the program or package" in done.stderr
    assert "add --measure" in called(elsewhere, "verify", file, "--base", file).stderr
