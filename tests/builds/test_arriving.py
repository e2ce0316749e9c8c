"""Whether a build of another host runs here: what its program loads must be found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from burnish.builds import arriving
from burnish.record.store import Entry


def test_what_a_program_loads_must_be_here(tmp_path: Path) -> None:
    entry = Entry("builds", "k1", tmp_path, {"engine": "fake"}, 0.0)
    assert arriving.unfit(entry) == "server: there is no such program in it"
    (tmp_path / "bin").mkdir()
    shutil.copy("/bin/true", tmp_path / "bin/server")
    assert arriving.unfit(entry) is None
    assert arriving.unfit(Entry("profiles", "p1", tmp_path, {}, 0.0)) is None


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("\tlinux-vdso.so.1 (0x1)\n\tlibssl.so.3 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x2)\n", "libssl.so.3"),
        ("./s: /lib/libc.so.6: version `GLIBC_2.38' not found (required by ./s)\n", "version `GLIBC_2.38' not found"),
        ("\tlibc.so.6 => /lib/libc.so.6 (0x2)\n", ""),
    ],
)
def test_what_the_loader_says(printed: str, why: str) -> None:
    assert ", ".join(arriving.lacking(printed)) == why
