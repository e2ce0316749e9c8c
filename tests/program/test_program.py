"""Facts of a program's file, on programs of a few lines."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from burnish.base.errors import InfrastructureError
from burnish.program import elf, program
from burnish.toolchain.toolchains import Toolchain

SOURCE = """
#include <stdio.h>
int table[] = {1, 2, VALUE};
int main(int c, char **v) { return printf("%d%s", table[c], v[0]); }
"""


def link(folder: Path, gcc: Toolchain, name: str, *flags: str) -> program.Program:
    (folder / "a.c").write_text(SOURCE)
    subprocess.run([gcc.cc, "-DVALUE=3", *flags, "a.c", "-o", name], cwd=folder, check=True)
    return program.read(folder / name)


def test_what_changes_nothing_that_is_loaded_leaves_both_digests(tmp_path: Path, gcc: Toolchain) -> None:
    plain = link(tmp_path, gcc, "plain", "-O2", "-Wl,--build-id=sha1")
    for flags in (("-DUNUSED_MACRO",), ("-g",), ("-Wall",), ("-Wl,--build-id=0x" + "12" * 20,)):
        other = link(tmp_path, gcc, "other", "-O2", "-Wl,--build-id=sha1", *flags)
        assert (other.code, other.data) == (plain.code, plain.data), flags


def test_code_data_and_mapping_are_told_apart(tmp_path: Path, gcc: Toolchain) -> None:
    plain = link(tmp_path, gcc, "plain", "-O2")
    code = link(tmp_path, gcc, "code", "-O0")
    data = link(tmp_path, gcc, "data", "-O2", "-UVALUE", "-DVALUE=4")
    mapped = link(tmp_path, gcc, "mapped", "-O2", "-Wl,-z,execstack")
    assert code.code != plain.code
    assert (data.code == plain.code, data.data == plain.data) == (True, False)
    assert (mapped.code == plain.code, mapped.data == plain.data) == (True, False)


def test_libraries_and_versions(tmp_path: Path, gcc: Toolchain) -> None:
    dynamic, static = link(tmp_path, gcc, "dynamic"), link(tmp_path, gcc, "static", "-static")
    assert dynamic.needed == ("libc.so.6",)
    assert program.version_key(dict(dynamic.versions)["GLIBC"]) >= (2, 2, 5)
    assert (static.needed, static.versions) == ((), ())
    assert static.sizes["text"] > dynamic.sizes["text"] > 0
    assert dynamic.sizes["file"] == (tmp_path / "dynamic").stat().st_size


def test_what_compiler_and_linker_bring_is_no_feature() -> None:
    assert program.features_of(("libz.so.1", "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2")) == [
        "libz.so.1",
        "libc.so.6",
    ]


def test_symbols_are_missed_when_they_are_gone(tmp_path: Path, gcc: Toolchain) -> None:
    assert link(tmp_path, gcc, "whole").symbols
    assert not link(tmp_path, gcc, "stripped", "-s").symbols


def test_a_build_id_is_read_where_there_is_one(tmp_path: Path, gcc: Toolchain) -> None:
    link(tmp_path, gcc, "with", "-Wl,--build-id=0x" + "12" * 20)
    link(tmp_path, gcc, "without", "-Wl,--build-id=none")
    assert elf.build_id(tmp_path / "with") == "12" * 20
    assert [elf.build_id(tmp_path / name) for name in ("without", "a.c", "missing")] == ["", "", ""]


def test_highest_version_is_by_number_and_by_family() -> None:
    names = ["GLIBC_2.4", "GLIBC_2.36", "GLIBC_2.2.5", "GLIBC_PRIVATE", "GLIBCXX_3.4.30", "OPENSSL_3.0.0"]
    assert program.highest(names) == {"GLIBC": "2.36", "GLIBCXX": "3.4.30", "OPENSSL": "3.0.0"}


def test_what_is_no_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("#!/bin/sh\n")
    with pytest.raises(InfrastructureError, match="cannot be read as a program"):
        program.read(tmp_path / "text")
