"""What a configure is given of a build, and what make's output says of its objects."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.engines.contract import BuildJob, Command
from burnish.engines.shared import autoconf
from burnish.engines.testing import PlainBench
from burnish.model.engine import FeatureSet
from burnish.model.recipe import Flags
from burnish.toolchain.toolchains import Toolchain


@pytest.fixture
def job(tmp_path: Path, gcc: Toolchain) -> BuildJob:
    source, place = tmp_path / "source", tmp_path / "build"
    source.mkdir()
    place.mkdir()
    return BuildJob(
        source=source,
        place=place,
        toolchain=gcc,
        flags=Flags(c=("-O2", "-fwrapv"), cxx=(), link=("-Wl,-z,now", "-no-pie"), level="-O2"),
        features=FeatureSet("full", "All of it.", (("with-icu", "ON"), ("with-ssl", "openssl"))),
        options=(("with-icu", "OFF"),),
        hardening=True,
        with_tools=False,
        relocations=True,
        jobs=2,
        bench=PlainBench(tmp_path),
    )


def test_a_program_holds_the_same_name_of_its_compiler_with_a_cache_and_without(job: BuildJob, tmp_path: Path) -> None:
    """PostgreSQL's server does: configured and compiled with the bare compiler, build.sh makes the same one."""
    held = []
    for each in (job, replace(job, cache=tmp_path / "cache")):
        make = autoconf.make(each, "X=y", plain="names")
        others = make("others", "all")
        assert others[-3:] == ("-C", "others", "all")
        assert f"CC={' '.join((*each.launcher, str(job.toolchain.cc)))}" in others
        held.append((autoconf.configure(each, programs="LDFLAGS_EX"), make("names", "all")))
    assert held[0] == held[1]


def test_what_is_for_programs_alone_reaches_no_shared_library(job: BuildJob) -> None:
    words = autoconf.configure(job, "--prefix=/usr", programs="LDFLAGS_EX")
    assert words[:4] == (str(job.source / "configure"), "--prefix=/usr", "--without-icu", "--with-ssl=openssl")
    given = dict(word.split("=", 1) for word in words[4:])
    assert given["CC"] == str(job.toolchain.cc)
    assert given["CFLAGS"] == "-O2 -fwrapv -g1"
    assert given["LDFLAGS"] == "-Wl,-z,now -Wl,--build-id=sha1 -Wl,--strip-debug"
    assert given["LDFLAGS_EX"] == "-no-pie -Wl,--emit-relocs"
    kept = autoconf.configure(replace(job, keep_debug=True), programs="LDFLAGS_EX")
    assert not any("strip-debug" in word or "-g1" in word for word in kept)


def test_archives_are_for_programs_alone(job: BuildJob) -> None:
    words = autoconf.configure(replace(job, archives=Path("/work/link")), programs="LDFLAGS_EX")
    given = dict(word.split("=", 1) for word in words if "FLAGS" in word)
    assert "-L/work/link" in given["LDFLAGS_EX"].split()
    assert "-L/work/link" not in given["LDFLAGS"].split()


def test_options_are_configures() -> None:
    found = [
        autoconf.option_word(*item) for item in (("with-ssl", "openssl"), ("enable-nls", "ON"), ("enable-x", "OFF"))
    ]
    assert found == ["--with-ssl=openssl", "--enable-nls", "--disable-x"]
    assert [autoconf.option_word("disable-rpath", value) for value in ("ON", "OFF")] == [
        "--disable-rpath",
        "--enable-rpath",
    ]
    with pytest.raises(UserError, match="this server's configure"):
        autoconf.option_word("WITH_ICU", "ON")


def test_objects_are_read_back_from_what_make_printed(job: BuildJob) -> None:
    compiler, place = job.toolchain.cc, job.place
    lines = [
        f"make: Entering directory '{place}/src'",
        f"ccache {compiler} -O2 -I. -c -o one.o {job.source}/src/one.c",
        f"make[1]: Entering directory '{place}/src/sub'",
        f"{compiler} -O2 -DNAME='a b' {job.source}/src/sub/two.c -c -o two.o",
        f"{compiler} -O2 one.o sub/two.o -o server",
        "cc -O2 -c -o other.o other.c",
        f"{compiler} -c -o /elsewhere/three.o three.c",
    ]
    shown = Command("make", ("printf", "%s\n", *lines))
    autoconf.build([shown], job, doing="building")
    found = autoconf.compiled(job)
    assert list(found) == ["src/one.o", "src/sub/two.o"]
    assert found["src/one.o"].command == (str(compiler), "-O2", "-I.", "-c", "-o", "one.o", f"{job.source}/src/one.c")
    assert found["src/sub/two.o"].source == f"{job.source}/src/sub/two.c"
    assert "-DNAME=a b" in found["src/sub/two.o"].command


def test_what_this_versions_configure_does_not_know_is_said(job: BuildJob, monkeypatch: pytest.MonkeyPatch) -> None:
    """It only warns, and the server then lacks what the feature set names."""
    said: list[str] = []
    warned = Command("configure", ("echo", "configure: WARNING: unrecognized options: --with-zstd, --with-ssl"))
    monkeypatch.setattr(job.bench, "say", said.append)
    autoconf.build([warned], job, doing="building")
    assert said == ["left out, since this version's configure does not know it: --with-zstd, --with-ssl"]


def test_a_tree_that_was_built_in_is_refused(job: BuildJob) -> None:
    autoconf.check_clean(job.source)
    (job.source / "config.status").touch()
    with pytest.raises(UserError, match=r"config\.status is there.*make distclean"):
        autoconf.check_clean(job.source)
