"""Which files of a build are dropped from the page cache, and that they are."""

from __future__ import annotations

import mmap
import os
import subprocess
from pathlib import Path

import pytest

from burnish.program import cached
from burnish.program.built import Built
from burnish.toolchain.toolchains import Toolchain

PAGES = 16


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(bytes(PAGES * mmap.PAGESIZE))
    if cached.drop([path]) == 1.0:
        pytest.skip("temporary files are in memory")
    return path


def test_a_dropped_file_is_in_memory_no_more(file: Path) -> None:
    file.read_bytes()
    with file.open("rb") as opened:
        assert cached.resident(opened.fileno()) == [True] * PAGES
        assert cached.drop([file]) == 0.0
        assert cached.resident(opened.fileno()) == [False] * PAGES


def test_what_is_mapped_stays_and_is_told(file: Path) -> None:
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert mapped[0] == 0
        left = cached.drop([file])
    assert left is not None
    assert 0 < left <= 1


def test_nothing_is_said_of_a_file_that_is_not_ours(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert cached.drop([file]) is None, "the kernel says then that all of it is in memory"


def test_its_own_libraries_go_with_a_program(tmp_path: Path, gcc: Toolchain) -> None:
    build = tmp_path / "build"
    (build / "lib").mkdir(parents=True)
    (tmp_path / "a.c").write_text("int own(void) { return 3; }")
    (tmp_path / "b.c").write_text("int own(void); int main(void) { return own(); }")
    library = build / "lib" / "libown.so"
    linked: list[str | Path] = ["b.c", library, "-o", build / "server", "-Wl,-rpath,$ORIGIN/lib:/usr/lib"]
    subprocess.run([gcc.cc, "-shared", "a.c", "-o", library], cwd=tmp_path, check=True)
    subprocess.run([gcc.cc, *linked], cwd=tmp_path, check=True)
    built = Built("one", build, build / "server", "key")
    assert cached.files_of(built) == (build / "server", library), "and not the C library, which all share"
    script = build / "script"
    script.write_text("#!/bin/sh\n")
    assert cached.files_of(Built("script", build, script, "key")) == (script,)
