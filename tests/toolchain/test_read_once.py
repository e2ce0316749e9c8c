"""clang's compiles in two steps: the words of each, what is left as it is, and that the objects are the same."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from burnish.builds.stages import CLANG_SAY
from burnish.engines.testing.programs import script
from burnish.toolchain import ccache, compile_costs
from burnish.toolchain.toolchains import Toolchain
from conftest import FAKE_SOURCE

COMMAND = (
    "-O2", "-g1", "-DX=a b", "-I", "/with/some.c", "-fPIC", "-Wall", "-Wp,-D_F=2", *CLANG_SAY, "-Xclang", "-one",
    "-mllvm", "-two=3", "-fprofile-use=/p", "-flto=thin", "-std=c++20", "--language=c++", "-MD", "-MT", "it.o",
    "-MF", "it.d", "-o", "a b.cc.o", "-c", "/s/it.cc",
)  # fmt: skip


def run(folder: Path, words: Sequence[str], **variables: str) -> list[list[str]]:
    """What the script runs of a compile with these words: the words of each command."""
    log = folder / "ran"
    log.unlink(missing_ok=True)
    clang = script(
        folder / "clang",
        f'printf "%s\\n" "$@" -- >> "{log}"',
        'case " $* " in *" -bad "*) exit 3 ;; esac',
        'for word do [ "$last" != -o ] || : > "$word"; last=$word; done',
    )
    done = subprocess.run(
        ["sh", ccache.READ_ONCE, clang, *words], cwd=folder, env={**os.environ, **variables}, check=False
    )
    assert done.returncode == (3 if "-bad" in words else 0)
    return [text.splitlines() for text in log.read_text().split("--\n")[:-1]]


def test_each_step_has_what_it_is_about(tmp_path: Path) -> None:
    reads, makes = run(tmp_path, COMMAND)
    assert reads == [
        *("-O2", "-g1", "-DX=a b", "-I", "/with/some.c", "-fPIC", "-Wall", "-Wp,-D_F=2", "-Xclang", "-one"),
        *("-std=c++20", "--language=c++", "-MD", "-MT", "it.o", "-MF", "it.d", "/s/it.cc"),
        *("-flto=thin", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-c", "-o", "a b.cc.bc"),
    ]
    assert makes == [
        *("-O2", "-g1", "-fPIC", "-Wall", *CLANG_SAY, "-Xclang", "-one", "-mllvm", "-two=3"),
        *("-fprofile-use=/p", "-flto=thin", "-Wno-unused-command-line-argument"),
        *("-c", "-x", "ir", "a b.cc.read/it.cc", "-o", "a b.cc.o"),
    ]


def test_two_levels_are_read_alike_and_made_each_as_it_is(tmp_path: Path) -> None:
    reads, makes = run(tmp_path, ("-O3", "-Xclang", "-O3", "-c", "a.c", "-o", "a.o"))
    assert reads[:3] == ["-O2", "-Xclang", "-O3"]
    assert makes[:3] == ["-O3", "-Xclang", "-O3"]
    assert ccache.reading_flags(("-O3", "-g")) == ccache.reading_flags(("-O2", "-g"))
    for other in ("-O1", "-Os", "-Oz", "-Ofast"):
        assert run(tmp_path, (other, "-c", "a.c", "-o", "a.o"))[0][0] == other
        assert ccache.reading_flags((other,)) == (other,)


def test_a_plan_takes_the_same_flags_for_those_of_reading(tmp_path: Path) -> None:
    flags = COMMAND[: COMMAND.index("-MD")]
    read = ccache.reading_flags(flags)
    assert read is not None
    assert list(read) == run(tmp_path, (*flags, "-c", "a.c", "-o", "a.o"))[0][: len(read)]
    assert read == ccache.reading_flags((*flags, "-fprofile-generate", "-fcs-profile-generate", "-mllvm", "-b"))


@pytest.mark.parametrize(
    "words",
    [
        ("-c", "a.c"),
        ("a.c", "-o", "a.o"),
        ("-c", "a.c", "b.c", "-o", "a.o"),
        ("-c", "a.S", "-o", "a.o"),
        ("-c", "a.c", "-o", "a.o", "-E"),
        ("-c", "a.c", "-o", "a.o", "-flto"),
        ("-c", "a.c", "-o", "a.o", "-flto=full"),
        ("-c", "a.c", "-o", "a.o", "-flto=thin", "-fno-lto"),
        ("-c", "a.c", "-o", "a.o", "-fprofile-sample-use=/p"),
        ("-c", "a.c", "-o", "a.o", "-fprofile-instr-generate"),
        ("-c", "a.c", "-o", "a.o", "-fsanitize=address"),
        ("-c", "a.c", "-o", "a.o", "-Wmisexpect"),
        ("-c", "a.c", "-o", "a.o", "-ffat-lto-objects"),
        ("-c", "a.c", "-o", "a.o", "-fembed-bitcode=all"),
        ("-c", "a.c", "-o", "a.o", "-fpseudo-probe-for-profiling"),
        ("-c", "a.c", "-o", "a.o", "-fauto-profile=/p"),
        ("-c", "a.c", "-o", "a.o", "--coverage"),
        ("-c", "a.c", "-o", "a.o", "-fcoverage-mapping"),
        ("-c", "a.c", "-o", "a.o", "-gsplit-dwarf"),
        ("-c", "a.c", "-o", "a.o", "-grecord-command-line"),
        ("-c", "a.c", "-o", "a.o", "-fsave-optimization-record"),
        ("-c", "a.c", "-o", "a.o", "-ftime-trace"),
        ("-c", "a.c", "-o", "a.o", "-Rpass=inline"),
        ("--version",),
    ],
)
def test_what_is_no_such_compile_is_run_as_it_is(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert run(tmp_path, words) == [list(words)]
    flags = [word for word in words if word.startswith(("-f", "-W", "-g", "-R", "--coverage"))]
    assert not flags or ccache.reading_flags(flags) is None, "and a plan knows it"


def test_what_cannot_be_read_is_not_made(tmp_path: Path) -> None:
    assert len(run(tmp_path, ("-bad", "-c", "a.c", "-o", "a.o"))) == 1


@pytest.mark.parametrize("name", ["with a space", "with:colon", "plain"])
def test_both_steps_are_metered_wherever_it_lies(tmp_path: Path, clang: Toolchain, name: str) -> None:
    place = tmp_path / name
    place.mkdir()
    meter = compile_costs.lay(place, "key")
    if meter is None:
        pytest.skip("no GNU time on this machine")
    assert len(run(place, ("-c", "a.c", "-o", "a.o"), **meter.variables)) == 2
    assert set(compile_costs.parse(meter.notes.read_text())) == {"a.bc", "a.o"}
    if shutil.which("ccache") is None:
        pytest.skip("no ccache on this machine")
    (place / "b.c").write_text("int x;\n")
    copied = place / ccache.READ_ONCE.name
    shutil.copy(ccache.READ_ONCE, copied)
    variables = ccache.environment(place / "cache", place / "log", (), 1.0, reads=place / "reads")
    variables |= ccache.before(copied) | meter.variables
    words = ["ccache", clang.cc, "-c", "b.c", "-o", "b.o"]
    subprocess.run(words, cwd=place, env={**os.environ, **variables}, check=True)
    assert set(compile_costs.parse(meter.notes.read_text())) == {"a.bc", "a.o", "b.bc", "b.o"}


@pytest.mark.parametrize(
    "flags",
    [
        ("-O2",),
        ("-O2", "-g1", "-fprofile-generate"),
        ("-O3", "-march=x86-64-v3", "-fstack-protector-strong", "-fcf-protection"),
        ("-Os", "-mllvm", "-inline-threshold=500"),
    ],
)
def test_an_object_is_the_same_whether_made_in_one_step_or_in_two(
    tmp_path: Path, clang: Toolchain, flags: tuple[str, ...]
) -> None:
    for source in FAKE_SOURCE.glob("fake*.c"):
        made = []
        for words in ((), ("sh", str(ccache.READ_ONCE))):
            command = [*words, clang.cc, *flags, "-c", source, "-o", "it.o"]
            subprocess.run(command, cwd=tmp_path, check=True)
            made.append((tmp_path / "it.o").read_bytes())
        assert made[0] == made[1], source.name
    assert [path.name for path in tmp_path.iterdir()] == ["it.o"], "nothing is left between"


def test_clang_reads_two_levels_alike(tmp_path: Path, clang: Toolchain) -> None:
    for source in FAKE_SOURCE.glob("fake*.c"):
        read = []
        for level in ("-O2", "-O3"):
            words = ["-g", "-D_FORTIFY_SOURCE=2", "-flto=thin", "-emit-llvm", "-Xclang", "-disable-llvm-passes"]
            subprocess.run([clang.cc, level, *words, "-c", source, "-o", tmp_path / "it.bc"], check=True)
            read.append((tmp_path / "it.bc").read_bytes())
        assert read[0] == read[1], source.name


def test_an_object_with_a_profile_is_the_same_too(tmp_path: Path, clang: Toolchain) -> None:
    """Also what clang reports of functions that have none."""
    (tmp_path / "it.c").write_text(
        "static int part(int x) { return x % 7 ? x * 3 : x / 2; }\n"
        "int main(int count, char **words) { int sum = 0; (void)words;\n"
        "    for (int i = 0; i < 100000 * count; i++) sum += part(i); return sum == 1; }\n"
    )
    steps = (
        [clang.cc, "-O2", "-fprofile-generate", "it.c", "-o", "it"],
        ["./it"],
        [clang.profdata, "merge", "-o", "it.profdata", *("default_0.profraw",)],
    )
    environment = {**os.environ, "LLVM_PROFILE_FILE": "default_0.profraw"}
    for step in steps:
        subprocess.run([str(word) for word in step], cwd=tmp_path, env=environment, check=True)
    (tmp_path / "it.c").write_text((tmp_path / "it.c").read_text() + "int other(int x) { return x ? x + 1 : 5; }\n")
    made = []
    for words in ((), ("sh", str(ccache.READ_ONCE))):
        flags = ("-O2", "-g1", f"-fprofile-use={tmp_path}/it.profdata", *CLANG_SAY)
        done = subprocess.run(
            [*words, clang.cc, *flags, "-c", "it.c", "-o", "it.o"], cwd=tmp_path, check=True, capture_output=True
        )
        made.append(((tmp_path / "it.o").read_bytes(), done.stderr))
    assert b"it.c: no profile data available for function other" in made[0][1]
    assert made[1] == (made[0][0], made[0][1].replace(b" it.c:", b" it.read/it.c:"))
