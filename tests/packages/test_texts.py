"""What files for other build systems say of how a build was made; nothing is run but patch and a false podman."""

from __future__ import annotations

import json
import random
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from burnish.base.errors import UserError
from burnish.base.files import sha256_of
from burnish.base.paths import Home
from burnish.builds.reproducer import KeptProfile, Making, Program
from burnish.builds.stages import INSTRUMENT
from burnish.catalogue import load
from burnish.engines.steps import Command
from burnish.engines.testing import PlainBench
from burnish.model.engine import Packaging
from burnish.packages import planned, statements, verify
from burnish.packages.formats import cmake, common, container, debian_patch, flags, spec
from burnish.packages.statements import Made
from burnish.source.debian import binary
from burnish.toolchain.toolchains import Toolchain


def packaging() -> Packaging:
    found = load.engine("mariadb").packaging
    assert found is not None
    return found


MAKING = Making(
    engine="x", title="mariadb 1:10.11.18-0+deb12u1 with gcc-12", key="0123456789abcdef", root="/r",
    server="sql/mariadbd", source=("mariadb", "1:10.11.18-0+deb12u1", "debian"),
    archives=(("m.orig.tar.gz", "1" * 64),), patches=(),
    programs=(Program("/usr/bin/gcc-12", "gcc-12 (Debian 12.2.0-14) 12.2.0"),), makers=(Program("ld", "unknown"),),
    packages=(("libc6-dev", "2.36-9+deb12u14"),), profile=None, steps=(), jobs=7, date="20260102", sha256="6" * 64,
)  # fmt: skip

CONFIGURED = replace(
    MAKING,
    steps=(
        Command(
            "configure",
            (
                "/usr/bin/cmake", "-S", "/r/source", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_AR=/usr/bin/llvm-ar",
                "-DCMAKE_C_FLAGS=-O2 -ffile-prefix-map=/r/source=.", "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG",
                "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld -Wl,--emit-relocs '-Wl,-x y'",
                "-DCMAKE_MODULE_LINKER_FLAGS=-fuse-ld=lld -fprofile-use=/r/elsewhere", "-DWITH_SSL=system",
            ),
        ),
        Command("compile", ("ninja", "-j7")),
    ),
)  # fmt: skip


def chosen(**changes: Any) -> Any:
    """What a format reads of a build that was chosen."""
    return SimpleNamespace(
        variant="fast", gain="1.2", making=replace(CONFIGURED, **changes),
        engine=SimpleNamespace(spec=load.engine("mariadb")),
        result=SimpleNamespace(name="run", host="a host, Debian GNU/Linux 12 (bookworm), KVM"),
    )  # fmt: skip


def test_what_was_forced_says_so_in_its_name() -> None:
    plain = common.name_of(chosen(), ())
    assert plain.startswith(f"{CONFIGURED.engine}-fast-")
    assert common.name_of(chosen(), ["its gate failed"]) == f"{plain}-forced"


def test_the_link_is_taken_along_with_what_the_engine_adds() -> None:
    about = {"flags": {"c": ["-O2", "-ffile-prefix-map=/r/source=."], "cxx": ["-O2"], "link": ["-fuse-ld=lld"]}}
    plain = flags.plain(CONFIGURED, about, "$F")
    assert (plain.c, plain.cxx) == (("-O2",), ("-O2",))
    assert plain.link == ("-fuse-ld=lld", "-Wl,--emit-relocs", "-Wl,-x y"), "BOLT needs the relocations"
    assert flags.linkers(CONFIGURED, "$F")["CMAKE_MODULE_LINKER_FLAGS"] == ("-fuse-ld=lld",)
    assert flags.plain(MAKING, about, "$F").link == ("-fuse-ld=lld",), "of an engine without cmake's variables"
    assert flags.settings(CONFIGURED) == {
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_C_FLAGS_RELWITHDEBINFO": "-O2 -g1 -DNDEBUG",
        "WITH_SSL": "system",
    }


GCDA = KeptProfile("key", "gcda", "build", (("gcda/a.c.gcda", "1" * 64),))


