"""Which compiler made a program: what tells two of one version apart, for the keys of builds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from burnish.base import process

_DISTRIBUTION, _LOCAL = Path("/usr"), Path("/usr/local")


def identity_of(banner: str, programs: Iterable[Path]) -> str:
    """The version line of a compiler; with a digest of its programs where no distribution made it.

    A distribution's revision is in its line. Two builds of one release by hand, one of them patched, print the same.

    Args:
        banner: the version line.
        programs: the driver and what it runs or loads; those that are not there are left out.
    """
    files = sorted({program.resolve() for program in programs if program.is_file()})
    if all(map(is_distributed, files)):
        return banner
    found = hashlib.sha256()
    for file in files:
        found.update(_digest(file, file.stat().st_mtime_ns))
    return f"{banner}, programs {found.hexdigest()[:16]}"


def is_distributed(program: Path) -> bool:
    """Whether a program lies where a distribution puts its own."""
    real = program.resolve()
    return real.is_relative_to(_DISTRIBUTION) and not real.is_relative_to(_LOCAL)


@cache
def _digest(file: Path, changed: int) -> bytes:  # noqa: ARG001
    """SHA-256 of a program, read again if its modification time (ns) changed: clang's have some 200 MB."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").digest()


def bolt_version(bolt: Path | None) -> str:
    """The version that an llvm-bolt prints, ``Debian LLVM version 22.1.8``; empty without one."""
    if bolt is None:
        return ""
    lines = process.capture([bolt, "--version"], timeout=20).splitlines()
    return next((line.strip() for line in lines if "LLVM version" in line), lines[0].strip() if lines else "")
