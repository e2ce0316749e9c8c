"""Configured trees: compile commands read from a database, said anew for another source, patched copies."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.builds.trees import patched_copy, read_tree, with_language
from burnish.source.patches.patch import Patch


def database(place: Path, **entry: object) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    (place / "compile_commands.json").write_text(json.dumps([{"directory": str(place), **entry}]))
    return place


def test_a_command_is_said_for_another_source(tmp_path: Path) -> None:
    command = "ccache /usr/bin/g++-12 -O2 -flto -I../s -MD -MF a.d -o sub/a.o -c ../s/lib/a.cc"
    place = database(tmp_path / "build", command=command, file="../s/lib/a.cc")
    unit = read_tree("mine", place).unit("lib/a.cc")
    assert unit.source == tmp_path / "s/lib/a.cc"
    assert unit.output == place / "sub/a.o"
    assert unit.compiler == "/usr/bin/g++-12"
    words = unit.command(Path("/d.cc"), Path("/d.o"), ["-DX=1"])
    assert words == ["ccache", "/usr/bin/g++-12", "-O2", "-I../s", "-DX=1", "-c", "/d.cc", "-o", "/d.o"]
    assert unit.command(Path("/d.c"), Path("/d.o"))[1] == "/usr/bin/gcc-12"


def test_arguments_and_output_may_be_apart(tmp_path: Path) -> None:
    place = database(tmp_path, arguments=["cc", "-c", "a.c"], file="a.c", output="a.o")
    unit = read_tree("mine", place).unit("a.c")
    assert unit.output == tmp_path / "a.o"
    assert unit.command(Path("/b.c"), Path("/b.o")) == ["cc", "-c", "/b.c", "-o", "/b.o"]


@pytest.mark.parametrize(
    ("compiler", "c", "cxx"),
    [
        ("gcc-12", "gcc-12", "g++-12"),
        ("/usr/bin/clang++-19", "/usr/bin/clang-19", "/usr/bin/clang++-19"),
        ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++"),
        ("cc", "cc", "c++"),
        ("tcc", "tcc", "tcc"),
    ],
)
def test_a_compiler_has_a_sister_for_the_other_language(compiler: str, c: str, cxx: str) -> None:
    assert with_language(compiler, cxx=False) == c
    assert with_language(compiler, cxx=True) == cxx


def test_an_object_older_than_its_source_is_not_the_trees(tmp_path: Path) -> None:
    place = database(tmp_path, command="cc -o a.o -c a.c", file="a.c")
    unit = read_tree("mine", place).unit("a.c")
    (tmp_path / "a.c").write_text("")
    assert unit.made is None
    (tmp_path / "a.o").write_text("")
    os.utime(tmp_path / "a.c", (1, 1))
    assert unit.made == tmp_path / "a.o"
    os.utime(tmp_path / "a.o", (0, 0))
    assert unit.made is None


def test_what_is_no_configured_tree_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="CMAKE_EXPORT_COMPILE_COMMANDS"):
        read_tree("mine", tmp_path)
    (tmp_path / "compile_commands.json").write_text("[{}]")
    with pytest.raises(UserError, match="no compile database"):
        read_tree("mine", tmp_path)
    tree = read_tree("mine", database(tmp_path, command="cc -c crc.c", file="crc.c"))
    with pytest.raises(UserError, match=r"compiles no lib/crd\.c \(did you mean 'crc\.c'\?\)"):
        tree.unit("lib/crd.c")


def test_a_patched_copy_leaves_its_source_alone(tmp_path: Path) -> None:
    source, place = tmp_path / "source", tmp_path / "work/copy"
    (source / "lib").mkdir(parents=True)
    (source / "lib/a.c").write_text("old\n")
    (source / "b.c").write_text("other\n")
    patch = Patch(Path("one.patch"), b"--- a/lib/a.c\n+++ b/lib/a.c\n@@ -1 +1 @@\n-old\n+new\n")
    for _ in range(2):  # the second one replaces the first
        patched_copy(source, [patch], place, "a tree")
        assert (place / "lib/a.c").read_text() == "new\n"
        assert (place / "b.c").read_text() == "other\n"
        assert (source / "lib/a.c").read_text() == "old\n"
    patched_copy(source, [], place, "a tree")
    assert (place / "lib/a.c").read_text() == "old\n"