def test_gccs_profile_comes_to_where_gcc_looks_for_it(tmp_path: Path, gcc: Toolchain) -> None:
    making = replace(CONFIGURED, root=str(tmp_path), profile=GCDA)
    source = tmp_path / "source"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(x C)\nadd_executable(x x.c)\n"
    )
    (source / "x.c").write_text(
        "static __attribute__((noinline)) int f(int a) { return a > 2 ? a : 1; }\n"
        "int main(int n, char **v) { return f(n) + !v ? 0 : 1; }\n"
    )

    def built(folder: Path, *flags: str) -> None:
        configure = ("cmake", "-G", "Ninja", "-S", source, "-B", folder, f"-DCMAKE_C_COMPILER={gcc.cc}")
        subprocess.run([*configure, f"-DCMAKE_C_FLAGS={' '.join(flags)}"], check=True, capture_output=True)
        subprocess.run(["cmake", "--build", folder], check=True, capture_output=True)

    built(tmp_path / "build", *INSTRUMENT)
    subprocess.run([tmp_path / "build/x"], check=True)
    (counts,) = (tmp_path / "build").rglob("*.gcda")
    kept = source / "gcda" / counts.relative_to(tmp_path / "build")
    kept.parent.mkdir(parents=True)
    counts.rename(kept)
    use = ("-fprofile-use", "-Werror=missing-profile", "-Werror=coverage-mismatch")
    with pytest.raises(subprocess.CalledProcessError):
        built(source / cmake.BUILD, *use)
    first, where = cmake.laying(making)
    subprocess.run(["sh", "-e", "-c", first.partition(": ")[2]], cwd=source, check=True)
    built(source / cmake.BUILD, *use)
    assert f"in {source}:" in where
    assert cmake.laying(CONFIGURED) == [], "clang's profile is named by a flag"


def test_a_profile_that_the_sources_own_cmake_reads_is_not_left_out(tmp_path: Path) -> None:
    """MySQL's vendor recipe names a folder of the machine, which a preset does not have."""
    own = Command("configure", ("cmake", "-DFPROFILE_USE=ON", "-DFPROFILE_DIR=/r/build/profile-data"))
    with pytest.raises(UserError, match="fast takes its profile by the source's own FPROFILE_DIR, a path of this mach"):
        cmake.make(Home(tmp_path), chosen(steps=(own,), profile=GCDA), Made(), tmp_path)
    assert flags.profile_options(CONFIGURED) == []
    assert not list(tmp_path.iterdir())


def test_a_profile_beside_objects_is_no_path_in_a_flag() -> None:
    about = {"flags": {"c": ["-fprofile-use", "-I/r/build/include"], "cxx": [], "link": []}}
    assert flags.plain(replace(MAKING, profile=GCDA), about, "$F").c == ("-fprofile-use",)
    clangs = replace(GCDA, name="merged.profdata", place="profile")
    about["flags"]["c"] = ["-fprofile-use=/r/profile"]
    assert flags.plain(replace(MAKING, profile=clangs), about, "$F").c == ("-fprofile-use=$F/merged.profdata",)


