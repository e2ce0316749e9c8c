"""Libraries that programs of a few lines load, and which of them are differences between two programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from burnish.program.built import LINKED, THROUGH, UNUSED, Identity, differing
from burnish.program.libraries import allocator, features, libraries
from burnish.study.builds.programs import differences
from burnish.toolchain.toolchains import Toolchain


@pytest.fixture
def linked(tmp_path: Path, gcc: Toolchain) -> dict[str, Path]:
    """Programs that need libouter, which needs libinner: one names both, one only libouter, one neither."""
    (tmp_path / "inner.c").write_text("int inner(void) { return 0; }")
    (tmp_path / "outer.c").write_text("int inner(void); int outer(void) { return inner(); }")
    (tmp_path / "main.c").write_text("int outer(void); int main(void) { return outer(); }")
    (tmp_path / "none.c").write_text("int main(void) { return 0; }")
    own = "-Wl,-rpath,$ORIGIN"

    def run(*words: str) -> None:
        subprocess.run([gcc.cc, "-L.", own, *words], cwd=tmp_path, check=True)

    run("-shared", "-fPIC", "inner.c", "-o", "libinner.so")
    run("-shared", "-fPIC", "outer.c", "-o", "libouter.so", "-Wl,--no-as-needed", "-linner")
    run("main.c", "-o", "both", "-Wl,--no-as-needed", "-louter", "-linner")
    run("main.c", "-o", "outer", "-Wl,--as-needed", "-louter", "-linner")
    run("none.c", "-o", "neither")
    return {name: tmp_path / name for name in ("both", "outer", "neither")}


def identity(program: Path) -> Identity:
    return Identity("1", tuple(sorted(features(program).items())), "")


def test_a_library_is_linked_or_comes_through_another(linked: dict[str, Path]) -> None:
    assert libraries(linked["both"]).items() >= {"libouter.so": LINKED, "libinner.so": UNUSED}.items()
    assert libraries(linked["outer"]).items() >= {"libouter.so": LINKED, "libinner.so": THROUGH}.items()
    assert libraries(linked["neither"]) == {"libc.so.6": LINKED}


def test_what_a_linker_names_besides_is_no_difference(linked: dict[str, Path]) -> None:
    both, outer = identity(linked["both"]), identity(linked["outer"])
    assert differences(both, outer) == differences(outer, both) == []


def test_a_library_that_is_gone_takes_along_what_came_through_it(linked: dict[str, Path]) -> None:
    outer, neither = identity(linked["outer"]), identity(linked["neither"])
    assert differences(outer, neither) == ["library libouter.so: linked against absent"]


def test_a_library_of_which_nothing_is_used_is_as_good_as_absent(linked: dict[str, Path], gcc: Toolchain) -> None:
    words = [str(gcc.cc), "none.c", "-o", "idle", "-L.", "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed", "-linner"]
    subprocess.run(words, cwd=linked["both"].parent, check=True)
    idle, neither = identity(linked["both"].with_name("idle")), identity(linked["neither"])
    assert dict(idle.features)["library libinner.so"] == UNUSED
    assert differences(idle, neither) == differences(neither, idle) == []


def test_a_library_that_only_one_program_uses_is_a_difference_though_both_name_it() -> None:
    used, unused = {"library libinner.so": LINKED}, {"library libinner.so": UNUSED}
    assert differing(used, unused) == ["library libinner.so"]


def test_a_variable_of_a_library_is_a_use_of_it(tmp_path: Path, gcc: Toolchain) -> None:
    (tmp_path / "table.c").write_text("int table[4] = {1, 2, 3, 4};")
    (tmp_path / "main.c").write_text("extern int table[4]; int main(int n, char **v) { return table[n & 3]; }")
    subprocess.run([gcc.cc, "-shared", "-fPIC", "table.c", "-o", "libtable.so"], cwd=tmp_path, check=True)
    words = [str(gcc.cc), "-fno-pie", "-no-pie", "main.c", "-o", "main", "-L.", "-Wl,-rpath,$ORIGIN", "-ltable"]
    subprocess.run(words, cwd=tmp_path, check=True)
    assert libraries(tmp_path / "main")["libtable.so"] == LINKED


def test_where_a_library_cannot_be_read_what_is_named_counts(linked: dict[str, Path]) -> None:
    linked["both"].with_name("libouter.so").unlink()
    linked["both"].with_name("libinner.so").unlink()
    assert differing(features(linked["both"]), features(linked["outer"])) == ["library libinner.so"]


def test_malloc_is_of_the_first_library_that_has_one(tmp_path: Path, gcc: Toolchain) -> None:
    """The same two libraries, named in another order: the loader takes malloc from the first."""
    (tmp_path / "own.c").write_text("void *malloc(unsigned long size) { return (void *)size; }")
    (tmp_path / "outer.c").write_text("extern void *malloc(unsigned long); void *outer(void) { return malloc(1); }")
    (tmp_path / "main.c").write_text("extern void *malloc(unsigned long); int main(void) { return malloc(1) == 0; }")

    def run(*words: str) -> Path:
        subprocess.run([gcc.cc, "-fno-builtin", "-L.", *words], cwd=tmp_path, check=True)
        return tmp_path / words[-1]

    run("-shared", "-fPIC", "-nostdlib", "own.c", "-o", "libown.so")
    run("-shared", "-fPIC", "outer.c", "-Wl,--no-as-needed", "-lown", "-o", "libouter.so")
    shared = "-Wl,--no-as-needed"
    first = run("main.c", shared, "-lown", "-o", "first")
    last = run("main.c", "-nodefaultlibs", shared, "-lc", "-lown", "-o", "last")
    through = run("main.c", shared, "-Wl,-rpath-link,.", "-louter", "-o", "through")
    itself = run("main.c", "own.c", "-rdynamic", "-o", "itself")
    libc = allocator(first.with_name("missing")), allocator(run("main.c", "-o", "plain"))
    assert libc == (None, "libc.so.6")
    where = [tmp_path, Path("/lib/x86_64-linux-gnu"), Path("/usr/lib/aarch64-linux-gnu")]
    assert allocator(first, where) == "libown.so"
    assert allocator(last, where) == "libc.so.6"
    assert allocator(through, where) == "libc.so.6", "breadth first: what a program names comes before what that needs"
    assert allocator(itself, where) == "itself"
    given = {name: features(program, where) for name, program in (("first", first), ("last", last))}
    assert given["first"].items() >= {"library libown.so": LINKED, "malloc": "libown.so"}.items()
    assert "malloc" not in given["last"]
    assert differing(given["first"], given["last"]) == ["malloc"]


def test_what_is_no_program_needs_nothing(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    assert libraries(tmp_path / "script") == libraries(tmp_path / "missing") == {}


def test_the_loaders_own_folders_are_searched(tmp_path: Path, linked: dict[str, Path]) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    program = linked["outer"].rename(elsewhere / "outer")
    assert "libinner.so" not in libraries(program)
    assert libraries(program, [tmp_path])["libinner.so"] == THROUGH
