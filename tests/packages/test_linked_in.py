"""What a package needs of others where its program has libraries linked in."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from burnish.packages import control, linked_in
from burnish.toolchain.toolchains import Toolchain


@pytest.fixture
def root(tmp_path: Path, gcc: Toolchain) -> Path:
    """An unpacked package: a server that loads libm, a tool that loads libz, and a text."""
    folder = tmp_path / "root/usr/sbin"
    folder.mkdir(parents=True)
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    for name, library in (("server", "-lm"), ("tool", "-lz")):
        words: list[str | Path] = [gcc.cc, tmp_path / "a.c", "-Wl,--no-as-needed", library, "-o", folder / name]
        subprocess.run(words, check=True, capture_output=True)
    (folder / "text").write_text("no program")
    return tmp_path / "root"


@pytest.fixture
def shlibs(tmp_path: Path) -> Path:
    folder = tmp_path / "info"
    folder.mkdir()
    (folder / "libssl3:amd64.shlibs").write_text(
        "libcrypto 3 libssl3 (>= 3.0.19)\nlibssl 3 libssl3 (>= 3.0.19)\nudeb: libcrypto 3 libcrypto3-udeb (>= 3.0.19)\n"
    )
    (folder / "zlib1g:amd64.shlibs").write_text("libz 1 zlib1g (>= 1:1.2.3)\n")
    (folder / "libother:amd64.shlibs").write_text("libother 1 libother1\n\n")
    return folder


def test_a_library_linked_in_needs_no_package_unless_another_file_loads_it(root: Path, shlibs: Path) -> None:
    assert linked_in.needless(root, ("libssl", "libcrypto", "libz"), shlibs) == {"libssl3"}
    (root / "usr/sbin/tool").unlink()
    assert linked_in.needless(root, ("libssl", "libcrypto", "libz"), shlibs) == {"libssl3", "zlib1g"}
    assert linked_in.needless(root, (), shlibs) == frozenset()
    assert linked_in.needless(root, ("libunknown",), shlibs) == frozenset(), "what is not installed here stays"


def test_what_nothing_needs_is_no_dependency() -> None:
    original, computed = "libc6 (>= 2.30), libssl3 (>= 3.0.0), zlib1g (>= 1)", "libc6 (>= 2.34)"
    merged = control.dependencies(original, computed, lambda one, other: one < other, {"libssl3"})
    assert merged == "libc6 (>= 2.34), zlib1g (>= 1)"
    again = control.dependencies(original, "libssl3 (>= 3.0.9)", lambda one, other: one < other, {"libssl3"})
    assert "libssl3 (>= 3.0.9)" in again, "what the program itself loads stays"


def test_the_description_says_what_updates_do_not_reach() -> None:
    assert linked_in.warning(()) == []
    (line,) = linked_in.warning(("libssl", "libz"))
    assert "libssl, libz. Security updates of their packages do not reach it." in line
