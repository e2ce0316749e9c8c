"""Which packaged programs run on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.packages import here

PYTHON = Path(sys.executable).resolve()


def test_a_program_of_another_processor_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    content = bytearray(PYTHON.read_bytes())
    content[18:20] = (243).to_bytes(2, "little")  # e_machine: RISC-V
    other.write_bytes(content)
    with pytest.raises(UserError, match=r"p\.deb: a program for .*so it can't run here"):
        here.check(tmp_path / "p.deb", other)
    here.check(tmp_path / "p.deb", PYTHON)


def test_a_program_of_another_release_is_refused(tmp_path: Path) -> None:
    newer = tmp_path / "newer"
    newer.write_bytes(PYTHON.read_bytes().replace(b"libc.so.6\0", b"libc.so.9\0"))
    with pytest.raises(UserError, match=r"p\.deb: its program does not run here \(libc\.so\.9.* not found\)"):
        here.check(tmp_path / "p.deb", newer)
