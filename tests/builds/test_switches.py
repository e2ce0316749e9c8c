"""The compiler's own record in real objects of gcc and clang, and where it contradicts the command."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from burnish.builds import switches
from burnish.builds.switches import Record
from burnish.program.built import CompiledObject
from burnish.toolchain.toolchains import Toolchain


def compile_one(folder: Path, compiler: str | Path, *flags: str, suffix: str = "c") -> Record:
    source = folder / f"a.{suffix}"
    source.write_text("int f(int x) { return x * 3; }\n")
    subprocess.run([compiler, *flags, "-c", source.name, "-o", "a.o"], cwd=folder, check=True)
    return switches.read(folder / "a.o")


@pytest.mark.parametrize(
    ("flags", "origin"),
    [
        (("-g",), "debug information"),
        (("-g", "-gdwarf-4"), "debug information"),
        (("-frecord-gcc-switches",), "command line section"),
        (("-flto",), "gcc's LTO section"),
        (("-g", "-ffunction-sections", "-fno-plt"), "debug information"),
    ],
)
def test_gcc_records_level_and_flags(tmp_path: Path, gcc: Toolchain, flags: tuple[str, ...], origin: str) -> None:
    record = compile_one(tmp_path, gcc.cc, "-O2", "-march=x86-64-v2", "-fno-plt", *flags)
    assert record.origin == origin
    assert {"-O2", "-march=x86-64-v2", "-fno-plt"} <= set(record.words)


def test_gcc_cxx_and_32_bit(tmp_path: Path, gcc: Toolchain) -> None:
    assert "-O3" in compile_one(tmp_path, gcc.cxx, "-O3", "-g", suffix="cc").words
    try:
        record = compile_one(tmp_path, gcc.cc, "-O1", "-g", "-m32")
    except subprocess.CalledProcessError:
        pytest.skip("this gcc makes no 32-bit code")
    assert "-O1" in record.words


def test_no_record_says_why(tmp_path: Path, gcc: Toolchain) -> None:
    assert compile_one(tmp_path, gcc.cc, "-O2") == Record("made without -g and without -frecord-gcc-switches")
    (tmp_path / "text.o").write_text("no object")
    assert switches.read(tmp_path / "text.o").origin == "not an ELF object"
    (tmp_path / "empty.o").touch()
    assert switches.read(tmp_path / "empty.o").origin == "an empty file"
    assert switches.read(tmp_path / "none.o").origin == "the object is gone"


def test_clang(tmp_path: Path, clang: Toolchain) -> None:
    asked = compile_one(tmp_path, clang.cc, "-O2", "-g", "-grecord-command-line")
    assert (asked.origin, "-O2" in asked.words) == ("debug information", True)
    section = compile_one(tmp_path, clang.cc, "-O1", "-frecord-command-line")
    assert (section.origin, "-O1" in section.words) == ("command line section", True)
    assert compile_one(tmp_path, clang.cc, "-O2", "-g").origin.startswith("clang records nothing")
    assert compile_one(tmp_path, clang.cc, "-O2", "-flto=thin").origin.startswith("LLVM bitcode")


def made(command: str, source: str = "a.c") -> CompiledObject:
    return CompiledObject("a.o", source, tuple(command.split()))


GCC = "debug information"


@pytest.mark.parametrize(
    ("command", "record", "asked", "disagree"),
    [
        ("cc -O2 -fno-plt", "-O2 -fno-plt", ("-O2", "-fno-plt"), ()),
        ("cc -O3 -c", "-O2", ("-O3",), ("-O3",)),
        ("cc -O3 -c", "-O3 -O2", ("-O3",), ("-O3",)),
        ("cc -O2 -march=x86-64-v3", "-O2 -march=x86-64", ("-march=x86-64-v3",), ("-march=x86-64-v3",)),
        ("cc -O2 -march=native", "-O2 -march=sapphirerapids -mavx", ("-march=native",), ()),
        ("cc -O2 -fno-plt", "-O2", ("-fno-plt",), ("-fno-plt",)),
        ("cc -O2 -fplt -ffile-prefix-map=/a=.", "-O2 -fplt", ("-ffile-prefix-map=/a=.",), ()),
        ("cc -O2 -DX -Wall", "-O2", ("-DX", "-Wall"), ()),
        ("cc -O3 -O2", "-O3 -O2", ("-O3",), ()),  # cancelled by the command already: said elsewhere
        ("cc -O2 -flto -fprofile-use=/p", "-O2", ("-flto", "-fprofile-use=/p"), ()),
    ],
)
def test_a_record_against_its_command(
    command: str, record: str, asked: tuple[str, ...], disagree: tuple[str, ...]
) -> None:
    found = switches.examine([(made(command), Record(GCC, tuple(record.split())))], asked, (), (".c",))
    assert tuple(flag for flag, _, _ in found.disagree) == disagree
    assert found.read == 1


def test_each_language_is_held_to_its_own_flags() -> None:
    pairs = [(made("c++ -O2 -fno-rtti", "a.cc"), Record(GCC, ("-O2", "-fno-rtti"))), (made("cc -O2"), Record("none"))]
    found = switches.examine(pairs, ("-fno-plt",), ("-fno-rtti",), (".c",))
    assert (found.disagree, found.missing) == ((), (("none", 1),))
    assert found.summary == "1 objects carry the compiler's own record, which agrees; 1 have none (none)"


def test_lto_records_leave_language_flags_out() -> None:
    record = Record("gcc's LTO section", ("-O2",))
    found = switches.examine([(made("c++ -O2 -fno-rtti -mavx", "a.cc"), record)], (), ("-fno-rtti", "-mavx"), (".c",))
    assert [flag for flag, _, _ in found.disagree] == ["-mavx"]