def test_a_spec_fragment_is_refused_with_gccs_profile(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^--as rpm: the profile of fast is gcc's, .*; take --as rebuild, or a"):
        spec.make(Home(tmp_path), chosen(profile=GCDA), Made(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_engine_without_a_package_names_what_every_engine_has() -> None:
    found = SimpleNamespace(engine=SimpleNamespace(spec=load.engine("sqlite")))
    with pytest.raises(UserError, match="with --as tar or rebuild works for every engine"):
        planned._packaging(found, "--as deb")


def test_a_patch_of_the_rules_makes_the_program_first_and_puts_it_in_last(tmp_path: Path) -> None:
    rules = "#!/usr/bin/make -f\n%:\n\tdh $@"
    (tmp_path / "debian").mkdir()
    (tmp_path / "debian/rules").write_text(rules)
    text = debian_patch.text(chosen(), Made(), rules, settings=True)
    subprocess.run(["patch", "-p1"], cwd=tmp_path, input=text, text=True, check=True, capture_output=True)
    after = (tmp_path / "debian/rules").read_text()
    made = after.index("execute_before_dh_auto_configure:\n")
    assert made < after.index("burnish/build.sh $(CURDIR)/..\n") < after.index("execute_after_dh_strip:\n")
    assert "debian/mariadb-server-core/etc/mysql/conf.d/00-burnish-paths.cnf\n" in after
    for taken in ("execute_after_dh_strip", "execute_after_dh_installdeb"):
        with pytest.raises(UserError, match=f"has a target {taken} of its own"):
            debian_patch.text(chosen(), Made(), f"{rules}\n{taken}:\n", settings=True)


def test_the_file_of_paths_goes_with_the_program(tmp_path: Path) -> None:
    """debhelper lists all that is in /etc as what dpkg keeps when a package no longer has it."""
    text = debian_patch.text(chosen(), Made(), "", settings=True)
    (tmp_path / "debian").mkdir()
    (tmp_path / "debian/rules").touch()
    subprocess.run(["patch", "-p1"], cwd=tmp_path, input=text, text=True, check=True, capture_output=True)
    listed = tmp_path / "debian/mariadb-server-core/DEBIAN/conffiles"
    listed.parent.mkdir(parents=True)
    listed.write_text("/etc/mysql/a.cnf\n/etc/mysql/conf.d/00-burnish-paths.cnf\n/etc/z.cnf\n")
    words = ["make", "-f", "debian/rules", "execute_after_dh_installdeb"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    assert listed.read_text() == "/etc/mysql/a.cnf\n/etc/z.cnf\n"
    assert "dh_installdeb" not in debian_patch.text(chosen(), Made(), "", settings=False)


def test_how_a_patch_is_used_holds_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, package = tmp_path / "my patches/debian-patch-v", tmp_path / "server-1.0"
    (made / "debian/burnish").mkdir(parents=True)
    (made / "debian/burnish/build.sh").touch()
    package.mkdir()
    (package / "rules").write_text("old\n")
    (made / "burnish.patch").write_text("--- a/rules\n+++ b/rules\n@@ -1 +1 @@\n-old\n+new\n")
    monkeypatch.chdir(tmp_path)
    said = debian_patch.how(Path("my patches/debian-patch-v"))
    command = said.removeprefix("in the unpacked source package: ").replace("dpkg-buildpackage -b", "true")
    subprocess.run(["sh", "-e", "-c", command], cwd=package, check=True, capture_output=True)
    assert (package / "rules").read_text() == "new\n"
    assert (package / "debian/burnish/build.sh").exists()


def test_a_containerfile_installs_the_package() -> None:
    source = ("mariadb", "1:10.11.18-0+deb12u1")
    folder = chosen(source=("mariadb", "", "folder"))
    text = container.text(folder, Made(), packaging(), "s_1+burnish1_amd64.deb", source)
    assert "\nARG BASE=docker.io/library/debian:bookworm-slim\nFROM ${BASE}\n" in text
    assert '\nCOPY ["s_1+burnish1_amd64.deb", "/tmp/server/"]\n' in text
    assert "install -d -o mysql -g mysql /run/mysqld" in text
    assert text.endswith('USER mysql\nENTRYPOINT ["/usr/sbin/mariadbd"]\n')
    assert "Pin: version 1:10.11.18-0+deb12u1" in text, "the service is of the program's version"
    assert text.count("/etc/apt/preferences.d/burnish") == 2, "updates come again afterwards"


def test_an_image_of_a_release_that_is_not_known_asks_for_its_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = chosen()
    other.result.host = "a host, Ubuntu 24.04.3 LTS, KVM"
    text = container.text(other, Made(), packaging(), "s.deb", ("mariadb", "1-1"))
    assert "\nARG BASE\nFROM ${BASE}\n" in text
    (tmp_path / "podman").write_text("#!/bin/sh\nfalse\n")
    (tmp_path / "podman").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (said,) = container.tried(tmp_path, other, packaging(), PlainBench(tmp_path / "logs"))
    assert said.startswith("not built, since no image of the measured release is known; ")
    assert "podman build --build-arg BASE=IMAGE --tag burnish-x:01234567 " in said


@pytest.mark.parametrize(
    ("fails", "said"),
    [
        ("none", "its server answers on its socket: 10.11.18-MariaDB"),
        ("run", "podman can't run it here: no cgroups"),
        ("build", "podman can't build it here: no cgroups; where it can: podman build --tag burnish-x:01234567"),
    ],
)
def test_podman_builds_and_asks_or_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str, said: str
) -> None:
    podman = tmp_path / "podman"
    podman.write_text(
        f"#!/bin/sh\necho $* >>{tmp_path}/words\n[ $1 = {fails} ] && echo no cgroups && exit 125\n"
        "[ $1 != exec ] || echo 10.11.18-MariaDB\n"
    )
    podman.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    lines = container.tried(tmp_path, chosen(), packaging(), PlainBench(tmp_path / "logs"))
    assert said in lines[-1]
    words = (tmp_path / "words").read_text()
    assert (words.splitlines()[-1] == "rm --force --ignore burnish-x-01234567-trial") is (fails != "build")


def test_the_tag_of_an_image_says_what_was_forced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (said,) = container.tried(tmp_path, chosen(), packaging(), PlainBench(tmp_path / "logs"), forced=True)
    assert "podman build --tag burnish-x:01234567-forced " in said


def test_whatever_provenance_names_can_be_found() -> None:
    """A resource descriptor has a URI or a digest (in-toto), and a plus sign in a package URL means something else."""
    named = statements._dependencies(MAKING)
    assert all(one.get("uri") or one.get("digest") for one in named)
    uris = [one["uri"] for one in named if "uri" in one]
    assert "pkg:deb/debian/mariadb@1:10.11.18-0%2Bdeb12u1?arch=source" in uris
    assert "pkg:generic/gcc-12@12.2.0" in uris
    assert statements.package_url("g++", "4:12") == "pkg:deb/debian/g%2B%2B@4:12"


def test_what_is_wrong_with_a_package_is_said_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    file = tmp_path / "x.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        archive.add(tmp_path / "a", "a")
    with pytest.raises(UserError, match=rf"^{file}: no provenance.intoto.json in it"):
        verify.check(file, tmp_path / "scratch", None)
    file.write_text("no archive")
    with pytest.raises(UserError, match=r"neither a \.deb nor a whole \.tar\.gz") as told:
        verify.check(file, tmp_path / "scratch", None)
    assert "\n" not in str(told.value)


def hostile(place: Path, provenance: str | None = None) -> Path:
    """An archive like one of `burnish package`, by somebody whose words command the terminal."""
    escape = "\x1b[2J"
    inside = place / "p"
    inside.mkdir()
    program = inside / f"server{escape}"
    program.write_text("program")
    about = {
        "_type": statements.STATEMENT,
        "subject": [{"name": program.name, "digest": {"sha256": sha256_of(program)}}],
    }
    built = {"buildDefinition": {"internalParameters": {"measured": f"0{escape}", "stripped": True}}}
    verdict = {"run": f"run{escape}", "forced": [f"its gate\n{escape}"]}
    for name, kind, told in (
        (statements.PROVENANCE_FILE, statements.SLSA, built),
        (statements.VERDICT_FILE, statements.VERDICT, verdict),
    ):
        (inside / name).write_text(json.dumps({**about, "predicateType": kind, "predicate": told}))
    if provenance is not None:
        (inside / statements.PROVENANCE_FILE).write_text(provenance)
    file = place / "p.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        archive.add(inside, "p")
    return file


def test_a_strangers_words_do_not_command_the_terminal(tmp_path: Path) -> None:
    file = hostile(tmp_path)
    found = verify.check(file, tmp_path / "scratch", None)
    assert "FORCED, in spite of: its gate [2J" in found.lines
    assert all(line.isprintable() for line in found.lines)
    verdict = tmp_path / f"{file.name}.{statements.VERDICT_FILE}"
    verdict.write_text("[" * 200_000)
    with pytest.raises(UserError, match=r"not a statement that can be read"):
        verify.check(file, tmp_path / "scratch", None)


def test_a_statement_without_a_bottom_is_none(tmp_path: Path) -> None:
    file = hostile(tmp_path, "[" * 200_000)
    with pytest.raises(UserError, match=r"no provenance.intoto.json in it, or none that can be read"):
        verify.check(file, tmp_path / "scratch", None)


def test_a_package_that_was_cut_short_is_the_users_error(tmp_path: Path) -> None:
    (tmp_path / "root/DEBIAN").mkdir(parents=True)
    fields = "Package: one\nVersion: 1\nArchitecture: all\nMaintainer: n\nDescription: d\n"
    (tmp_path / "root/DEBIAN/control").write_text(fields)
    (tmp_path / "root/random").write_bytes(random.Random(1).randbytes(300_000))  # does not get smaller
    file = tmp_path / "p.deb"
    subprocess.run(["dpkg-deb", "-b", tmp_path / "root", file], check=True, capture_output=True)
    file.write_bytes(file.read_bytes()[:100_000])
    with pytest.raises(UserError, match=rf"^{file}: cut short or damaged") as told:
        binary.unpack(binary.read(file), tmp_path / "un")
    assert "\n" not in str(told.value)


def test_a_package_that_apt_lists_only_now_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While `apt-get update` writes its lists, one question is answered from the old ones and the next from the new."""
    answers = iter(["", "0" * 64])
    monkeypatch.setattr(binary, "_listed", lambda name, version: next(answers))
    monkeypatch.setattr(binary, "versions", lambda name: ["1.0-1"])
    with pytest.raises(UserError, match="the mirror does not deliver it"):
        binary.obtain("burnish-no-such-package", "1.0-1", cache=tmp_path, say=lambda text: None)
    monkeypatch.setattr(binary, "_listed", lambda name, version: "")
    with pytest.raises(UserError, match="apt does not list this version"):
        binary.obtain("burnish-no-such-package", "1.0-1", cache=tmp_path, say=lambda text: None)


def test_plugins_of_the_client_have_a_value_that_cmake_takes() -> None:
    """NO is for the server's; where Kerberos' headers are installed, the client's cmake refuses it."""
    for features in load.engine("mariadb").features.values():
        of_client = {name: value for name, value in features.options if name.endswith("_CLIENT")}
        assert set(of_client.values()) <= {"DYNAMIC", "STATIC", "OFF"}, features.name
        assert of_client
